//! Writes a report.

use std::io::Write as _;

use ftk_file::Version;
use ftk_hash::{Algorithm, Digest};
use ftk_record::{Seal, write_path, write_record};

use super::{Group, KIND, RECORDED_VERSION, ReportError, VERSION};
use crate::{Member, RecordedMember};

/// A group whose line becomes longer than this continues in another line, because readers limit the length of
/// lines.
pub(super) const LONG: usize = 8 << 20;

/// A name of which the record is longer than this is omitted: a line may have a path, one more, and the start of another
/// list.
pub(super) const MAX_OBJECT: usize = (Seal::MAX_LINE - 2 * LONG) / 2;

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
    /// The manifests that were searched, if no tree was. Their recorded roots are the starting points.
    pub manifests: Vec<Vec<u8>>,
    /// Rules that were to protect files and matched nothing, such as `--exclude=keep`.
    pub unused_rules: Vec<Vec<u8>>,
    /// The command line without the program's name, including all options.
    pub arguments: Vec<Vec<u8>>,
}

impl Header<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        write_record(out, |record| {
            record
                .member("ftk", KIND)
                .member("version", if self.manifests.is_empty() { VERSION } else { RECORDED_VERSION })
                .member("program", self.program)
                .member("algorithm", self.algorithm.name())
                .member("verified", self.is_verified)
                .member("min_size_bytes", self.min_size)
                .member("max_size_bytes", self.max_size)
                .member("start_ns", self.start_ns);
            if let Some(directory) = &self.directory {
                record.path("directory", directory);
            }
            record.paths("roots", "path", &self.roots);
            if !self.manifests.is_empty() {
                record.paths("manifests", "path", &self.manifests);
            }
            if !self.unused_rules.is_empty() {
                record.paths("unused_rules", "rule", &self.unused_rules);
            }
            record.paths("arguments", "text", &self.arguments);
        });
    }
}

/// Writes the lines of a report and seals them.
#[derive(Debug)]
pub struct Writer {
    seal: Seal,
    /// The number of groups written so far.
    groups: u64,
    /// The start of each line of the current group.
    head: String,
    /// How many files the current group has.
    files: u64,
    /// The current line.
    line: Vec<u8>,
    /// The number of groups of directories.
    pub(super) directories: u64,
    /// The number of directories that are contained elsewhere.
    pub(super) contained: u64,
    /// The number of names that were omitted.
    pub(super) left_out: u64,
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
        let (groups, directories, contained, left_out, head, files, line) = Default::default();
        Ok(Self { seal, groups, head, files, line, directories, contained, left_out })
    }

    /// Appends a group.
    pub fn group(&mut self, group: &Group, out: &mut Vec<u8>) {
        self.begin_group(group.size, &group.digest);
        for (member, cluster) in group.members.iter().zip(group.clusters()) {
            self.member(member, cluster as u64, out);
        }
        self.end_group(out);
    }

    /// Begins a group. Its [members](Self::member) follow one by one, so that they need not fit into memory.
    pub fn begin_group(&mut self, size: u64, digest: &Digest) {
        self.groups += 1;
        self.files = 0;
        self.head = format!(
            "{{\"group\":{},\"size_bytes\":{size},\"digest\":\"{digest}\",\"members\":[",
            self.groups
        );
        self.begin_line();
    }

    /// Appends a member of the current group. `cluster` is the number of its file in the group. If the line is
    /// very long, the group continues in another one.
    pub fn member(&mut self, member: &Member, cluster: u64, out: &mut Vec<u8>) {
        self.files = self.files.max(cluster + 1);
        self.object(out, |line| push_member(line, member, cluster));
    }

    /// Appends a recorded member of the current group, like [`member`](Self::member).
    pub fn recorded_member(&mut self, member: &RecordedMember, cluster: u64, out: &mut Vec<u8>) {
        self.files = self.files.max(cluster + 1);
        self.object(out, |line| push_recorded(line, member, cluster));
    }

    fn object(&mut self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        if self.line.len() >= LONG {
            self.end_line("]", out);
            self.begin_line();
        }
        let start = self.line.len();
        if self.line.last() == Some(&b'}') {
            self.line.push(b',');
        }
        push(&mut self.line);
        self.left_out += u64::from(is_cut(&mut self.line, start));
    }

    /// Returns how many names are not in the report so far, because their paths are so long that no reader would accept the
    /// line.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the current group.
    pub fn end_group(&mut self, out: &mut Vec<u8>) {
        let surplus = self.files.saturating_sub(1);
        self.end_line(&format!("],\"surplus_files\":{surplus}"), out);
    }

    fn end_line(&mut self, end: &str, out: &mut Vec<u8>) {
        self.line.extend_from_slice(end.as_bytes());
        self.line.extend_from_slice(b"}\n");
        self.seal.line(&self.line);
        out.append(&mut self.line);
    }

    /// Ends the report: appends its footer.
    pub fn finish(self, out: &mut Vec<u8>) {
        self.seal.footer(out);
    }

    fn begin_line(&mut self) {
        self.line.clear();
        self.line.extend_from_slice(self.head.as_bytes());
    }

    pub(super) fn line(&mut self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        push(out);
        out.push(b'\n');
        self.seal.line(&out[start..]);
    }
}

/// Removes the object that begins at `start` if it is too long. Returns whether it is.
pub(super) fn is_cut(line: &mut Vec<u8>, start: usize) -> bool {
    let is_long = line.len() - start > MAX_OBJECT;
    if is_long {
        line.truncate(start);
    }
    is_long
}

fn push_member(out: &mut Vec<u8>, member: &Member, cluster: u64) {
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
    if member.standing.stays() {
        out.extend_from_slice(b",\"stays\":true");
    }
    out.push(b'}');
}

fn push_recorded(out: &mut Vec<u8>, member: &RecordedMember, cluster: u64) {
    let RecordedMember { manifest, path, fs, ino, nlink, allocated, mtime_ns, ctime_ns } = member;
    out.push(b'{');
    write_path(out, "path", path);
    // Writing to a `Vec` cannot fail.
    let _ = write!(out, ",\"root\":{manifest},\"cluster\":{cluster}");
    if let Some(fs) = fs {
        let _ = write!(out, ",\"fs\":\"{}\"", Digest::from_bytes(fs.as_bytes()));
    }
    for (name, number) in [("ino", ino), ("nlink", nlink), ("allocated_bytes", allocated)] {
        number.iter().for_each(|number| _ = write!(out, ",\"{name}\":{number}"));
    }
    for (name, time) in [("mtime_ns", mtime_ns), ("ctime_ns", ctime_ns)] {
        time.iter().for_each(|time| _ = write!(out, ",\"{name}\":{time}"));
    }
    out.push(b'}');
}
