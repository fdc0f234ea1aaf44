//! `show` with one kind of thing out of a conversation: code, commands, prompts.

use testkit::claude::Run;
use testkit::{ScratchHome, Transcript};

use crate::handoff::{ID, home, printed};

#[test]
fn show_prints_one_kind_of_thing_alone() {
    let home = home();
    assert_eq!(printed(&home, &["show", "1111", "--code"]), "cargo test refresh\n");
    assert_eq!(
        printed(&home, &["show", "1111", "--commands"]),
        "cargo test\ncargo test\nsqlx migrate run\ngit commit -m 'Rotate tokens'\n"
    );
    assert_eq!(
        printed(&home, &["show", "1111", "--prompts"]),
        "The refresh token is used twice; make the second use fail\n\n\
         Don't touch the billing tables because they are shared\n"
    );
    let shown = printed(&home, &["show", "1111", "BILLING"]);
    // The other one is the title.
    assert!(shown.contains("Don't touch") && shown.matches("used twice;").count() == 1, "{shown}");
}

#[test]
fn where_a_session_has_none_show_says_so() {
    let home = ScratchHome::new();
    Transcript::new(ID).cwd(home.dir("shop")).prompt("Hello").answer("Hello.").write_to(&home);
    for (flag, sentence) in
        [("--code", "No blocks of code to show.\n"), ("--commands", "No shell commands to show.\n")]
    {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["show", "1111", flag]);
        let said = Run::of(command).succeeded();
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", sentence));
    }
}
