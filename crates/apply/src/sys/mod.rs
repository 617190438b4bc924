//! The system calls that differ between systems.
//!
//! Each system has all of these functions:
//!
//! | function | purpose |
//! |---|---|
//! | `sync` | waits until a file is on the disk, also out of the cache of the disk |
//! | `sync_file_system` | does that for all files of the file system of an open directory |
//! | `ask_file_system` | has a file system asked instead of a cache of its answers |
//! | `drop_cached_pages` | has the next reads of a file come from the disk, as far as the system permits |
//! | `share_content` | fills a new file with the blocks of another one, where the file system can do so |
//! | `exchange`, `rename_new` | renames of which no other program sees half |
//! | `is_mount_point` | tells whether something is mounted on a name |
//! | `file_without_name`, `link_file` | new files, and names for open files |
//! | `open_entry` | opens an entry of any type, without effects on it; its descriptor is for the functions below only |
//! | `set_owner`, `set_mode`, `set_times` | changes metadata through such a descriptor |
//! | `attributes`, `set_attribute`, `remove_attribute` | do the same with extended attributes |
//!
//! Where a system has no call of this kind, the function fails, and so does the action that needs it. [`CAN_ACT`] is false
//! on systems where no action is safe.

use std::os::fd::AsFd;

use rustix::io::Errno;

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod other;

#[cfg(target_vendor = "apple")]
pub(crate) use apple::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) use other::*;

/// Returns the absolute path of an open file or directory, without links.
pub(crate) fn path_of(file: impl AsFd) -> Result<Vec<u8>, Errno> {
    let path = ftk_file::current_path(file.as_fd());
    path.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
