//! Every system call of every command made to fail, or the last one that is made: `strace` does both.
//!
//! A run without a fault tells which calls a command makes. Then it runs again for each of them, with that one failing
//! in each way that is plausible, and what it printed, how it ended and what is left of the tree are judged. A fixed
//! choice of all these runs is part of every test run, and `--ignored` makes them all.

mod acts;
mod commands;
mod kills;
mod order;
mod prunes;
mod scene;
mod snapshot;
mod trace;
