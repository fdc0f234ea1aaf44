//! An answer in the API's words: one JSON message, or the same as a stream of server-sent events.

use model::Usage;
use serde_json::{Value, json};

use super::script::{Answer, Part};

/// Who answers, and at what count.
pub(super) struct Envelope {
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) usage: Usage,
}

/// A step of a streamed answer.
pub(super) enum Frame {
    Bytes(String),
    Hold(super::Gate),
    Cut,
}

/// The whole answer as one message.
pub(super) fn message(answer: &Answer, envelope: &Envelope) -> Value {
    let content: Vec<Value> =
        blocks(answer, envelope.number).map(|(block, delta)| filled(block, &delta)).collect();
    let mut message = empty_message(envelope, &usage_json(envelope.usage));
    message["content"] = content.into();
    message["stop_reason"] = stop_reason(answer).into();
    message
}

/// The answer as events, with the places where it waits or breaks.
pub(super) fn frames(answer: &Answer, envelope: &Envelope) -> Vec<Frame> {
    // The stream's head counts one output token; the last event has the final number.
    let begun = usage_json(Usage { output: 1, ..envelope.usage });
    let start = event("message_start", json!({"message": empty_message(envelope, &begun)}));
    let mut frames = vec![];
    let mut index = 0;
    for (at, part) in answer.parts.iter().enumerate() {
        match part {
            Part::Hold(gate) => frames.push(Frame::Hold(gate.clone())),
            Part::Cut => frames.push(Frame::Cut),
            _ => {
                frames.extend(block_events(part, index, &tool_id(envelope.number, at)));
                index += 1;
            }
        }
    }
    // An answer held from its beginning has sent nothing at all.
    let head = frames.iter().take_while(|frame| matches!(frame, Frame::Hold(_))).count();
    frames.insert(head, start);
    let output = json!({"output_tokens": envelope.usage.output});
    let delta = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    frames.push(event("message_delta", json!({"delta": delta, "usage": output})));
    frames.push(event("message_stop", json!({})));
    frames
}

fn block_events(part: &Part, index: usize, tool_id: &str) -> Vec<Frame> {
    let Some((block, delta)) = block(part, tool_id) else { return vec![] };
    let mut events = vec![event("content_block_start", json!({"index": index, "content_block": block}))];
    if let Part::Paused(first, gate, rest) = part {
        let delta = |text: &str| json!({"index": index, "delta": {"type": "text_delta", "text": text}});
        events.push(event("content_block_delta", delta(first)));
        events.push(Frame::Hold(gate.clone()));
        events.push(event("content_block_delta", delta(rest)));
    } else {
        events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
    }
    if matches!(part, Part::Thinking(_)) {
        let signature = json!({"type": "signature_delta", "signature": SIGNATURE});
        events.push(event("content_block_delta", json!({"index": index, "delta": signature})));
    }
    events.push(event("content_block_stop", json!({"index": index})));
    events
}

const SIGNATURE: &str = "c2NyaXB0ZWQ=";

fn blocks(answer: &Answer, number: u64) -> impl Iterator<Item = (Value, Value)> {
    answer.parts.iter().enumerate().filter_map(move |(at, part)| block(part, &tool_id(number, at)))
}

/// A block as it starts, and the delta that fills it.
fn block(part: &Part, tool_id: &str) -> Option<(Value, Value)> {
    match part {
        Part::Text(text) => {
            Some((json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})))
        }
        Part::Paused(first, _, rest) => Some((
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": format!("{first}{rest}")}),
        )),
        Part::Thinking(text) => Some((
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            json!({"type": "thinking_delta", "thinking": text}),
        )),
        Part::Tool { name, input } => Some((
            json!({"type": "tool_use", "id": tool_id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        )),
        Part::Hold(_) | Part::Cut | Part::Refuse { .. } => None,
    }
}

fn filled(mut block: Value, delta: &Value) -> Value {
    for field in ["text", "thinking"] {
        if let Some(text) = delta.get(field) {
            block[field] = text.clone();
        }
    }
    if let Some(input) = delta["partial_json"].as_str() {
        block["input"] = serde_json::from_str(input).expect("JSON that was just written");
    }
    block
}

fn tool_id(number: u64, at: usize) -> String {
    format!("toolu_01Scripted{number:08}{at:02}")
}

fn stop_reason(answer: &Answer) -> &'static str {
    if answer.is_declined {
        return "refusal";
    }
    let calls = answer.parts.iter().any(|part| matches!(part, Part::Tool { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

fn empty_message(envelope: &Envelope, usage: &Value) -> Value {
    json!({
        "id": format!("msg_01Scripted{:010}", envelope.number),
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    })
}

fn event(name: &str, mut data: Value) -> Frame {
    data["type"] = name.into();
    Frame::Bytes(format!("event: {name}\ndata: {data}\n\n"))
}
