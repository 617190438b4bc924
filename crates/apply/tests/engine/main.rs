//! The engine on real files.

mod actions;
mod chosen;
mod chosen_faults;
mod copies;
mod faults;
mod harness;
mod journals;
mod mounts;
mod plans;
mod probes;
mod put_back;
mod races;
mod reflinks;
mod refusals;
mod restores;
mod scripts;
mod together;
mod trash;
mod tree_faults;
mod trees;
mod undoing;
