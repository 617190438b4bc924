//! `ftk find`, held against GNU find.

mod gnu;
mod output;
