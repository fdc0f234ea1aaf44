//! A unit of a record as documents of the text index.

use tantivy::TantivyDocument;

use crate::chunk::Unit;
use crate::paths::{mentioned, path_terms};
use crate::schema::Fields;
use crate::sync::Origin;

/// How many paths of one piece are kept as mentioned.
const MENTIONS: usize = 40;
/// How many bits of the `piece` field count the pieces of a unit.
const PIECE_BITS: u32 = 20;

/// Makes documents.
pub(crate) struct Documents {
    fields: Fields,
}

impl Documents {
    pub(crate) fn new(fields: Fields) -> Self {
        Self { fields }
    }

    /// The documents of the unit that stands at `number` in its record.
    pub(crate) fn of_unit<'a>(
        &'a self,
        unit: &'a Unit<'_>,
        number: usize,
        origin: &'a Origin,
    ) -> impl Iterator<Item = TantivyDocument> + 'a {
        unit.pieces().enumerate().map(move |(at, piece)| {
            let fields = &self.fields;
            let mut document = TantivyDocument::default();
            if unit.kind.is_found_by_words() || unit.kind.speaks_for_session() {
                document.add_text(fields.text, piece);
            }
            if at == 0
                && let Some(path) = &unit.path
            {
                for term in path_terms(path) {
                    document.add_text(fields.path, term);
                }
            }
            if unit.kind.is_found_by_words() {
                for path in mentioned(piece).take(MENTIONS) {
                    for term in path_terms(path) {
                        document.add_text(fields.mention, term);
                    }
                }
            }
            document.add_u64(fields.file, origin.file);
            document.add_u64(fields.kind, unit.kind.number());
            document.add_u64(fields.record, origin.record);
            document.add_u64(fields.offset, origin.place.offset);
            document.add_u64(fields.line, origin.place.line);
            document.add_u64(fields.piece, piece_number(number, at));
            document.add_u64(fields.time, origin.time);
            document.add_u64(fields.generation, origin.generation);
            document
        })
    }
}

fn piece_number(unit: usize, piece: usize) -> u64 {
    (unit as u64) << PIECE_BITS | piece as u64
}

/// Which unit of its record and which piece of it a number stands for.
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
