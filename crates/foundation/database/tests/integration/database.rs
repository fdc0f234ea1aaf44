//! Databases on a real disk: hostile files, modes, several processes, a writer that is killed.

#![expect(clippy::unwrap_used, reason = "a test may fail; clippy.toml allows it in test functions only")]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use database::rusqlite::Connection;
use database::{
    Backup, Condition, Error, WriterLock, back_up_regularly, open_derived, open_precious, open_read_only,
    remove_backups,
};
use tempfile::TempDir;

const STEPS: &[&str] = &["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)"];
const MORE: &[&str] = &[STEPS[0], "ALTER TABLE notes ADD COLUMN about TEXT"];

fn scratch() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new folder é/index.sqlite");
    (folder, path)
}

fn add(connection: &Connection, text: &str) {
    connection.execute("INSERT INTO notes (text) VALUES (?1)", [text]).unwrap();
}

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0)).unwrap()
}

fn word(condition: &Condition) -> &'static str {
    match condition {
        Condition::Ready => "ready",
        Condition::Recreated { .. } => "recreated",
        Condition::ReadOnly { .. } => "read-only",
        Condition::InMemory { .. } => "in memory",
    }
}

/// Opens a derived file that something was done to; it must open and be usable, in the expected way.
fn check_hostile(spoil: impl Fn(&Path), expected: &str) {
    let (_folder, path) = scratch();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    spoil(&path);
    let opened = open_derived(&path, STEPS).unwrap();
    assert_eq!(word(&opened.condition), expected, "{:?}", opened.condition);
    assert_eq!(count(&opened.connection), 0);
    add(&opened.connection, "works");
    if let Condition::Recreated { set_aside, .. } = &opened.condition {
        assert!(set_aside.exists());
        drop(opened);
        let again = open_derived(&path, STEPS).unwrap();
        assert_eq!((word(&again.condition), count(&again.connection)), ("ready", 1));
    }
}

/// Whether a file, its log or any other companion holds the words.
fn holds(path: &Path, words: &[u8]) -> bool {
    let files = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
    #[expect(clippy::disallowed_methods, reason = "a test reads its own small files")]
    let bytes = |path: PathBuf| fs::read(path).unwrap();
    files.map(|file| bytes(file.path())).any(|bytes| bytes.windows(words.len()).any(|part| part == words))
}

#[test]
fn deleted_rows_are_erased_from_the_file() {
    let check = |open: &dyn Fn(&Path) -> Connection| {
        let (_folder, path) = scratch();
        let connection = open(&path);
        for number in 0..200 {
            add(
                &connection,
                &format!("{number} swordfish {}", "long enough for a page of its own ".repeat(100)),
            );
        }
        add(&connection, "it stays");
        drop(connection);
        assert!(holds(&path, b"swordfish"));
        let other = open(&path);
        let connection = open(&path);
        connection.execute("DELETE FROM notes WHERE text LIKE '%swordfish%'", []).unwrap();
        assert_eq!(count(&connection), 1);
        drop((connection, other));
        assert!(!holds(&path, b"swordfish") && holds(&path, b"it stays"));
    };
    check(&|path| open_derived(path, STEPS).unwrap().connection);
    check(&|path| open_precious(path, STEPS).unwrap().connection);
}

#[test]
fn a_derived_file_always_opens() {
    check_hostile(|_| (), "ready");
    check_hostile(|path| fs::write(path, "").unwrap(), "ready");
    check_hostile(
        |path| fs::write(path, "this is not a database, but long enough to look at").unwrap(),
        "recreated",
    );
    check_hostile(
        |path| fs::write(path, [b"SQLite format 3\0".as_slice(), &[7; 4096]].concat()).unwrap(),
        "recreated",
    );
    check_hostile(|path| drop(open_derived(path, MORE).unwrap()), "recreated");
    check_hostile(|path| fs::create_dir(path).unwrap(), "recreated");
    check_hostile(
        |path| {
            fs::create_dir_all(path.join("full")).unwrap();
            fs::create_dir_all(path.with_extension("sqlite.set-aside").join("full")).unwrap();
        },
        "recreated",
    );
    check_hostile(
        |path| {
            let other = Connection::open(path).unwrap();
            other.execute_batch("CREATE TABLE notes (other)").unwrap();
        },
        "recreated",
    );
    check_hostile(
        |path| {
            fs::remove_dir(path.parent().unwrap()).unwrap();
            fs::write(path.parent().unwrap(), "a file where the folder should be").unwrap();
        },
        "in memory",
    );
}

#[test]
fn a_condition_gives_the_reason_and_the_file() {
    let (_folder, path) = scratch();
    drop(open_derived(&path, MORE).unwrap());
    let Condition::Recreated { because, .. } = open_derived(&path, STEPS).unwrap().condition else {
        panic!("a newer file was used");
    };
    let text = because.to_string();
    assert!(text.contains("index.sqlite") && text.contains("update Backstory"), "{text}");
}

#[test]
fn the_tables_of_a_derived_file_grow_with_the_program() {
    let (_folder, path) = scratch();
    add(&open_derived(&path, STEPS).unwrap().connection, "kept");
    let opened = open_derived(&path, MORE).unwrap();
    assert_eq!((word(&opened.condition), count(&opened.connection)), ("ready", 1));
    assert!(opened.connection.prepare("SELECT about FROM notes").is_ok());
}

#[test]
fn a_precious_file_is_copied_before_it_changes() {
    let (_folder, path) = scratch();
    let first = open_precious(&path, STEPS).unwrap();
    assert_eq!(first.backup, None, "there was nothing to lose");
    add(&first.connection, "kept");
    // What a killed backup leaves behind is in nobody's way.
    fs::write(path.with_extension("sqlite.before-1.partial"), "half").unwrap();
    let second = open_precious(&path, MORE).unwrap();
    assert_eq!(count(&second.connection), 1);
    let backup = second.backup.unwrap();
    assert_eq!(mode(&backup), 0o600);
    assert_eq!(count(&open_read_only(&backup, STEPS).unwrap()), 1);
    assert_eq!(open_precious(&path, MORE).unwrap().backup, None);
}

#[test]
fn a_long_write_ahead_log_is_checkpointed() {
    let (_folder, path) = scratch();
    let log = || fs::metadata(path.with_extension("sqlite-wal")).map_or(0, |found| found.len());
    let (text, times) = ("x".repeat(200 << 10), 20);
    let mut lengths = Vec::new();
    for _ in 0..times {
        let opened = open_precious(&path, STEPS).unwrap();
        opened.leave_short_log(&path).unwrap();
        add(&opened.connection, &text);
        drop(opened);
        lengths.push(log());
    }
    assert!(lengths.contains(&0) && lengths.iter().any(|length| *length > 0), "{lengths:?}");
    assert!(lengths.iter().all(|length| *length < 2 << 20), "{lengths:?}");
    assert_eq!(count(&open_precious(&path, STEPS).unwrap().connection), times);
}

#[test]
fn a_precious_file_is_never_dropped() {
    let check = |content: &[u8], expected: fn(&Error) -> bool| {
        let (_folder, path) = scratch();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let error = open_precious(&path, STEPS).unwrap_err();
        assert!(expected(&error), "{error:?}");
        assert!(error.to_string().contains("index.sqlite"));
        assert_eq!(bytes(&path), content);
    };
    check(b"this is not a database, but long enough to look at", |error| matches!(error, Error::Open { .. }));
    let (_folder, newer) = scratch();
    drop(open_precious(&newer, MORE).unwrap());
    check(&bytes(&newer), |error| matches!(error, Error::Newer { found: 2, known: 1, .. }));
}

#[test]
fn a_failing_migration_changes_nothing() {
    let (_folder, path) = scratch();
    add(&open_precious(&path, STEPS).unwrap().connection, "kept");
    let broken = &[STEPS[0], "DELETE FROM notes", "NOT SQL"];
    let error = open_precious(&path, broken).unwrap_err();
    assert!(matches!(error, Error::Migrate { from: 2, .. }), "{error:?}");
    assert_eq!(count(&open_precious(&path, STEPS).unwrap().connection), 1);
}

#[test]
fn reading_only_creates_and_changes_nothing() {
    let (folder, path) = scratch();
    assert!(matches!(open_read_only(&path, STEPS).unwrap_err(), Error::Open { .. }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(open_derived(&path, STEPS).unwrap());
    assert!(matches!(open_read_only(&path, MORE).unwrap_err(), Error::Older { found: 1, known: 2, .. }));
    assert!(matches!(open_read_only(&path, &[]).unwrap_err(), Error::Newer { .. }));
    let reader = open_read_only(&path, STEPS).unwrap();
    assert!(reader.execute("DELETE FROM notes", []).is_err());
}

#[test]
fn only_the_owner_can_read() {
    let (_folder, path) = scratch();
    let opened = open_derived(&path, STEPS).unwrap();
    add(&opened.connection, "secret");
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        assert_eq!(mode(&file.as_ref().unwrap().path()), 0o600, "{file:?}");
    }
    drop(opened);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(open_derived(&path, STEPS).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn readers_see_the_last_commit_while_a_writer_writes() {
    let (_folder, path) = scratch();
    let mut writer = open_derived(&path, STEPS).unwrap().connection;
    let reader = open_read_only(&path, STEPS).unwrap();
    let transaction = writer.transaction().unwrap();
    add(&transaction, "not yet");
    assert_eq!(count(&reader), 0);
    transaction.commit().unwrap();
    assert_eq!(count(&reader), 1);
}

#[test]
fn many_can_open_a_new_or_broken_file_at_once() {
    for content in ["", "this is not a database, but long enough to look at"] {
        let (_folder, path) = scratch();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| add(&open_derived(&path, MORE).unwrap().connection, "mine"));
            }
        });
        assert_eq!(count(&open_derived(&path, MORE).unwrap().connection), 8);
    }
}

#[test]
fn a_killed_writer_leaves_a_file_that_opens() {
    let (_folder, path) = scratch();
    let lock = path.with_extension("lock");
    let binary = std::env::current_exe().unwrap();
    let mut child =
        child(&binary, "killed_writer", &path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the child failed");
    assert!(WriterLock::try_acquire(&lock).unwrap().is_none(), "the child holds it");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(WriterLock::try_acquire(&lock).unwrap().is_some(), "the lock died with its holder");
    let opened = open_derived(&path, STEPS).unwrap();
    assert_eq!((word(&opened.condition), count(&opened.connection)), ("ready", 1));
    add(&opened.connection, "goes on");
}

/// The child of the test above; does nothing when it is not one.
#[test]
fn killed_writer() {
    let Some(path) = path_from_parent() else { return };
    let _lock = WriterLock::try_acquire(&path.with_extension("lock")).unwrap().unwrap();
    let mut connection = open_derived(&path, STEPS).unwrap().connection;
    add(&connection, "committed");
    let transaction = connection.transaction().unwrap();
    for _ in 0..100_000 {
        add(&transaction, "never committed; enough of it that pages spill into the log");
    }
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn a_folder_without_write_permission_is_read() {
    let (folder, path) = scratch();
    add(&open_derived(&path, STEPS).unwrap().connection, "kept");
    let inner = path.parent().unwrap();
    for (open, mode) in [(folder.path(), 0o755), (&path, 0o444), (inner, 0o555)] {
        fs::set_permissions(open, Permissions::from_mode(mode)).unwrap();
    }
    // Somebody else may not be able to reach this binary.
    let binary = folder.path().join("reader");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let mut reader = child(&binary, "unprivileged_reader", &path);
    if rustix::process::geteuid().is_root() {
        // Permissions do not bind root: the child is somebody else.
        reader.uid(65_534).gid(65_534);
    }
    let outcome = reader.output().unwrap();
    fs::set_permissions(inner, Permissions::from_mode(0o755)).unwrap();
    assert!(String::from_utf8_lossy(&outcome.stdout).contains("\nall is well\n"), "{outcome:?}");
}

/// The child of the test above; does nothing when it is not one.
#[test]
fn unprivileged_reader() {
    let Some(path) = path_from_parent() else { return };
    let opened = open_derived(&path, STEPS).unwrap();
    assert_eq!((word(&opened.condition), count(&opened.connection)), ("read-only", 1));
    // Too old to be read, and nothing can be written: empty, in memory, and said.
    let opened = open_derived(&path, MORE).unwrap();
    assert_eq!((word(&opened.condition), count(&opened.connection)), ("in memory", 0));
    let Condition::InMemory { because } = opened.condition else { panic!("checked above") };
    assert!(because.to_string().contains("index.sqlite"), "{because}");
    println!("\nall is well");
}

/// One test of this binary as a process of its own. The path goes along as one more name of a test to run,
/// which none has.
fn child(binary: &Path, test: &str, path: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["--exact", &format!("database::{test}"), "--nocapture"]).arg(path).stdin(Stdio::null());
    command
}

fn path_from_parent() -> Option<PathBuf> {
    std::env::args().map(PathBuf::from).find(|argument| argument.ends_with("index.sqlite"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[expect(clippy::disallowed_methods, reason = "a small file this test wrote")]
fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn waiting_for_a_suspended_holder_is_bounded() {
    let (_folder, path) = scratch();
    let lock = lock_of(&path);
    let binary = std::env::current_exe().unwrap();
    let mut child = child(&binary, "suspended_holder", &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"), "the child failed");
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    signal("-STOP");
    std::thread::scope(|scope| {
        let derived = scope.spawn(|| open_derived(&path, STEPS).map(drop));
        let precious = scope.spawn(|| open_precious(&path, STEPS).map(drop));
        let away = scope.spawn(|| database::set_aside(&path).map(drop));
        for refused in [derived, precious, away].map(|opener| opener.join().unwrap().unwrap_err()) {
            assert!(refused.is_busy(), "{refused}");
            let message = refused.to_string();
            assert!(message.contains(&format!("another process has held {}", lock.display())), "{message}");
        }
    });
    signal("-CONT");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(word(&open_derived(&path, STEPS).unwrap().condition), "ready");
}

/// The child of the test above; does nothing when it is not one.
#[test]
fn suspended_holder() {
    let Some(path) = path_from_parent() else { return };
    let _lock = WriterLock::try_acquire(&lock_of(&path)).unwrap().unwrap();
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Where the lock of a database is.
fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Damages a page of a database that is not open.
fn damage(path: &Path, page: usize) {
    let mut bytes = system::read_small(path, 1 << 30).unwrap();
    let from = page * 4096;
    bytes[from..from + 4096].fill(0xA5);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_precious_file_that_is_damaged_in_any_page_is_restored_from_its_backup() {
    const STEPS: [&str; 1] = ["CREATE TABLE t (a TEXT)"];
    const DAY: Duration = Duration::from_hours(24);
    let count = |path: &Path| -> i64 {
        let opened = open_precious(path, &STEPS).unwrap();
        opened.connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    };
    let add = |path: &Path| {
        let opened = open_precious(path, &STEPS).unwrap();
        for _ in 0..50 {
            opened.connection.execute("INSERT INTO t VALUES (?1)", ["x".repeat(1000)]).unwrap();
        }
    };
    let start = SystemTime::UNIX_EPOCH + 20_000 * DAY;
    for page in [0, 1, 7] {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("p.sqlite");
        assert_eq!(back_up_regularly(&path, start, DAY).unwrap(), Backup::NotDue, "there is no file");
        add(&path);
        assert_eq!(back_up_regularly(&path, start, DAY).unwrap(), Backup::Made);
        assert_eq!(back_up_regularly(&path, start + DAY / 2, DAY).unwrap(), Backup::NotDue);
        add(&path);
        assert_eq!(back_up_regularly(&path, start + DAY, DAY).unwrap(), Backup::Made);
        damage(&path, page);
        // The newest backup is damaged too: the one before it is whole.
        damage(&scratch.path().join("p.sqlite.backup-1"), 3);
        if page > 0 {
            assert_eq!(back_up_regularly(&path, start + 2 * DAY, DAY).unwrap(), Backup::Restored);
        }
        assert_eq!(count(&path), 50, "page {page}");
        assert!(scratch.path().join("p.sqlite.set-aside").exists());
        add(&path);
        assert_eq!(back_up_regularly(&path, start + 4 * DAY, DAY).unwrap(), Backup::Made);
        assert_eq!(count(&path), 100);
        remove_backups(&path).unwrap();
        assert!(!scratch.path().join("p.sqlite.backup-1").exists());
        damage(&path, page);
        let opened = open_precious(&path, &STEPS).map(drop);
        assert!(opened.is_err() == (page == 0), "without a backup it stays as it is");
        assert!(back_up_regularly(&path, start + 9 * DAY, DAY).is_err());
    }
}
