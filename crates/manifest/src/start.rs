//! The start time of a manifest, before which no file of the tree was read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;

use ftk_file::{Stat, clock_ns, has_own_clock};
use ftk_inventory::{DirNo, Inventory, Opener};

/// How many directories of a file system are tried if this user may not create files in them.
const TRIES: usize = 100;

/// Returns the start time to record for a walked tree whose files have not been read yet: `began_ns`, when the run began
/// by the clock of this host, or an earlier time that the clock of one of the tree's file systems shows now.
///
/// A file is trusted later only if its times are before the start ([`Stat::is_recent`]). Its times come from the clock of
/// the file system. If that is slow, a file that was written after it was read could otherwise look older than the start.
/// If it is fast, `began_ns` only makes more files look recent.
///
/// The clock is that which stamped `output`, if the new manifest is on the same file system, or else a temporary file
/// without a name. If neither is possible, the clock of this host counts.
pub fn start_ns(inventory: &Inventory, output: Option<&File>, began_ns: i128) -> i128 {
    let output = output.and_then(|file| Stat::of(file).ok());
    let (mut opener, mut tries_left) = (Opener::new(inventory), BTreeMap::new());
    let mut start_ns = began_ns;
    for dir in (0..inventory.dirs()).map(DirNo) {
        let dev = inventory.device(dir);
        let tries_left = tries_left.entry(dev).or_insert(TRIES);
        if *tries_left == 0 {
            continue;
        }
        *tries_left -= 1;
        let Ok(at) = opener.open(dir) else { continue };
        let clock = match output.filter(|stat| stat.dev == dev) {
            _ if !has_own_clock(&*at) => Ok(began_ns),
            Some(stat) => Ok(stat.ctime_ns),
            None => clock_ns(&*at),
        };
        start_ns = start_ns.min(*clock.as_ref().unwrap_or(&began_ns));
        // Another directory may allow it.
        if !clock.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            *tries_left = 0;
        }
    }
    start_ns
}
