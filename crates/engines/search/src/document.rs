//! A unit of a record as documents of the text index.

use tantivy::schema::Field;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf, Value};

use crate::paths::{SEPARATOR, mentioned};
use crate::schema::Fields;
use crate::unit::Unit;

/// The most paths of one piece that are indexed as mentions.
const MENTIONS: usize = 40;
/// The number of bits of the `piece` field that count the pieces of a unit.
const PIECE_BITS: u32 = 20;

/// The position of a record's line in its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinePosition {
    pub(crate) offset: u64,
    pub(crate) line: u64,
}

/// The values that all chunks of one record share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) file: u64,
    pub(crate) record: u64,
    pub(crate) place: LinePosition,
    pub(crate) time: u64,
    pub(crate) generation: u64,
}

/// Builds documents of the text index.
pub(crate) struct Documents {
    fields: Fields,
}

impl Documents {
    pub(crate) fn new(fields: Fields) -> Self {
        Self { fields }
    }

    /// The documents of the unit with index `number` in its record.
    pub(crate) fn of_unit<'a>(
        &'a self,
        unit: &'a Unit<'_>,
        number: usize,
        origin: &'a Origin,
    ) -> impl Iterator<Item = Chunk> + 'a {
        unit.pieces().enumerate().map(move |(at, piece)| {
            let fields = &self.fields;
            let mut texts = Vec::with_capacity(1);
            if unit.kind.is_found_by_words() || unit.kind.speaks_for_session() {
                texts.push((fields.text, piece.into()));
            }
            if at == 0
                && let Some(path) = &unit.path
            {
                texts.push((fields.path, path.as_ref().into()));
            }
            if unit.kind.names_files() {
                let paths: Vec<&str> = mentioned(piece).take(MENTIONS).collect();
                if !paths.is_empty() {
                    texts.push((fields.mention, paths.join(SEPARATOR).into()));
                }
            }
            let numbers = [
                (fields.file, origin.file),
                (fields.kind, unit.kind.number()),
                (fields.record, origin.record),
                (fields.offset, origin.place.offset),
                (fields.line, origin.place.line),
                (fields.piece, piece_number(number, at)),
                (fields.time, origin.time),
                (fields.generation, origin.generation),
            ];
            Chunk(Box::new(Content { texts, numbers }))
        })
    }
}

/// A piece of text with its position, as a document of the text index. The library's own document type would copy
/// everything twice more.
#[derive(Debug)]
pub(crate) struct Chunk(Box<Content>);

#[derive(Debug)]
struct Content {
    texts: Vec<(Field, Box<str>)>,
    numbers: [(Field, u64); 8],
}

impl Document for Chunk {
    type Value<'a> = Leaf<'a>;
    type FieldsValuesIter<'a> = Box<dyn Iterator<Item = (Field, Leaf<'a>)> + 'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let texts = self.0.texts.iter().map(|(field, text)| (*field, Leaf::Text(text)));
        Box::new(texts.chain(self.0.numbers.iter().map(|(field, number)| (*field, Leaf::Number(*number)))))
    }
}

/// A value of a field: no field has a structure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leaf<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Value<'a> for Leaf<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Number(number) => ReferenceValueLeaf::U64(*number),
        })
    }
}

fn piece_number(unit: usize, piece: usize) -> u64 {
    (unit as u64) << PIECE_BITS | piece as u64
}

/// The unit of a record and the piece of that unit that a piece number encodes.
pub(crate) fn piece_of(number: u64) -> (usize, usize) {
    let mask = (1 << PIECE_BITS) - 1;
    (
        usize::try_from(number >> PIECE_BITS).unwrap_or(usize::MAX),
        usize::try_from(number & mask).unwrap_or(usize::MAX),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_known_by_one_number() {
        assert_eq!(piece_of(piece_number(3, 17)), (3, 17));
        assert_eq!(piece_of(0), (0, 0));
    }
}
