//! Integration tests of the `ftk` binary: its output, compared with that of the standard tools.

mod cache;
mod ceilings;
mod cmp;
mod command;
mod du;
mod dup;
mod faults;
mod find;
mod hash;
mod horrors;
mod manifest;
mod recipes;
mod report;
mod select;

use ftk_harness as harness;

#[test]
fn ci_has_every_tool() {
    harness::assert_every_tool();
}
