//! Integration tests of the `ftk` binary: its output, compared with that of the standard tools.

mod cache;
mod ceilings;
mod cmp;
mod command;
mod du;
mod dup;
mod faults;
mod find;
mod harness;
mod hash;
mod horrors;
mod manifest;
mod recipes;
mod report;
mod select;
