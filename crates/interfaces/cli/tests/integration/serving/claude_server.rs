//! What is needed to talk to the real `claude` through a server: a scripted model, and the server itself.

use serde_json::json;
use testkit::{Answer, Script};

use super::Server;
use crate::desk::Desk;

/// A model that greets, wants to use a tool, and asks a question.
pub(super) fn script() -> Script {
    let make = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "Like a barn"}, {"label": "Blue", "description": "Like the sea"},
    ]}]});
    let mut questions = question.clone();
    questions["questions"].as_array_mut().expect("questions").push(
        json!({"question": "How many?", "header": "Number", "multiSelect": false, "options": [
            {"label": "Two", "description": "A pair"}, {"label": "Three", "description": "A crowd"},
        ]}),
    );
    Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("make a file", [Answer::text("I will.").then_tool("Bash", make), Answer::text("Made.")])
        .on(
            "ask me twice",
            [Answer::tool("AskUserQuestion", questions), Answer::text("Three blue ones it is.")],
        )
        .on("ask me", [Answer::tool("AskUserQuestion", question), Answer::text("Blue it is.")])
}

/// A server at a desk.
pub(super) fn server(desk: &Desk) -> Server {
    Server::of(&desk.home, desk.command(&[]), &[])
}
