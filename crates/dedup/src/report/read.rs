//! Reads a report. One invalid record makes the whole report invalid; nothing is guessed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::BufRead;

use ftk_file::{FsId, Version};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{Budget, Reservation};
use ftk_record::{Object, SealError, SealedReader, read_path};
use serde::Deserialize;

use super::decisions::{check_nested, kept, kept_directories};
use super::{DECISIONS, DirectoryGroup, Group, KIND, RECORDED_VERSION, RecordError, ReportError, VERSION};
use crate::prune::{Protection, Standing};
use crate::{Member, Names, RecordedGroup, RecordedMember};

/// The contents of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The algorithm of the digests.
    pub algorithm: Algorithm,
    /// The directory to which relative paths refer, if it is known.
    pub directory: Option<Vec<u8>>,
    /// The starting points; members refer to their indices.
    pub roots: Vec<Vec<u8>>,
    /// Rules that were to protect files and matched nothing when the report was made.
    pub unused_rules: Vec<Vec<u8>>,
    /// The groups of equal directories, in the order of the file.
    pub directories: Vec<DirectoryGroup>,
    /// The groups of files, in the order of the file. Empty for a report of manifests.
    pub groups: Vec<Group>,
    /// What a report of manifests contains instead of groups.
    pub recorded: Option<Recorded>,
    /// The paths of the files and directories to keep, if these are decisions about a report. Each group has at least one.
    pub kept: Option<HashSet<Vec<u8>>>,
}

/// The contents of a report of manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The path of the manifest for each starting point, which is its recorded root.
    pub manifests: Vec<Vec<u8>>,
    /// The groups, in the order of the file.
    pub groups: Vec<RecordedGroup>,
}

/// Reads a report, or decisions about one, to its end. If `is_edited`, the footer need not match, but it must exist.
/// The report, and the tables of a run on it, are reserved in the budget.
///
/// A valid record does not prove that the file still exists or is unchanged. Callers must check files before
/// they act on them.
///
/// # Errors
/// If the report is incomplete or damaged, a record is invalid, or the budget is used up. No part of it may be
/// used then.
pub fn read(input: impl BufRead, is_edited: bool, budget: &Budget) -> Result<Report, ReportError> {
    let mut reader = SealedReader::new(input);
    let (mut parser, mut memory) = (ReportParser::default(), Reservation::new(budget));
    loop {
        match reader.next_line() {
            Ok(Some(line)) => {
                let added = parser.add(line);
                let added = added.and_then(|()| memory.reach(parser.needed).map_err(RecordError::Full));
                added.map_err(|problem| ReportError::Line { number: reader.number(), problem })?;
            }
            Ok(None) => break,
            Err(SealError::WrongCount | SealError::WrongDigest) if is_edited => break,
            Err(error) => return Err(ReportError::Seal(error)),
        }
    }
    match parser.algorithm {
        Some(algorithm) => {
            let ReportParser { directory, roots, unused_rules, directories, groups, .. } = parser;
            let ReportParser { manifests, recorded, kept, .. } = parser;
            if let Some(kept) = &kept {
                let number = reader.number();
                check_nested(&directories, kept).map_err(|problem| ReportError::Line { number, problem })?;
            }
            let recorded = manifests.map(|manifests| Recorded { manifests, groups: recorded });
            Ok(Report { algorithm, directory, roots, unused_rules, directories, groups, recorded, kept })
        }
        None => Err(ReportError::Empty),
    }
}

/// The algorithms with which trees are searched. Their digests are long enough to tell contents apart.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Xxh128, Algorithm::Blake3, Algorithm::Sha256];

/// The most bytes of memory that a member needs without its path: while its line is parsed, in its group, and in the
/// tables of a run on the report. Measured.
const BYTES_OF_MEMBER: u64 = 1024;

/// A path stands in the line, in its member, and in the table of all paths.
const COPIES_OF_PATH: u64 = 3;

/// The records read so far.
#[derive(Debug, Default)]
struct ReportParser {
    /// The bytes of memory that the members need.
    needed: u64,
    /// Set once the header has been read.
    algorithm: Option<Algorithm>,
    directory: Option<Vec<u8>>,
    roots: Vec<Vec<u8>>,
    unused_rules: Vec<Vec<u8>>,
    directories: Vec<DirectoryGroup>,
    groups: Vec<Group>,
    /// The manifests, in a report of manifests.
    manifests: Option<Vec<Vec<u8>>>,
    /// The groups of a report of manifests.
    recorded: Vec<RecordedGroup>,
    /// The paths of the files and directories to keep, if these are decisions.
    kept: Option<HashSet<Vec<u8>>>,
    /// The number of the last group of directories.
    directories_number: u64,
    /// The number of the last group.
    number: u64,
    /// The paths, with the numbers of their manifests: these may record the same path on different disks.
    paths: HashSet<(usize, Vec<u8>)>,
}

impl ReportParser {
    fn add(&mut self, line: &[u8]) -> Result<(), RecordError> {
        match self.algorithm {
            None => self.header(line),
            // Most lines are groups as ftk writes them, which need not be parsed twice.
            Some(algorithm) if line.starts_with(b"{\"group\":") => self.group(line, algorithm),
            Some(algorithm) => match serde_json::from_slice(line) {
                Ok(Object(Kind { group: None, contained: Some(_), .. })) if self.kept.is_some() => {
                    Err(RecordError::NotFiles)
                }
                Ok(Object(Kind { directories: Some(_), group: None, contained: None })) => {
                    self.directories(line)
                }
                // What a directory lacks is for people. Nothing is done about it.
                Ok(Object(Kind { contained: Some(_), group: None, directories: None })) => Ok(()),
                _ => self.group(line, algorithm),
            },
        }
    }

    fn header(&mut self, line: &[u8]) -> Result<(), RecordError> {
        let Object(header): Object<Header<'_>> =
            serde_json::from_slice(line).map_err(|_| RecordError::NotHeader)?;
        match &*header.ftk {
            KIND => {}
            DECISIONS => self.kept = Some(HashSet::new()),
            _ => return Err(RecordError::NotReport),
        }
        let is_recorded = match header.version {
            VERSION => false,
            RECORDED_VERSION if self.kept.is_some() => return Err(RecordError::NotFiles),
            RECORDED_VERSION => true,
            version => return Err(RecordError::Version(version)),
        };
        let algorithm: Option<Algorithm> = header.algorithm.parse().ok();
        let algorithm = algorithm.filter(|it| match is_recorded {
            true => it.identifies_content(),
            false => ALGORITHMS.contains(it),
        });
        self.algorithm = Some(algorithm.ok_or(RecordError::Algorithm)?);
        if header.directory.is_some() || header.directory_b64.is_some() {
            let name = NameRecord { path: header.directory, path_b64: header.directory_b64 };
            self.directory = Some(name.path()?);
        }
        for Object(root) in header.roots {
            self.roots.push(root.path()?);
        }
        for Object(RuleRecord { rule, rule_b64 }) in header.unused_rules {
            self.unused_rules.push(NameRecord { path: rule, path_b64: rule_b64 }.path()?);
        }
        if is_recorded {
            let manifests: Vec<Object<NameRecord>> =
                serde_json::from_value(header.manifests).map_err(|_| RecordError::Manifests)?;
            let manifests = manifests.into_iter().map(|Object(manifest)| manifest.path());
            let manifests: Vec<_> = manifests.collect::<Result<_, _>>()?;
            if manifests.len() != self.roots.len() {
                return Err(RecordError::Manifests);
            }
            self.manifests = Some(manifests);
        }
        Ok(())
    }

    fn group(&mut self, line: &[u8], algorithm: Algorithm) -> Result<(), RecordError> {
        if self.manifests.is_some() {
            let Object(record): Object<Record<'_, RecordedMemberRecord>> = parse(line)?;
            let (digest, is_new) =
                self.head(&record, algorithm, self.recorded.last().map(|it| (it.size, it.digest)))?;
            let members = record.members.into_iter().map(|Object(member)| self.recorded_member(member));
            let mut members = members.collect::<Result<Vec<_>, _>>()?;
            match self.recorded.last_mut().filter(|_| !is_new) {
                Some(group) => group.members.append(&mut members),
                None => self.recorded.push(RecordedGroup { size: record.size_bytes, digest, members }),
            }
        } else {
            let Object(record): Object<Record<'_, MemberRecord>> = parse(line)?;
            let (digest, is_new) =
                self.head(&record, algorithm, self.groups.last().map(|it| (it.size, it.digest)))?;
            let size = record.size_bytes;
            let files: Vec<_> = record.members.iter().map(|Object(it)| (it.cluster, it.via_link)).collect();
            let members = record.members.into_iter().map(|Object(member)| self.member(member, size));
            let mut members = members.collect::<Result<Vec<_>, _>>()?;
            if let Some(paths) = &mut self.kept {
                // The numbers in a decision are those of its line.
                if !is_new {
                    return Err(RecordError::Order { number: record.group, last: record.group });
                }
                let kept = kept(record.group, record.keep.as_deref(), &files)?;
                let kept = members.iter().zip(kept).filter(|(_, is_kept)| *is_kept);
                paths.extend(kept.map(|(member, _)| member.path.clone()));
            }
            match self.groups.last_mut().filter(|_| !is_new) {
                Some(group) => group.members.append(&mut members),
                None => self.groups.push(Group { size, digest, members }),
            }
        }
        Ok(())
    }

    /// Checks the number, size and digest of a line. `last` is the group before. Returns the digest, and whether
    /// the line begins another group.
    fn head<M>(
        &mut self,
        record: &Record<'_, M>,
        algorithm: Algorithm,
        last: Option<(u64, Digest)>,
    ) -> Result<(Digest, bool), RecordError> {
        if record.keep.is_some() && self.kept.is_none() {
            return Err(RecordError::Decided);
        }
        let digest = Digest::from_hex(record.digest.as_bytes())
            .filter(|digest| digest.as_bytes().len() == algorithm.digest_len())
            .ok_or(RecordError::Digest(algorithm))?;
        let number = record.group;
        match last {
            Some(last) if number == self.number => {
                if last != (record.size_bytes, digest) {
                    return Err(RecordError::Different(number));
                }
                Ok((digest, false))
            }
            _ if number > self.number => {
                self.number = number;
                Ok((digest, true))
            }
            _ => Err(RecordError::Order { number, last: self.number }),
        }
    }

    fn directories(&mut self, line: &[u8]) -> Result<(), RecordError> {
        let Object(record): Object<DirectoriesRecord> =
            serde_json::from_slice(line).map_err(RecordError::Directories)?;
        if record.keep.is_some() && self.kept.is_none() {
            return Err(RecordError::Decided);
        }
        let DirectoriesRecord { directories: number, size_bytes: size, files, entries, .. } = record;
        let names = if record.same_names { Names::Compared } else { Names::Ignored };
        let wasted = record.waste_bytes;
        let members = record.members.into_iter().map(|Object(member)| self.directory(member));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let group = DirectoryGroup { size, files, entries, wasted, names, members };
        if let Some(paths) = &mut self.kept {
            // The numbers in a decision are those of its line.
            if number == self.directories_number {
                return Err(RecordError::Order { number, last: number });
            }
            paths.extend(kept_directories(number, record.keep.as_deref(), &group)?);
        }
        match self.directories.last_mut() {
            Some(last) if number == self.directories_number => {
                let is_same = DirectoryGroup { members: Vec::new(), ..last.clone() }
                    == DirectoryGroup { members: Vec::new(), ..group.clone() };
                if !is_same {
                    return Err(RecordError::Different(number));
                }
                last.members.extend(group.members);
            }
            _ if number > self.directories_number => {
                self.directories_number = number;
                self.directories.push(group);
            }
            _ => return Err(RecordError::Order { number, last: self.directories_number }),
        }
        Ok(())
    }

    fn directory(&mut self, record: DirectoryRecord) -> Result<Member, RecordError> {
        let DirectoryRecord { path, path_b64, root, dev, ino, mtime_ns, ctime_ns } = record;
        let path = self.path(NameRecord { path, path_b64 }, root, 0)?;
        let version = Version { dev, ino, size: 0, mtime_ns, ctime_ns };
        Ok(Member::new(root, path, version))
    }

    fn member(&mut self, record: MemberRecord, size: u64) -> Result<Member, RecordError> {
        let MemberRecord { path, path_b64, root, dev, ino, nlink, .. } = record;
        let MemberRecord { allocated_bytes, mtime_ns, ctime_ns, via_link, stays, .. } = record;
        let path = self.path(NameRecord { path, path_b64 }, root, 0)?;
        let blocks = allocated_bytes / 512;
        let version = Version { dev, ino, size, mtime_ns, ctime_ns };
        let protection = if stays { Protection::InKept } else { Protection::Free };
        let standing = Standing { protection, ..Standing::default() };
        Ok(Member { blocks, nlink, via_link, standing, ..Member::new(root, path, version) })
    }

    fn recorded_member(&mut self, record: RecordedMemberRecord) -> Result<RecordedMember, RecordError> {
        let RecordedMemberRecord { path, path_b64, root, fs, ino, nlink, .. } = record;
        let RecordedMemberRecord { allocated_bytes, mtime_ns, ctime_ns, .. } = record;
        let path = self.path(NameRecord { path, path_b64 }, root, root)?;
        let fs = fs.map(|fs| {
            let id = Digest::from_hex(fs.as_bytes()).and_then(|id| id.as_bytes().try_into().ok());
            id.map(FsId::from_bytes).ok_or(RecordError::FileSystem)
        });
        let (fs, allocated) = (fs.transpose()?, allocated_bytes);
        Ok(RecordedMember { manifest: root, path, fs, ino, nlink, allocated, mtime_ns, ctime_ns })
    }

    /// Checks a path. It may occur once for each number `unique`.
    fn path(&mut self, name: NameRecord, root: usize, unique: usize) -> Result<Vec<u8>, RecordError> {
        let path = name.path()?;
        let Some(start) = self.roots.get(root) else {
            return Err(RecordError::NoRoot(path));
        };
        if path.is_empty() || !is_below(&path, start) {
            return Err(RecordError::NotBelow { path, root: start.clone() });
        }
        self.needed += BYTES_OF_MEMBER + COPIES_OF_PATH * path.len() as u64;
        if !self.paths.insert((unique, path.clone())) {
            return Err(RecordError::Twice(path));
        }
        Ok(path)
    }
}

fn parse<'l, R: Deserialize<'l>>(line: &'l [u8]) -> Result<R, RecordError> {
    serde_json::from_slice(line).map_err(RecordError::Group)
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
    #[serde(default)]
    unused_rules: Vec<Object<RuleRecord>>,
    /// Only reports of manifests have this. Elsewhere it is unknown and ignored.
    #[serde(default)]
    manifests: serde_json::Value,
}

#[derive(Deserialize)]
struct RuleRecord {
    rule: Option<String>,
    rule_b64: Option<String>,
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

/// The members that tell the kinds of records apart.
#[derive(Deserialize)]
struct Kind {
    group: Option<serde::de::IgnoredAny>,
    directories: Option<serde::de::IgnoredAny>,
    contained: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct DirectoriesRecord {
    directories: u64,
    size_bytes: u64,
    files: u64,
    entries: u64,
    /// Its first name was `wasted_bytes`.
    #[serde(alias = "wasted_bytes")]
    waste_bytes: u64,
    same_names: bool,
    members: Vec<Object<DirectoryRecord>>,
    /// The positions of the directories to keep. Only decisions have this.
    keep: Option<Vec<u64>>,
}

#[derive(Deserialize)]
struct DirectoryRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root: usize,
    dev: u64,
    ino: u64,
    mtime_ns: i128,
    ctime_ns: i128,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "Object<M>: Deserialize<'de>"))]
struct Record<'j, M> {
    group: u64,
    size_bytes: u64,
    #[serde(borrow)]
    digest: Cow<'j, str>,
    members: Vec<Object<M>>,
    /// The numbers of the files to keep. Only decisions have this.
    keep: Option<Vec<u64>>,
}

#[derive(Deserialize)]
struct MemberRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root: usize,
    /// The number of its file in the group. Only decisions need it; elsewhere the inode number tells.
    cluster: Option<u64>,
    dev: u64,
    ino: u64,
    nlink: u64,
    allocated_bytes: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    #[serde(default)]
    via_link: bool,
    /// Whether it is in a directory that is never taken apart.
    #[serde(default)]
    stays: bool,
}

#[derive(Deserialize)]
struct RecordedMemberRecord {
    path: Option<String>,
    path_b64: Option<String>,
    root: usize,
    fs: Option<String>,
    ino: Option<u64>,
    nlink: Option<u64>,
    allocated_bytes: Option<u64>,
    mtime_ns: Option<i128>,
    ctime_ns: Option<i128>,
}
