//! Writes a report.

use std::io::Write as _;

use ftk_file::Version;
use ftk_hash::Algorithm;
use ftk_record::{Seal, write_path, write_record};

use super::{Group, KIND, ReportError, VERSION};
use crate::Member;

/// A group whose line becomes longer than this continues in another line, because readers limit the length of
/// lines.
pub(super) const LONG: usize = 8 << 20;

/// The header of a report.
#[derive(Clone, Debug)]
pub struct Header<'h> {
    /// The version of the program that writes the report, for information.
    pub program: &'h str,
    /// The algorithm of the digests.
    pub algorithm: Algorithm,
    /// Whether bytes were compared too.
    pub is_verified: bool,
    /// The smallest file size that was included.
    pub min_size: u64,
    /// The largest file size that was included; `None` means no limit.
    pub max_size: Option<u64>,
    /// The start of the run, in nanoseconds since the Unix epoch.
    pub start_ns: u128,
    /// The directory to which relative paths refer, if it is known.
    pub directory: Option<Vec<u8>>,
    /// The starting points; members refer to their indices.
    pub roots: Vec<Vec<u8>>,
    /// The command line without the program's name, including all options.
    pub arguments: Vec<Vec<u8>>,
}

impl Header<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        write_record(out, |record| {
            record
                .member("ftk", KIND)
                .member("version", VERSION)
                .member("program", self.program)
                .member("algorithm", self.algorithm.name())
                .member("verified", self.is_verified)
                .member("min_size_bytes", self.min_size)
                .member("max_size_bytes", self.max_size)
                .member("start_ns", self.start_ns);
            if let Some(directory) = &self.directory {
                record.path("directory", directory);
            }
            record.paths("roots", "path", &self.roots).paths("arguments", "text", &self.arguments);
        });
    }
}

/// Writes the lines of a report and seals them.
#[derive(Debug)]
pub struct Writer {
    seal: Seal,
    /// The number of groups written so far.
    groups: u64,
    /// The number of groups of directories.
    pub(super) directories: u64,
    /// The number of directories that are contained elsewhere.
    pub(super) contained: u64,
}

impl Writer {
    /// Begins a report: appends its header to `out`.
    ///
    /// # Errors
    /// If the header is longer than the maximum line.
    pub fn new(header: &Header<'_>, out: &mut Vec<u8>) -> Result<Self, ReportError> {
        let mut line = Vec::new();
        header.push(&mut line);
        if line.len() > Seal::MAX_LINE {
            return Err(ReportError::HeaderTooLong);
        }
        let mut seal = Seal::new();
        seal.line(&line);
        out.append(&mut line);
        Ok(Self { seal, groups: 0, directories: 0, contained: 0 })
    }

    /// Appends a group, in several lines if it is very long.
    pub fn group(&mut self, group: &Group, out: &mut Vec<u8>) {
        self.groups += 1;
        let (number, Group { size, digest, members }) = (self.groups, group);
        let clusters = group.clusters();
        let mut members = members.iter().zip(clusters).peekable();
        let mut is_begun = false;
        while members.peek().is_some() || !is_begun {
            is_begun = true;
            self.line(out, |out| {
                let start = out.len();
                // Writing to a `Vec` cannot fail.
                let _ = write!(
                    out,
                    "{{\"group\":{number},\"size_bytes\":{size},\"digest\":\"{digest}\",\"members\":["
                );
                let mut comma = "";
                while let Some((member, cluster)) = members.next_if(|_| out.len() - start < LONG) {
                    let _ = write!(out, "{comma}");
                    push_member(out, member, cluster);
                    comma = ",";
                }
                out.extend_from_slice(b"]}");
            });
        }
    }

    /// Ends the report: appends its footer.
    pub fn finish(self, out: &mut Vec<u8>) {
        self.seal.footer(out);
    }

    pub(super) fn line(&mut self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        push(out);
        out.push(b'\n');
        self.seal.line(&out[start..]);
    }
}

fn push_member(out: &mut Vec<u8>, member: &Member, cluster: usize) {
    let Member { path, root, version: Version { dev, ino, mtime_ns, ctime_ns, .. }, nlink, blocks, .. } =
        member;
    out.push(b'{');
    write_path(out, "path", path);
    let allocated = blocks.saturating_mul(512);
    // Writing to a `Vec` cannot fail.
    let _ = write!(
        out,
        ",\"root\":{root},\"cluster\":{cluster},\"dev\":{dev},\"ino\":{ino},\"nlink\":{nlink},\"allocated_bytes\":{allocated},\"mtime_ns\":{mtime_ns},\"ctime_ns\":{ctime_ns}"
    );
    if member.via_link {
        out.extend_from_slice(b",\"via_link\":true");
    }
    out.push(b'}');
}
