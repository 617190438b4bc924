//! `ftk dup`: groups compared with byte-exact oracles and other tools, and the effects of prune, apply and
//! undo.

mod apply;
mod ask;
mod copies;
mod dirs;
mod emptied;
mod exposed;
mod formats;
mod freed;
mod gain;
mod isolate;
mod keep;
mod manifests;
mod options;
mod oracles;
mod other_names;
mod promises;
mod property;
mod protect;
mod prune;
mod quarantine;
mod script;
mod sidecars;
mod trash;
mod tree;
mod undo;
