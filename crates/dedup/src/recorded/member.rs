//! Files as manifests recorded them.

use ftk_file::FsId;
use ftk_hash::Digest;

/// A name of a file as a manifest recorded it. Unknown values are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMember {
    /// The number of the manifest.
    pub manifest: usize,
    /// The path, including the recorded root.
    pub path: Vec<u8>,
    /// The file system, if it has an identity. Together with the inode number it identifies the file.
    pub fs: Option<FsId>,
    /// The inode number.
    pub ino: Option<u64>,
    /// The number of hard links, including those outside the recorded trees.
    pub nlink: Option<u64>,
    /// Disk space in bytes.
    pub allocated: Option<u64>,
    /// The time of the last change to the content, in nanoseconds.
    pub mtime_ns: Option<i128>,
    /// The time of the last change to the inode, in nanoseconds.
    pub ctime_ns: Option<i128>,
}

/// Returns the path of an entry below a root. The entry `.` is the root itself.
pub fn recorded_path(root: &[u8], path: &[u8]) -> Vec<u8> {
    match path {
        b"." => root.to_vec(),
        path if root.ends_with(b"/") => [root, path].concat(),
        path => [root, b"/", path].concat(),
    }
}

/// Files with equal recorded digests and sizes. Their contents were not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedGroup {
    /// The size of each file, in bytes.
    pub size: u64,
    /// The recorded digest.
    pub digest: Digest,
    /// All names, sorted by path, including hard links.
    pub members: Vec<RecordedMember>,
}

/// A regular file in a manifest.
#[derive(Clone, Copy, Debug)]
pub struct RecordedFile<'f> {
    /// Its name.
    pub member: &'f RecordedMember,
    /// The number of its entry in the manifest.
    pub entry: u64,
    /// The device number, which identifies a file system only until it is mounted again.
    pub dev: Option<u64>,
    /// The size, in bytes.
    pub size: u64,
    /// The digest. All files must have digests of the same algorithm.
    pub digest: &'f [u8],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_with_one_slash() {
        for (root, path, expected) in
            [("/", "a", "/a"), ("a", "b/c", "a/b/c"), ("a", ".", "a"), ("/a/", "b", "/a/b")]
        {
            assert_eq!(recorded_path(root.as_bytes(), path.as_bytes()), expected.as_bytes());
        }
    }
}
