//! `ftk hash`, held against the tools whose lines it prints.

mod algorithms;
mod arguments;
mod json;
mod names;
mod plans;
