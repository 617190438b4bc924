//! `ftk hash`, held against the tools whose lines it prints.

mod algorithms;
mod arguments;
mod diff;
mod json;
mod names;
mod plans;
mod several;
