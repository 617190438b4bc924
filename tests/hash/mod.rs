//! `ftk hash`, compared with the tools whose lines it prints.

mod algorithms;
mod arguments;
mod bag_create;
mod check;
mod costs;
mod diff;
mod film;
mod interop;
mod json;
mod lines;
mod names;
mod plans;
mod remote;
mod root;
mod several;
mod simd;
mod tree;
mod update;
