//! Little memory, and other processes that exchange names meanwhile. `cargo xtask soak` runs longer forms of these tests.

mod inputs;
mod memory;
mod races;
mod stress;
