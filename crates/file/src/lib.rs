//! Internal to ftk: opens files, says what `stat` returned, and reads to an end that can be trusted.
//!
//! It exists so that each of these has one definition, whatever command or thread needs it:
//!
//! - [`Stat`] is everything that `stat` returns, [`PackedStat`] the same in fewer bytes for tables, and
//!   [`Version`] the part that tells whether a file is still the same with the same content.
//! - [`Symlinks`] decides whether a symbolic link is followed.
//! - [`File`] opens a regular file, and never blocks on a FIFO or a device. [`Failure`] says why a file could
//!   not be read.
//! - [`ReadState`] detects the end of a file and checks that the file did not change. [`Cursor`] drives it
//!   with blocking reads; the readers of `ftk-read` drive it as their reads complete.
//! - [`descend()`] opens directories, also beyond `PATH_MAX` and without following links.
//! - [`temp_name()`] makes the names of files that are not in place yet.
//! - [`FsId`] is the identity of a file system, and [`mounts()`] lists those that are mounted. [`Inode`] is the key of a
//!   file in a table. [`Identity`] recognises an open file or directory that was recorded earlier.
//! - [`Holes`] finds the ranges that need no reading, on the file systems for which [`is_trusted`] is true.
//! - [`limit_rate()`] and [`preserve_page_cache()`] apply to all reads of the process: those of [`File`] and of
//!   [`Stream`], which reads standard input and special files.
//! - [`Sealer`] sums up the entries of a tree, to find out later whether anything in it has changed.
//! - [`TimeCensus`] decides whether the times of two trees agree, although a copy has rounded or shifted them.
//! - [`open_checked()`] opens a FIFO or a device only if it is still the expected one.
//! - [`StandardStream`] knows which standard streams were closed when the process started.
//! - [`AttributeReader`] reads extended attributes, and [`remove_access_lists()`] removes inherited ones that give access.
//! - [`begin_write_back()`] sends a large output to the disk while it is written.
//!
//! The walker has its own code for directories and its own metadata, because it is published for programs
//! that do not use this crate. [`Stat`] has the one conversion of that metadata.
//!
//! # Example
//!
//! The bytes of a file, counted and verified:
//!
//! ```
//! use ftk_file::{Cursor, File, Symlinks};
//!
//! let dir = std::fs::File::open("src")?;
//! let file = File::open(&dir, c"lib.rs", Symlinks::NoFollow).expect("a regular file");
//! let mut cursor = Cursor::new(&file, 0);
//! let (mut buf, mut bytes) = (vec![0; 1000], 0);
//! while !cursor.has_ended() {
//!     bytes += cursor.fill(&mut buf).expect("the file can be read") as u64;
//! }
//! cursor.verify().expect("the file did not change");
//! assert_eq!(file.stat().size, bytes);
//! # Ok::<(), std::io::Error>(())
//! ```
mod access_lists;
mod aligned_buf;
mod aligned_reader;
mod attributes;
mod clock;
mod closed_streams;
mod cursor;
mod descend;
mod descriptor_path;
mod device;
mod drop_method;
mod failure;
mod file;
mod fs_id;
mod holes;
mod identity;
mod inode;
mod limit;
mod mounts;
mod now;
mod packed_stat;
mod page_cache;
mod read_state;
mod recent;
mod reopen;
mod seal;
mod stat;
mod stream;
mod subvolume;
mod symlinks;
mod temp_name;
#[cfg(test)]
mod testing;
mod times;
mod tree_search;
mod trusted;
mod uncached;
mod version;
mod write_back;
pub mod xattr;

pub use access_lists::{HiddenAccess, remove_access_lists};
pub use aligned_buf::{ALIGNMENT_SPARE, AlignedBuf, aligned_start};
pub use aligned_reader::AlignedReader;
pub use attributes::{
    Attribute, AttributeDifference, AttributeReader, TRUSTED, attribute_differences, remove_attribute,
    sees_trusted,
};
pub use clock::{clock_ns, has_own_clock};
pub use closed_streams::StandardStream;
pub use cursor::Cursor;
pub use descend::{LOOKUP, PATH_MAX, descend};
pub use descriptor_path::{current_path, descriptor_path};
pub use device::{device_of, device_parts};
pub use drop_method::{DropMethod, drop_methods};
pub use failure::{Failure, is_out_of_descriptors};
pub use file::File;
pub use fs_id::FsId;
pub use ftk_walk::{FileType, is_remote, make_room};
pub use holes::{Holes, KnownRange};
pub use identity::{Identity, IdentityDifference};
pub use inode::{FileSystem, Inode};
pub use limit::{is_rate_limited, lift_rate_limit, limit_rate, write_all_at};
pub use mounts::{Mount, mounts};
pub use now::now_ns;
pub use packed_stat::PackedStat;
pub use page_cache::{PageCacheCalls, ReadCall, drop_pages_of_new_file, preserve_page_cache};
pub use read_state::ReadState;
pub use reopen::open_checked;
pub use seal::{Seal, Sealer};
pub use stat::{Birth, Stat, permissions};
pub use stream::Stream;
pub use subvolume::{Subvolume, is_subvolume_stub};
pub use symlinks::Symlinks;
pub use temp_name::{is_temp_name, temp_name};
pub use times::{EvenSample, RoundedSide, Rounding, TimeAgreement, TimeCensus};
pub use tree_search::{ChangedInode, TreeSearch};
pub use trusted::is_trusted;
pub use version::Version;
pub use write_back::begin_write_back;
