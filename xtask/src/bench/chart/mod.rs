//! Charts of a record, drawn only from the record.

mod bars;
mod lines;
mod svg;

pub(crate) use bars::{Panel, bars};
pub(crate) use lines::lines;
