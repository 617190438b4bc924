//! Writes specifications of mtree in the form with full paths, which needs no order of its own.

use ftk_file::Stat;
use ftk_hash::Digest;
use ftk_walk::FileType;

use super::lists::Columns;
use super::mtree_line::type_name;
use super::open_dirs::OpenDirs;
use super::vis::encode;
use crate::entry::ROOT;
use crate::{Entry, Field};

const NANOS: i128 = 1_000_000_000;

/// Writes the lines of a specification.
#[derive(Debug)]
pub(super) struct Mtree {
    is_root_written: bool,
    dirs: OpenDirs<()>,
}

impl Mtree {
    /// Appends the first line.
    pub(super) fn new(out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(b"#mtree\n");
        Self { is_root_written: false, dirs: OpenDirs::new() }
    }

    /// Appends the line of an entry. Directories that the manifest lacks come first, because mtree refuses paths in
    /// directories that it does not know.
    pub(super) fn entry(&mut self, out: &mut Vec<u8>, entry: &Entry<'_>, columns: &Columns) {
        let path = entry.path;
        if !self.is_root_written && path != ROOT {
            out.extend_from_slice(b". type=dir\n");
        }
        self.is_root_written = true;
        if path != ROOT {
            while self.dirs.pop_before(path).is_some() {}
            while let Some(dir) = self.dirs.missing(path) {
                push_path(out, dir);
                out.extend_from_slice(b" type=dir\n");
                self.dirs.push(dir, ());
            }
            if entry.stat.file_type == FileType::Directory {
                self.dirs.push(path, ());
            }
        }
        push_entry(out, entry, columns);
    }
}

fn push_entry(out: &mut Vec<u8>, entry: &Entry<'_>, columns: &Columns) {
    let stat = &entry.stat;
    push_path(out, entry.path);
    out.extend_from_slice(b" type=");
    out.extend_from_slice(type_name(stat.file_type).as_bytes());
    if entry.knows(Field::Mode) {
        out.extend_from_slice(b" mode=");
        let digit = |shift: u32| b'0' + (stat.mode >> shift & 7) as u8;
        out.extend_from_slice(&[digit(9), digit(6), digit(3), digit(0)]);
    }
    let mut number = |field: Field, name: &str, value: u64| {
        if entry.knows(field) {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }
    };
    number(Field::Uid, " uid=", stat.uid.into());
    number(Field::Gid, " gid=", stat.gid.into());
    number(Field::Nlink, " nlink=", stat.nlink);
    if stat.is_regular() {
        number(Field::Size, " size=", stat.size);
    }
    if stat.is_device() && entry.knows(Field::Rdev) {
        push_device(out, stat);
    }
    if entry.knows(Field::Mtime) {
        push_time(out, stat.mtime_ns);
    }
    if let Some(target) = entry.target {
        out.extend_from_slice(b" link=");
        encode(out, target);
    }
    if !entry.digests.is_empty() {
        for (algorithm, range) in columns {
            out.push(b' ');
            out.extend_from_slice(algorithm.name().as_bytes());
            out.push(b'=');
            Digest::from_bytes(&entry.digests[range.clone()]).write_hex(out);
        }
    }
    out.push(b'\n');
}

/// Appends `.` or `./a`. A path with a slash is relative to the root, whatever the lines before it.
fn push_path(out: &mut Vec<u8>, path: &[u8]) {
    out.push(b'.');
    if path != ROOT {
        out.push(b'/');
        encode(out, path);
    }
}

/// Appends ` time=1.000000002`: all implementations read the second number as nanoseconds, not as a fraction, and
/// times before 1970 have negative seconds and positive nanoseconds.
fn push_time(out: &mut Vec<u8>, time_ns: i128) {
    out.extend_from_slice(b" time=");
    let (seconds, nanos) = (time_ns.div_euclid(NANOS), time_ns.rem_euclid(NANOS));
    let mut buffer = itoa::Buffer::new();
    // Nearly every time fits into 64 bits, which are much faster to format.
    let seconds = match i64::try_from(seconds) {
        Ok(seconds) => buffer.format(seconds),
        Err(_) => buffer.format(seconds),
    };
    out.extend_from_slice(seconds.as_bytes());
    out.push(b'.');
    let (mut digits, mut rest) = ([b'0'; 9], nanos as u32);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits);
}

fn push_device(out: &mut Vec<u8>, stat: &Stat) {
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(b" device=native,");
    out.extend_from_slice(buffer.format(rustix::fs::major(stat.rdev)).as_bytes());
    out.push(b',');
    out.extend_from_slice(buffer.format(rustix::fs::minor(stat.rdev)).as_bytes());
}
