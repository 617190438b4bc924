//! The free space of the file systems that a walk visited.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ftk_record::quote;

use crate::console::Console;
use crate::human;

/// File systems that the summary names, if there are several.
const NAMED: usize = 10;

/// A file system, and a path on it.
struct Space {
    path: Vec<u8>,
    free: u128,
    total: u128,
}

/// Prints the last line of the summary with the free space of the file system that was visited. Each of several has
/// its own line. `shown` formats bytes, or `inodes`.
pub(super) fn finish(
    line: &str,
    visited: &[(u64, Vec<u8>)],
    shown: impl Fn(u128) -> String,
    inodes: bool,
    console: &Console,
) {
    let spaces = spaces(visited, inodes);
    let what = if inodes { " inodes" } else { "" };
    let text = |it: &Space| format!("{} of {}{what} free", shown(it.free), shown(it.total));
    if let [space] = &*spaces {
        return console.summary(format_args!("{line}; {}", text(space)));
    }
    console.summary(line);
    for space in spaces.iter().take(NAMED) {
        console.summary(format_args!("{} on the file system of {}", text(space), quote(&space.path)));
    }
    if spaces.len() > NAMED {
        console.summary(human::count((spaces.len() - NAMED) as u64, "more file system"));
    }
}

/// Asks for the space of each file system, sorted by path. Omits those that have none, such as proc, and those that do
/// not answer.
fn spaces(visited: &[(u64, Vec<u8>)], inodes: bool) -> Vec<Space> {
    let mut visited: Vec<_> = visited.iter().collect();
    visited.sort_unstable_by(|a, b| a.1.cmp(&b.1));
    let (mut devices, mut volumes) = (HashSet::new(), HashSet::new());
    visited.retain(|(device, _)| devices.insert(*device));
    let space = |(_, path): &(u64, Vec<u8>)| {
        let found = rustix::fs::statvfs(Path::new(OsStr::from_bytes(path))).ok()?;
        let bytes = |blocks: u64| u128::from(blocks) * u128::from(found.f_frsize);
        // Subvolumes of Btrfs are devices that share one space, and half of this number.
        let volume = found.f_fsid & 0xffff_ffff;
        let is_new = volume == 0 || volumes.insert((volume, found.f_blocks, found.f_frsize));
        let (free, total) = match inodes {
            true => (found.f_favail.into(), found.f_files.into()),
            false => (bytes(found.f_bavail), bytes(found.f_blocks)),
        };
        let space = Space { path: path.clone(), free, total };
        (is_new && space.total > 0).then_some(space)
    };
    visited.into_iter().filter_map(space).collect()
}
