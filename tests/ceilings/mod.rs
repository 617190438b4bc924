//! What the machine or other users set limits to: memory, and names that stay what they are. The long forms of
//! these tests are `cargo xtask soak`.

mod memory;
mod races;
mod stress;
