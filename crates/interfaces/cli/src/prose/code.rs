//! Colours code by its language, with Sublime Text's grammars. They are unpacked when the first block is coloured.

use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use syntect::parsing::{ParseState, Scope, ScopeStack, ScopeStackOp, SyntaxReference, SyntaxSet};

use super::line::{StyledLine, StyledText};

/// The longest block and the longest line that are coloured, in bytes: above these it is data rather than code.
const LONGEST_BLOCK: usize = 100_000;
const LONGEST_LINE: usize = 1000;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The colours of scopes by how their names begin; the innermost scope that is named here decides. Only the terminal's
/// own colours, which a person has chosen to be readable.
static COLOURS: LazyLock<Vec<(Scope, Style)>> = LazyLock::new(|| {
    let plain = Style::new();
    let colours = [
        ("comment", plain.dimmed()),
        ("meta.interpolation", plain),
        ("constant.character.escape", AnsiColor::Cyan.on_default()),
        ("string", AnsiColor::Green.on_default()),
        ("constant", AnsiColor::Cyan.on_default()),
        ("keyword.operator", plain),
        ("keyword", AnsiColor::Magenta.on_default()),
        ("storage", AnsiColor::Magenta.on_default()),
        ("entity.name.tag", AnsiColor::Blue.on_default()),
        ("entity.name.function", AnsiColor::Blue.on_default()),
        ("entity.name", AnsiColor::Cyan.on_default()),
        ("entity.other.attribute-name", AnsiColor::Cyan.on_default()),
        ("support.function", AnsiColor::Blue.on_default()),
        ("support.type", AnsiColor::Cyan.on_default()),
        ("support.class", AnsiColor::Cyan.on_default()),
        ("markup.deleted", AnsiColor::Red.on_default()),
        ("markup.inserted", AnsiColor::Green.on_default()),
        ("markup.heading", plain.bold()),
        ("meta.diff.range", AnsiColor::Cyan.on_default()),
        ("meta.diff.header", plain.bold()),
    ];
    let parsed = colours.into_iter().map(|(name, style)| Some((Scope::new(name).ok()?, style)));
    parsed.flatten().collect()
});

/// The lines of a block of code in a language as a fence names it; plain where the language is unknown.
pub(super) fn coloured(language: &str, code: &str) -> Vec<StyledLine> {
    let is_code = code.len() <= LONGEST_BLOCK && code.lines().all(|line| line.len() <= LONGEST_LINE);
    let found = Some(name(language)).filter(|name| is_code && !name.is_empty());
    let lines = found.and_then(|name| syntax(&name)).and_then(|syntax| parsed(syntax, code));
    lines.unwrap_or_else(|| code.lines().map(|line| StyledLine::of(line, Style::new())).collect())
}

/// The name of a language out of what follows a fence: `rust,ignore`, `ts title="a.ts"`, `{.python}`.
fn name(fence: &str) -> String {
    let fence = fence.trim_start_matches(['{', '.', ' ']);
    let end = fence.find(|c: char| !c.is_alphanumeric() && !"+#-_".contains(c)).unwrap_or(fence.len());
    fence[..end].to_lowercase()
}

/// The grammar of a language by its name, the ending of its files, or what people call it.
fn syntax(name: &str) -> Option<&'static SyntaxReference> {
    let usual = match name {
        "shell" | "console" | "shell-session" | "shellscript" => "sh",
        "golang" => "go",
        "jsonc" | "json5" | "jsonl" => "json",
        // It holds all of JSX, which has no grammar here.
        "typescriptreact" | "javascriptreact" | "jsx" => "tsx",
        "mjs" | "cjs" | "node" => "js",
        "csharp" => "cs",
        "text" | "txt" | "plaintext" | "plain" | "output" | "log" => return None,
        name => name,
    };
    SYNTAXES.find_syntax_by_token(usual)
}

/// The lines of a code as its grammar says; `None` where that fails.
fn parsed(syntax: &SyntaxReference, code: &str) -> Option<Vec<StyledLine>> {
    let (mut state, mut scopes) = (ParseState::new(syntax), ScopeStack::new());
    code.split_inclusive('\n').map(|line| parsed_line(&mut state, &mut scopes, line)).collect()
}

fn parsed_line(state: &mut ParseState, scopes: &mut ScopeStack, line: &str) -> Option<StyledLine> {
    let (mut out, mut done) = (StyledLine::default(), 0);
    let changes = state.parse_line(line, &SYNTAXES).ok()?;
    let end = (line.len(), ScopeStackOp::Noop);
    for (at, change) in changes.iter().chain([&end]) {
        let text = line.get(done..*at)?.trim_end_matches(['\n', '\r']);
        out.push(StyledText::new(text, style(scopes)));
        scopes.apply(change).ok()?;
        done = *at;
    }
    Some(out)
}

fn style(scopes: &ScopeStack) -> Style {
    let of = |scope: &Scope| COLOURS.iter().find(|(begin, _)| begin.is_prefix_of(*scope));
    scopes.as_slice().iter().rev().find_map(of).map_or_else(Style::new, |(_, style)| *style)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines with the colour of each text before it, where it has one.
    fn shown(language: &str, code: &str) -> Vec<String> {
        let text = |text: &StyledText| match text.style.get_fg_color() {
            Some(anstyle::Color::Ansi(colour)) => format!("<{colour:?}>{}", text.text),
            _ => text.text.clone(),
        };
        let line = |line: &StyledLine| line.0.iter().map(text).collect::<String>();
        coloured(language, code).iter().map(line).collect()
    }

    #[test]
    fn keywords_and_strings_have_colours() {
        let lines = shown("rust,ignore", "let a = \"x\"; // why\n");
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("<Magenta>let") && lines[0].contains("<Green>\"x\""), "{lines:?}");
        let lines = shown("diff", "-old\n+new\n");
        assert_eq!(lines, ["<Red>-old", "<Green>+new"]);
    }

    #[test]
    fn what_has_no_grammar_is_plain() {
        for language in ["", "text", "no-such-language", "{"] {
            assert_eq!(shown(language, "let a = 1;\n\nx"), ["let a = 1;", "", "x"], "{language}");
        }
        let long = "a".repeat(LONGEST_LINE + 1);
        assert_eq!(shown("rust", &long), [long.as_str()]);
    }

    #[test]
    fn the_languages_of_answers_are_known() {
        let usual = "rust rs go golang python py javascript js jsx typescript ts tsx java kotlin swift c cpp c++ csharp \
                     ruby rb php bash sh shell zsh console fish json jsonc yaml yml toml html css scss sql diff \
                     markdown md dockerfile makefile make xml lua nix hcl terraform proto graphql vue svelte ini";
        let unknown: Vec<&str> = usual.split_whitespace().filter(|name| syntax(name).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
