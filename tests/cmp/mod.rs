//! `ftk cmp`, compared with `cmp` and `diff -rq`.

mod arguments;
mod dice;
mod gnu;
mod names;
mod outputs;
mod paths;
mod plans;
mod streams;
mod trees;
mod trees_gnu;
