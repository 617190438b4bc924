//! The ftk command.

fn main() {}
