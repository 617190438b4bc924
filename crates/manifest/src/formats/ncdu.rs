//! Writes the JSON of `ncdu -o`, version 1.2.
//!
//! `record` writes the objects; this arranges them.

use ftk_inventory::{Budget, Full, OpenDirs, Reservation};
use ftk_record::{NcduObject, write_ncdu_object, write_ncdu_start};
use ftk_walk::FileType;

use super::{LINE, name_of};
use crate::entry::ROOT;
use crate::{Entry, Field, Header};

/// Writes the lines of an export.
#[derive(Debug)]
pub(super) struct Ncdu {
    /// The path of the root, which is its name.
    root: Vec<u8>,
    is_root_written: bool,
    root_dev: Option<u64>,
    dirs: OpenDirs<Dir>,
    memory: Reservation,
}

/// A directory whose contents may still follow.
#[derive(Debug)]
struct Dir {
    /// The object that describes it, until the first of its contents follows.
    unwritten: Option<Vec<u8>>,
    dev: Option<u64>,
}

/// The bits of `st_mode` for each type.
fn type_bits(file_type: FileType) -> u32 {
    match file_type {
        FileType::Fifo => 0o010_000,
        FileType::Char => 0o020_000,
        FileType::Directory => 0o040_000,
        FileType::Block => 0o060_000,
        FileType::Regular => 0o100_000,
        FileType::Symlink => 0o120_000,
        FileType::Socket => 0o140_000,
        _ => 0,
    }
}

impl Ncdu {
    /// Appends the first line.
    pub(super) fn new(out: &mut Vec<u8>, header: &Header, budget: &Budget) -> Self {
        let seconds = header.start_ns.div_euclid(1_000_000_000);
        let filter = header.options.first().and_then(|option| option.split(|byte| *byte == b'=').next());
        let filter = filter.and_then(|option| str::from_utf8(option).ok());
        write_ncdu_start(out, u64::try_from(seconds).unwrap_or_default(), filter);
        let root = if header.root.is_empty() { ROOT.to_vec() } else { header.root.clone() };
        Self {
            root,
            is_root_written: false,
            root_dev: None,
            dirs: OpenDirs::default(),
            memory: Reservation::new(budget),
        }
    }

    /// Appends the lines of an entry.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn entry(&mut self, out: &mut Vec<u8>, entry: &Entry<'_>) -> Result<(), Full> {
        let path = entry.path;
        if path == ROOT {
            self.write_root(out, Some(entry));
            return Ok(());
        }
        if !self.is_root_written {
            self.write_root(out, None);
        }
        while let Some(dir) = self.dirs.pop_before(path) {
            close(out, dir);
        }
        while let Some(missing) = self.dirs.missing(path) {
            let mut object = Vec::new();
            push_name(&mut object, name_of(missing));
            self.dirs.push_within(
                &mut self.memory,
                LINE,
                missing,
                Dir { unwritten: Some(object), dev: None },
            )?;
        }
        let mut parent_dev = self.root_dev;
        for dir in self.dirs.around(path) {
            if let Some(object) = dir.unwritten.take() {
                out.extend_from_slice(b",\n[");
                out.extend_from_slice(&object);
            }
            parent_dev = dir.dev.or(parent_dev);
        }
        if entry.stat.file_type == FileType::Directory {
            let mut object = Vec::new();
            push_object(&mut object, entry, name_of(path), parent_dev);
            let dev = entry.knows(Field::Dev).then_some(entry.stat.dev);
            self.dirs.push_within(&mut self.memory, LINE, path, Dir { unwritten: Some(object), dev })?;
        } else {
            out.extend_from_slice(b",\n");
            push_object(out, entry, name_of(path), parent_dev);
        }
        Ok(())
    }

    /// Appends the last line.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.is_root_written {
            self.write_root(out, None);
        }
        while let Some(dir) = self.dirs.pop() {
            close(out, dir);
        }
        out.extend_from_slice(b"]]\n");
    }

    fn write_root(&mut self, out: &mut Vec<u8>, entry: Option<&Entry<'_>>) {
        self.is_root_written = true;
        out.push(b'[');
        match entry {
            Some(entry) => {
                self.root_dev = entry.knows(Field::Dev).then_some(entry.stat.dev);
                push_object(out, entry, &self.root, None);
            }
            None => push_name(out, &self.root),
        }
    }
}

fn close(out: &mut Vec<u8>, dir: Dir) {
    if let Some(object) = dir.unwritten {
        out.extend_from_slice(b",\n[");
        out.extend_from_slice(&object);
    }
    out.push(b']');
}

/// Appends the object of an entry. `parent_dev` is the device of its directory.
fn push_object(out: &mut Vec<u8>, entry: &Entry<'_>, name: &[u8], parent_dev: Option<u64>) {
    let stat = &entry.stat;
    let is_linked = stat.file_type != FileType::Directory
        && entry.knows_all(&[Field::Dev, Field::Ino, Field::Nlink])
        && stat.nlink > 1;
    let seconds = u64::try_from(stat.mtime_ns.div_euclid(1_000_000_000)).ok();
    write_ncdu_object(
        out,
        &NcduObject {
            name,
            apparent_bytes: entry.knows(Field::Size).then_some(stat.size),
            allocated_bytes: Field::Allocated.is_of(entry).then(|| stat.blocks.saturating_mul(512)),
            dev: (entry.knows(Field::Dev) && parent_dev != Some(stat.dev)).then_some(stat.dev),
            uid: entry.knows(Field::Uid).then_some(stat.uid),
            gid: entry.knows(Field::Gid).then_some(stat.gid),
            mode: entry.knows(Field::Mode).then_some(type_bits(stat.file_type) | stat.mode),
            mtime: seconds.filter(|_| entry.knows(Field::Mtime)),
            link: is_linked.then_some((stat.ino, stat.nlink)),
            is_special: !matches!(stat.file_type, FileType::Regular | FileType::Directory),
            missing: None,
        },
    );
}

/// Appends the object of a directory of which only the name is known.
fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    write_ncdu_object(out, &NcduObject { name, ..NcduObject::default() });
}
