//! Sessions in a table that gives its room to their titles; on a narrow terminal each has two lines.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::list::SessionOrder;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::{Annotations, Origin, Session};
use unicode_width::UnicodeWidthStr as _;

use crate::resumption::{self, GOES_ON};
use crate::table::{Align, Cell, Column, ROOMY, table};
use crate::text::{age_or_date, count, dollars, fit};
use crate::watch;

/// The width from which a session has one line.
const ONE_LINE: usize = 70;
/// The room of what a background job needs, in cells.
const NEEDS: usize = 44;
/// The spaces between two columns.
const GAP: usize = 2;

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Doing,
    Title,
    Project,
    Branch,
    Origin,
    Age,
    Messages,
    Tokens,
    Cost,
    Resume,
    Id,
}

const COLUMNS: [(Field, Column); 11] = [
    (Field::Doing, Column { head: "DOING", align: Align::Left, max_width: 16 }),
    (Field::Title, Column { head: "TITLE", align: Align::TruncateLast, max_width: 80 }),
    (Field::Project, Column { head: "PROJECT", align: Align::TruncateEnd, max_width: 20 }),
    (Field::Branch, Column { head: "BRANCH", align: Align::TruncateEnd, max_width: 20 }),
    (Field::Origin, Column { head: "ORIGIN", align: Align::Left, max_width: 24 }),
    (Field::Age, Column { head: "AGE", align: Align::Right, max_width: 6 }),
    (Field::Messages, Column { head: "MESSAGES", align: Align::Right, max_width: 8 }),
    (Field::Tokens, Column { head: "TOKENS", align: Align::Right, max_width: 6 }),
    (Field::Cost, Column { head: "COST", align: Align::Right, max_width: 10 }),
    (Field::Resume, Column { head: "RESUME", align: Align::Right, max_width: 14 }),
    (Field::Id, Column { head: "ID", align: Align::Left, max_width: 14 }),
];
/// What is left out where titles need the room, in this order: `--json` and `cost` have the figures.
const LEFT_OUT: [Field; 6] =
    [Field::Tokens, Field::Messages, Field::Origin, Field::Branch, Field::Cost, Field::Project];
/// What is said once where it is the same for all sessions.
const SAID_ONCE: [Field; 4] = [Field::Doing, Field::Origin, Field::Project, Field::Branch];

/// Prints sessions in lines of at most `width` cells; the figure by which they are in `order` is never left out.
pub(crate) fn sessions(
    out: &mut impl Write,
    width: usize,
    sessions: &[Session],
    order: Option<SessionOrder>,
    now: Timestamp,
    zone: impl Fn() -> TimeZone,
) -> io::Result<()> {
    let rows: Vec<Row> = sessions.iter().map(|session| Row::new(session, now, &zone)).collect();
    let mut common: Vec<Field> = SAID_ONCE.into_iter().filter(|field| is_common(&rows, *field)).collect();
    if rows.iter().all(|row| row.cell(Field::Resume).text() == "-") {
        common.push(Field::Resume);
    }
    if width < ONE_LINE {
        in_two_lines(out, width, &rows, &common, order.and_then(figure))?;
    } else {
        let shown = shown(width, &rows, &common, order.and_then(figure));
        let columns: Vec<Column> = shown.iter().map(|at| COLUMNS[*at].1).collect();
        let cells = |row: &Row| shown.iter().map(|at| row.0[*at].clone()).collect();
        table(out, width, &columns, &rows.iter().map(cells).collect::<Vec<_>>())?;
    }
    said_once(out, width, &rows, &common)?;
    if sessions.iter().any(goes_on) {
        let dim = Style::new().dimmed();
        let text = format!("{GOES_ON} continues on its own once resumed (schedule or loop)");
        writeln!(out, "{dim}{}{dim:#}", fit(&text, width))?;
    }
    Ok(())
}

/// The column that shows why sessions are in this order.
fn figure(order: SessionOrder) -> Option<Field> {
    match order {
        SessionOrder::Newest | SessionOrder::Oldest => None,
        SessionOrder::Cost | SessionOrder::Cheapest => Some(Field::Cost),
        SessionOrder::Messages => Some(Field::Messages),
        SessionOrder::Tokens => Some(Field::Tokens),
    }
}

fn goes_on(session: &Session) -> bool {
    session.resume_cost.as_deref().is_some_and(resumption::goes_on)
}

/// How long ago something happened in a session. A day takes as much room whichever it is, so that a table does not change
/// its columns with the calendar.
fn age(session: &Session, now: Timestamp, zone: impl Fn() -> TimeZone) -> String {
    let age = age_or_date(now, session.last_modified, zone);
    if age.contains(' ') { format!("{age:>6}") } else { age }
}

/// What resuming costs; nothing where the session is open.
fn resume(session: &Session) -> String {
    session.resume_cost.as_deref().map_or_else(|| "-".to_owned(), resumption::cell)
}

/// The cells of a session, one for each of [`COLUMNS`].
struct Row([Cell; COLUMNS.len()]);

impl Row {
    fn new(session: &Session, now: Timestamp, zone: impl Fn() -> TimeZone) -> Self {
        // The title is what is looked for; the id, which is copied, is easy to find beside it.
        let (dim, id) = (Style::new().dimmed(), AnsiColor::Cyan.on_default());
        let branch = AnsiColor::Green.on_default();
        Self(COLUMNS.map(|(field, _)| match field {
            Field::Doing => doing(session),
            Field::Title => Cell::new(&title(session)),
            Field::Project => Cell::new(session.project.as_deref().unwrap_or("-")),
            Field::Branch => Cell::styled(session.branch.as_deref().unwrap_or("-"), branch),
            Field::Origin => Cell::styled(&origin(session), dim),
            Field::Age => Cell::styled(&age(session, now, &zone), dim),
            Field::Messages => Cell::styled(&count(session.visible_messages), dim),
            Field::Tokens => Cell::styled(&count(session.usage.total()), dim),
            Field::Cost => Cell::new(&cost(session)),
            Field::Resume => Cell::new(&resume(session)),
            Field::Id => Cell::styled(session.id.short(), id),
        }))
    }

    fn cell(&self, field: Field) -> &Cell {
        let at = COLUMNS.iter().position(|(known, _)| *known == field);
        &self.0[at.unwrap_or_default()]
    }
}

/// Whether a field is the same for all of several sessions, or says nothing of a single one.
fn is_common(rows: &[Row], field: Field) -> bool {
    if let [only] = rows {
        return matches!(only.cell(field).text(), "-" | "idle" | "native");
    }
    let mut texts = rows.iter().map(|row| row.cell(field).text());
    let first = texts.next();
    texts.all(|text| Some(text) == first)
}

/// The columns that are shown: as many as leave the titles their room.
fn shown(width: usize, rows: &[Row], common: &[Field], figure: Option<Field>) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..COLUMNS.len()).filter(|at| !common.contains(&COLUMNS[*at].0)).collect();
    // No title is cut for what resuming costs.
    let whole: usize = shown.iter().map(|at| whole_width(rows, *at) + GAP).sum();
    if whole > width + GAP {
        shown.retain(|at| COLUMNS[*at].0 != Field::Resume);
    }
    for field in LEFT_OUT.into_iter().filter(|field| Some(*field) != figure) {
        let least: usize = shown.iter().map(|at| least_width(rows, *at) + GAP).sum();
        if least <= width + GAP {
            break;
        }
        shown.retain(|at| COLUMNS[*at].0 != field);
    }
    shown
}

/// The width of a column in which nothing is cut that its greatest width allows.
fn whole_width(rows: &[Row], at: usize) -> usize {
    let (_, column) = COLUMNS[at];
    let widest = rows.iter().map(|row| row.0[at].text().width()).max().unwrap_or_default();
    widest.min(column.max_width).max(column.head.width())
}

/// The least width of a column: titles have their room, other names may be cut.
fn least_width(rows: &[Row], at: usize) -> usize {
    let (field, column) = COLUMNS[at];
    let wanted = whole_width(rows, at);
    let least = if field == Field::Title { wanted.min(ROOMY) } else { column.align.least(wanted) };
    least.max(column.head.width())
}

/// The title on a line of its own, the rest below it.
fn in_two_lines(
    out: &mut impl Write,
    width: usize,
    rows: &[Row],
    common: &[Field],
    figure: Option<Field>,
) -> io::Result<()> {
    const BELOW: [Field; 4] = [Field::Doing, Field::Age, Field::Project, Field::Branch];
    let dim = Style::new().dimmed();
    for row in rows {
        writeln!(out, "{}", fit(row.cell(Field::Title).text(), width))?;
        let facts = BELOW.iter().filter(|field| !common.contains(field)).map(|field| row.cell(*field).text());
        let facts = facts.map(|fact| fact.trim_start().to_owned()).filter(|fact| fact != "-");
        let figure = figure.map(|field| named_figure(field, row.cell(field).text()));
        let facts = figure.into_iter().chain(facts).collect::<Vec<_>>().join(" · ");
        let id = row.cell(Field::Id).text();
        let room = width.saturating_sub(id.width() + 2 * GAP);
        let cyan = AnsiColor::Cyan.on_default();
        writeln!(out, "  {cyan}{id}{cyan:#}  {dim}{}{dim:#}", fit(&facts, room))?;
    }
    Ok(())
}

/// A figure where no heading says what it counts.
fn named_figure(field: Field, figure: &str) -> String {
    match field {
        Field::Messages => format!("{figure} messages"),
        Field::Tokens => format!("{figure} tokens"),
        _ => figure.to_owned(),
    }
}

/// Says what the columns would that are the same for all sessions.
fn said_once(out: &mut impl Write, width: usize, rows: &[Row], common: &[Field]) -> io::Result<()> {
    let [first, _, ..] = rows else { return Ok(()) };
    let fact = |field: &Field| match (field, first.cell(*field).text()) {
        (_, "-") => None,
        (Field::Project, project) => Some(format!("in {project}")),
        (Field::Branch, branch) => Some(format!("on branch {branch}")),
        (_, text) => Some(text.to_owned()),
    };
    let facts: Vec<String> = common.iter().filter_map(fact).collect();
    if facts.is_empty() {
        return Ok(());
    }
    let dim = Style::new().dimmed();
    writeln!(out, "{dim}{}{dim:#}", fit(&format!("all of these: {}", facts.join(", ")), width))
}

fn doing(session: &Session) -> Cell {
    let Some(activity) = &session.activity else { return Cell::styled("idle", Style::new().dimmed()) };
    let job = session.background_job.as_deref();
    Cell::styled(&watch::doing_word(activity, job), watch::doing_style(activity, job))
}

/// The title behind the signs of a session that continues on its own and of a pinned one, its tags, and what a background
/// job needs, which no long title cuts off.
fn title(session: &Session) -> String {
    let job = session.background_job.as_deref();
    let title = watch::job_title(job, session.title.as_deref().unwrap_or("(no title)"));
    let needs = job.and_then(|job| job.needs.as_deref());
    let title = needs.map_or(title.clone(), |needs| format!("needs: {} · {title}", fit(needs, NEEDS)));
    let loops = if goes_on(session) { [GOES_ON, " "].concat() } else { String::new() };
    let annotated = session.annotations.as_deref().map(annotation_signs).unwrap_or_default();
    let mate = session.team.as_deref().and_then(|team| team.agent.as_deref());
    let mate = mate.map(|agent| format!("└ {agent}: ")).unwrap_or_default();
    let others = match session.folded {
        0 => String::new(),
        count => format!("(+{count} like it) "),
    };
    format!("{mate}{loops}{annotated}{others}{title}")
}

/// What is before the title of a session that is pinned or tagged: `★ #tag `.
pub(crate) fn annotation_signs(annotations: &Annotations) -> String {
    let pin = annotations.pinned.then(|| "★ ".to_owned());
    let tags = annotations.tags.iter().map(|tag| format!("#{tag} "));
    pin.into_iter().chain(tags).collect()
}

/// The origin, for example `openclaw:main`; for a native session also how it was started, if not from a terminal.
fn origin(session: &Session) -> String {
    match (&session.origin, session.entrypoint.as_deref()) {
        (Origin::OpenClaw { agent, .. }, _) => format!("openclaw:{agent}"),
        (Origin::Archived, _) => "archived".to_owned(),
        (Origin::Ghost, _) => "ghost".to_owned(),
        (Origin::Native, None | Some("cli")) => "native".to_owned(),
        (Origin::Native, Some(entrypoint)) => {
            format!("native {}", entrypoint.strip_prefix("claude-").unwrap_or(entrypoint))
        }
    }
}

/// The cost from OpenClaw's registry, else our own estimate.
fn cost(session: &Session) -> String {
    match (session.registry_cost_usd, session.cost_usd) {
        (Some(known), _) => dollars(known),
        (None, Some(estimate)) => format!("~{}", dollars(estimate)),
        (None, None) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Activity, ArmedInfo, ArmedKind, BackgroundJob, BackgroundState, Evidence, ResumeCost, State,
    };

    use super::*;

    fn session(id: &str, title: &str, branch: &str) -> Session {
        let mut session = Session::new(id.parse().unwrap());
        session.title = Some(title.into());
        session.branch = Some(branch.into());
        session.project = Some("shop".into());
        session.last_modified = "2026-03-01T11:00:00Z".parse().ok();
        session.visible_messages = 1234;
        session.cost_usd = Some(12.5);
        session
    }

    #[track_caller]
    fn check(width: usize, all: &[Session], expected: &[&str]) {
        let mut out = Vec::new();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        sessions(&mut out, width, all, None, now, || TimeZone::UTC).unwrap();
        let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn titles_come_before_figures() {
        let long = "Rotate the refresh token when it is used twice by one client";
        let all = [session("a1234567", long, "fix/token-refresh"), session("b1234567", "Fix it", "main")];
        check(
            80,
            &all,
            &[
                "TITLE                                     BRANCH          AGE     COST  ID",
                "Rotate the refresh token when it is use…  fix/token-ref…   1h  ~$12.50  a1234567",
                "Fix it                                    main             1h  ~$12.50  b1234567",
                "all of these: idle, native, in shop",
            ],
        );
        check(
            60,
            &all,
            &[
                "Rotate the refresh token when it is used twice by one client",
                "  a1234567  1h · fix/token-refresh",
                "Fix it",
                "  b1234567  1h · main",
                "all of these: idle, native, in shop",
            ],
        );
    }

    #[test]
    fn the_figure_that_sorts_is_never_left_out() {
        let long = "Rotate the refresh token when it is used twice by one client";
        let all = [session("a1234567", long, "fix/token-refresh"), session("b1234567", "Fix it", "main")];
        let shown = |width| {
            let mut out = Vec::new();
            let now = "2026-03-01T12:00:00Z".parse().unwrap();
            let order = Some(SessionOrder::Messages);
            sessions(&mut out, width, &all, order, now, || TimeZone::UTC).unwrap();
            anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
        };
        assert!(shown(80).starts_with("TITLE") && shown(80).contains("MESSAGES"), "{}", shown(80));
        assert!(shown(60).contains("  a1234567  1.2k messages · 1h"), "{}", shown(60));
    }

    fn job(id: &str, state: BackgroundState, needs: Option<&str>) -> Session {
        let mut session = session(id, "Try the new deploy script on staging", "main");
        session.activity = Some(Activity::new(State::Idle, Evidence::Registry, None));
        session.background_job = Some(Box::new(BackgroundJob {
            id: id.to_owned(),
            name: Some("staging deploy".to_owned()),
            state,
            needs: needs.map(ToOwned::to_owned),
            detail: None,
        }));
        session
    }

    #[test]
    fn background_jobs_have_their_name_their_state_and_what_they_need() {
        use BackgroundState::{Blocked, Done, Failed, Stopped, Working};
        let asks = "approve Bash: ./deploy --to staging --now";
        let all = [
            job("a1234567", Blocked, Some(asks)),
            job("b1234567", Working, None),
            job("c1234567", Done, None),
            job("d1234567", Failed, None),
            job("e1234567", Stopped, None),
            session("f1234567", "Fix it", "main"),
        ];
        for width in [60, 80, 120] {
            let mut out = Vec::new();
            let now = "2026-03-01T12:00:00Z".parse().unwrap();
            sessions(&mut out, width, &all, None, now, || TimeZone::UTC).unwrap();
            let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
            insta::assert_snapshot!(format!("jobs_{width}"), text);
        }
    }

    #[test]
    fn what_goes_on_by_itself_is_marked() {
        let mut armed = session("a1234567", "Fix it", "main");
        armed.resume_cost = Some(Box::new(ResumeCost {
            tokens: 120_000,
            cached: true,
            cache_minutes: 60,
            minutes_since_use: Some(5),
            cost_usd: Some(0.06),
            model: None,
            window_used: 0.6,
            tokens_until_compaction: 46_000,
            alternatives: Vec::new(),
            armed: vec![ArmedInfo {
                kind: ArmedKind::WakeUp,
                what: "/loop check the build".to_owned(),
                schedule: None,
                at: None,
                line: 7,
            }],
        }));
        let note = "↻ continues on its own once resumed (schedule or loop)";
        check(
            120,
            &[armed.clone(), session("b1234567", "Mend it", "main")],
            &[
                "TITLE     AGE  MESSAGES  TOKENS     COST        RESUME  ID",
                "↻ Fix it   1h      1.2k       0  ~$12.50  $0.06 cached  a1234567",
                "Mend it    1h      1.2k       0  ~$12.50             -  b1234567",
                "all of these: idle, native, in shop, on branch main",
                note,
            ],
        );
        check(
            60,
            &[armed, session("b1234567", "Mend it", "main")],
            &[
                "↻ Fix it",
                "  a1234567  1h",
                "Mend it",
                "  b1234567  1h",
                "all of these: idle, native, in shop, on branch main",
                "↻ continues on its own once resumed (schedule or loop)",
            ],
        );
    }

    #[test]
    fn one_session_has_the_columns_that_say_something() {
        check(
            100,
            &[session("a1234567", "Fix it", "main")],
            &[
                "TITLE   PROJECT  BRANCH  AGE  MESSAGES  TOKENS     COST  ID",
                "Fix it  shop     main     1h      1.2k       0  ~$12.50  a1234567",
            ],
        );
    }
}
