//! Integration tests of the `ftk` binary: what a user sees, compared with the tools that they would use otherwise.

mod ceilings;
mod cmp;
mod command;
mod dup;
mod faults;
mod find;
mod harness;
mod hash;
mod horrors;
mod manifest;
mod recipes;
mod select;
