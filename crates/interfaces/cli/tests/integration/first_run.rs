//! What is said beside the first answer to a person, and to nobody else.

use testkit::claude::Run;
use testkit::{ScratchHome, Terminal, Transcript};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
const SAID: &str = "This machine holds 1 session of 1 project";

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let _ =
        Transcript::new(ID).cwd(shop).prompt("Paint the fence").answer("It is green now.").write_to(&home);
    home
}

#[test]
fn a_person_is_told_once_what_the_machine_holds() {
    let home = home();
    let program = env!("CARGO_BIN_EXE_backstory");
    let mut in_a_pipe = home.command(program);
    in_a_pipe.arg("list");
    let run = Run::of(in_a_pipe).succeeded();
    assert!(!run.stdout.contains(SAID) && !run.stderr.contains(SAID), "a program reads it: {}", run.stderr);

    let mut shell = home.command("sh");
    let twice = format!("'{program}' search fence; echo; echo again; '{program}' list; echo end; exec cat");
    let terminal = Terminal::run(shell.args(["-c", &twice]), 160, 60);
    terminal.until(|screen| screen.lines().any(|line| line == "end"));
    let screen = terminal.screen();
    assert_eq!(screen.matches(SAID).count(), 1, "{screen}");
    let (first, again) = screen.split_once("again").expect("both answers");
    assert!(first.contains(SAID) && again.contains("Paint the fence"), "{screen}");
    for line in
        ["in the next seven days; Backstory keeps copies", "They cost about", "Next: `backstory` to choose"]
    {
        assert!(first.contains(line), "{line}: {screen}");
    }
}

#[test]
fn a_demo_and_a_home_without_sessions_say_nothing() {
    let empty = ScratchHome::new();
    let program = env!("CARGO_BIN_EXE_backstory");
    let mut shell = empty.command("sh");
    let both = format!("'{program}' list --demo --limit 1; '{program}' list; echo end; exec cat");
    let terminal = Terminal::run(shell.args(["-c", &both]), 160, 60);
    terminal.until(|screen| screen.lines().any(|line| line == "end"));
    let screen = terminal.screen();
    assert!(!screen.contains("This machine holds"), "{screen}");
}
