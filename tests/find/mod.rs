//! `ftk find`, compared with GNU find.

mod batch;
mod colours;
mod exec;
mod format;
mod from;
mod gnu;
mod json;
mod long;
mod mounts;
mod ncdu;
mod output;
mod races;
mod requests;
mod sort;
