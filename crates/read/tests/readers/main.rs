//! Every reader against `std::fs::read`, and against files that change, vanish or were never regular.

mod harness;
mod same_bytes;
