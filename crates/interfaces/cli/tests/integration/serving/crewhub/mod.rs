//! The routes of CrewHub's front end, each with the shape that it reads.

mod connections;
mod jobs;
mod office;
mod sessions;
mod unsupported;

use serde_json::Value;
use testkit::{ScratchHome, Transcript};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
const KEY: &str = "claude:3601d36f-b6c0-4e4b-9000-7b07e25374f7";

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let long_ago = Transcript::new(ID).cwd(&shop).at("2020-02-02T12:00:00Z");
    long_ago.prompt("paint the fence green").answer("Done.").write_to(&home);
    home
}

/// Fails unless the value has these fields, each of this kind; `?` after a kind allows `null`.
#[track_caller]
fn check(value: &Value, fields: &str) {
    for field in fields.split(' ') {
        let (name, kind) = field.split_once(':').expect("a kind");
        let (kind, may_be_null) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
        let found = value.get(name).unwrap_or_else(|| panic!("no {name} in {value}"));
        let is_it = match kind {
            "text" => found.is_string(),
            "number" => found.is_number(),
            "yes" => found.is_boolean(),
            "list" => found.is_array(),
            "object" => found.is_object(),
            other => panic!("unknown kind {other}"),
        };
        assert!(is_it || (may_be_null && found.is_null()), "{name} is no {kind} in {value}");
    }
}
