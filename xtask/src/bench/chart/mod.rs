//! Charts of a record, drawn from nothing but the record.

mod bars;
mod lines;
mod svg;

pub(crate) use bars::{Panel, bars};
pub(crate) use lines::lines;
