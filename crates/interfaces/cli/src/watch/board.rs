//! The state of the live view: sessions grouped by project, those that need you first. Pure.

use std::collections::{HashMap, HashSet};

use app::live::watch::{Facts, Listed};
use jiff::{SignedDuration, Timestamp};
use model::{
    Activity, BackgroundJob, BackgroundState, Evidence, SessionEvent, SessionId, SessionInfo, State,
    SubagentEvent,
};

/// A session without a process is shown if it was active this recently.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// One session on the board.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    pub(crate) id: SessionId,
    pub(crate) title: String,
    pub(crate) project: String,
    pub(crate) activity: Activity,
    /// The background job of Claude Code that it is.
    pub(crate) job: Option<BackgroundJob>,
    pub(crate) context: u64,
    pub(crate) cost: Option<f64>,
    pub(crate) last: Option<Timestamp>,
    /// The process that has it open.
    pub(crate) pid: Option<u32>,
    pub(crate) subagents: Vec<SubagentEvent>,
}

/// How much a session needs a person, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// It asks for a permission or asks a question.
    Blocked,
    /// Its turn is over.
    Waiting,
    /// Claude is working and needs nothing.
    Working,
    /// It is idle or ended.
    Idle,
}

/// A line of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    /// The heading of a project's sessions.
    Project { name: String, sessions: usize },
    /// A session: its index among the cards.
    Session(usize),
    /// A sub-agent of a session: both indices.
    Subagent(usize, usize),
}

/// The sessions of the live view, its filter and its cursor.
#[derive(Debug, Default)]
pub(crate) struct Board {
    watched: HashMap<SessionId, SessionInfo>,
    facts: Listed,
    cards: Vec<Card>,
    rows: Vec<Row>,
    /// Whether old sessions are shown too.
    pub(crate) all: bool,
    /// The words that shown sessions contain.
    pub(crate) filter: String,
    /// The session the cursor is on.
    pub(crate) selected: Option<SessionId>,
    hidden: usize,
    /// Whether the sessions have been listed.
    pub(crate) is_listed: bool,
    /// Sessions that were removed since they were listed.
    removed: HashSet<SessionId>,
    /// Sessions that the person has hidden.
    left_out: HashSet<SessionId>,
}

impl Card {
    /// How much the session needs a person.
    pub(crate) fn need(&self) -> Need {
        match self.activity.state {
            _ if self.activity.is_blocked() => Need::Blocked,
            _ if self.job_is(BackgroundState::Blocked) => Need::Blocked,
            _ if self.job_is(BackgroundState::Working) && self.activity.needs().is_none() => Need::Working,
            State::WaitingInput | State::Failed => Need::Waiting,
            State::Thinking | State::ToolUse | State::Responding | State::WaitingPermission => Need::Working,
            State::Idle | State::Ended | State::Lost => Need::Idle,
        }
    }

    /// Whether its turn or the background job that it is has failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.activity.state == State::Failed || self.job_is(BackgroundState::Failed)
    }

    fn job_is(&self, state: BackgroundState) -> bool {
        self.job.as_ref().is_some_and(|job| job.state == state)
    }

    fn matches(&self, filter: &str) -> bool {
        let text = format!(
            "{} {} {} {} {}",
            self.title,
            self.project,
            self.id,
            super::doing_word(&self.activity, self.job.as_ref()),
            [self.activity.tool.as_deref(), self.activity.asking.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        );
        let text = text.to_lowercase();
        filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

impl Board {
    /// The cards that are shown.
    pub(crate) fn cards(&self) -> &[Card] {
        &self.cards
    }

    /// The lines, from the top.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many sessions are hidden because they are old.
    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// Replaces all watched sessions.
    pub(crate) fn reset(&mut self, sessions: Vec<SessionInfo>) {
        self.watched = sessions.into_iter().map(|info| (info.session_id.clone(), info)).collect();
    }

    /// Leaves these sessions out, and no others.
    pub(crate) fn leave_out(&mut self, sessions: HashSet<SessionId>) {
        self.left_out = sessions;
    }

    /// Takes over the facts of a new listing.
    pub(crate) fn set_facts(&mut self, facts: Listed) {
        self.removed.clear();
        self.is_listed = true;
        self.facts = facts;
    }

    /// Applies an event; returns true when the sessions should be listed again.
    pub(crate) fn apply(&mut self, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
                let before = self.watched.insert(info.session_id.clone(), (**info).clone());
                let works = |info: &SessionInfo| info.activity.state.is_working();
                before.is_none_or(|before| works(&before) && !works(info))
            }
            SessionEvent::SessionRemoved { session_id, .. } => {
                self.watched.remove(session_id);
                self.removed.insert(session_id.clone());
                true
            }
            SessionEvent::SessionsRefresh { sessions } => {
                self.reset(sessions.clone());
                true
            }
            SessionEvent::SessionsChanged { .. } => true,
            SessionEvent::SessionActivity(_)
            | SessionEvent::Announcement(_)
            | SessionEvent::SessionEvent(_)
            | SessionEvent::SubagentSpawned(_)
            | SessionEvent::SubagentProgress(_)
            | SessionEvent::SubagentCompleted(_)
            | SessionEvent::Resync { .. }
            | SessionEvent::Watching(_) => false,
        }
    }

    /// Filters, sorts and groups the sessions, as of `now`.
    pub(crate) fn arrange(&mut self, now: Timestamp) {
        let listed = self.facts.iter().filter(|(id, _)| !self.removed.contains(*id));
        let unwatched = listed.filter(|(id, _)| !self.watched.contains_key(*id));
        let known = self.watched.iter().map(|(id, info)| (id, Some(info), self.facts.get(id)));
        let known = known.chain(unwatched.map(|(id, facts)| (id, None, Some(facts))));
        let (all, is_filtered) = (self.all, !self.filter.is_empty());
        self.hidden = 0;
        let mut cards = Vec::new();
        for (id, info, facts) in known.filter(|(id, ..)| !self.left_out.contains(*id)) {
            let last = last(info, facts);
            let is_recent = last.is_some_and(|last| now.duration_since(last) < RECENT);
            if all || is_filtered || is_recent || is_alive(info, facts) {
                cards.push(card(id, info, facts));
            } else {
                self.hidden += 1;
            }
        }
        cards.retain(|card| card.matches(&self.filter));
        sort(&mut cards);
        self.cards = cards;
        self.rows = rows(&self.cards);
        let is_there = self.selected.as_ref().is_some_and(|id| self.cards.iter().any(|card| card.id == *id));
        if !is_there {
            self.selected = self.cards.first().map(|card| card.id.clone());
        }
    }

    /// The card the cursor is on.
    pub(crate) fn selected(&self) -> Option<&Card> {
        self.cards.get(self.place()?)
    }

    /// What a listing knows of the session the cursor is on; `None` where a process has it open.
    pub(crate) fn resumable(&self) -> Option<&Facts> {
        let id = &self.selected()?.id;
        let facts = self.facts.get(id)?;
        (!is_alive(self.watched.get(id), Some(facts))).then_some(facts)
    }

    /// The line the cursor is on.
    pub(crate) fn selected_row(&self) -> usize {
        let place = self.place();
        self.rows.iter().position(|row| matches!(row, Row::Session(at) if Some(*at) == place)).unwrap_or(0)
    }

    /// Moves the cursor by so many sessions.
    pub(crate) fn step(&mut self, by: isize) {
        let last = self.cards.len().saturating_sub(1);
        let place = self.place().unwrap_or(0).saturating_add_signed(by).min(last);
        self.selected = self.cards.get(place).map(|card| card.id.clone());
    }

    /// Moves the cursor to the next session that needs a person.
    pub(crate) fn next_in_need(&mut self) {
        let from = self.place().map_or(0, |place| place + 1);
        let in_need = |need: Need| {
            let (before, after) = self.cards.split_at(from.min(self.cards.len()));
            after.iter().chain(before).find(|card| card.need() == need).map(|card| card.id.clone())
        };
        if let Some(id) = in_need(Need::Blocked).or_else(|| in_need(Need::Waiting)) {
            self.selected = Some(id);
        }
    }

    fn place(&self) -> Option<usize> {
        self.cards.iter().position(|card| Some(&card.id) == self.selected.as_ref())
    }
}

fn last(info: Option<&SessionInfo>, facts: Option<&Facts>) -> Option<Timestamp> {
    info.and_then(|info| info.last_activity).max(facts.and_then(|facts| facts.last))
}

fn is_alive(info: Option<&SessionInfo>, facts: Option<&Facts>) -> bool {
    info.is_some_and(|info| info.pid.is_some()) || facts.is_some_and(|facts| facts.is_running)
}

fn card(id: &SessionId, info: Option<&SessionInfo>, facts: Option<&Facts>) -> Card {
    let idle = || Activity::new(State::Idle, Evidence::Timer, None);
    let activity = info.map(|info| info.activity.clone());
    let activity = activity.or_else(|| facts.and_then(|facts| facts.activity.clone()));
    let title = facts.and_then(|facts| facts.title.as_deref());
    let title = title.or_else(|| info.and_then(|info| info.title.as_deref()));
    let job = match info {
        Some(info) => info.background_job.clone(),
        None => facts.and_then(|facts| facts.background_job.as_deref().cloned()),
    };
    let project = facts.and_then(|facts| facts.project.as_deref());
    let project = project.or_else(|| info.and_then(|info| info.project.as_deref()));
    let context = info.map(|info| info.context_tokens).filter(|tokens| *tokens > 0);
    Card {
        id: id.clone(),
        title: super::job_title(job.as_ref(), title.unwrap_or("(no title)")),
        job,
        project: project.unwrap_or("-").to_owned(),
        activity: activity.unwrap_or_else(idle),
        context: context.or(facts.map(|facts| facts.context_tokens)).unwrap_or(0),
        cost: facts.and_then(|facts| facts.cost_usd),
        last: last(info, facts),
        pid: info.and_then(|info| info.pid),
        subagents: info.map(|info| info.subagents.clone()).unwrap_or_default(),
    }
}

/// Sorts projects by their most urgent session, then by the latest; and the sessions of a project likewise.
fn sort(cards: &mut [Card]) {
    let mut best: HashMap<String, (Need, std::cmp::Reverse<Option<Timestamp>>)> = HashMap::new();
    for card in cards.iter() {
        let key = (card.need(), std::cmp::Reverse(card.last));
        let known = best.entry(card.project.clone()).or_insert(key);
        *known = (*known).min(key);
    }
    cards.sort_by(|one, other| {
        let group = |card: &Card| best.get(&card.project).copied();
        let own = |card: &Card| (card.need(), std::cmp::Reverse(card.last));
        group(one)
            .cmp(&group(other))
            .then_with(|| one.project.cmp(&other.project))
            .then_with(|| own(one).cmp(&own(other)))
            .then_with(|| one.id.cmp(&other.id))
    });
}

fn rows(cards: &[Card]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut project: Option<(&str, usize)> = None;
    for (at, card) in cards.iter().enumerate() {
        match project {
            Some((name, head)) if name == card.project => {
                if let Row::Project { sessions, .. } = &mut rows[head] {
                    *sessions += 1;
                }
            }
            _ => {
                project = Some((&card.project, rows.len()));
                rows.push(Row::Project { name: card.project.clone(), sessions: 1 });
            }
        }
        rows.push(Row::Session(at));
        rows.extend((0..card.subagents.len()).map(|agent| Row::Subagent(at, agent)));
    }
    rows
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn now() -> Timestamp {
        "2026-11-20T09:00:00Z".parse().unwrap()
    }

    pub(crate) fn info(id: &str, project: &str, state: State, minutes_ago: i64) -> SessionInfo {
        let at = now() - SignedDuration::from_mins(minutes_ago);
        SessionInfo {
            session_id: id.parse().unwrap(),
            activity: Activity::new(state, Evidence::Registry, Some(at)),
            title: Some(format!("Title of {id}")),
            cwd: None,
            project: Some(project.to_owned()),
            branch: None,
            model: None,
            context_tokens: 12_345,
            created: None,
            last_activity: Some(at),
            pid: None,
            subagents: Vec::new(),
            background_job: None,
        }
    }

    fn board(infos: Vec<SessionInfo>) -> Board {
        let mut board = Board::default();
        board.reset(infos);
        board.arrange(now());
        board
    }

    fn shown(board: &Board) -> String {
        let word = |row: &Row| match row {
            Row::Project { name, sessions } => format!("{name}:{sessions}"),
            Row::Session(at) => board.cards[*at].id.to_string(),
            Row::Subagent(at, agent) => board.cards[*at].subagents[*agent].task_id.clone(),
        };
        board.rows.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_one_that_needs_you_is_on_top_with_its_project() {
        let board = board(vec![
            info("a1", "web", State::Thinking, 1),
            info("a2", "web", State::Idle, 2),
            info("b1", "api", State::WaitingInput, 3),
            info("c1", "cli", State::WaitingPermission, 40),
            info("c2", "cli", State::Thinking, 1),
        ]);
        assert_eq!(shown(&board), "cli:2 c1 c2 api:1 b1 web:2 a1 a2");
        assert_eq!(board.selected().map(|card| card.id.as_str()), Some("c1"));
    }

    #[test]
    fn the_cursor_stays_on_its_session() {
        let mut board = board(vec![info("a1", "web", State::Thinking, 1), info("b1", "api", State::Idle, 1)]);
        board.step(1);
        assert_eq!(board.selected().map(|card| card.id.as_str()), Some("b1"));
        board.apply(&SessionEvent::SessionUpdated(Box::new(info("b1", "api", State::WaitingInput, 0))));
        board.arrange(now());
        assert_eq!(shown(&board), "api:1 b1 web:1 a1");
        assert_eq!(board.selected().map(|card| card.id.as_str()), Some("b1"));
        board.step(5);
        assert_eq!(board.selected().map(|card| card.id.as_str()), Some("a1"));
        board.next_in_need();
        assert_eq!(board.selected().map(|card| card.id.as_str()), Some("b1"));
    }

    #[test]
    fn words_filter_and_old_sessions_stay_away_until_they_are_wanted() {
        let old = info("old", "attic", State::Idle, 60 * 48);
        let mut board = board(vec![info("a1", "web", State::Thinking, 1), old]);
        assert_eq!((shown(&board).as_str(), board.hidden()), ("web:1 a1", 1));
        board.all = true;
        board.arrange(now());
        assert_eq!(shown(&board), "web:1 a1 attic:1 old");
        board.filter = "title ATTIC".to_owned();
        board.arrange(now());
        assert_eq!(shown(&board), "attic:1 old");
        board.filter = "nothing like it".to_owned();
        board.arrange(now());
        assert_eq!((shown(&board).as_str(), board.selected().is_none()), ("", true));
    }

    #[test]
    fn sessions_that_were_hidden_are_neither_shown_nor_counted() {
        let old = |id| info(id, "attic", State::Idle, 60 * 48);
        let mut board = board(vec![
            info("a1", "web", State::Thinking, 1),
            old("b1"),
            old("b2"),
            info("a2", "web", State::WaitingPermission, 1),
        ]);
        board.leave_out(["a2", "b2"].map(|id| id.parse().unwrap()).into());
        board.arrange(now());
        assert_eq!((shown(&board).as_str(), board.hidden()), ("web:1 a1", 1));
        board.all = true;
        board.arrange(now());
        assert_eq!(shown(&board), "web:1 a1 attic:1 b1");
        board.leave_out(HashSet::new());
        board.arrange(now());
        assert_eq!(shown(&board), "web:2 a2 a1 attic:2 b1 b2");
    }

    #[test]
    fn a_listing_is_wanted_when_a_turn_is_over() {
        let mut board = board(vec![info("a1", "web", State::Thinking, 1)]);
        let update = |state| SessionEvent::SessionUpdated(Box::new(info("a1", "web", state, 0)));
        assert!(!board.apply(&update(State::ToolUse)));
        assert!(board.apply(&update(State::WaitingInput)));
        assert!(!board.apply(&update(State::Thinking)));
    }

    #[test]
    fn thousands_of_sessions_are_arranged() {
        let states = [State::Idle, State::Thinking, State::WaitingInput, State::WaitingPermission];
        let infos =
            (0..10_000).map(|n: usize| info(&format!("s{n}"), &format!("p{}", n % 300), states[n % 4], 5));
        let board = board(infos.collect());
        assert_eq!(board.rows().len(), 10_300);
    }
}
