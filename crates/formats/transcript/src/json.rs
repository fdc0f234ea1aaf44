//! A lenient and fast JSON reader: fields are taken as they are in the line and decoded one by one, so that one odd
//! value never costs the whole record.
//!
//! Why not `serde_json` for the line: it rejects the whole line for a duplicate key, a number like `1e400` or half a
//! surrogate pair, all of which occur in real files; and most of the work is skipping large values that nobody asks
//! for.

use std::borrow::Cow;

use crate::block::holds_backslash;
use crate::scan::{Elements, Fields, Walk};
use crate::unescape::unescape;

/// A JSON value as it is in the line, or an absent one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// A value from its JSON text.
    pub fn new(json: &'a str) -> Self {
        Self(json)
    }

    /// The JSON text; empty when the field is absent.
    pub fn json(self) -> &'a str {
        self.0
    }

    /// Whether the field is present and not `null`.
    pub fn is_present(self) -> bool {
        !self.0.is_empty() && self.0 != "null"
    }

    /// Whether the value is a string.
    pub fn is_text(self) -> bool {
        self.0.as_bytes().first() == Some(&b'"')
    }

    /// Whether the value is an array.
    pub fn is_array(self) -> bool {
        self.0.as_bytes().first() == Some(&b'[')
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.as_bytes().first() == Some(&b'{')
    }

    /// Whether the value is `true`.
    pub fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// The string's text; lone surrogates become U+FFFD. `None` for anything but a string.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.inner()?;
        if !holds_backslash(inner.as_bytes()) {
            return Some(Cow::Borrowed(inner));
        }
        unescape(inner).map(Cow::Owned)
    }

    /// Whether there is no text but white space.
    pub fn is_blank(self) -> bool {
        // Usually the first letter decides, and nothing has to be decoded.
        let begins = self.0.strip_prefix('"').and_then(|inner| inner.bytes().next());
        let is_plain = begins.is_some_and(|first| first.is_ascii_graphic() && !matches!(first, b'\\' | b'"'));
        !is_plain && self.text().is_none_or(|text| text.trim().is_empty())
    }

    /// The string's text when it has no escapes, without a copy; ids, types and times are like this.
    pub fn plain(self) -> Option<&'a str> {
        match self.text()? {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }

    /// Whether the value is the string `word`, which has no backslash.
    pub fn is(self, word: &str) -> bool {
        self.inner() == Some(word)
    }

    /// The text between a string's quotes, with its escapes.
    fn inner(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// A count: a fraction is cut, a negative number is 0, digits in a string count too.
    pub fn count(self) -> Option<u64> {
        if let Ok(number) = self.0.parse() {
            return Some(number);
        }
        let digits = self.0.trim_matches('"');
        if let Ok(number) = digits.parse() {
            return Some(number);
        }
        let number: f64 = digits.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, which is meant"
        )]
        number.is_finite().then_some(number as u64)
    }

    /// The value as a finite number.
    pub fn number(self) -> Option<f64> {
        self.0.trim_matches('"').parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The elements of an array; none for anything else.
    pub fn elements(self) -> impl Iterator<Item = Raw<'a>> {
        Elements::new(self.0).map(Raw)
    }

    /// The elements of an array, each read while the array is walked; none for anything else.
    pub(crate) fn each<T: Field<'a>>(self) -> impl Iterator<Item = T> {
        let mut elements = Elements::new(self.0);
        let element = |walk: &mut Walk<'a>| {
            let mut element = T::default();
            element.fill(walk).map(|()| element)
        };
        std::iter::from_fn(move || elements.next_by(element))
    }

    /// The keys and values of an object, in order; none for anything else.
    pub fn entries(self) -> impl Iterator<Item = (Cow<'a, str>, Raw<'a>)> {
        Fields::new(self.0).map(|(key, value)| (Raw(key).text().unwrap_or_default(), Raw(value)))
    }

    /// The field of an object with this name; the last one where the key occurs twice.
    #[must_use]
    pub fn get(self, key: &str) -> Raw<'a> {
        let named = |(name, value): (&'a str, &'a str)| Raw(name).is(key).then_some(Raw(value));
        Fields::new(self.0).filter_map(named).last().unwrap_or_default()
    }
}

/// A type that a field of a [`raw_fields`] struct can have.
///
/// It is set where it is, and not returned: a record has so many fields that moving them would cost as much as reading
/// some.
pub(crate) trait Field<'a>: Default {
    /// Becomes the next value in the line; `None` where there is none.
    fn fill(&mut self, walk: &mut Walk<'a>) -> Option<()>;
}

impl<'a> Field<'a> for Raw<'a> {
    #[inline]
    fn fill(&mut self, walk: &mut Walk<'a>) -> Option<()> {
        *self = Self(walk.value()?);
        Some(())
    }
}

/// An object that is read while the line around it is walked, which spares passing over it first.
/// `None` for anything but an object; all its fields are absent where its inside is broken.
impl<'a, T: Object<'a>> Field<'a> for Option<T> {
    fn fill(&mut self, walk: &mut Walk<'a>) -> Option<()> {
        *self = None;
        if let Some(mut entries) = walk.object() {
            let object = self.insert(T::default());
            if object.fill(&mut entries) {
                walk.skip_object(&entries);
                return Some(());
            }
            *object = T::default();
        }
        walk.value().map(|_| ())
    }
}

/// A set of fields with names.
pub(crate) trait Object<'a>: Default {
    /// Takes its fields among `entries`; false when they do not end as an object does.
    fn fill(&mut self, entries: &mut Fields<'a>) -> bool;
}

/// Declares a struct of fields read from an object: unknown keys are skipped, and of a duplicate key the last counts,
/// as in JavaScript. A field is [`Raw`] unless its type is given.
macro_rules! raw_fields {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $field:ident $(: $type:ty)? = $key:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default)]
        $visibility struct $name<'a> { $($(#[$doc])* pub(crate) $field: $crate::json::raw_fields!(@type $($type)?)),* }

        impl<'a> $crate::json::Object<'a> for $name<'a> {
            fn fill(&mut self, entries: &mut $crate::scan::Fields<'a>) -> bool {
                while let Some(key) = entries.next_key() {
                    let taken = match key {
                        $(concat!("\"", $key, "\"") => entries.value(|walk| $crate::json::Field::fill(&mut self.$field, walk)),)*
                        _ => entries.value(|walk| walk.value().map(|_| ())),
                    };
                    if taken.is_none() {
                        return false;
                    }
                }
                entries.is_closed()
            }
        }

        impl<'a> $name<'a> {
            /// Becomes the fields of an object; false when it is no whole object.
            pub(crate) fn set(&mut self, json: &'a str) -> bool {
                let mut entries = $crate::scan::Fields::new(json);
                $crate::json::Object::fill(self, &mut entries) && entries.is_whole()
            }

            /// The fields of an object; `None` when it is no whole object.
            #[allow(dead_code, reason = "not every set of fields is read this way")]
            pub(crate) fn read(json: &'a str) -> Option<Self> {
                let mut fields = Self::default();
                fields.set(json).then_some(fields)
            }

            /// The fields of a value; all absent when it is no object.
            #[allow(dead_code, reason = "not every set of fields is read from a value")]
            pub(crate) fn from_raw(json: $crate::json::Raw<'a>) -> Self {
                Self::read(json.json()).unwrap_or_default()
            }
        }
    };
    (@type) => { $crate::json::Raw<'a> };
    (@type $type:ty) => { $type };
}
pub(crate) use raw_fields;

#[cfg(test)]
mod tests {
    use super::*;

    raw_fields! {
        struct Pair { left = "left", right = "right" }
    }

    fn check_text(json: &str, expected: Option<&str>) {
        assert_eq!(Raw(json).text().as_deref(), expected, "{json}");
    }

    #[test]
    fn blank_texts_are_recognized() {
        for (json, expected) in [
            ("\"\"", true),
            ("\" \"", true),
            (r#""\n\t\u00a0""#, true),
            ("12", true),
            ("", true),
            ("\"a\"", false),
            (r#""\"""#, false),
            (r#"" \n. ""#, false),
            ("\"é\"", false),
        ] {
            assert_eq!(Raw(json).is_blank(), expected, "{json}");
        }
    }

    #[test]
    fn strings_are_decoded() {
        check_text(r#""plain""#, Some("plain"));
        check_text(r#""a\nb\u00e9""#, Some("a\nbé"));
        check_text(r#""\ud83d\ude80""#, Some("🚀"));
        check_text(r#""cut \ud83d here""#, Some("cut \u{fffd} here"));
        check_text(r#""\ude80""#, Some("\u{fffd}"));
        check_text(r#""\u0000""#, Some("\0"));
        check_text("12", None);
        check_text("null", None);
        check_text("", None);
    }

    #[test]
    fn counts_are_read_leniently() {
        let check = |json: &str, expected| assert_eq!(Raw(json).count(), expected, "{json}");
        check("7", Some(7));
        check("7.9", Some(7));
        check("-3", Some(0));
        check("\"12\"", Some(12));
        check("1e400", None);
        check("1e3", Some(1000));
        check("null", None);
        check("{}", None);
        check("18446744073709551616", Some(u64::MAX));
    }

    #[test]
    fn the_last_duplicate_key_wins() {
        let pair = Pair::from_raw(Raw(r#"{"left":1,"other":[1,{"left":9}],"left":2}"#));
        assert_eq!(pair.left.json(), "2");
        assert!(!pair.right.is_present());
    }

    #[test]
    fn keys_with_half_a_surrogate_pair_are_skipped() {
        let pair = Pair::from_raw(Raw(r#"{"\ud83d":1,"right":null,"left":"x"}"#));
        assert!(pair.left.is("x"));
        assert!(!pair.right.is_present());
    }

    #[test]
    fn one_field_of_an_object() {
        assert_eq!(Raw(r#"{"a":{"b":[1, 2]}}"#).get("a").get("b").elements().count(), 2);
        assert!(!Raw("[1]").get("a").is_present());
    }

    #[test]
    fn deep_nesting_is_carried_but_never_walked() {
        let deep = format!("{{\"right\":{}{},\"left\":1}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let pair = Pair::from_raw(Raw(&deep));
        assert_eq!(pair.left.json(), "1");
        assert_eq!(pair.right.elements().count(), 1);
    }
}
