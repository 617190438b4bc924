//! How much memory the arguments of a command may use.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Returns how many bytes all arguments of a command may use together. Each argument uses as many as [`cost`]
/// returns.
pub(super) fn space() -> usize {
    let environment: usize = env::vars_os().map(|(name, value)| cost(&name) + "=".len() + value.len()).sum();
    limit().saturating_sub(environment + HEADROOM)
}

/// Returns the bytes that an argument uses: the text, the NUL after it, and the pointer to it.
pub(super) fn cost(argument: &OsStr) -> usize {
    argument.as_bytes().len() + 1 + size_of::<usize>()
}

/// Bytes kept free: for what the kernel adds, such as the path of the program, and 2,048 bytes for variables
/// that the command may set, as POSIX requires of `xargs`.
const HEADROOM: usize = 4096 + 2048;

/// Returns the limit of Linux for arguments and environment together: a quarter of the stack limit, within
/// bounds (`bprm_stack_limits` in fs/exec.c).
#[cfg(target_os = "linux")]
fn limit() -> usize {
    use rustix::process::{Resource, getrlimit};
    const LEAST: usize = 128 << 10;
    const MOST: usize = 6 << 20;
    let stack = getrlimit(Resource::Stack).current.map(|bytes| bytes / 4);
    stack.map_or(MOST, |bytes| usize::try_from(bytes).unwrap_or(MOST).clamp(LEAST, MOST))
}

/// Returns the limit that `xargs` considers safe on all systems.
#[cfg(not(target_os = "linux"))]
fn limit() -> usize {
    128 << 10
}
