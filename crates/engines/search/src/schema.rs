//! The fields of an indexed chunk. The text itself is not kept: it is read again from the transcript.

use std::path::Path;

use memchr::memmem;
use tantivy::Index;
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::paths::{SEPARATOR, path_terms};
use crate::words::Splitter;

/// Raised whenever what is indexed, or how, changes. It is part of a field's name, so that an index of another
/// version has another schema and is rebuilt.
const VERSION: u32 = 11;

/// The largest description of an index that is read, in bytes.
const LARGEST_META: u64 = 64 << 20;

/// The names of our tokenizers in the index.
const WORDS: &str = "words";
const PATHS: &str = "paths";

/// Registers our tokenizers in an index.
pub(crate) fn register(index: &Index) {
    index.tokenizers().register(WORDS, WordTokenizer::default());
    index.tokenizers().register(PATHS, PathTokenizer::default());
}

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
    /// The number of its [`crate::ChunkKind`].
    pub(crate) kind: Field,
    /// A hash of the record's id; 0 where it has none.
    pub(crate) record: Field,
    /// Where the record's line begins, in bytes.
    pub(crate) offset: Field,
    /// The number of the line, from 1.
    pub(crate) line: Field,
    /// The unit of the record and the piece of that unit.
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
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let exact = TextFieldIndexing::default()
            .set_tokenizer(PATHS)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let exact = TextOptions::default().set_indexing_options(exact);
        Self {
            text: builder.add_text_field("text", TextOptions::default().set_indexing_options(words)),
            path: builder.add_text_field("path", exact.clone()),
            mention: builder.add_text_field("mention", exact),
            file: builder.add_u64_field("file", FAST),
            kind: builder.add_u64_field("kind", FAST),
            record: builder.add_u64_field("record", FAST),
            offset: builder.add_u64_field("offset", FAST),
            line: builder.add_u64_field("line", FAST),
            piece: builder.add_u64_field("piece", FAST),
            time: builder.add_u64_field("time", FAST),
            generation: builder.add_u64_field(&versioned_field(), FAST),
            schema: builder.build(),
        }
    }
}

/// The field by whose name an index of another version is recognized.
fn versioned_field() -> String {
    format!("generation_{VERSION}")
}

/// Whether there is a text index of this version in a folder; what describes it is not parsed for that.
pub(crate) fn is_current(text: &Path) -> bool {
    let meta = system::read_small(&text.join("meta.json"), LARGEST_META).unwrap_or_default();
    memmem::find(&meta, format!("\"{}\"", versioned_field()).as_bytes()).is_some()
}

/// [`Splitter`] as tantivy wants it.
#[derive(Default)]
pub(crate) struct WordTokenizer {
    splitter: Splitter,
    words: Tokens,
}

impl Clone for WordTokenizer {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = TokensOf<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TokensOf<'a> {
        self.words.clear();
        let words = &mut self.words;
        self.splitter.split(text, |word| words.push(word.text, word.position));
        words.stream()
    }
}

/// The endings of paths as tantivy wants them.
#[derive(Default, Clone)]
pub(crate) struct PathTokenizer {
    terms: Tokens,
}

impl Tokenizer for PathTokenizer {
    type TokenStream<'a> = TokensOf<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TokensOf<'a> {
        self.terms.clear();
        for path in text.split(SEPARATOR) {
            path_terms(path, |term| self.terms.push(term, 0));
        }
        self.terms.stream()
    }
}

/// The tokens of one text, concatenated. Their offsets in the text are not needed.
#[derive(Default, Clone)]
struct Tokens {
    text: String,
    /// The end and the position of each token.
    ends: Vec<(usize, usize)>,
    token: Token,
}

impl Tokens {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn push(&mut self, text: &str, position: usize) {
        self.text.push_str(text);
        self.ends.push((self.text.len(), position));
    }

    fn stream(&mut self) -> TokensOf<'_> {
        self.token.reset();
        TokensOf { tokens: self, next: 0, start: 0 }
    }
}

/// Gives out the tokens of one text.
pub(crate) struct TokensOf<'a> {
    tokens: &'a mut Tokens,
    next: usize,
    start: usize,
}

impl TokenStream for TokensOf<'_> {
    fn advance(&mut self) -> bool {
        let Tokens { text, ends, token } = &mut *self.tokens;
        let Some(&(end, position)) = ends.get(self.next) else { return false };
        token.text.clear();
        token.text.push_str(&text[self.start..end]);
        token.position = position;
        self.start = end;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.tokens.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens.token
    }
}
