//! The identity of the directory that a manifest records.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use ftk_file::{FsId, Identity, is_subvolume_stub};
use ftk_record::{Object, path_member, read_path, type_name, type_of};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::field::file_system;
use crate::text::Text;

/// What identifies the root of a manifest when it is used later, on any host.
///
/// File systems [without an identity](FsId) can have another device number and other inode numbers at each mount, so there
/// the path and the type of the file system count instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootIdentity {
    /// The absolute path, without symbolic links. That of a [`Mount`](crate::Mount) is below the root.
    pub path: Vec<u8>,
    /// The type of the file system: `f_type` of `statfs(2)`.
    pub fs_type: u32,
    /// The directory.
    pub identity: Identity,
}

/// Why a directory is not the recorded root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherRoot {
    /// It is on another file system.
    FileSystem,
    /// Its inode number or its time of birth differs.
    Inode,
    /// Its path differs, and nothing else identifies it.
    Path,
}

impl fmt::Display for OtherRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileSystem => "its file system differs",
            Self::Inode => "its inode differs",
            Self::Path => "its path differs, and its file system has no lasting identity",
        })
    }
}

impl RootIdentity {
    /// Returns the identity of an open directory with this absolute path.
    ///
    /// # Errors
    /// If the directory cannot be examined.
    pub fn of(dir: impl AsFd, path: Vec<u8>) -> io::Result<Self> {
        Ok(Self { path, fs_type: fs_type(&dir)?, identity: Identity::of(dir)? })
    }

    /// Returns whether this is the [stub](is_subvolume_stub) of a subvolume, which has no contents and no lasting
    /// identity.
    pub(crate) fn is_stub(&self) -> bool {
        self.identity.fs.is_some_and(|fs| is_subvolume_stub(fs, self.identity.ino))
    }

    /// Returns why `now` is another directory than this one, apart from their file systems: both are states of one
    /// tree.
    pub fn difference_of_states(&self, now: &Self) -> Option<OtherRoot> {
        let inode = |it: &Self| (it.identity.ino, it.identity.file_type);
        (inode(self) != inode(now)).then_some(OtherRoot::Inode)
    }

    /// Returns why `now` is another directory than this one, or `None` if it is the same.
    pub fn difference(&self, now: &Self) -> Option<OtherRoot> {
        let (old, new) = (&self.identity, &now.identity);
        match (old.fs, new.fs) {
            (Some(a), Some(b)) if a != b => Some(OtherRoot::FileSystem),
            (Some(_), Some(_)) => (!old.is_same_inode(new)).then_some(OtherRoot::Inode),
            (None, None) if self.fs_type != now.fs_type => Some(OtherRoot::FileSystem),
            (None, None) => (self.path != now.path).then_some(OtherRoot::Path),
            _ => Some(OtherRoot::FileSystem),
        }
    }
}

/// Returns an identity of a file system in hexadecimal digits.
pub(crate) fn hex(fs: &FsId) -> String {
    fs.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(target_os = "linux")]
fn fs_type(dir: impl AsFd) -> io::Result<u32> {
    Ok(rustix::fs::fstatfs(dir)?.f_type as u32)
}

/// Returns 0: other systems number the types of file systems differently, and none of theirs has a lasting identity.
#[cfg(not(target_os = "linux"))]
fn fs_type(_: impl AsFd) -> io::Result<u32> {
    Ok(0)
}

impl Serialize for RootIdentity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Identity { fs, dev, ino, birth_ns, file_type, uid } = &self.identity;
        let mut map = serializer.serialize_map(None)?;
        let (name, path) = path_member("path", &self.path);
        map.serialize_entry(&name, &path)?;
        map.serialize_entry("fs_type", &self.fs_type)?;
        if let Some(fs) = fs {
            map.serialize_entry("fs", &hex(fs))?;
        }
        map.serialize_entry("dev", dev)?;
        map.serialize_entry("ino", ino)?;
        if let Some(birth_ns) = birth_ns {
            map.serialize_entry("birth_ns", birth_ns)?;
        }
        map.serialize_entry("type", type_name(*file_type))?;
        map.serialize_entry("uid", uid)?;
        map.end()
    }
}

/// The member as it is written. A mount of an older version has only the path.
#[derive(Deserialize)]
pub(crate) struct RootLine<'l> {
    #[serde(borrow)]
    pub(crate) path: Option<Text<'l>>,
    #[serde(borrow)]
    pub(crate) path_b64: Option<Text<'l>>,
    fs_type: Option<u32>,
    #[serde(borrow)]
    fs: Option<Text<'l>>,
    dev: Option<u64>,
    ino: Option<u64>,
    birth_ns: Option<i128>,
    #[serde(borrow, rename = "type")]
    file_type: Option<Text<'l>>,
    uid: Option<u32>,
}

impl RootLine<'_> {
    /// Returns whether there is more than a path.
    pub(crate) fn is_identified(&self) -> bool {
        self.fs_type.is_some()
    }

    /// Returns the identity, or what is wrong with it.
    pub(crate) fn read(line: &Object<Self>) -> Result<RootIdentity, String> {
        fn needed<T>(value: Option<T>, name: &str) -> Result<T, String> {
            value.ok_or_else(|| format!("the member `{name}` is missing"))
        }
        let Object(line) = line;
        let path = read_path(line.path.as_deref(), line.path_b64.as_deref());
        let path = path.map_err(|error| error.to_string())?.into_owned();
        let fs = |digits: &Text<'_>| -> Result<FsId, String> {
            file_system(digits.as_bytes()).ok_or_else(|| format!("{:?} is not a file system", &**digits))
        };
        let fs = line.fs.as_ref().map(fs).transpose()?;
        let name = needed(line.file_type.as_ref(), "type")?;
        let file_type = type_of(name.as_bytes()).ok_or_else(|| format!("unknown type {:?}", &**name))?;
        let (dev, ino) = (needed(line.dev, "dev")?, needed(line.ino, "ino")?);
        let identity =
            Identity { fs, dev, ino, birth_ns: line.birth_ns, file_type, uid: needed(line.uid, "uid")? };
        Ok(RootIdentity { path, fs_type: needed(line.fs_type, "fs_type")?, identity })
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::FileType;

    use super::*;

    fn fs(byte: u8) -> Option<FsId> {
        Some(FsId::from_bytes([byte; 16]))
    }

    fn root() -> RootIdentity {
        let file_type = FileType::Directory;
        let identity = Identity { fs: fs(1), dev: 2, ino: 3, birth_ns: Some(4), file_type, uid: 5 };
        RootIdentity { path: b"/r".to_vec(), fs_type: 6, identity }
    }

    fn with(change: impl FnOnce(&mut RootIdentity)) -> RootIdentity {
        let mut root = root();
        change(&mut root);
        root
    }

    #[test]
    fn file_system_and_inode_identify_a_root_on_any_path_and_device() {
        for (other, difference) in [
            (root(), None),
            (with(|it| it.path = b"/elsewhere".to_vec()), None),
            (with(|it| it.identity.dev = 9), None),
            (with(|it| it.identity.uid = 9), None),
            (with(|it| it.identity.birth_ns = None), None),
            (with(|it| it.identity.fs = fs(9)), Some(OtherRoot::FileSystem)),
            (with(|it| it.identity.fs = None), Some(OtherRoot::FileSystem)),
            (with(|it| it.identity.ino = 9), Some(OtherRoot::Inode)),
            (with(|it| it.identity.birth_ns = Some(9)), Some(OtherRoot::Inode)),
        ] {
            assert_eq!(root().difference(&other), difference, "{other:?}");
            assert_eq!(other.difference(&root()), difference, "{other:?}");
        }
    }

    #[test]
    fn without_a_lasting_identity_type_and_path_count() {
        let old = with(|it| it.identity.fs = None);
        let with = |change: fn(&mut RootIdentity)| {
            let mut root = old.clone();
            change(&mut root);
            root
        };
        for (other, difference) in [
            (with(|it| it.identity.dev = 9), None),
            (with(|it| it.identity.ino = 9), None),
            (with(|it| it.fs_type = 9), Some(OtherRoot::FileSystem)),
            (with(|it| it.path.push(b'x')), Some(OtherRoot::Path)),
            (with(|it| it.identity.uid = 9), None),
        ] {
            assert_eq!(old.difference(&other), difference, "{other:?}");
        }
    }

    #[test]
    fn an_open_directory_is_recognised() {
        let temp = tempfile::tempdir().unwrap();
        let open = |path: &std::path::Path| {
            let file = std::fs::File::open(path).unwrap();
            RootIdentity::of(file, path.as_os_str().as_encoded_bytes().to_vec()).unwrap()
        };
        let (root, other) = (open(temp.path()), open(&std::env::current_dir().unwrap()));
        assert_eq!(root.difference(&open(temp.path())), None);
        assert_ne!(root.difference(&other), None);
    }
}
