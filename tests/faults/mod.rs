//! Tests in which one system call of a command fails, or is the last one before the process is killed.
//! `strace` does both.
//!
//! A run without a fault shows which calls a command makes. Then the command runs again for each call and
//! each plausible error of it, and the test checks the output, the exit status and the tree. Every test run
//! includes a fixed choice of these runs; `--ignored` runs all of them.

mod acts;
mod commands;
mod kills;
mod order;
mod protects;
mod prunes;
mod repairs;
mod scene;
mod snapshot;
mod trace;
mod updates;
