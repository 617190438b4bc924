//! A saved report, read back. Nothing is guessed: one record that is not right refuses the whole of it, and nothing
//! has been done then.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use anyhow::{Context as _, bail, ensure};
use ftk_dedup::Member;
use ftk_hash::{Algorithm, Digest};
use ftk_record::{SealError, SealedReader, quote, read_path};
use serde::Deserialize;

use crate::dup::group::Group;
use crate::dup::report::{KIND, VERSION};

/// What a report says.
#[derive(Debug)]
pub(super) struct Saved {
    /// Starting points, by their numbers.
    pub(super) roots: Vec<Vec<u8>>,
    pub(super) groups: Vec<Group>,
}

/// Opens a report; `-` is standard input.
pub(super) fn open(report: &OsStr) -> anyhow::Result<Box<dyn BufRead>> {
    if report == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file =
        File::open(report).with_context(|| format!("cannot open {}", quote(report.as_encoded_bytes())))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Reads a report to its end. `is_edited`: whether a footer that no longer matches will do.
///
/// # Errors
/// When it is incomplete or damaged, or a record makes no sense.
pub(super) fn read(input: impl BufRead, is_edited: bool) -> anyhow::Result<Saved> {
    let mut reader = SealedReader::new(input);
    let mut report = Report::default();
    loop {
        match reader.next_line() {
            Ok(Some(line)) => {
                let taken = report.take(line);
                taken.with_context(|| format!("line {}", reader.number()))?;
            }
            Ok(None) => break,
            Err(SealError::WrongCount | SealError::WrongDigest) if is_edited => break,
            Err(error @ (SealError::WrongCount | SealError::WrongDigest)) => {
                return Err(error).context("not as it was written: with --edited it is used all the same");
            }
            Err(error) => return Err(error.into()),
        }
    }
    ensure!(report.algorithm.is_some(), "empty: a report begins with a header");
    Ok(Saved { roots: report.roots, groups: report.groups })
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Report {
    /// Known once the header has been read.
    algorithm: Option<Algorithm>,
    roots: Vec<Vec<u8>>,
    groups: Vec<Group>,
    /// The number of the last group.
    number: u64,
    paths: HashSet<Vec<u8>>,
}

impl Report {
    fn take(&mut self, line: &[u8]) -> anyhow::Result<()> {
        match self.algorithm {
            None => self.header(line),
            Some(algorithm) => self.group(line, algorithm),
        }
    }

    fn header(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let header: Header<'_> = serde_json::from_slice(line).context("no header of a report")?;
        ensure!(header.ftk == KIND, "this is no report of ftk dup");
        ensure!(
            header.version == VERSION,
            "a report of version {}, and this ftk reads version {VERSION}",
            header.version
        );
        let algorithm = header.algorithm.parse();
        self.algorithm = Some(algorithm.context("the digests cannot be judged")?);
        for root in header.roots {
            self.roots.push(read_path(root.path.as_deref(), root.path_b64.as_deref())?.into_owned());
        }
        Ok(())
    }

    fn group(&mut self, line: &[u8], algorithm: Algorithm) -> anyhow::Result<()> {
        let record: Record<'_> = serde_json::from_slice(line).context("no group")?;
        let digest = Digest::from_hex(record.digest.as_bytes())
            .filter(|digest| digest.as_bytes().len() == algorithm.digest_len());
        let digest = digest.with_context(|| format!("the digest is none of {algorithm}"))?;
        let mut members = Vec::with_capacity(record.members.len());
        for member in &record.members {
            members.push(self.member(member, record.size_bytes)?);
        }
        if record.group == self.number
            && let Some(group) = self.groups.last_mut()
        {
            ensure!((group.size, group.digest) == (record.size_bytes, digest), "a group of different files");
            group.members.append(&mut members);
            return Ok(());
        }
        ensure!(record.group > self.number, "group {} does not follow group {}", record.group, self.number);
        self.number = record.group;
        self.groups.push(Group { size: record.size_bytes, digest, members });
        Ok(())
    }

    fn member(&mut self, record: &MemberRecord, size: u64) -> anyhow::Result<Member> {
        let path = read_path(record.path.as_deref(), record.path_b64.as_deref())?.into_owned();
        ensure!(!path.is_empty(), "a path of no bytes");
        let Some(root) = self.roots.get(record.root) else {
            bail!("{} is below a starting point that is none", quote(&path));
        };
        ensure!(is_below(&path, root), "{} is not below {}", quote(&path), quote(root));
        ensure!(self.paths.insert(path.clone()), "{} is there twice", quote(&path));
        Ok(Member {
            root: record.root,
            path,
            dev: record.dev,
            ino: record.ino,
            size,
            blocks: record.allocated_bytes / 512,
            nlink: record.nlink,
            mtime_ns: record.mtime_ns,
            ctime_ns: record.ctime_ns,
            via_link: record.via_link,
        })
    }
}

/// Whether a path is that starting point or below it, without a way back up.
fn is_below(path: &[u8], root: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(root) else { return false };
    let is_apart = rest.is_empty() || root.ends_with(b"/") || rest.starts_with(b"/");
    is_apart && !rest.split(|&byte| byte == b'/').any(|name| name == b"..")
}

#[derive(Deserialize)]
struct Header<'j> {
    ftk: &'j str,
    version: u32,
    algorithm: &'j str,
    roots: Vec<NameRecord>,
}

#[derive(Deserialize)]
struct NameRecord {
    path: Option<String>,
    path_b64: Option<String>,
}

#[derive(Deserialize)]
struct Record<'j> {
    group: u64,
    size_bytes: u64,
    digest: &'j str,
    members: Vec<MemberRecord>,
}

#[derive(Deserialize)]
struct MemberRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root: usize,
    dev: u64,
    ino: u64,
    nlink: u64,
    allocated_bytes: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    #[serde(default)]
    via_link: bool,
}
