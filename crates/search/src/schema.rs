//! The fields of an indexed chunk. The text itself is not kept: it is read again from the transcript.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::words::Splitter;

/// Goes up whenever what is indexed, or how, changes. It stands in a field's name, so that an index of
/// another version has another schema and is made anew.
const VERSION: u32 = 1;

/// The name of our tokenizer in the index.
pub(crate) const TOKENIZER: &str = "words";

/// The fields, by name.
#[derive(Debug, Clone)]
pub(crate) struct Fields {
    pub(crate) schema: Schema,
    /// The words of the text.
    pub(crate) text: Field,
    /// The endings of paths it is about or names.
    pub(crate) path: Field,
    /// The endings of paths it only mentions.
    pub(crate) mention: Field,
    /// The number of its file.
    pub(crate) file: Field,
    /// The number of its [`crate::Kind`].
    pub(crate) kind: Field,
    /// A hash of the record's id; 0 where it has none.
    pub(crate) record: Field,
    /// Where the record's line begins, in bytes.
    pub(crate) offset: Field,
    /// The line's number.
    pub(crate) line: Field,
    /// Which unit of the record, and which piece of it.
    pub(crate) piece: Field,
    /// The record's time, in seconds since 1970; 0 where it has none.
    pub(crate) time: Field,
    /// The commit that added it.
    pub(crate) generation: Field,
}

impl Fields {
    pub(crate) fn new() -> Self {
        let mut builder = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let exact = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let exact = TextOptions::default().set_indexing_options(exact);
        let looked_up = NumericOptions::from(INDEXED | FAST);
        Self {
            text: builder.add_text_field("text", TextOptions::default().set_indexing_options(words)),
            path: builder.add_text_field("path", exact.clone()),
            mention: builder.add_text_field("mention", exact),
            file: builder.add_u64_field("file", looked_up),
            kind: builder.add_u64_field("kind", FAST),
            record: builder.add_u64_field("record", FAST),
            offset: builder.add_u64_field("offset", FAST),
            line: builder.add_u64_field("line", FAST),
            piece: builder.add_u64_field("piece", FAST),
            time: builder.add_u64_field("time", FAST),
            generation: builder.add_u64_field(&format!("generation_{VERSION}"), INDEXED),
            schema: builder.build(),
        }
    }
}

/// [`Splitter`] as tantivy wants it.
#[derive(Default)]
pub(crate) struct WordTokenizer {
    splitter: Splitter,
    words: Vec<Span>,
    text: String,
    token: Token,
}

#[derive(Clone, Copy)]
struct Span {
    end: usize,
    position: usize,
    from: usize,
    to: usize,
}

impl Clone for WordTokenizer {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let Self { splitter, words, text: buffer, token } = self;
        words.clear();
        buffer.clear();
        splitter.split(text, |word| {
            buffer.push_str(word.text);
            words.push(Span { end: buffer.len(), position: word.position, from: word.start, to: word.end });
        });
        token.reset();
        WordStream { words, text: buffer, token, next: 0, start: 0 }
    }
}

/// The words of one text.
pub(crate) struct WordStream<'a> {
    words: &'a [Span],
    text: &'a str,
    token: &'a mut Token,
    next: usize,
    start: usize,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(span) = self.words.get(self.next) else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.text[self.start..span.end]);
        self.token.position = span.position;
        self.token.offset_from = span.from;
        self.token.offset_to = span.to;
        self.start = span.end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
