//! `cargo xtask horrors`, which runs the scenarios of the crate `horrors` with ftk and its peers.

mod command;
mod page;

pub(crate) use command::{Options, run};
