//! `ftk find`, compared with GNU find.

mod batch;
mod colours;
mod exec;
mod format;
mod gnu;
mod json;
mod long;
mod output;
mod requests;
mod sort;
