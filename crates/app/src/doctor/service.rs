//! `doctor --service`: the files with which systemd or launchd keeps `serve` running.

use qmd::{plist_text, unit_word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::export_schedule::{plain, scheduled_environment};
use crate::{Context, Error};

/// The address that systemd listens on for the server.
const ADDRESS: &str = "127.0.0.1:8787";
/// The name of the service.
const NAME: &str = "backstory-serve";

/// Which service to describe; there is one.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DoctorServiceRequest")]
pub struct ServiceRequest {}

/// Files that can be pasted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorServiceAnswer")]
pub struct ServiceFiles {
    /// Content of `~/.config/systemd/user/backstory-serve.service`.
    pub systemd_service: String,
    /// Content of `~/.config/systemd/user/backstory-serve.socket`, with which systemd listens and starts the server for
    /// the first connection.
    pub systemd_socket: String,
    /// Content of `~/Library/LaunchAgents/backstory-serve.plist`.
    pub launchd: String,
}

/// The files for `serve`.
pub fn service(context: &Context, _: &ServiceRequest) -> Result<ServiceFiles, Error> {
    context.require_person("the service of `serve`")?;
    let words = [plain(context.program())?, "serve".to_owned()];
    let environment = scheduled_environment(context)?;
    Ok(ServiceFiles {
        systemd_service: unit(&words, &environment),
        systemd_socket: format!(
            "[Unit]\nDescription=The socket of Backstory over HTTP\n\n[Socket]\nListenStream={ADDRESS}\n\n[Install]\nWantedBy=sockets.target\n"
        ),
        launchd: agent(&words, &environment),
    })
}

/// Workers go on when the server stops, so that systemd may end the server's own process alone.
fn unit(words: &[String], environment: &[(String, String)]) -> String {
    let pair = |(name, value): &(String, String)| {
        format!("Environment={}\n", unit_word(&format!("{name}={value}"), false))
    };
    let set: String = environment.iter().map(pair).collect();
    let command: Vec<_> = words.iter().map(|word| unit_word(word, true)).collect();
    format!(
        "[Unit]\nDescription=Backstory over HTTP\n\n[Service]\nType=exec\n{set}ExecStart={}\nRestart=on-failure\nKillMode=process\n\n[Install]\nWantedBy=default.target\n",
        command.join(" ")
    )
}

/// The same for launchd, which would otherwise end the process group.
fn agent(words: &[String], environment: &[(String, String)]) -> String {
    let word = |text: &String| format!("    <string>{}</string>\n", plist_text(text));
    let pair = |(name, value): &(String, String)| {
        format!("    <key>{}</key>\n    <string>{}</string>\n", plist_text(name), plist_text(value))
    };
    let words: String = words.iter().map(word).collect();
    let set: String = environment.iter().map(pair).collect();
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{NAME}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>EnvironmentVariables</key>
  <dict>
{set}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
"#
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::{Config, testing};

    #[test]
    fn the_files_start_this_program_and_leave_workers_alone() {
        let config = Config { search_path: "/usr/bin:/my bin".into(), ..Config::default() };
        let files = service(&testing::context(config), &ServiceRequest {}).unwrap();
        let unit = &files.systemd_service;
        assert!(
            unit.contains("\" \"serve\"\n") && unit.contains("Environment=\"PATH=/usr/bin:/my bin\"\n"),
            "{unit}"
        );
        assert!(unit.contains("\nKillMode=process\n"), "{unit}");
        assert!(files.systemd_socket.contains("\nListenStream=127.0.0.1:8787\n"));
        let script = "import plistlib,sys; p=plistlib.loads(sys.stdin.buffer.read()); \
            print(p['ProgramArguments'][1], p['EnvironmentVariables']['PATH'], p['AbandonProcessGroup'])";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, files.launchd.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "serve /usr/bin:/my bin True");
    }
}
