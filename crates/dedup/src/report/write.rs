//! Writing a report.

use std::io::Write as _;

use ftk_hash::Algorithm;
use ftk_record::{Seal, write_path, write_string};

use super::{Group, KIND, ReportError, VERSION};
use crate::Member;

/// A group whose object grows longer than this goes on in another one: a reader refuses lines of any length.
const LONG: usize = 8 << 20;

/// What is said before any group.
#[derive(Clone, Debug)]
pub struct Header<'h> {
    /// The version of the program that writes it, for people.
    pub program: &'h str,
    /// Of the digests.
    pub algorithm: Algorithm,
    /// Whether bytes were compared too.
    pub is_verified: bool,
    /// Between which sizes files were looked at, both included.
    pub min_size: u64,
    /// `None`: any.
    pub max_size: Option<u64>,
    /// When the run began, in nanoseconds since the Unix epoch.
    pub start_ns: u128,
    /// Where relative paths begin, if that could be found out.
    pub directory: Option<Vec<u8>>,
    /// Starting points, by their numbers.
    pub roots: Vec<Vec<u8>>,
    /// The words of the command line behind the program's name: among them are all options.
    pub arguments: Vec<Vec<u8>>,
}

impl Header<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        // A Vec takes everything.
        let _ = write!(out, "{{\"ftk\":\"{KIND}\",\"version\":{VERSION},\"program\":");
        write_string(out, self.program);
        let _ = write!(
            out,
            ",\"algorithm\":\"{}\",\"verified\":{},\"min_size_bytes\":{},\"max_size_bytes\":{},\"start_ns\":{}",
            self.algorithm,
            self.is_verified,
            self.min_size,
            self.max_size.map_or("null".into(), |size| size.to_string()),
            self.start_ns,
        );
        if let Some(directory) = &self.directory {
            out.push(b',');
            write_path(out, "directory", directory);
        }
        push_names(out, "roots", "path", &self.roots);
        push_names(out, "arguments", "text", &self.arguments);
        out.push(b'}');
    }
}

/// Makes the lines of a report and seals them.
#[derive(Debug)]
pub struct Writer {
    seal: Seal,
    /// Those written so far.
    groups: u64,
}

impl Writer {
    /// Begins a report: appends its header to `out`.
    ///
    /// # Errors
    /// When the header is longer than a line may be.
    pub fn new(header: &Header<'_>, out: &mut Vec<u8>) -> Result<Self, ReportError> {
        let mut line = Vec::new();
        header.push(&mut line);
        if line.len() > Seal::MAX_LINE {
            return Err(ReportError::HeaderTooLong);
        }
        let mut writer = Self { seal: Seal::new(), groups: 0 };
        writer.line(out, |out| out.append(&mut line));
        Ok(writer)
    }

    /// Appends a group, in one line or, if it is very long, in several.
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
                // A Vec takes everything.
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

    fn line(&mut self, out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        push(out);
        out.push(b'\n');
        self.seal.line(&out[start..]);
    }
}

/// `,"members":[{"name":"a"},{"name_b64":"/w=="}]`
fn push_names(out: &mut Vec<u8>, members: &str, name: &str, names: &[Vec<u8>]) {
    let _ = write!(out, ",\"{members}\":[");
    for (nth, bytes) in names.iter().enumerate() {
        out.extend_from_slice(if nth == 0 { b"{" } else { b",{" });
        write_path(out, name, bytes);
        out.push(b'}');
    }
    out.push(b']');
}

fn push_member(out: &mut Vec<u8>, member: &Member, cluster: usize) {
    let Member { path, root, dev, ino, nlink, blocks, mtime_ns, ctime_ns, .. } = member;
    out.push(b'{');
    write_path(out, "path", path);
    let allocated = blocks.saturating_mul(512);
    // A Vec takes everything.
    let _ = write!(
        out,
        ",\"root\":{root},\"cluster\":{cluster},\"dev\":{dev},\"ino\":{ino},\"nlink\":{nlink},\"allocated_bytes\":{allocated},\"mtime_ns\":{mtime_ns},\"ctime_ns\":{ctime_ns}"
    );
    if member.via_link {
        out.extend_from_slice(b",\"via_link\":true");
    }
    out.push(b'}');
}
