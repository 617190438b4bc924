//! Tries the files of a release: they are made twice, and installed in systems that have nothing of ftk.

mod container;
mod debian;
mod fedora;
mod install;
mod repeat;
mod venv;

pub(super) use install::install;
pub(super) use repeat::is_same;
