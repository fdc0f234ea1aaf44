use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{FlockOperation, flock};

use super::entry::BROWSERS;
use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn tokens() -> (tempfile::TempDir, Tokens) {
    let scratch = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(&Config { state: scratch.path().to_owned(), ..Config::default() }).unwrap();
    (scratch, tokens)
}

#[test]
fn a_token_is_kept_as_a_digest_in_a_private_file() {
    let (_scratch, tokens) = tokens();
    let made = tokens.add("phone", TokenScope::Act, NOW).unwrap();
    let kept = system::read_small(&tokens.file.path, 10_000).unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains(&made.token));
    assert_eq!(tokens.file.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(tokens.grant(&made.token, NOW).unwrap().scope(), TokenScope::Act);
    assert!(tokens.grant("", NOW).is_none() && tokens.grant(&digest(&made.token), NOW).is_none());
}

#[test]
fn a_token_ends_when_another_process_revokes_it_and_its_browsers_with_it() {
    let (scratch, tokens) = tokens();
    let made = tokens.add("phone", TokenScope::Read, NOW).unwrap();
    let browser = tokens.add_browser(&tokens.grant(&made.token, NOW).unwrap(), NOW).unwrap();
    let granted = || tokens.browser(&browser.cookie, &browser.key, NOW);
    assert!(granted().is_some_and(|grant| grant.scope() == TokenScope::Read));
    let other = Tokens::open(&Config { state: scratch.path().to_owned(), ..Config::default() }).unwrap();
    assert_eq!(other.revoke("phone").unwrap(), 2);
    assert_eq!(other.revoke("phone").unwrap_err().kind, Kind::NotFound);
    assert!(tokens.grant(&made.token, NOW).is_none() && granted().is_none());
}

#[test]
fn neither_half_of_a_browser_is_worth_anything_alone() {
    let (_scratch, tokens) = tokens();
    let [one, other] = [(), ()].map(|()| tokens.add_browser(&Grant::of_link(), NOW).unwrap());
    let check = |cookie: &str, key: &str, expected: bool| {
        assert_eq!(tokens.browser(cookie, key, NOW).is_some(), expected, "{cookie} {key}");
    };
    check(&one.cookie, &one.key, true);
    check(&other.cookie, &other.key, true);
    check(&one.cookie, &other.key, false);
    check(&one.key, &one.cookie, false);
    check(&one.cookie, "", false);
    check(&one.cookie, &one.cookie, false);
    for secret in [&one.cookie, &one.key] {
        assert!(tokens.grant(secret, NOW).is_none());
    }
    assert!(
        tokens.browser_of_cookie(&one.cookie, NOW).is_some()
            && tokens.browser_of_cookie(&one.key, NOW).is_none()
    );
}

#[test]
fn a_browser_of_before_has_to_sign_in_again() {
    let (_scratch, tokens) = tokens();
    let browser = tokens.add_browser(&Grant::of_link(), NOW).unwrap();
    let without_key = |entries: &mut Vec<Entry>| {
        entries[0].key = None;
        Ok(())
    };
    tokens.file.edit(without_key).unwrap();
    assert!(tokens.browser(&browser.cookie, &browser.key, NOW).is_none());
    assert!(tokens.browser_of_cookie(&browser.cookie, NOW).is_none() && tokens.list(NOW).unwrap().is_empty());
}

#[test]
fn a_browser_is_known_for_a_month_and_not_too_many_of_a_name_are() {
    let (_scratch, tokens) = tokens();
    let is_known = |browser: &BrowserSecrets, at| tokens.browser(&browser.cookie, &browser.key, at).is_some();
    let first = tokens.add_browser(&Grant::of_link(), NOW).unwrap();
    let made = tokens.add("phone", TokenScope::Read, NOW).unwrap();
    let phone = tokens.grant(&made.token, NOW).unwrap();
    let of_phone = tokens.add_browser(&phone, NOW).unwrap();
    let later = NOW + SignedDuration::from_hours(24 * BROWSER_DAYS);
    assert!(is_known(&first, NOW) && !is_known(&first, later));
    for _ in 0..BROWSERS {
        tokens.add_browser(&phone, NOW).unwrap();
    }
    assert!(is_known(&first, NOW) && !is_known(&of_phone, NOW));
    for _ in 0..BROWSERS {
        tokens.add_browser(&Grant::of_link(), NOW).unwrap();
    }
    assert!(!is_known(&first, NOW));
    assert_eq!(tokens.list(NOW).unwrap().len(), 2 * BROWSERS + 1);
}

#[test]
fn a_link_is_exchanged_once_and_soon_and_good_for_nothing_else() {
    let (_scratch, tokens) = tokens();
    let link = tokens.add_link(TokenScope::Act, NOW).unwrap();
    assert!(tokens.grant(&link, NOW).is_none() && tokens.list(NOW).unwrap().is_empty());
    assert!(tokens.exchange_link("another", NOW).is_none());
    let late = NOW + SignedDuration::from_mins(LINK_MINUTES);
    assert!(tokens.exchange_link(&link, late).is_none());
    let browser = tokens.exchange_link(&link, NOW).unwrap().unwrap();
    let grant = tokens.browser(&browser.cookie, &browser.key, NOW).unwrap();
    assert_eq!(grant.scope(), TokenScope::Act);
    assert!(tokens.exchange_link(&link, NOW).is_none());
    assert_eq!(tokens.revoke(LINK).unwrap(), 1);
}

#[test]
fn the_last_use_is_kept_to_the_hour_and_by_no_request_in_between() {
    let (_scratch, tokens) = tokens();
    let made = tokens.add("phone", TokenScope::Read, NOW).unwrap();
    let other = tokens.add("laptop", TokenScope::Read, NOW).unwrap();
    let used = || tokens.list(NOW).unwrap().into_iter().map(|token| token.last_used).collect::<Vec<_>>();
    assert_eq!(used(), [None, None]);
    let at = |minutes: i64| NOW + SignedDuration::from_mins(minutes);
    for (minutes, kept) in [(1, 1), (2, 1), (60, 1), (61, 61), (-10, -10)] {
        assert!(tokens.grant(&made.token, at(minutes)).is_some());
        assert_eq!(used(), [Some(at(kept)), None], "{minutes}");
    }
    // What a stream keeps open is in use, too; a link that signs a browser in is none of the tokens.
    let browser = tokens.add_browser(&tokens.grant(&other.token, at(0)).unwrap(), at(0)).unwrap();
    assert!(tokens.holds(&digest(&browser.cookie), at(5)));
    assert_eq!(used(), [Some(at(-10)), Some(at(0)), Some(at(5))]);
}

#[test]
fn a_use_that_cannot_be_kept_is_answered_and_not_tried_again_at_once() {
    let (_scratch, tokens) = tokens();
    let made = tokens.add("phone", TokenScope::Read, NOW).unwrap();
    // Another process changes the file meanwhile.
    let lock = File::open(&tokens.file.lock).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    assert!(tokens.grant(&made.token, NOW).is_some());
    drop(lock);
    let stamp = || tokens.file.stamp().unwrap();
    let before = stamp();
    assert!(tokens.grant(&made.token, NOW).is_some());
    assert_eq!(before, stamp());
    assert_eq!(tokens.list(NOW).unwrap()[0].last_used, None);
    // A token that was revoked is not brought back.
    assert_eq!(tokens.revoke("phone").unwrap(), 1);
    assert_eq!(tokens.keep_use(&digest(&made.token), NOW).unwrap_err().kind, Kind::NotFound);
}

#[test]
fn names_are_plain_and_used_once() {
    let (_scratch, tokens) = tokens();
    tokens.add("a-b_c.1", TokenScope::Read, NOW).unwrap();
    for name in ["", "a b", "a/b", "a-b_c.1", LINK, &"x".repeat(65)] {
        assert_eq!(tokens.add(name, TokenScope::Read, NOW).unwrap_err().kind, Kind::Usage, "{name}");
    }
}
