//! Tests of the program `ftk-query`, on sets that it made itself from manifests of ftk.

mod answers;
mod convert;
mod documents;
mod failures;
mod harness;
mod history;
mod inventory;
mod limits;
mod report;
mod shards;
mod unknown;
