//! Reads a report. One invalid record makes the whole report invalid; nothing is guessed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::BufRead;

use ftk_file::Version;
use ftk_hash::{Algorithm, Digest};
use ftk_record::{Object, SealError, SealedReader, read_path};
use serde::Deserialize;

use super::{Group, KIND, RecordError, ReportError, VERSION};
use crate::Member;

/// The contents of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The algorithm of the digests.
    pub algorithm: Algorithm,
    /// The directory to which relative paths refer, if it is known.
    pub directory: Option<Vec<u8>>,
    /// The starting points; members refer to their indices.
    pub roots: Vec<Vec<u8>>,
    /// The groups, in the order of the file.
    pub groups: Vec<Group>,
}

/// Reads a report to its end. If `is_edited`, the footer need not match, but it must exist.
///
/// A valid record does not prove that the file still exists or is unchanged. Callers must check files before
/// they act on them.
///
/// # Errors
/// If the report is incomplete or damaged, or a record is invalid. No part of it may be used then.
pub fn read(input: impl BufRead, is_edited: bool) -> Result<Report, ReportError> {
    let mut reader = SealedReader::new(input);
    let mut parser = ReportParser::default();
    loop {
        match reader.next_line() {
            Ok(Some(line)) => {
                let added = parser.add(line);
                added.map_err(|problem| ReportError::Line { number: reader.number(), problem })?;
            }
            Ok(None) => break,
            Err(SealError::WrongCount | SealError::WrongDigest) if is_edited => break,
            Err(error) => return Err(ReportError::Seal(error)),
        }
    }
    let ReportParser { algorithm, directory, roots, groups, .. } = parser;
    match algorithm {
        Some(algorithm) => Ok(Report { algorithm, directory, roots, groups }),
        None => Err(ReportError::Empty),
    }
}

/// The algorithms whose digests are long enough to tell contents apart.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Xxh128, Algorithm::Blake3, Algorithm::Sha256];

/// The records read so far.
#[derive(Debug, Default)]
struct ReportParser {
    /// Set once the header has been read.
    algorithm: Option<Algorithm>,
    directory: Option<Vec<u8>>,
    roots: Vec<Vec<u8>>,
    groups: Vec<Group>,
    /// The number of the last group.
    number: u64,
    paths: HashSet<Vec<u8>>,
}

impl ReportParser {
    fn add(&mut self, line: &[u8]) -> Result<(), RecordError> {
        match self.algorithm {
            None => self.header(line),
            Some(algorithm) => self.group(line, algorithm),
        }
    }

    fn header(&mut self, line: &[u8]) -> Result<(), RecordError> {
        let Object(header): Object<Header<'_>> =
            serde_json::from_slice(line).map_err(|_| RecordError::NotHeader)?;
        if header.ftk != KIND {
            return Err(RecordError::NotReport);
        }
        if header.version != VERSION {
            return Err(RecordError::Version(header.version));
        }
        let algorithm = header.algorithm.parse().ok().filter(|it| ALGORITHMS.contains(it));
        self.algorithm = Some(algorithm.ok_or(RecordError::Algorithm)?);
        if header.directory.is_some() || header.directory_b64.is_some() {
            let name = NameRecord { path: header.directory, path_b64: header.directory_b64 };
            self.directory = Some(name.path()?);
        }
        for Object(root) in header.roots {
            self.roots.push(root.path()?);
        }
        Ok(())
    }

    fn group(&mut self, line: &[u8], algorithm: Algorithm) -> Result<(), RecordError> {
        let Object(record): Object<Record<'_>> = serde_json::from_slice(line).map_err(RecordError::Group)?;
        let digest = Digest::from_hex(record.digest.as_bytes())
            .filter(|digest| digest.as_bytes().len() == algorithm.digest_len())
            .ok_or(RecordError::Digest(algorithm))?;
        let (number, size) = (record.group, record.size_bytes);
        let members = record.members.into_iter().map(|Object(member)| self.member(member, size));
        let mut members = members.collect::<Result<Vec<_>, _>>()?;
        match self.groups.last_mut() {
            Some(group) if number == self.number => {
                if (group.size, group.digest) != (size, digest) {
                    return Err(RecordError::Different(number));
                }
                group.members.append(&mut members);
            }
            _ if number > self.number => {
                self.number = number;
                self.groups.push(Group { size, digest, members });
            }
            _ => return Err(RecordError::Order { number, last: self.number }),
        }
        Ok(())
    }

    fn member(&mut self, record: MemberRecord, size: u64) -> Result<Member, RecordError> {
        let MemberRecord { path, path_b64, root, dev, ino, nlink, .. } = record;
        let MemberRecord { allocated_bytes, mtime_ns, ctime_ns, via_link, .. } = record;
        let path = NameRecord { path, path_b64 }.path()?;
        let Some(start) = self.roots.get(root) else {
            return Err(RecordError::NoRoot(path));
        };
        if path.is_empty() || !is_below(&path, start) {
            return Err(RecordError::NotBelow { path, root: start.clone() });
        }
        if !self.paths.insert(path.clone()) {
            return Err(RecordError::Twice(path));
        }
        let blocks = allocated_bytes / 512;
        let version = Version { dev, ino, size, mtime_ns, ctime_ns };
        Ok(Member { root, path, version, blocks, nlink, via_link })
    }
}

/// Whether a path is the starting point or below it, and has no `..` after it.
fn is_below(path: &[u8], root: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(root) else { return false };
    let is_apart = rest.is_empty() || root.ends_with(b"/") || rest.starts_with(b"/");
    is_apart && !rest.split(|&byte| byte == b'/').any(|name| name == b"..")
}

#[derive(Deserialize)]
struct Header<'j> {
    #[serde(borrow)]
    ftk: Cow<'j, str>,
    version: u32,
    #[serde(borrow)]
    algorithm: Cow<'j, str>,
    directory: Option<String>,
    directory_b64: Option<String>,
    roots: Vec<Object<NameRecord>>,
}

#[derive(Deserialize)]
struct NameRecord {
    path: Option<String>,
    path_b64: Option<String>,
}

impl NameRecord {
    fn path(&self) -> Result<Vec<u8>, RecordError> {
        let path = read_path(self.path.as_deref(), self.path_b64.as_deref());
        path.map(Cow::into_owned).map_err(RecordError::Path)
    }
}

#[derive(Deserialize)]
struct Record<'j> {
    group: u64,
    size_bytes: u64,
    #[serde(borrow)]
    digest: Cow<'j, str>,
    members: Vec<Object<MemberRecord>>,
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
