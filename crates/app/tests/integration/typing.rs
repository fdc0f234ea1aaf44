//! Search as you type: what is found narrows with every letter, and the right session stays where it is.

use app::search::{Answer, HitTexts, Request as SearchRequest, search};
use app::{Caller, Context};
use serde_json::Value;
use testkit::Transcript;
use testkit::long::amount;

use crate::scene::{PERSON, Scene};

const SESSIONS: &str = include_str!("../../../interfaces/cli/tests/labelled/sessions.jsonl");
const QUERIES: &str = include_str!("../../../interfaces/cli/tests/labelled/queries.jsonl");
/// How many words of a question are typed in an ordinary run.
const WORDS: usize = 4;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A scene with the labelled sessions, in words alone.
fn scene() -> Scene {
    let scene = Scene::new();
    for (minute, session) in (0..).zip(lines(SESSIONS)) {
        let cwd = scene.home().path().join(text(&session["project"]));
        let transcript = Transcript::new(text(&session["id"])).cwd(cwd).minutes_later(minute * 90);
        let turns = session["turns"].as_array().unwrap().iter();
        let said = turns.fold(transcript, |said, turn| said.prompt(text(&turn[0])).answer(text(&turn[1])));
        said.write_to(scene.home());
    }
    scene
}

/// A hundred questions, each with the sessions that answer it: those that are labelled, and how sessions begin.
fn questions() -> Vec<(String, Vec<String>)> {
    let labelled = lines(QUERIES).into_iter().map(|query| {
        let right = query["relevant"].as_object().unwrap().keys().cloned().collect();
        (text(&query["query"]).to_owned(), right)
    });
    let begun = lines(SESSIONS)
        .into_iter()
        .map(|session| (text(&session["turns"][0][0]).to_owned(), vec![text(&session["id"]).to_owned()]));
    labelled.chain(begun).collect()
}

fn typed(context: &Context, question: &str) -> Answer {
    let request = SearchRequest {
        query: question.to_owned(),
        max_age_seconds: 600,
        texts: HitTexts::Omitted,
        limit: Some(30),
        ..SearchRequest::default()
    };
    search(context, &request).unwrap_or_else(|error| panic!("{question}: {}", error.message))
}

/// Whether a word has no parts that are words of their own, as `OrderWithId` and `k8s` have.
fn is_one_word(word: &str) -> bool {
    !word.chars().skip(1).any(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
}

fn first(answer: &Answer) -> Option<String> {
    answer.hits.first().and_then(|hit| hit.session_id.as_ref()).map(ToString::to_string)
}

#[test]
fn each_letter_narrows_and_what_holds_all_words_is_good() {
    let scene = scene();
    let context = scene.context(Caller::Person, PERSON.1);
    let all = questions();
    assert!(all.len() >= 100, "{}", all.len());
    let mut lost = Vec::new();
    let mut kept = 0;
    for (question, right) in &all {
        let words: Vec<&str> = question.split(' ').take(amount(WORDS, usize::MAX)).collect();
        let mut before = String::new();
        let mut top_before = None;
        for word in words {
            let (mut total, mut tops) = (u64::MAX, Vec::new());
            for (at, letter) in word.char_indices() {
                let prefix = format!("{before}{}", &word[..at + letter.len_utf8()]);
                // A filter or a quotation is something else while it is typed.
                if !prefix.ends_with(|letter: char| letter.is_ascii_alphanumeric())
                    || prefix.contains(['"', ':', '/', '.', '#'])
                {
                    total = u64::MAX;
                    continue;
                }
                let answer = typed(&context, &prefix);
                assert!(
                    answer.total <= total || !is_one_word(word),
                    "`{prefix}`: {} after {total}",
                    answer.total
                );
                total = answer.total;
                if answer.total > 0 {
                    let best =
                        answer.hits.first().map(|hit| (&hit.title, hit.score, hit.confidence, hit.weak));
                    assert!(
                        best.is_some_and(|(.., weak)| !weak),
                        "`{prefix}`: {} match, best {best:?}",
                        answer.total
                    );
                }
                tops.push((prefix, first(&answer)));
            }
            let is_right = |top: &Option<String>| top.as_ref().is_some_and(|top| right.contains(top));
            let end = tops.last().and_then(|(_, top)| top.clone());
            if is_right(&top_before) && is_right(&end) {
                let left = tops.iter().filter(|(_, top)| !is_right(top));
                lost.extend(left.map(|(prefix, top)| format!("`{prefix}` → {top:?}")));
                kept += tops.len();
            }
            top_before = end;
            before = format!("{before}{word} ");
        }
    }
    assert!(kept > 200, "{kept}");
    // Words that are in most sessions, half typed, still do.
    assert!(
        lost.len() * 100 <= kept,
        "{} of {kept} letters move another session to the top:\n{}",
        lost.len(),
        lost.join("\n")
    );
}

#[test]
fn the_last_word_is_a_prefix_until_a_space_ends_it() {
    let scene = Scene::new();
    let at = |number: usize| format!("{number:08}-1111-4111-8111-111111111111");
    for (number, message) in [
        "the rebase overwrites the shadow branch",
        "rebase the release branch",
        "an overview of the kettle",
        "golang lint errors",
        "golangci reports errors",
    ]
    .into_iter()
    .enumerate()
    {
        scene.add_session(&at(number), PERSON.1, message);
    }
    // Each call writes the person's transcript of that id.
    let context = scene.context(Caller::Person, PERSON.1);
    let totals = |questions: &[&str]| -> Vec<u64> {
        questions.iter().map(|question| typed(&context, question).total).collect()
    };
    assert_eq!(
        totals(&["rebase", "rebase o", "rebase over", "rebase overw", "rebase overwrite"]),
        [2, 1, 1, 1, 1]
    );
    assert_eq!(totals(&["golang", "golangc", "golangci", "golangci l"]), [2, 1, 1, 0]);
    assert_eq!(totals(&["golang "]), [1], "the word is complete");
    for question in ["rebase", "rebase o", "rebase over", "rebase overw", "rebase overwrite"] {
        let answer = typed(&context, question);
        assert!(!answer.hits[0].weak, "{question}");
        let expected = at(0);
        if question != "rebase" {
            assert_eq!(first(&answer), Some(expected), "{question}");
        }
    }
    // Nothing has both: the words before it are answered, and nothing counts.
    let answer = typed(&context, "rebase kettl");
    assert_eq!((answer.total, answer.hits.is_empty()), (0, false));
}
