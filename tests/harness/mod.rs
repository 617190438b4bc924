//! What every test needs: a fresh directory, a prepared command, and the reference tools.

mod digest;
mod dir;
mod ftk;
mod image;
mod mount;
mod oracle;
mod process;
mod random;
mod tools;

pub(crate) use digest::sha256;
pub(crate) use dir::{Chain, Dir};
pub(crate) use ftk::{Ftk, Run};
pub(crate) use image::Image;
pub(crate) use mount::Mounted;
pub(crate) use oracle::{gnu_find, hash_lines, records, sorted, sum};
pub(crate) use process::{Paused, has_open, has_read, install, maps, signal, wait_until, waits_for};
pub(crate) use random::bytes;
pub(crate) use tools::{has, is_too_slow, skip, uring};

/// Skips the test with a visible message if one of these tools is missing. With `CI` set, the test fails instead.
macro_rules! needs {
    ($($tool:literal),+) => {
        if $(!$crate::harness::has($tool))||+ {
            return;
        }
    };
}
pub(crate) use needs;
