//! What tests of all packages need: a fresh directory, a prepared command, mounts, and the reference tools.
#![expect(missing_docs, reason = "the names of most functions say it all, and only tests read them")]
#![expect(clippy::new_without_default, reason = "a directory for a test has no default")]

mod digest;
mod dir;
mod ftk;
mod image;
mod mount;
mod oracle;
mod page;
mod process;
mod random;
mod tools;

pub use digest::sha256;
pub use dir::{Chain, Dir, ino, set_mode};
pub use ftk::{Ftk, Run, program};
pub use image::Image;
pub use mount::{Mounted, is_root};
pub use oracle::{gnu_find, hash_lines, records, sorted, sum};
pub use page::{Page, Section, Shown, Step, headings};
pub use process::{Paused, has_open, has_read, install, maps, signal, wait_until, waits_for};
pub use random::bytes;
pub use tools::{assert_every_tool, has, is_too_slow, skip, uring};

/// Skips the test with a visible message if one of these tools is missing. With `CI` set, the test fails instead.
#[macro_export]
macro_rules! needs {
    ($($tool:literal),+) => {
        if $(!$crate::has($tool))||+ {
            return;
        }
    };
}
