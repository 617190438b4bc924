//! How much the arguments of a command may take.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Bytes that the arguments of a command may take here, each counted by [`cost`].
pub(super) fn space() -> usize {
    let environment: usize = env::vars_os().map(|(name, value)| cost(&name) + "=".len() + value.len()).sum();
    limit().saturating_sub(environment + HEADROOM)
}

/// What an argument takes: its bytes, the NUL behind them, and the pointer to it.
pub(super) fn cost(argument: &OsStr) -> usize {
    argument.as_bytes().len() + 1 + size_of::<usize>()
}

/// Left to what the kernel adds, the path of the program among it, and, as POSIX wants of `xargs`, 2,048 bytes for
/// variables that the command may set.
const HEADROOM: usize = 4096 + 2048;

/// What Linux grants arguments and environment together: a quarter of the stack's limit, within bounds
/// (`bprm_stack_limits` in fs/exec.c).
#[cfg(target_os = "linux")]
fn limit() -> usize {
    use rustix::process::{Resource, getrlimit};
    const LEAST: usize = 128 << 10;
    const MOST: usize = 6 << 20;
    let stack = getrlimit(Resource::Stack).current.map(|bytes| bytes / 4);
    stack.map_or(MOST, |bytes| usize::try_from(bytes).unwrap_or(MOST).clamp(LEAST, MOST))
}

/// What `xargs` takes to be safe everywhere.
#[cfg(not(target_os = "linux"))]
fn limit() -> usize {
    128 << 10
}
