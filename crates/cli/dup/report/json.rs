//! The report that can be acted on later: a header, an object a group, a footer that seals them.
//!
//! `docs/dup-report.md` describes it; `saved.rs` reads it.

use std::ffi::{CString, OsString};
use std::io::Write as _;

use anyhow::ensure;
use ftk_dedup::Member;
use ftk_record::{Seal, write_path, write_string};

use crate::dup::group::Group;

/// What the first line says the file is.
pub(in crate::dup) const KIND: &str = "dup-report";

/// The version of the format that is written, and the only one that is read.
pub(in crate::dup) const VERSION: u32 = 1;

/// A group whose object grows longer than this goes on in another one: a reader refuses lines of any length.
const LONG: usize = 8 << 20;

/// What is said before any group.
#[derive(Debug)]
pub(super) struct Header<'h> {
    pub(super) algorithm: &'static str,
    /// Whether bytes were compared too.
    pub(super) is_verified: bool,
    pub(super) min_size: u64,
    pub(super) max_size: Option<u64>,
    /// Since 1970.
    pub(super) start_ns: u128,
    /// Where relative paths begin, if that could be found out.
    pub(super) directory: Option<OsString>,
    pub(super) roots: &'h [CString],
    /// The words of the command line behind the program's name: among them are all options.
    pub(super) arguments: Vec<OsString>,
}

impl Header<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        // A Vec takes everything.
        let _ = write!(out, "{{\"ftk\":\"{KIND}\",\"version\":{VERSION},\"program\":");
        write_string(out, env!("CARGO_PKG_VERSION"));
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
            write_path(out, "directory", directory.as_encoded_bytes());
        }
        let roots = self.roots.iter().map(|root| root.as_bytes());
        push_names(out, "roots", "path", roots);
        let arguments = self.arguments.iter().map(|word| word.as_encoded_bytes());
        push_names(out, "arguments", "text", arguments);
        out.push(b'}');
    }
}

/// Makes the lines of a report and seals them.
#[derive(Debug, Default)]
pub(super) struct Json {
    seal: Seal,
}

impl Json {
    /// Appends the header.
    ///
    /// # Errors
    /// When it is longer than a line may be.
    pub(super) fn push_header(&mut self, out: &mut Vec<u8>, header: &Header<'_>) -> anyhow::Result<()> {
        let mut line = Vec::new();
        header.push(&mut line);
        ensure!(line.len() <= Seal::MAX_LINE, "there are too many starting points for one report");
        self.line(out, |out| out.append(&mut line));
        Ok(())
    }

    /// `number` counts groups from 1.
    pub(super) fn push_group(&mut self, out: &mut Vec<u8>, number: u64, group: &Group) {
        let clusters = group.clusters();
        let mut members = group.members.iter().zip(&clusters).peekable();
        while members.peek().is_some() {
            self.line(out, |out| {
                let Group { size, digest, .. } = group;
                let start = out.len();
                let _ = write!(
                    out,
                    "{{\"group\":{number},\"size_bytes\":{size},\"digest\":\"{digest}\",\"members\":["
                );
                let mut comma = "";
                while let Some((member, cluster)) = members.next_if(|_| out.len() - start < LONG) {
                    let _ = write!(out, "{comma}");
                    push_member(out, member, *cluster);
                    comma = ",";
                }
                out.extend_from_slice(b"]}");
            });
        }
    }

    pub(super) fn push_footer(&self, out: &mut Vec<u8>) {
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
fn push_names<'n>(out: &mut Vec<u8>, members: &str, name: &str, names: impl Iterator<Item = &'n [u8]>) {
    let _ = write!(out, ",\"{members}\":[");
    for (nth, bytes) in names.enumerate() {
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
