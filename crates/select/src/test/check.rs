//! The tests of single properties.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::AsFd as _;

use ftk_walk::{Doubt, Entry, Fields, FileType, Metadata, Op, Recorded, WalkError, lacks};
use regex::bytes::RegexSet;
use rustix::fs::{Access, AtFlags, readlinkat, statat};
use rustix::io::Errno;

use super::access::may_access;
use super::attributes::{CAPABILITIES, has_attribute, is_capable};
use super::empty::has_no_entries;
use super::known_ids::{Ids, KnownIds};
use super::mounts::Mounts;
use super::{Seen, Verdict};
use crate::bound::Bound;
use crate::expression::Stamp;
use crate::extensions::Extensions;
use crate::glob::Globs;
use crate::paths::Paths;
use crate::roots::PerRoot;
use crate::tags::has_entry;
use crate::{Owner, Perm, Types};

/// A test of one property. Tests of several names, paths or extensions are combined in one.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Type(Types),
    Hidden,
    Ignored,
    Depth(Bound<u64>),
    Extension(Extensions),
    Name(Globs),
    Path(Box<PerRoot<Paths>>),
    NameRegex(RegexSet),
    PathRegex(RegexSet),
    Size(Bound<u64>),
    Links(Bound<u64>),
    Time(Stamp, Bound<i128>),
    Owner(Owner),
    Perm(Perm),
    SameFile(u64, u64),
    FsType(Mounts),
    Empty,
    Access(Access),
    Unnamed(Ids, KnownIds),
    Target(Globs),
    Inode(Bound<u64>),
    Attribute(Globs),
    Capable,
    Broken,
    Has(CString),
}

impl Test {
    /// Returns the order in which tests are made: cheap ones first.
    pub(super) fn cost(&self) -> u8 {
        match self {
            Self::Type(_) | Self::Hidden | Self::Ignored | Self::Depth(_) => 0,
            Self::Extension(_) => 1,
            Self::Name(_) => 2,
            Self::Path(_) => 3,
            Self::NameRegex(_) | Self::PathRegex(_) => 4,
            Self::Size(_)
            | Self::Links(_)
            | Self::Time(..)
            | Self::Owner(_)
            | Self::Perm(_)
            | Self::SameFile(..)
            | Self::Inode(_) => 5,
            Self::FsType(_) | Self::Unnamed(..) => 6,
            Self::Access(_)
            | Self::Target(_)
            | Self::Attribute(_)
            | Self::Capable
            | Self::Broken
            | Self::Has(_) => 7,
            Self::Empty => 8,
        }
    }

    pub(super) fn decide(&self, seen: &Seen<'_>) -> Verdict {
        match self {
            Self::Type(types) => {
                types.match_recorded(seen.file_type, seen.doubt).map_or(Verdict::call(), Verdict::from)
            }
            Self::Hidden => (seen.name.starts_with(b".") && !matches!(seen.name, b"." | b"..")).into(),
            Self::Ignored => seen.is_ignored.into(),
            Self::Depth(bound) => bound.matches(&seen.depth.into()).into(),
            Self::Extension(extensions) => extensions.matches(seen.name).into(),
            Self::Name(globs) => globs.matches(seen.name).into(),
            Self::Path(paths) => paths.matches(seen.root, seen.path, seen.file_type, seen.depth).into(),
            Self::NameRegex(regexes) => regexes.is_match(seen.name).into(),
            Self::PathRegex(regexes) => regexes.is_match(seen.path).into(),
            Self::Empty if seen.doubt == Doubt::Any => Verdict::call(),
            Self::Empty => match seen.file_type {
                FileType::Regular => of(seen, Fields::SIZE, |metadata| (metadata.size == 0).into()),
                FileType::Directory => Verdict::call(),
                // Only these, and no future type, can be empty.
                _ => Verdict::No,
            },
            Self::Access(_) | Self::Attribute(_) => Verdict::call(),
            Self::Target(_) | Self::Broken => {
                call_if(seen.file_type == FileType::Symlink || seen.doubt != Doubt::None)
            }
            Self::Capable => call_if(seen.file_type == FileType::Regular),
            Self::Has(_) => call_if(seen.file_type == FileType::Directory),
            Self::Perm(perm) => of(seen, Fields::MODE, |metadata| {
                perm.matches(metadata.mode, seen.file_type == FileType::Directory).into()
            }),
            _ => of(seen, self.fields(), |metadata| self.decide_by(metadata)),
        }
    }

    /// Calls `visit` with the number of each alternative that matches, if the test is about names or paths.
    pub(super) fn each_match(&self, seen: &Seen<'_>, visit: &mut dyn FnMut(usize)) {
        match self {
            Self::Extension(extensions) => extensions.each_match(seen.name, visit),
            Self::Name(globs) => globs.each_match(seen.name, visit),
            Self::Path(paths) => paths.each_match(seen.root, seen.path, seen.file_type, seen.depth, visit),
            Self::NameRegex(regexes) => regexes.matches(seen.name).into_iter().for_each(visit),
            Self::PathRegex(regexes) => regexes.matches(seen.path).into_iter().for_each(visit),
            _ => {}
        }
    }

    /// The fields that the test needs.
    fn fields(&self) -> Fields {
        match self {
            Self::Size(_) => Fields::SIZE,
            Self::Links(_) => Fields::NLINK,
            Self::Time(Stamp::Modified, _) => Fields::MTIME,
            Self::Time(Stamp::Changed, _) => Fields::CTIME,
            Self::Time(Stamp::Accessed, _) => Fields::ATIME,
            Self::Time(Stamp::Born, _) => Fields::BIRTH,
            Self::Owner(owner) => owner.fields(),
            Self::Unnamed(Ids::Users, _) => Fields::UID,
            Self::Unnamed(Ids::Groups, _) => Fields::GID,
            Self::SameFile(..) | Self::Inode(_) => Fields::INO,
            Self::FsType(_) => Fields::MOUNT,
            _ => Fields::NONE,
        }
    }

    /// Decides by the metadata. If the file system does not record it, [`call`](Self::call) gives the error.
    fn decide_by(&self, metadata: &Metadata) -> Verdict {
        match self {
            Self::Size(bound) => bound.matches(&metadata.size).into(),
            Self::Links(bound) => bound.matches(&metadata.nlink).into(),
            Self::Time(stamp, bound) => {
                time(*stamp, metadata).map_or(Verdict::call(), |time| bound.matches(&time).into())
            }
            Self::Owner(owner) => owner.matches(metadata.uid, metadata.gid).into(),
            Self::Unnamed(ids, known) => known
                .has_name(*ids, id(*ids, metadata))
                .map_or(Verdict::call(), |has_name| (!has_name).into()),
            Self::Inode(bound) => bound.matches(&metadata.ino).into(),
            Self::SameFile(dev, ino) => ((metadata.dev, metadata.ino) == (*dev, *ino)).into(),
            Self::FsType(mounts) => mounts.matches(metadata).map_or(Verdict::call(), Verdict::from),
            _ => Verdict::call(),
        }
    }

    /// Decides by a system call, after `decide` could not.
    pub(super) fn call(&self, seen: &Seen<'_>, entry: &Entry<'_>) -> Result<bool, WalkError> {
        let fail = |op, error| {
            let mut path = Vec::new();
            entry.push_path(&mut path);
            WalkError::new(op, path, error)
        };
        if let Some(record) = entry.record()
            && !matches!(self, Self::Unnamed(..))
        {
            return self.ask(record).map_err(|member| fail(Op::Stat, lacks(member)));
        }
        match self {
            Self::Empty => has_no_entries(entry).map_err(|error| fail(Op::Open, error)),
            Self::Access(access) => may_access(entry, *access).map_err(|error| fail(Op::Stat, error)),
            Self::Unnamed(ids, known) => {
                let unread = || Err(io::Error::other("its owner is unknown"));
                let has_name = seen.metadata.map_or_else(unread, |it| known.has_name(*ids, id(*ids, it)));
                let has_name = has_name.map_err(|error| {
                    let problem = format!("the user database cannot be asked for its owner: {error}");
                    fail(Op::Stat, io::Error::other(problem))
                });
                Ok(!has_name?)
            }
            Self::Target(globs) => {
                let target = readlinkat(entry.as_fd(), entry.name_c(), Vec::new());
                let target = target.map_err(|error| fail(Op::Read, error.into()))?;
                Ok(globs.matches(target.as_bytes()))
            }
            Self::Attribute(globs) => has_attribute(entry, globs).map_err(|error| fail(Op::Stat, error)),
            Self::Broken => leads_nowhere(entry).map_err(|error| fail(Op::Stat, error)),
            Self::Capable => is_capable(entry).map_err(|error| fail(Op::Stat, error)),
            Self::Has(name) => contains(entry, name).map_err(|error| fail(Op::Stat, error)),
            Self::FsType(mounts) => {
                let found = seen.metadata.and_then(|metadata| mounts.again().matches(metadata));
                let problem = || io::Error::other("the type of its file system is unknown");
                found.ok_or_else(|| fail(Op::Stat, problem()))
            }
            _ => {
                let problem = "the file system does not record the time of birth";
                Err(fail(Op::Stat, io::Error::other(problem)))
            }
        }
    }

    /// Decides by a record, or returns the member that it lacks.
    fn ask(&self, record: &Recorded<'_>) -> Result<bool, &'static str> {
        match self {
            Self::Empty if record.doubt == Doubt::Any => Err("mode"),
            Self::Empty => record.has_entries.map(|has| !has).ok_or("list of all entries in it"),
            Self::Target(globs) => {
                record.target.map(|target| globs.matches(target.to_bytes())).ok_or("target")
            }
            Self::Attribute(globs) => record
                .attributes
                .as_ref()
                .map(|names| names.iter().any(|name| globs.matches(name)))
                .ok_or("xattrs"),
            Self::Capable => {
                record.attributes.as_ref().map(|names| names.contains(&CAPABILITIES)).ok_or("xattrs")
            }
            Self::Time(..) => Err("birth_ns"),
            Self::Type(_) => Err("mode"),
            // Selections with other tests are refused before.
            _ => Err("answer"),
        }
    }
}

/// Returns whether the target of a symbolic link does not exist, or links lead round in a circle.
fn leads_nowhere(entry: &Entry<'_>) -> io::Result<bool> {
    match statat(entry.as_fd(), entry.name_c(), AtFlags::empty()) {
        Ok(_) => Ok(false),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn of(seen: &Seen<'_>, fields: Fields, decide: impl FnOnce(&Metadata) -> Verdict) -> Verdict {
    seen.metadata.map_or(Verdict::fields(fields), decide)
}

fn call_if(is_possible: bool) -> Verdict {
    if is_possible { Verdict::call() } else { Verdict::No }
}

fn id(ids: Ids, metadata: &Metadata) -> u32 {
    match ids {
        Ids::Users => metadata.uid,
        Ids::Groups => metadata.gid,
    }
}

/// Returns whether a directory contains an entry with this name.
fn contains(entry: &Entry<'_>, name: &CStr) -> io::Result<bool> {
    let path = CString::new([entry.name(), b"/", name.to_bytes()].concat())?;
    has_entry(entry.as_fd(), &path)
}

fn time(stamp: Stamp, metadata: &Metadata) -> Option<i128> {
    match stamp {
        Stamp::Modified => Some(metadata.mtime_ns),
        Stamp::Changed => Some(metadata.ctime_ns),
        Stamp::Accessed => Some(metadata.atime_ns),
        Stamp::Born => metadata.birth_ns,
    }
}
