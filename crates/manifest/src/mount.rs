//! The file systems that were mounted below the root of a manifest.

use std::fmt;

use ftk_record::{Object, PathError, path_member};
use serde::{Serialize, Serializer};

use crate::entry::{ROOT, is_below, key, path_below};
use crate::root_identity::RootLine;
use crate::shard::member::path;
use crate::{OtherRoot, RootIdentity};

/// A directory below the root that was on another device than the directory that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mount {
    /// Its identity, with its path below the root.
    Identified(RootIdentity),
    /// Only its path below the root: an older version recorded it, or it could not be opened again.
    Named(Vec<u8>),
}

impl Mount {
    /// Returns the path below the root.
    pub fn path(&self) -> &[u8] {
        match self {
            Self::Identified(identity) => &identity.path,
            Self::Named(path) => path,
        }
    }

    /// Returns the mount with its path below the directory `dir`, if it is there.
    pub(crate) fn below(&self, dir: &[u8]) -> Option<Self> {
        let path = path_below(dir, self.path()).filter(|path| *path != ROOT)?.to_vec();
        Some(match self {
            Self::Identified(identity) => Self::Identified(RootIdentity { path, ..identity.clone() }),
            Self::Named(_) => Self::Named(path),
        })
    }

    /// Returns why another file system is mounted `now`, or `None` if it is the same or not known.
    pub fn difference(&self, now: &Self) -> Option<OtherRoot> {
        match (self, now) {
            (Self::Identified(old), Self::Identified(new)) => old.difference(new),
            _ => None,
        }
    }

    /// Returns which of the `old` mounts are not among those `now`, without those below another one. Both are sorted.
    pub fn lost(old: &[Self], now: &[Self]) -> Vec<LostMount> {
        let mut lost: Vec<LostMount> = Vec::new();
        for mount in old.iter().filter(|mount| !mount.is_stub()) {
            let why = match now.binary_search_by_key(&key(mount.path()), |it| key(it.path())) {
                Ok(at) => match mount.difference(&now[at]) {
                    None => continue,
                    why => why,
                },
                Err(_) => None,
            };
            if !lost.iter().any(|above| is_below(&above.path, mount.path())) {
                lost.push(LostMount { path: mount.path().to_vec(), why });
            }
        }
        lost
    }

    fn is_stub(&self) -> bool {
        matches!(self, Self::Identified(identity) if identity.is_stub())
    }

    /// Sorts mounts by path, and keeps one of each path: one that is identified, if there is one. Stubs of subvolumes
    /// are no mounts.
    pub(crate) fn sorted(mut mounts: Vec<Self>) -> Vec<Self> {
        mounts.retain(|mount| !mount.is_stub());
        let order = |mount: &Self| (key(mount.path()).to_vec(), matches!(mount, Self::Named(_)));
        mounts.sort_by_cached_key(order);
        mounts.dedup_by(|later, first| later.path() == first.path());
        mounts
    }

    /// Returns the mounts of a header or plan, which are sorted, or what is wrong with them.
    pub(crate) fn read(lines: &Option<Vec<Object<RootLine<'_>>>>) -> Result<Vec<Self>, String> {
        let read = |line: &Object<RootLine<'_>>| {
            let Object(members) = line;
            let below = path(&members.path, &members.path_b64)?;
            let below = below.ok_or_else(|| PathError::Missing.to_string())?;
            Ok(match members.is_identified() {
                true => Self::Identified(RootLine::read(line)?),
                false => Self::Named(below),
            })
        };
        let mounts = lines.iter().flatten().map(read).collect::<Result<Vec<_>, String>>()?;
        let is_sorted = mounts.is_sorted_by(|a, b| key(a.path()) < key(b.path()));
        if is_sorted { Ok(mounts) } else { Err("the paths of a list are not sorted".into()) }
    }
}

/// A file system that is not mounted any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostMount {
    /// The path below the root.
    pub path: Vec<u8>,
    /// Why the file system that is mounted there is another one; `None` if none is mounted.
    pub why: Option<OtherRoot>,
}

impl fmt::Display for LostMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            None => f.write_str("another file system is recorded there, and none is mounted now"),
            Some(why) => write!(f, "another file system is mounted there than the recorded one: {why}"),
        }
    }
}

impl Serialize for Mount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Identified(identity) => identity.serialize(serializer),
            Self::Named(path) => serializer.collect_map([path_member("path", path)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::{FileType, FsId, Identity};

    use super::*;

    fn at(path: &str, byte: u8) -> Mount {
        let fs = Some(FsId::from_bytes([byte; 16]));
        let identity =
            Identity { fs, dev: 1, ino: 2, birth_ns: None, file_type: FileType::Directory, uid: 0 };
        Mount::Identified(RootIdentity { path: path.into(), fs_type: 3, identity })
    }

    fn named(path: &str) -> Mount {
        Mount::Named(path.into())
    }

    fn text(mounts: &[Mount]) -> String {
        serde_json::to_string(mounts).unwrap()
    }

    #[test]
    fn mounts_are_read_back() {
        let mounts = [named("a"), at("a-b", 0xa5), at("a/b", 1)];
        let json = text(&mounts);
        let known = "{\"path\":\"a-b\",\"fs_type\":3,\"fs\":\"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5\",\"dev\":1,\"ino\":2,\
                     \"type\":\"directory\",\"uid\":0}";
        assert!(json.starts_with(&format!("[{{\"path\":\"a\"}},{known},")), "{json}");
        let read = |json: &str| Mount::read(&Some(serde_json::from_str(json).unwrap()));
        assert_eq!(read(&json).unwrap(), mounts);
        for (from, to, why) in [
            ("\"a-b\"", "\"/a-b\"", "is not a path below the root"),
            ("\"a-b\"", "\"b\"", "not sorted"),
            (",\"ino\":2", "", "the member `ino` is missing"),
            ("directory", "door", "unknown type"),
        ] {
            let error = read(&json.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn an_identified_mount_stands_for_a_named_one() {
        let mounts = vec![named("b"), at("c", 1), named("a"), at("b", 2), named("b")];
        assert_eq!(Mount::sorted(mounts), [named("a"), at("b", 2), at("c", 1)]);
    }

    #[test]
    fn missing_and_other_file_systems_are_lost() {
        let old = [at("a", 1), named("b"), named("b/c"), at("d", 1), named("e")];
        let lost = |now: &[Mount]| {
            let lost = Mount::lost(&old, now).into_iter();
            lost.map(|it| (String::from_utf8(it.path).unwrap(), it.why)).collect::<Vec<_>>()
        };
        assert_eq!(lost(&old), []);
        let now = [named("a"), at("b", 1), at("b/c", 1), at("d", 2), at("new", 1)];
        assert_eq!(lost(&now), [("d".to_owned(), Some(OtherRoot::FileSystem)), ("e".to_owned(), None)]);
        // What is below a lost one is lost with it.
        let now = [named("a"), named("d"), named("e")];
        assert_eq!(lost(&now), [("b".to_owned(), None)]);
    }
}
