//! Developer tasks: `cargo xtask ci`, `tidy`, `bench`.

fn main() {}
