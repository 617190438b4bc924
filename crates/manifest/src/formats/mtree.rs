//! Writes specifications of mtree in their nested form: a directory comes directly before its contents, and `..` ends them.
//!
//! In the form with full paths, the directories around a single entry would take quadratic space.

use ftk_file::{Stat, device_parts};
use ftk_hash::Digest;
use ftk_inventory::{Budget, Full, OpenDirs, Reservation};
use ftk_walk::FileType;

use super::lists::Columns;
use super::mtree_line::type_name;
use super::vis::encode;
use super::{LINE, name_of};
use crate::entry::ROOT;
use crate::{Entry, Field};

const NANOS: i128 = 1_000_000_000;

/// Writes the lines of a specification. Uses memory for the lines of directories whose contents may still follow.
#[derive(Debug)]
pub(super) struct Mtree {
    is_root_written: bool,
    /// The line of each directory, until the first of its contents follows.
    dirs: OpenDirs<Option<Vec<u8>>>,
    memory: Reservation,
}

impl Mtree {
    /// Appends the first line.
    pub(super) fn new(out: &mut Vec<u8>, budget: &Budget) -> Self {
        out.extend_from_slice(b"#mtree\n");
        Self { is_root_written: false, dirs: OpenDirs::default(), memory: Reservation::new(budget) }
    }

    /// Appends the lines that are complete with an entry. Directories that the manifest lacks come first.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn entry(
        &mut self,
        out: &mut Vec<u8>,
        entry: &Entry<'_>,
        columns: &Columns,
    ) -> Result<(), Full> {
        let path = entry.path;
        if path == ROOT {
            self.is_root_written = true;
            push_entry(out, ROOT, entry, columns);
            return Ok(());
        }
        if !self.is_root_written {
            self.is_root_written = true;
            out.extend_from_slice(b". type=dir\n");
        }
        while let Some(line) = self.dirs.pop_before(path) {
            close(out, line);
        }
        for line in self.dirs.around(path) {
            out.extend(line.take().into_iter().flatten());
        }
        while let Some(dir) = self.dirs.missing(path) {
            encode(out, name_of(dir));
            out.extend_from_slice(b" type=dir\n");
            self.dirs.push_within(&mut self.memory, LINE, dir, None)?;
        }
        if entry.stat.file_type == FileType::Directory {
            let mut line = Vec::new();
            push_entry(&mut line, name_of(path), entry, columns);
            self.dirs.push_within(&mut self.memory, LINE, path, Some(line))?;
        } else {
            push_entry(out, name_of(path), entry, columns);
        }
        Ok(())
    }

    /// Appends the last lines.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) {
        while let Some(line) = self.dirs.pop() {
            close(out, line);
        }
    }
}

/// Ends a directory. `line` is its own, if it has no contents.
fn close(out: &mut Vec<u8>, line: Option<Vec<u8>>) {
    out.extend(line.into_iter().flatten());
    out.extend_from_slice(b"..\n");
}

fn push_entry(out: &mut Vec<u8>, name: &[u8], entry: &Entry<'_>, columns: &Columns) {
    let stat = &entry.stat;
    encode(out, name);
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
    let (major, minor) = device_parts(stat.rdev);
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(b" device=native,");
    out.extend_from_slice(buffer.format(major).as_bytes());
    out.push(b',');
    out.extend_from_slice(buffer.format(minor).as_bytes());
}
