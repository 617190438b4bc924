//! `ftk dup`: groups held against byte-exact oracles and other tools, and what prune, apply and undo do to a tree.

mod apply;
mod formats;
mod freed;
mod keep;
mod options;
mod oracles;
mod property;
mod prune;
mod script;
mod tree;
mod undo;
