//! A question as it is asked: words, quoted phrases, a path, and filters written among the words.

use transcript::Role;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::beginning::Beginning;
use crate::misspelling::edit_distance;
use crate::paths::is_path;
use crate::source::SourceKind;
use crate::words::{Splitter, is_stop_word};

/// The most distinct words of a query; a longer one is cut, which the answer says.
pub(crate) const WORDS: usize = 64;

/// The most quoted phrases that are demanded.
const PHRASES: usize = 16;

/// The most names behind a `#` that are looked at: each is compared with all projects.
const TAGS: usize = 8;

/// The shortest name of a filter that may be misspelt, and the longest of which one letter may be wrong.
const SHORT_NAME: usize = 4;
const LONG_NAME: usize = 5;

/// The roles that a filter can name.
const ROLES: [Role; 4] = [Role::User, Role::Assistant, Role::Tool, Role::Note];

/// A question, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The text of the query without its filters.
    pub text: String,
    /// The filters among the words.
    pub filters: Vec<QueryFilter>,
    /// What looks like a filter and has a value that there is not; it is searched for as words.
    pub misfits: Vec<QueryFilter>,
    /// Words that look like a filter whose name is misspelt, each with the name that is meant; they are searched for as words.
    pub misspelt: Vec<(String, FilterName)>,
    /// The distinct words, in their indexed form.
    pub(crate) terms: Vec<String>,
    /// Words that are adjacent in the query.
    pub(crate) pairs: Vec<(String, String)>,
    /// Quoted phrases, word by word.
    pub(crate) phrases: Vec<Vec<String>>,
    /// Words that no session has, each with the indexed one that is looked for in its place.
    replaced: Vec<(String, String)>,
    /// Words that were misspelt, as they were typed, each with the word of a session that is looked for in its place.
    pub corrections: Vec<(String, String)>,
    /// The question names a file.
    pub(crate) path: Option<String>,
    /// Words were left out because there were too many.
    pub cut: bool,
    /// Where somebody is typing: what the last word may become.
    pub(crate) beginning: Option<Beginning>,
    /// How much of the text is meant, in bytes, where its last word is not known yet.
    meant: Option<usize>,
    /// Whether the last letter of the question is that of a word, and neither of a filter nor behind a quotation mark.
    is_open: bool,
}

/// A word that is being typed, and what is to be looked for until it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenWord {
    /// It, in lower case.
    pub(crate) typed: String,
    /// Its indexed form.
    pub(crate) stem: String,
    /// The identifier that it is the last part of.
    whole: Option<String>,
    /// Where it begins in the text.
    start: usize,
}

/// A filter written as `name:value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFilter {
    /// Which filter it is.
    pub name: FilterName,
    /// Its value, as written.
    pub value: String,
}

/// The filters that may be among the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as it is written")]
pub enum FilterName {
    Project,
    Repo,
    Branch,
    Origin,
    Source,
    Role,
    File,
    Since,
    Until,
    Agent,
    Session,
    Tag,
    Is,
}

impl FilterName {
    const WORDS: [(&str, Self); 13] = [
        ("project", Self::Project),
        ("repo", Self::Repo),
        ("branch", Self::Branch),
        ("origin", Self::Origin),
        ("source", Self::Source),
        ("role", Self::Role),
        ("file", Self::File),
        ("since", Self::Since),
        ("until", Self::Until),
        ("agent", Self::Agent),
        ("session", Self::Session),
        ("tag", Self::Tag),
        ("is", Self::Is),
    ];

    fn parse(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find_map(|(known, name)| (known == word).then_some(name))
    }

    /// The word before the colon.
    pub fn as_str(self) -> &'static str {
        Self::WORDS.into_iter().find_map(|(word, name)| (name == self).then_some(word)).unwrap_or_default()
    }

    /// All values that it takes; none where it takes any.
    pub fn values(self) -> Vec<&'static str> {
        match self {
            Self::Role => ROLES.map(Role::as_str).to_vec(),
            Self::Source => SourceKind::ALL.map(SourceKind::as_str).to_vec(),
            Self::Is => vec!["pinned", "hidden", "running", "compacted"],
            _ => Vec::new(),
        }
    }

    fn takes(self, value: &str) -> bool {
        let values = self.values();
        values.is_empty() || values.contains(&value)
    }
}

impl Query {
    /// Takes a question apart.
    pub fn parse(question: &str) -> Self {
        let (text, filters, misfits) = split_filters(question);
        let misspelt = text.split_whitespace().filter_map(misspelt_filter).collect();
        let mut query = Self { filters, misfits, misspelt, ..Self::default() };
        let mut splitter = Splitter::default();
        let mut quoted = phrases(&text).map(|phrase| words(&mut splitter, phrase)).filter(|p| p.len() > 1);
        query.phrases = quoted.by_ref().take(PHRASES).collect();
        let more_quoted = quoted.next().is_some();
        drop(quoted);
        query.path = is_path(&text).then(|| text.trim().to_owned());
        query.add_words(&mut splitter, &text);
        query.cut |= more_quoted;
        let last = question.split_whitespace().next_back().unwrap_or_default();
        query.is_open = question.ends_with(|letter: char| letter.is_ascii_alphanumeric())
            && text.ends_with(last)
            && !text.contains('"')
            && query.path.is_none();
        query.text = text;
        query
    }

    /// Whether the query has neither words nor a path, nor the beginning of a word.
    pub fn is_empty(&self) -> bool {
        let has_begun =
            self.beginning.as_ref().is_some_and(|beginning| beginning.ranks || beginning.is_unknown());
        self.terms.is_empty() && self.path.is_none() && !has_begun
    }

    /// The words as they were typed, each with its indexed forms; without stop words.
    pub(crate) fn words(&self) -> Vec<(String, Vec<String>)> {
        let mut splitter = Splitter::default();
        let typed = self.text.split_whitespace().map(bare);
        let with_terms = typed.map(|typed| {
            let terms = words(&mut splitter, typed).into_iter().map(|term| self.looked_for(term)).collect();
            (typed.to_owned(), terms)
        });
        with_terms
            .filter(|(_, terms): &(_, Vec<String>)| terms.iter().any(|term| self.terms.contains(term)))
            .collect()
    }

    /// The last word, or the last part of an identifier, where nothing is behind it.
    pub(crate) fn open_word(&self) -> Option<OpenWord> {
        let mut found = None;
        let mut whole = None;
        Splitter::default().split(&self.text, |word| {
            if word.is_whole {
                whole = Some((word.end, word.text.to_owned()));
            } else {
                found = Some((word.start, word.end, word.text.to_owned()));
            }
        });
        let (start, end, stem) = found.filter(|(_, end, _)| self.is_open && *end == self.text.len())?;
        // Without its accents, as it is indexed.
        let plain = self.text.get(start..end)?.nfkd().filter(|c| !is_combining_mark(*c));
        let typed = Some(plain.collect::<String>()).filter(|typed| typed.is_ascii())?.to_ascii_lowercase();
        let whole = whole.filter(|(at, _)| *at == end).map(|(_, whole)| whole);
        Some(OpenWord { typed, stem, whole, start })
    }

    /// Whether sessions can be told apart by whether they hold all words.
    pub(crate) fn has_only_words(&self) -> bool {
        self.path.is_none() && self.phrases.is_empty() && !self.terms.is_empty()
    }

    /// Takes a word that is being typed as what it may become.
    pub(crate) fn begin(&mut self, word: &OpenWord, beginning: Beginning) {
        let before = Self::parse(self.text.get(..word.start).unwrap_or_default());
        let own: Vec<String> = std::iter::once(&word.stem).chain(&word.whole).cloned().collect();
        let own: Vec<String> = own.into_iter().filter(|term| !before.terms.contains(term)).collect();
        // A word such as "and" stands for nothing itself, and may become one that does.
        let ranks = beginning.words.is_some() && (beginning.ranks || !self.terms.contains(&word.stem));
        let beginning = Beginning { ranks, ..beginning };
        if beginning.ranks || beginning.words.is_none() || beginning.is_unknown() {
            self.terms.retain(|term| !own.contains(term));
            self.pairs.retain(|(left, right)| !own.contains(left) && !own.contains(right));
            self.meant = Some(word.start);
        }
        self.beginning = Some(Beginning { own, ..beginning });
    }

    /// The text whose meaning is compared: without a word that is not known yet.
    pub(crate) fn meant(&self) -> &str {
        self.meant.and_then(|end| self.text.get(..end)).unwrap_or(&self.text)
    }

    /// Looks for `other` in place of `word`; both are in their indexed form.
    pub(crate) fn replace(&mut self, word: &str, other: &str) {
        let pairs = self.pairs.iter_mut().flat_map(|(left, right)| [left, right]);
        for same in self.terms.iter_mut().chain(pairs).filter(|term| *term == word) {
            other.clone_into(same);
        }
        self.replaced.push((word.to_owned(), other.to_owned()));
    }

    /// The query with other words in place of misspelt ones.
    pub(crate) fn corrected(&self, corrections: Vec<(String, String)>) -> Self {
        let other = |word: &str| {
            let found = corrections.iter().find(|(typed, _)| bare(word) == typed);
            found.map_or_else(|| word.to_owned(), |(typed, other)| word.replacen(typed, other, 1))
        };
        let text = self.text.split(' ').map(other).collect::<Vec<_>>().join(" ");
        let mut query = Self { text, corrections, terms: Vec::new(), pairs: Vec::new(), ..self.clone() };
        let text = query.text.clone();
        query.add_words(&mut Splitter::default(), &text);
        query
    }

    fn looked_for(&self, term: String) -> String {
        let replaced = self.replaced.iter().find(|(word, _)| *word == term);
        replaced.map_or(term, |(_, other)| other.clone())
    }

    fn add_words(&mut self, splitter: &mut Splitter, text: &str) {
        let mut all = Vec::new();
        splitter.split(text, |word| all.push((word.text.to_owned(), word.is_whole)));
        let telling = |(word, _): &&(String, bool)| !is_stop_word(word);
        // A question of nothing but stop words still asks for them.
        let telling: Vec<_> = if all.iter().any(|word| telling(&word)) {
            all.iter().filter(telling).collect()
        } else {
            all.iter().collect()
        };
        // One more than requested shows that there are more, and keeps the cost of a long question linear.
        for (word, _) in &telling {
            if self.terms.len() <= WORDS && !self.terms.contains(word) {
                self.terms.push(word.clone());
            }
        }
        let parts: Vec<&String> =
            telling.iter().filter(|(_, is_whole)| !is_whole).map(|(word, _)| word).collect();
        for two in parts.windows(2) {
            if self.pairs.len() >= WORDS {
                break;
            }
            let pair = (two[0].clone(), two[1].clone());
            let swapped = (two[1].clone(), two[0].clone());
            if two[0] != two[1] && !self.pairs.contains(&pair) && !self.pairs.contains(&swapped) {
                self.pairs.push(pair);
            }
        }
        self.cut = self.terms.len() > WORDS;
        self.terms.truncate(WORDS);
    }
}

/// A word without what is around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// The names marked as `#name` in a query, as in notes and messages.
pub fn tags(question: &str) -> impl Iterator<Item = &str> {
    question.split_whitespace().filter_map(tag).take(TAGS)
}

/// A question without the words that are `#name`.
pub fn without_tag(question: &str, name: &str) -> String {
    question.split_whitespace().filter(|word| tag(word) != Some(name)).collect::<Vec<_>>().join(" ")
}

fn tag(word: &str) -> Option<&str> {
    let name = word.strip_prefix('#')?.trim_end_matches(|c: char| c.is_ascii_punctuation());
    (!name.is_empty() && !name.starts_with('#')).then_some(name)
}

/// The role a filter's word names.
pub fn role(word: &str) -> Option<Role> {
    ROLES.into_iter().find(|role| role.as_str() == word)
}

/// The words, the filters among them, and the words that are filters but for their value.
fn split_filters(question: &str) -> (String, Vec<QueryFilter>, Vec<QueryFilter>) {
    let (mut filters, mut misfits) = (Vec::new(), Vec::new());
    let mut rest = Vec::new();
    for word in question.split_whitespace() {
        match filter(word) {
            Some(filter) if filter.name.takes(&filter.value) => {
                filters.push(filter);
                continue;
            }
            Some(filter) => misfits.push(filter),
            None => {}
        }
        rest.push(word);
    }
    (rest.join(" "), filters, misfits)
}

fn filter(word: &str) -> Option<QueryFilter> {
    let (name, value) = word.split_once(':')?;
    let name = FilterName::parse(name)?;
    let value = value.trim_matches('"');
    let may_be_path = matches!(name, FilterName::File | FilterName::Repo | FilterName::Project);
    let is_code = value.starts_with(':') || (value.starts_with('/') && !may_be_path);
    let valid = !value.is_empty() && !is_code;
    valid.then(|| QueryFilter { name, value: value.to_owned() })
}

/// A word such as `projct:web`, with the filter whose name is a slip or two away.
fn misspelt_filter(word: &str) -> Option<(String, FilterName)> {
    let (name, value) = word.split_once(':')?;
    let is_value =
        value.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '"' | '.' | '~'));
    if FilterName::parse(name).is_some() || !is_value || !name.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return None;
    }
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    let slips = |known: &str| edit_distance(&letters, known, if known.len() > LONG_NAME { 2 } else { 1 });
    // Of short names too many words are near.
    let known = FilterName::WORDS.into_iter().filter(|(known, _)| known.len() >= SHORT_NAME);
    let near = known.filter_map(|(known, filter)| Some((slips(known)?, filter)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, filter)| (word.to_owned(), filter))
}

/// The texts between double quotes.
fn phrases(text: &str) -> impl Iterator<Item = &str> {
    let closed = text.matches('"').count() / 2;
    text.split('"').skip(1).step_by(2).take(closed)
}

fn words(splitter: &mut Splitter, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    splitter.split(text, |word| {
        if !word.is_whole {
            words.push(word.text.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, terms: &str, pairs: usize, filters: usize) {
        let query = Query::parse(question);
        assert_eq!(
            (query.terms.join(" ").as_str(), query.pairs.len(), query.filters.len()),
            (terms, pairs, filters),
            "{question}"
        );
    }

    #[test]
    fn questions() {
        check("Where did I fix the token refresh?", "where did fix token refresh", 4, 0);
        check("refreshToken", "refreshtoken refresh token", 1, 0);
        check("how to be", "how to be", 2, 0);
        check("project:shop role:user leak", "leak", 0, 2);
        check("role:nobody", "role nobodi", 1, 0);
        assert_eq!(
            Query::parse("role:nobody is:pinned").misfits,
            [QueryFilter { name: FilterName::Role, value: "nobody".to_owned() }]
        );
        check("std::fs file:", "std fs file", 2, 0);
        check("file:/a/b.rs", "", 0, 1);
        check("", "", 0, 0);
    }

    #[test]
    fn a_misspelt_name_of_a_filter_is_known() {
        let meant = |question| {
            let found = Query::parse(question).misspelt;
            found.first().map(|(word, name)| format!("{word} {}", name.as_str())).unwrap_or_default()
        };
        for (question, expected) in [
            ("projct:cli hooks", "projct:cli project"),
            ("brnach:main", "brnach:main branch"),
            ("sicne:monday leak", "sicne:monday since"),
            ("Project:web", "Project:web project"),
            ("roel:user", "roel:user role"),
            ("project:web", ""),
            ("std::fs::file", ""),
            ("https://a.b", ""),
            ("note:this", ""),
            ("12:30", ""),
            ("error:", ""),
        ] {
            assert_eq!(meant(question), expected, "{question}");
        }
    }

    #[test]
    fn quoted_phrases() {
        let phrases = |question| Query::parse(question).phrases;
        assert_eq!(phrases(r#"a "token refresh" b"#), [["token", "refresh"]]);
        assert_eq!(phrases(r#""the refreshToken""#), [["the", "refresh", "token"]]);
        assert!(phrases(r#"one " quote"#).is_empty());
        assert!(phrases(r#""word""#).is_empty());
    }

    #[test]
    fn a_path_is_asked_for_as_a_file() {
        assert_eq!(Query::parse("src/a.rs").path.as_deref(), Some("src/a.rs"));
        assert_eq!(Query::parse("src/a.rs project:x").path.as_deref(), Some("src/a.rs"));
        assert_eq!(Query::parse("token refresh").path, None);
    }

    #[test]
    fn a_word_is_replaced_wherever_it_is() {
        let mut query = Query::parse("shadow bran");
        assert_eq!(query.open_word().map(|word| word.typed), Some("bran".to_owned()));
        query.replace("bran", "branch");
        assert_eq!((query.terms.join(" ").as_str(), &query.pairs[0].1[..]), ("shadow branch", "branch"));
        assert_eq!(query.words()[1], ("bran".to_owned(), vec!["branch".to_owned()]));
        let open = |question| Query::parse(question).open_word().map(|word| word.typed);
        for closed in ["the bran.", "the bran ", "role:user", "\"the bran", "src/bran.rs"] {
            assert_eq!(open(closed), None, "{closed}");
        }
        assert_eq!(open("golangci-Li"), Some("li".to_owned()));
        assert_eq!(open("role:user bran"), Some("bran".to_owned()));
        assert_eq!(open("el c\u{f3}dig"), Some("codig".to_owned()));
    }

    #[test]
    fn tags_are_words_with_a_name_behind_the_hash() {
        let check = |question: &str, expected: &[&str]| {
            assert_eq!(tags(question).collect::<Vec<_>>(), expected, "{question}");
        };
        check("How did I implement embeddings? #mine", &["mine"]);
        check("#patent-search, #web.", &["patent-search", "web"]);
        check("C# issue #12 ## # #!", &["12"]);
        assert_eq!(without_tag("a #mine b #other", "mine"), "a b #other");
    }

    #[test]
    fn a_very_long_question_is_cut() {
        let long = (0..500).map(|n| format!("w{n}x")).collect::<Vec<_>>().join(" ");
        let query = Query::parse(&long);
        assert!(query.cut);
        assert_eq!((query.terms.len(), query.pairs.len()), (WORDS, WORDS));
        let words = |count| {
            "abcdefgh".chars().flat_map(|a| "jklmnopq".chars().map(move |b| format!("z{a}{b}z "))).take(count)
        };
        assert!(!Query::parse(&words(WORDS).collect::<String>()).cut);
        let quoted = "\"one two\" ".repeat(PHRASES + 1);
        assert!(Query::parse(&quoted).cut && Query::parse(&quoted).phrases.len() == PHRASES);
        assert_eq!(tags(&"#a ".repeat(100)).count(), TAGS);
    }
}
