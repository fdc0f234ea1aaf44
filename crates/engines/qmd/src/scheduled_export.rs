//! Commands that keep a collection up to date: qmd's own registration and a scheduled export for cron,
//! systemd or launchd.
//!
//! Pure: returns texts for the user to paste.

use schemars::JsonSchema;
use serde::Serialize;

/// Interval of the export in hours.
const HOURS: u32 = 6;
/// Minute of the hour, chosen to avoid the full hour.
const MINUTE: u32 = 17;
/// Name of the scheduled export.
const NAME: &str = "backstory-export";

/// A command to run on a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledExport {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Environment variables to set.
    pub environment: Vec<(String, String)>,
}

/// The schedule in each supported format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScheduleTexts {
    /// Line for `crontab -e`.
    pub crontab: String,
    /// Content of `~/.config/systemd/user/backstory-export.service`.
    pub systemd_service: String,
    /// Content of `~/.config/systemd/user/backstory-export.timer`.
    pub systemd_timer: String,
    /// Content of `~/Library/LaunchAgents/backstory-export.plist`.
    pub launchd: String,
}

/// The command that registers a collection with qmd; `None` if `quoted` cannot quote a word.
pub fn collection_add(folder: &str, name: &str, quoted: impl Fn(&str) -> Option<String>) -> Option<String> {
    Some(format!("qmd collection add {} --name {} --mask '**/*.md'", quoted(folder)?, quoted(name)?))
}

impl ScheduledExport {
    /// Formats the schedule; `quoted` quotes a word for a shell. `None` if it cannot.
    pub fn texts(&self, quoted: impl Fn(&str) -> Option<String>) -> Option<ScheduleTexts> {
        Some(ScheduleTexts {
            crontab: self.crontab(quoted)?,
            systemd_service: self.service(),
            systemd_timer: timer(),
            launchd: self.launchd(),
        })
    }

    /// Formats the crontab line; cron ends a command at an unescaped `%`.
    fn crontab(&self, quoted: impl Fn(&str) -> Option<String>) -> Option<String> {
        let set = self.environment.iter().map(|(name, value)| Some(format!("{name}={}", quoted(value)?)));
        let words = set.chain(self.words.iter().map(|word| quoted(word)));
        let command = words.collect::<Option<Vec<_>>>()?.join(" ").replace('%', r"\%");
        Some(format!("{MINUTE} */{HOURS} * * * {command}"))
    }

    fn service(&self) -> String {
        let pair = |(name, value): &(String, String)| unit_word(&format!("{name}={value}"), false);
        let set = self.environment.iter().map(|each| format!("Environment={}", pair(each)));
        let words: Vec<_> = self.words.iter().map(|word| unit_word(word, true)).collect();
        let head = ["[Unit]", "Description=Sessions of Claude Code as Markdown for qmd", "", "[Service]"];
        let lines = head.map(str::to_owned).into_iter().chain(["Type=oneshot".into(), "Nice=10".into()]);
        let lines = lines.chain(set).chain([format!("ExecStart={}", words.join(" "))]);
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn launchd(&self) -> String {
        let word = |text: &String| format!("    <string>{}</string>", plist_text(text));
        let pair = |(name, value): &(String, String)| {
            format!("    <key>{}</key>\n    <string>{}</string>", plist_text(name), plist_text(value))
        };
        let words = self.words.iter().map(word).collect::<Vec<_>>().join("\n");
        let set = self.environment.iter().map(pair).collect::<Vec<_>>().join("\n");
        let seconds = HOURS * 60 * 60;
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{NAME}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{set}
  </dict>
  <key>StartInterval</key>
  <integer>{seconds}</integer>
  <key>LowPriorityIO</key>
  <true/>
</dict>
</plist>
"#
        )
    }
}

fn timer() -> String {
    format!(
        "[Unit]\nDescription=Every {HOURS} hours: sessions of Claude Code as Markdown for qmd\n\n[Timer]\nOnCalendar=*-*-* 0/{HOURS}:{MINUTE}\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )
}

/// Quotes a word for a systemd unit: `%` starts a specifier everywhere, `$` a variable in commands only.
pub fn unit_word(word: &str, is_command: bool) -> String {
    let mut text = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '%' => text.push_str("%%"),
            '$' if is_command => text.push_str("$$"),
            c => text.push(c),
        }
    }
    text + "\""
}

/// Escapes a text for a property list; control characters are left out.
pub fn plist_text(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the rule that is passed in may have no spelling")]
    fn quoted(word: &str) -> Option<String> {
        Some(format!("'{}'", word.replace('\'', r"'\''")))
    }

    /// A program and a folder with every sign that means something to somebody.
    fn errand() -> ScheduledExport {
        let words = ["/bin/printf", "%s|", "/home/ana/my \"50%\" <$HOME> & it's"];
        ScheduledExport {
            words: words.map(str::to_owned).to_vec(),
            environment: vec![("PATH".into(), "/usr/bin:/my bin".into())],
        }
    }

    #[test]
    fn cron_runs_what_was_meant() {
        let line = errand().texts(quoted).unwrap().crontab;
        let command = line.strip_prefix("17 */6 * * * ").unwrap();
        // As cron does it: a bare `%` would end the command, an escaped one is one.
        assert!(!command.replace(r"\%", "").contains('%'), "{command}");
        let output = Command::new("/bin/sh").arg("-c").arg(command.replace(r"\%", "%")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "/home/ana/my \"50%\" <$HOME> & it's|");
    }

    #[test]
    fn a_plist_says_what_was_meant() {
        let script = "import plistlib,sys; p=plistlib.loads(sys.stdin.buffer.read()); \
            print(p['ProgramArguments'][2], p['EnvironmentVariables']['PATH'], p['StartInterval'], p['Label'])";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, errand().texts(quoted).unwrap().launchd.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            printed.trim(),
            "/home/ana/my \"50%\" <$HOME> & it's /usr/bin:/my bin 21600 backstory-export"
        );
    }

    #[test]
    fn units_are_written_as_systemd_reads_them() {
        let texts = errand().texts(quoted).unwrap();
        let service: Vec<_> = texts.systemd_service.lines().skip(3).collect();
        let expected = [
            "[Service]",
            "Type=oneshot",
            "Nice=10",
            r#"Environment="PATH=/usr/bin:/my bin""#,
            r#"ExecStart="/bin/printf" "%%s|" "/home/ana/my \"50%%\" <$$HOME> & it's""#,
        ];
        assert_eq!(service, expected);
        assert!(texts.systemd_timer.contains("\nOnCalendar=*-*-* 0/6:17\n"));
    }

    #[test]
    fn qmd_is_told_of_a_folder() {
        assert_eq!(
            collection_add("/home/ana/md", "claude-sessions", quoted).unwrap(),
            "qmd collection add '/home/ana/md' --name 'claude-sessions' --mask '**/*.md'"
        );
    }
}
