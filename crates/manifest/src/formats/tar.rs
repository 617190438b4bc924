//! Recording the members of a tar archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use ftk_file::{Stat, TRUSTED, device_of};
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::Budget;
use ftk_record::{MemberKind, TarEnd, TarMember, TarReader};
use ftk_walk::FileType;

use super::acl::{self, FindAccount};
use super::import::{Collector, Line, set};
use super::{Import, ImportError};
use crate::entry::{ROOT, key};
use crate::field_set::FieldSet;
use crate::parse::check_path;
use crate::text::brief;
use crate::{Failed, Field, Xattr};

/// The members of a tar archive, as an extraction into an empty directory would make them.
#[derive(Debug)]
pub struct TarTree {
    /// The entries.
    pub import: Import,
    /// The paths of members that could not be recorded.
    pub failed: Failed,
    /// Whether members have extended attributes. Then those without any have none.
    pub has_xattrs: bool,
    /// Whether some of them have attributes that Linux shows only to root.
    pub has_trusted_xattrs: bool,
    /// How the archive ended.
    pub end: TarEnd,
    /// The number of files that were read.
    pub files: u64,
    /// Their bytes, with those of holes.
    pub bytes: u64,
    /// The number of members with the path of an earlier one, without directories.
    pub repeated: u64,
}

/// Bytes that an entry of a map uses besides its path.
const NODE: u64 = 80;

/// Computes the digests of a file, by all algorithms of the record in their order.
pub type HashMember<'h> = &'h mut dyn FnMut(&mut dyn Read) -> io::Result<Vec<Digest>>;

impl TarTree {
    /// Reads an archive to its end. Files get digests by `algorithms`, which `hash` computes.
    ///
    /// The last member of a path counts. A hard link has the content and the metadata of the member that it names, as
    /// that was before the link. Directories that have no member are recorded by their type alone. `refuse` gets the
    /// name of each member that cannot be recorded, and why: its name is absolute or has `..`, its type is unknown, or
    /// it is a link to something that the archive does not have before it, or its access control list is malformed or
    /// has an account that `find_account` does not know.
    ///
    /// If a member has an extended attribute, the archive records them, and an access control list is one, too.
    ///
    /// An entry uses about 400 bytes, twice its path, its target and its digests.
    ///
    /// # Errors
    /// If the archive cannot be read, is damaged or cut off, or has no member that can be recorded; if a member is
    /// below something that is no directory; and if the entries do not fit into the budget.
    pub fn read(
        input: impl Read,
        algorithms: &[Algorithm],
        budget: &Budget,
        hash: HashMember<'_>,
        find_account: FindAccount<'_>,
        refuse: &mut dyn FnMut(&[u8], &str),
    ) -> Result<Self, ImportError> {
        let mut reader = TarReader::new(input);
        let mut collector = Collector::new(algorithms.to_vec(), None, budget);
        // The last entry of each path.
        let mut latest: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let mut failed = BTreeSet::new();
        let (mut files, mut bytes, mut repeated, mut has_xattrs) = (0, 0, 0, false);
        while let Some(mut member) = reader.next()? {
            let path = match path_of(&member.name) {
                Ok(path) => path,
                Err(why) => {
                    refuse(&member.name, &why);
                    continue;
                }
            };
            collector.reserve(path.len() as u64 + NODE)?;
            let mut why = "it is a link to something that the archive does not have before it".to_owned();
            let added = match member.kind {
                MemberKind::HardLink => {
                    let target = path_of(&member.target).ok();
                    let first = target.as_ref().and_then(|target| latest.get(target));
                    match first.filter(|at| !collector.is_directory(**at)) {
                        // A link to itself changes nothing.
                        Some(_) if target.as_ref() == Some(&path) => continue,
                        Some(&at) => collector.link(at, &path).map(|()| true)?,
                        None => false,
                    }
                }
                MemberKind::Other(flag) => {
                    why = format!("its type {:?} is unknown", char::from(flag));
                    false
                }
                _ => {
                    let digests = match member.kind {
                        MemberKind::File => {
                            files += 1;
                            bytes += member.size;
                            hash(&mut reader).map_err(|error| cut_off(error, &member))?
                        }
                        _ => Vec::new(),
                    };
                    let digests: Vec<_> = algorithms.iter().copied().zip(digests).collect();
                    match xattrs(&member, find_account) {
                        Ok(xattrs) => {
                            has_xattrs |= !member.xattrs.is_empty();
                            if let Some(list) = xattrs.iter().find(|xattr| xattr.name == acl::ACCESS) {
                                member.mode = acl::mode(&list.value, member.mode);
                            }
                            collector.member(&member, &path, &digests)?;
                            collector.set_xattrs(xattrs)?;
                            true
                        }
                        Err(what) => {
                            why = what;
                            false
                        }
                    }
                }
            };
            if added {
                failed.remove(&path);
                let at = collector.len() - 1;
                let before = latest.insert(path, at);
                let is_file = |at| !collector.is_directory(at);
                repeated += u64::from(before.is_some_and(|before| is_file(before) || is_file(at)));
            } else {
                refuse(&member.name, &why);
                latest.remove(&path);
                failed.insert(path);
            }
        }
        let end = reader.end().expect("it has been read to its end");
        collector.retain(|path| !failed.contains(path));
        let implied = implied(&latest);
        for path in &implied {
            collector.reserve(path.len() as u64)?;
            let stat = Stat { file_type: FileType::Directory, ..Stat::EMPTY };
            let line =
                Line { path, known: FieldSet::default(), stat, target: None, digests: &[], inode: None };
            collector.add(0, &line)?;
        }
        if latest.is_empty() {
            return Err(ImportError::Empty);
        }
        let import = collector.of_archive(algorithms, has_xattrs, budget)?;
        let has_trusted_xattrs = import.has_xattr(TRUSTED);
        Ok(Self {
            import,
            failed: Failed::new(failed.into_iter().collect()),
            has_xattrs,
            has_trusted_xattrs,
            end,
            files,
            bytes,
            repeated,
        })
    }

    /// Removes the entries that `keeps` refuses, given their path below the root, which is empty for the root, and
    /// type.
    pub fn retain(&mut self, keeps: impl FnMut(&[u8], FileType) -> bool) {
        self.import.retain(keeps);
    }
}

/// Returns the extended attributes that an extraction of a member gives it, with its access control lists. As
/// attributes, these have precedence.
fn xattrs(member: &TarMember, find_account: FindAccount<'_>) -> Result<Vec<Xattr>, String> {
    let mut xattrs: Vec<_> = member
        .xattrs
        .iter()
        .map(|(name, value)| Xattr { name: name.clone(), value: value.clone() })
        .collect();
    for (name, value) in acl::of_lists(&member.acls, find_account)? {
        if xattrs.iter().all(|xattr| xattr.name != name) {
            xattrs.push(Xattr { name, value });
        }
    }
    Ok(xattrs)
}

impl Collector<'_> {
    /// Adds the entry of a member.
    fn member(
        &mut self,
        member: &TarMember,
        path: &[u8],
        digests: &[(Algorithm, Digest)],
    ) -> Result<(), ImportError> {
        let file_type = match member.kind {
            MemberKind::Symlink => FileType::Symlink,
            MemberKind::Directory => FileType::Directory,
            MemberKind::Fifo => FileType::Fifo,
            MemberKind::Char => FileType::Char,
            MemberKind::Block => FileType::Block,
            _ => FileType::Regular,
        };
        let mut known = set(&[Field::Mtime, Field::Uid, Field::Gid]);
        // Systems do not agree on the permissions of a link.
        let of_type = match file_type {
            FileType::Symlink => &[][..],
            FileType::Regular => &[Field::Mode, Field::Size],
            FileType::Char | FileType::Block => &[Field::Mode, Field::Rdev],
            // Directories and FIFOs, and any future type.
            _ => &[Field::Mode],
        };
        for field in of_type {
            known.insert(*field);
        }
        let [major, minor] = member.device;
        let stat = Stat {
            file_type,
            mode: member.mode,
            uid: member.uid,
            gid: member.gid,
            size: member.size,
            mtime_ns: member.mtime_ns,
            rdev: device_of(major, minor),
            ..Stat::EMPTY
        };
        let target = (file_type == FileType::Symlink).then_some(&*member.target);
        let inode = (file_type != FileType::Directory).then(|| self.len() as u64);
        self.add(0, &Line { path, known, stat, target, digests, inode })
    }
}

/// Returns the path below the root that a member has after an extraction.
fn path_of(name: &[u8]) -> Result<Vec<u8>, String> {
    if name.starts_with(b"/") {
        return Err("its name is absolute".into());
    }
    let mut path = Vec::with_capacity(name.len());
    for part in name.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => continue,
            b".." => return Err("its name leads out of the archive".into()),
            _ if path.is_empty() => {}
            _ => path.push(b'/'),
        }
        path.extend_from_slice(part);
    }
    if path.is_empty() {
        if name.is_empty() {
            return Err("it has no name".into());
        }
        path = ROOT.to_vec();
    }
    if path.contains(&0) {
        return Err("its name has a NUL".into());
    }
    check_path(&path).map_err(|error| brief(error.to_string()))?;
    Ok(path)
}

/// Returns the directories above paths that have no entry themselves, the root among them.
fn implied(latest: &BTreeMap<Vec<u8>, usize>) -> BTreeSet<Vec<u8>> {
    let mut implied = BTreeSet::new();
    for path in latest.keys().map(|path| key(path)) {
        for at in memchr::memchr_iter(b'/', path) {
            if !latest.contains_key(&path[..at]) {
                implied.insert(path[..at].to_vec());
            }
        }
    }
    if !latest.contains_key(ROOT) {
        implied.insert(ROOT.to_vec());
    }
    implied
}

/// Adds to an error where the archive ends too early.
fn cut_off(error: io::Error, member: &TarMember) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            let at = member.at;
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the archive is cut off in the member at byte {at}"),
            )
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_members_are_paths_below_the_root() {
        for (name, expected) in [
            ("a", Ok("a")),
            ("./a/b/", Ok("a/b")),
            ("a//b/./c", Ok("a/b/c")),
            (".", Ok(".")),
            ("./", Ok(".")),
            ("...", Ok("...")),
            ("/a", Err("its name is absolute")),
            ("//a", Err("its name is absolute")),
            ("..", Err("its name leads out of the archive")),
            ("a/..", Err("its name leads out of the archive")),
            ("a/../b", Err("its name leads out of the archive")),
            ("", Err("it has no name")),
            ("a\0b", Err("its name has a NUL")),
        ] {
            let expected = expected.map(|path| path.as_bytes().to_vec()).map_err(str::to_owned);
            assert_eq!(path_of(name.as_bytes()), expected, "{name:?}");
        }
    }

    #[test]
    fn directories_above_members_are_implied() {
        let latest = ["a/b/c", "a/b/d", "e", "e/f"].map(|path| (path.as_bytes().to_vec(), 0)).into();
        let expected: Vec<&[u8]> = vec![b".", b"a", b"a/b"];
        assert_eq!(implied(&latest).into_iter().collect::<Vec<_>>(), expected);
        let whole = [(ROOT.to_vec(), 0)].into();
        assert!(implied(&whole).is_empty());
    }
}
