//! What watching costs, how quick it is, and whether that is within its limits: `scripts/watching` runs it.
//!
//! From a write to its event, beside an idle loop over the system's own events in the same run, and by looking
//! alone; a folder of 10,000 sessions of which 20 are live, at rest; 200 sessions written at once at 50 lines a
//! second each, lines in and lines out.

#![expect(clippy::print_stdout, reason = "it is a program that prints")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use model::SessionEvent;
use monitor::{Listener, Monitor, MonitorSettings, Timers, WorkerSource};
use notify::{RecursiveMode, Watcher as _};
use transcript::ConfigFolder;

type Outcome<T> = Result<T, Box<dyn Error>>;

const WRITES: usize = 200;

/// How much later than an idle loop over the system's events an event may arrive, in milliseconds.
const BEHIND: f64 = 100.0;
/// So many milliseconds may it take by looking alone.
const LOOKING: f64 = 1200.0;
/// Of one core, in percent, and in megabytes: what watching may take while nothing happens.
const AT_REST: (f64, f64) = (1.0, 60.0);

fn main() -> Outcome<()> {
    let scratch = tempfile::tempdir()?;
    let (ours, theirs) = latency(&scratch.path().join("events"), true)?;
    let (looking, _) = latency(&scratch.path().join("looking"), false)?;
    let (share, resident) = at_rest(&scratch.path().join("rest"))?;
    let lost = flood(&scratch.path().join("flood"))?;
    let limits = [
        ("write to event, p95 above an idle loop's, ms", ours - theirs, BEHIND),
        ("write to event by looking alone, p95, ms", looking, LOOKING),
        ("at rest, % of a core", share, AT_REST.0),
        ("at rest, MB resident", resident, AT_REST.1),
        ("lines lost", lost, 0.0),
    ];
    println!();
    for (name, value, limit) in limits {
        println!("{name:<46}{value:>9.2}{limit:>9}  {}", if value > limit { "over" } else { "ok" });
    }
    if limits.iter().any(|(_, value, limit)| value > limit) {
        return Err("over a limit".into());
    }
    Ok(())
}

fn start(root: &Path, events: bool) -> Outcome<(Monitor, Listener)> {
    let settings = MonitorSettings {
        folders: vec![ConfigFolder::new(root)],
        hooks: None,
        timers: Timers::default(),
        poll: Duration::from_secs(1),
        events,
        clock: Timestamp::now,
    };
    let monitor = Monitor::start(settings, WorkerSource::none())?;
    let (_, listener) = monitor.listen(1 << 20).ok_or("the monitor ended")?;
    Ok((monitor, listener))
}

fn session(root: &Path, project: usize, number: usize) -> Outcome<PathBuf> {
    let folder = root.join(format!("projects/-p{project:03}"));
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("s{number:05}.jsonl"));
    fs::write(&path, line(number, 0))?;
    Ok(path)
}

fn line(session: usize, number: usize) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u{session}-{number}\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n",
        "words ".repeat(30)
    )
}

fn append(path: &Path, text: &str) -> Outcome<()> {
    Ok(OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())?)
}

fn is_record(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::SessionEvent(_))
}

/// From a write to the event it makes, in milliseconds: ours and an idle loop's, of which 95 in a hundred are
/// no more.
fn latency(root: &Path, events: bool) -> Outcome<(f64, f64)> {
    let path = session(root, 0, 0)?;
    let (_monitor, listener) = start(root, events)?;
    let (sender, bare) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| event.kind.is_modify()) {
            let _ = sender.send(Instant::now());
        }
    })?;
    watcher.watch(path.parent().unwrap_or(root), RecursiveMode::NonRecursive)?;
    let writes = if events { WRITES } else { WRITES / 8 };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 1..=writes {
        // Not in step with anything.
        thread::sleep(Duration::from_millis(20 + (number as u64 * 37) % 90));
        while bare.try_recv().is_ok() {}
        let written = Instant::now();
        append(&path, &line(0, number))?;
        theirs.push(bare.recv_timeout(Duration::from_secs(5))?.duration_since(written));
        while !listener
            .next(Duration::from_secs(5))
            .map_err(|_| "ended")?
            .is_some_and(|event| is_record(&event))
        {}
        ours.push(written.elapsed());
    }
    let how = if events { "with events" } else { "by looking alone" };
    println!(
        "write to event, {how}: p50 {:.1} ms, p95 {:.1} ms; an idle loop over the system's events: p50 {:.1} ms, p95 {:.1} ms",
        part(&mut ours, 50),
        part(&mut ours, 95),
        part(&mut theirs, 50),
        part(&mut theirs, 95)
    );
    Ok((part(&mut ours, 95), part(&mut theirs, 95)))
}

fn part(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// 10,000 sessions, 20 of them live, and nothing happens: percent of a core, megabytes.
fn at_rest(root: &Path) -> Outcome<(f64, f64)> {
    let long_ago = SystemTime::now() - Duration::from_hours(72);
    let filler: String = (0..20).map(|number| line(1, number)).collect();
    for number in 0..10_000 {
        let path = session(root, number % 200, number)?;
        if number >= 20 {
            File::options().append(true).open(&path)?.set_modified(long_ago)?;
        } else {
            append(&path, &filler.repeat(50))?;
        }
    }
    let (monitor, _listener) = start(root, true)?;
    thread::sleep(Duration::from_secs(3));
    let (before, began) = (cpu()?, Instant::now());
    thread::sleep(Duration::from_secs(20));
    let share = (cpu()? - before) / began.elapsed().as_secs_f64() * 100.0;
    let snapshot = monitor.look().ok_or("the monitor ended")?;
    println!(
        "at rest, {} files, {} sessions watched closely: {:.2}% of a core, {:.1} MB resident",
        snapshot.files,
        snapshot.sessions.len(),
        share,
        resident()?
    );
    Ok((share, resident()?))
}

/// 200 sessions at 50 lines a second each, for ten seconds: how many lines were lost.
fn flood(root: &Path) -> Outcome<f64> {
    const SESSIONS: usize = 200;
    const LINES: usize = 500;
    let paths: Vec<PathBuf> =
        (0..SESSIONS).map(|number| session(root, number % 20, number)).collect::<Outcome<_>>()?;
    let (monitor, listener) = start(root, true)?;
    let (before, began) = (cpu()?, Instant::now());
    let writer = thread::spawn(move || -> Result<usize, String> {
        let mut written = 0;
        for round in 1..=LINES {
            for (number, path) in paths.iter().enumerate() {
                append(path, &line(number, round)).map_err(|error| error.to_string())?;
                written += 1;
            }
            let due = Duration::from_millis(20) * u32::try_from(round).unwrap_or(0);
            thread::sleep(due.saturating_sub(began.elapsed()));
        }
        Ok(written)
    });
    let (mut delivered, mut lost) = (0, 0);
    while !writer.is_finished() || delivered < SESSIONS * LINES {
        match listener.next(Duration::from_secs(3)).map_err(|_| "ended")? {
            Some(event) if is_record(&event) => delivered += 1,
            Some(event) => {
                if let SessionEvent::Resync { lost: missed } = *event {
                    lost += missed;
                }
            }
            None => break,
        }
    }
    let written = writer.join().map_err(|_| "the writer failed")??;
    let took = began.elapsed().as_secs_f64();
    let read = monitor.look().ok_or("the monitor ended")?.records;
    let share = (cpu()? - before) / took * 100.0;
    println!(
        "{SESSIONS} sessions at once: {written} lines written in {took:.1} s, {read} read, {delivered} delivered, {lost} events lost; {share:.0}% of a core, the writer's share included"
    );
    // A line that is delivered twice is as wrong as one that is lost.
    Ok((written as f64 - read as f64).abs() + (written as f64 - delivered as f64).abs())
}

/// Seconds of processor time this process has taken.
fn cpu() -> Outcome<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: f64 =
        rest.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

/// Resident memory in megabytes.
fn resident() -> Outcome<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes / 1000.0)
}
