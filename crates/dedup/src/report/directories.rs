//! Directories in a report: groups of equal ones, and those that exist elsewhere.

use std::io::Write as _;

use ftk_file::Version;
use ftk_record::write_path;

use super::Writer;
use super::write::{LONG, is_cut};
use crate::{Member, Names};

/// Equal directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryGroup {
    /// The size of one of the directories in bytes.
    pub size: u64,
    /// The number of files in each.
    pub files: u64,
    /// The number of entries of any type in each; of the first, if names are ignored.
    pub entries: u64,
    /// Wasted bytes.
    pub wasted: u64,
    /// Whether they have the same names.
    pub names: Names,
    /// The directories, sorted by path. Each has one link, and no blocks of its own.
    pub members: Vec<Member>,
}

/// A directory of which a large share exists elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainedDirectory<'c> {
    /// Its path.
    pub path: &'c [u8],
    /// The number of its starting point.
    pub root: usize,
    /// Files in it, and their bytes.
    pub all: (u64, u64),
    /// Files in it that exist elsewhere, and their bytes.
    pub found: (u64, u64),
    /// Whether everything in it was compared.
    pub is_whole: bool,
    /// Paths of directories that contain copies, each with the number of files and their bytes.
    pub holders: &'c [(Vec<u8>, u64, u64)],
}

impl Writer {
    /// Appends a group of directories, in several lines if it is very long.
    pub fn directories(&mut self, group: &DirectoryGroup, out: &mut Vec<u8>) {
        self.directories += 1;
        let DirectoryGroup { size, files, entries, wasted, names, members } = group;
        let (number, has_names) = (self.directories, *names == Names::Compared);
        let mut members = members.iter().peekable();
        let mut left_out = 0;
        while members.peek().is_some() {
            self.line(out, |out| {
                let start = out.len();
                // Writing to a `Vec` cannot fail.
                let _ = write!(
                    out,
                    "{{\"directories\":{number},\"size_bytes\":{size},\"files\":{files},\"entries\":{entries},\"waste_bytes\":{wasted},\"same_names\":{has_names},\"members\":["
                );
                let mut comma = "";
                while let Some(member) = members.next_if(|_| out.len() - start < LONG) {
                    let before = out.len();
                    let _ = write!(out, "{comma}");
                    push_member(out, member);
                    match is_cut(out, before) {
                        true => left_out += 1,
                        false => comma = ",",
                    }
                }
                out.extend_from_slice(b"]}");
            });
        }
        self.left_out += left_out;
    }

    /// Appends a directory that is contained elsewhere. `missing` are the paths of its files that exist nowhere
    /// else. If there are very many of them, or of the directories with copies, they continue in further lines.
    pub fn contained(
        &mut self,
        contained: &ContainedDirectory<'_>,
        missing: impl Iterator<Item = Vec<u8>>,
        out: &mut Vec<u8>,
    ) {
        self.contained += 1;
        let ContainedDirectory { path, root, all, found, is_whole, holders } = *contained;
        let number = self.contained;
        let (mut holders, mut missing) = (holders.iter().peekable(), missing.peekable());
        let mut text = Vec::new();
        write_path(&mut text, "path", path);
        if is_cut(&mut text, 0) {
            self.left_out += 1;
            return;
        }
        let (mut is_begun, mut left_out) = (false, 0);
        while holders.peek().is_some() || missing.peek().is_some() || !is_begun {
            is_begun = true;
            self.line(out, |out| {
                let _ = write!(out, "{{\"contained\":{number},");
                out.extend_from_slice(&text);
                let start = out.len();
                let _ = write!(
                    out,
                    ",\"root\":{root},\"files\":{},\"bytes\":{},\"found_files\":{},\"found_bytes\":{},\"is_whole\":{is_whole},\"in\":[",
                    all.0, all.1, found.0, found.1
                );
                let mut comma = &b"{"[..];
                while let Some((path, files, bytes)) = holders.next_if(|_| out.len() - start < LONG) {
                    let before = out.len();
                    out.extend_from_slice(comma);
                    write_path(out, "path", path);
                    let _ = write!(out, ",\"files\":{files},\"bytes\":{bytes}}}");
                    match is_cut(out, before) {
                        true => left_out += 1,
                        false => comma = b",{",
                    }
                }
                out.extend_from_slice(b"],\"missing\":[");
                let mut comma = &b"{"[..];
                while let Some(path) = missing.next_if(|_| out.len() - start < LONG) {
                    let before = out.len();
                    out.extend_from_slice(comma);
                    write_path(out, "path", &path);
                    out.push(b'}');
                    match is_cut(out, before) {
                        true => left_out += 1,
                        false => comma = b",{",
                    }
                }
                out.extend_from_slice(b"]}");
            });
        }
        self.left_out += left_out;
    }
}

fn push_member(out: &mut Vec<u8>, member: &Member) {
    let Member { path, root, version: Version { dev, ino, mtime_ns, ctime_ns, .. }, .. } = member;
    out.push(b'{');
    write_path(out, "path", path);
    let _ = write!(
        out,
        ",\"root\":{root},\"dev\":{dev},\"ino\":{ino},\"mtime_ns\":{mtime_ns},\"ctime_ns\":{ctime_ns}}}"
    );
}
