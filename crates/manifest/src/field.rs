//! The members of an entry. Everything about a member is in this file: its name, the entries that have it, and
//! how it is read, written and compared.

use data_encoding::{BASE64, HEXLOWER};
use ftk_file::FsId;
use ftk_hash::{Algorithm, Digest};
use ftk_record::{type_name, type_of, write_path};
use ftk_walk::FileType;

use crate::json_line::Values;
use crate::parse::{Owned, check_path, mode};
use crate::{Entry, EntryError, Header};

/// What is the same for all entries with a member.
struct Member {
    name: &'static str,
    /// The name as it appears in a line: with the comma before it, quotes, and the colon.
    in_line: &'static [u8],
    /// The first version of the format that has the member.
    since: u64,
    /// Whether a difference is a change of the tree.
    is_compared: bool,
}

/// Defines the members in the order they are written. `$d` is a dollar sign.
macro_rules! members {
    ($d:tt $(
        #[doc = $doc:literal]
        $field:ident: $name:literal, since $since:literal, compared $is_compared:literal;
    )*) => {
        /// A member of an entry, except its path
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Field {
            $(#[doc = $doc] $field,)*
        }

        impl Field {
            /// All members, in the order they are written.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$field),*];

            const fn member(self) -> Member {
                match self {
                    $(Self::$field => Member {
                        name: $name,
                        in_line: concat!(",\"", $name, "\":").as_bytes(),
                        since: $since,
                        is_compared: $is_compared,
                    },)*
                }
            }
        }

        /// Repeats the block for each member, as a loop over [`Field::ALL`] does. Each copy is compiled for its
        /// member, which is much faster.
        macro_rules! each_field {
            ($d name:ident => $d block:block) => {
                $({
                    let $d name = $crate::Field::$field;
                    $d block
                })*
            };
        }
        pub(crate) use each_field;
    };
}

members! {
    $
    /// The type.
    Type: "type", since 1, compared true;
    /// The length.
    Size: "size_bytes", since 1, compared true;
    /// The space on the disk.
    Allocated: "allocated_bytes", since 2, compared false;
    /// The time of the last change to the content.
    Mtime: "mtime_ns", since 1, compared true;
    /// The time of the last change to the inode.
    Ctime: "ctime_ns", since 1, compared false;
    /// The time when the inode was created, if the file system records it.
    Birth: "birth_ns", since 2, compared false;
    /// The permissions.
    Mode: "mode", since 1, compared true;
    /// The owner.
    Uid: "uid", since 1, compared true;
    /// The group.
    Gid: "gid", since 1, compared true;
    /// The identity of the file system, if it has one.
    Fs: "fs", since 2, compared false;
    /// The device number of the file system.
    Dev: "dev", since 1, compared false;
    /// The inode number.
    Ino: "ino", since 1, compared false;
    /// The number of hard links.
    Nlink: "nlink", since 1, compared false;
    /// Which entries are hard links of each other: entries of one inode have the same value.
    LinkGroup: "link_group", since 2, compared true;
    /// The device number of a device file.
    Rdev: "rdev", since 1, compared true;
    /// The target of a symbolic link.
    Target: "target", since 1, compared true;
    /// The digests of a regular file.
    Digests: "digests", since 1, compared true;
    /// The tree digests of a directory.
    Tree: "tree", since 2, compared false;
    /// The extended attributes, if they were recorded.
    Xattrs: "xattrs", since 1, compared true;
    /// When the content was last read and had the recorded digests.
    Verified: "verified_ns", since 2, compared false;
    /// When the content was first found to be damaged.
    Damaged: "damaged_ns", since 1, compared false;
}

/// The unit of `st_blocks` in bytes.
const BLOCK: u64 = 512;

impl Field {
    /// Returns the name of the member. [`FromStr`](std::str::FromStr) accepts the names of members that are compared.
    pub fn name(self) -> &'static str {
        self.member().name
    }

    /// Returns the name with the characters around it in a line.
    pub(crate) fn in_line(self) -> &'static [u8] {
        self.member().in_line
    }

    /// Returns the start of the member in a line, which also begins the member for a name that is not UTF-8.
    pub(crate) fn start_in_line(self) -> &'static [u8] {
        self.in_line().strip_suffix(b"\":").expect("the name ends with these")
    }

    /// Returns whether manifests of this version have the member. In others, the name has no meaning.
    pub(crate) fn is_in(self, version: u64) -> bool {
        self.member().since <= version
    }

    /// Returns whether a difference is reported. The other members are recorded for other purposes, and differ
    /// between a tree and a faithful copy.
    pub fn is_compared(self) -> bool {
        self.member().is_compared
    }

    /// Returns whether an entry of this type can have the member.
    pub(crate) fn applies_to(self, file_type: FileType, header: &Header) -> bool {
        match self {
            Self::Rdev => file_type.is_device(),
            Self::Target => file_type == FileType::Symlink,
            Self::Digests | Self::Verified | Self::Damaged => {
                file_type == FileType::Regular && !header.algorithms.is_empty()
            }
            Self::Tree => file_type == FileType::Directory && !header.algorithms.is_empty(),
            Self::LinkGroup => file_type != FileType::Directory,
            Self::Xattrs => header.xattrs,
            _ => true,
        }
    }

    /// Returns whether the member may be absent from an entry that [can have it](Self::applies_to).
    pub(crate) fn is_optional(self, header: &Header) -> bool {
        match self {
            Self::Type | Self::Digests | Self::Xattrs => false,
            Self::Tree | Self::Verified | Self::Damaged | Self::LinkGroup => true,
            _ => header.version > 1,
        }
    }

    /// Reads the value.
    #[inline(always)]
    pub(crate) fn read<'l>(
        self,
        values: &mut impl Values<'l>,
        entry: &mut Owned,
        header: &Header,
    ) -> Option<()> {
        let stat = &mut entry.fixed.stat;
        match self {
            Self::Type => {
                let name = values.text()?;
                stat.file_type = values.check(type_of(&name), || EntryError::Type(lossy(&name)))?;
            }
            Self::Size => stat.size = values.natural()?,
            Self::Allocated => {
                let bytes = values.natural()?;
                let blocks = bytes.is_multiple_of(BLOCK).then_some(bytes / BLOCK);
                stat.blocks = values.check(blocks, || EntryError::Allocated(bytes))?;
            }
            Self::Mtime => stat.mtime_ns = values.integer()?,
            Self::Ctime => stat.ctime_ns = values.integer()?,
            Self::Birth => stat.birth_ns = Some(values.integer()?),
            Self::Mode => {
                let digits = values.text()?;
                stat.mode = values.check(mode(&digits), || EntryError::Mode(lossy(&digits)))?;
            }
            Self::Uid => stat.uid = values.natural_32()?,
            Self::Gid => stat.gid = values.natural_32()?,
            Self::Fs => {
                let digits = values.text()?;
                let id = values.check(file_system(&digits), || EntryError::Fs(lossy(&digits)))?;
                entry.fixed.fs = Some(id);
            }
            Self::Dev => stat.dev = values.natural()?,
            Self::Ino => stat.ino = values.natural()?,
            Self::Nlink => stat.nlink = values.natural()?,
            Self::LinkGroup => {
                let group = values.text()?;
                values.check(check_path(&group).ok(), || EntryError::LinkGroup)?;
                entry.link_group = Some(group.into_owned());
            }
            Self::Rdev => stat.rdev = values.natural()?,
            Self::Target => entry.target = Some(values.text()?.into_owned()),
            Self::Digests => {
                values.digests(&header.algorithms, &mut entry.digests, EntryError::Digests)?;
            }
            Self::Tree => {
                values.digests(&header.algorithms, &mut entry.tree, EntryError::TreeDigests)?;
            }
            Self::Xattrs => entry.xattrs = Some(values.xattrs()?),
            Self::Verified => entry.fixed.verified_ns = Some(values.integer()?),
            Self::Damaged => entry.fixed.damaged_ns = Some(values.integer()?),
        }
        Some(())
    }

    /// Returns whether `entry` has the member.
    #[inline(always)]
    pub fn is_of(self, entry: &Entry<'_>) -> bool {
        match self {
            // A number of blocks that cannot be bytes is implausible.
            Self::Allocated => entry.knows(self) && entry.stat.blocks.checked_mul(BLOCK).is_some(),
            Self::Birth => entry.stat.birth_ns.is_some(),
            Self::Fs => entry.fs.is_some(),
            Self::LinkGroup => entry.link_group.is_some(),
            Self::Rdev => entry.stat.is_device() && entry.knows(self),
            Self::Target => entry.target.is_some(),
            Self::Digests => !entry.digests.is_empty(),
            Self::Tree => !entry.tree.is_empty(),
            Self::Xattrs => entry.xattrs.is_some(),
            Self::Verified => entry.verified_ns.is_some(),
            Self::Damaged => entry.damaged_ns.is_some(),
            _ => entry.knows(self),
        }
    }

    /// Appends the field's value in `entry` as the JSON member `"member":value`, in the form of a manifest.
    ///
    /// The value is `null` if the entry does not have the field. A [name](Self::name_in) that is not UTF-8 is written as
    /// the member `member_b64`. `algorithms` are those of the entry's digests.
    pub fn write_member(self, out: &mut Vec<u8>, member: &str, entry: &Entry<'_>, algorithms: &[Algorithm]) {
        if let Some(name) = self.name_in(entry) {
            return write_path(out, member, name);
        }
        out.push(b'"');
        out.extend_from_slice(member.as_bytes());
        out.extend_from_slice(b"\":");
        self.write_value(out, entry, algorithms);
    }

    /// Returns the value of a member whose values are names, which may be bytes that are not UTF-8.
    #[inline(always)]
    pub fn name_in<'e>(self, entry: &Entry<'e>) -> Option<&'e [u8]> {
        match self {
            Self::Target => entry.target,
            Self::LinkGroup => entry.link_group,
            _ => None,
        }
    }

    /// Appends the value alone; for a name, nothing.
    pub fn write_value(self, out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm]) {
        if self.is_of(entry) {
            self.push_value(out, entry, algorithms);
        } else {
            out.extend_from_slice(b"null");
        }
    }

    /// Appends the value of a member that `entry` has; for a name, nothing.
    #[inline(always)]
    pub(crate) fn push_value(self, out: &mut Vec<u8>, entry: &Entry<'_>, algorithms: &[Algorithm]) {
        let stat = &entry.stat;
        match self {
            Self::Type => {
                out.push(b'"');
                out.extend_from_slice(type_name(stat.file_type).as_bytes());
                out.push(b'"');
            }
            Self::Size => push_number(out, stat.size),
            Self::Allocated => push_number(out, stat.blocks * BLOCK),
            Self::Mtime => push_time(out, stat.mtime_ns),
            Self::Ctime => push_time(out, stat.ctime_ns),
            Self::Birth => push_time(out, stat.birth_ns.unwrap_or_default()),
            Self::Mode => push_mode(out, stat.mode),
            Self::Uid => push_number(out, stat.uid),
            Self::Gid => push_number(out, stat.gid),
            Self::Fs => push_file_system(out, entry.fs),
            Self::Dev => push_number(out, stat.dev),
            Self::Ino => push_number(out, stat.ino),
            Self::Nlink => push_number(out, stat.nlink),
            Self::Rdev => push_number(out, stat.rdev),
            Self::Target | Self::LinkGroup => {} // see `write_member`
            Self::Digests => push_digests(out, entry.digests, algorithms),
            Self::Tree => push_digests(out, entry.tree, algorithms),
            Self::Xattrs => {
                out.push(b'[');
                for (nth, xattr) in entry.xattrs.unwrap_or_default().iter().enumerate() {
                    out.extend_from_slice(if nth == 0 { b"{" } else { b",{" });
                    write_path(out, "name", &xattr.name);
                    out.extend_from_slice(b",\"value_b64\":\"");
                    let start = out.len();
                    out.resize(start + BASE64.encode_len(xattr.value.len()), 0);
                    BASE64.encode_mut(&xattr.value, &mut out[start..]);
                    out.extend_from_slice(b"\"}");
                }
                out.push(b']');
            }
            Self::Verified => push_time(out, entry.verified_ns.unwrap_or_default()),
            Self::Damaged => push_time(out, entry.damaged_ns.unwrap_or_default()),
        }
    }

    /// Returns whether the values differ. `is_same` tells whether the digests are equal, if that is known.
    ///
    /// A value that one of the entries does not have is not compared. Sizes are compared for regular files
    /// only: the size of a directory depends on the file system, and that of a link on its target. The mtime of
    /// directories is not compared, because added and removed entries are reported themselves. Link groups are compared
    /// for the whole tree, by [`LinkPairs`](ftk_inventory::LinkPairs).
    pub(crate) fn differs(self, old: &Entry<'_>, new: &Entry<'_>, is_same: Option<bool>) -> bool {
        let (a, b) = (&old.stat, &new.stat);
        let is_one = |file_type| a.file_type == file_type || b.file_type == file_type;
        if !self.is_compared() || !old.knows(self) || !new.knows(self) {
            return false;
        }
        match self {
            Self::Type => a.file_type != b.file_type,
            Self::Size => a.is_regular() && b.is_regular() && a.size != b.size,
            Self::Mtime => !is_one(FileType::Directory) && a.mtime_ns != b.mtime_ns,
            Self::Mode => a.mode != b.mode,
            Self::Uid => a.uid != b.uid,
            Self::Gid => a.gid != b.gid,
            Self::Rdev => a.rdev != b.rdev,
            Self::Target => old.target != new.target,
            Self::Digests => is_same == Some(false),
            Self::Xattrs => old.xattrs.zip(new.xattrs).is_some_and(|(old, new)| old != new),
            Self::Allocated | Self::Ctime | Self::Birth | Self::Fs => false,
            Self::Dev | Self::Ino | Self::Nlink | Self::LinkGroup => false,
            Self::Tree | Self::Verified | Self::Damaged => false,
        }
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Parses the identity of a file system: 32 lower-case hexadecimal digits.
pub(crate) fn file_system(digits: &[u8]) -> Option<FsId> {
    let mut id = [0; 16];
    let is_hex = digits.len() == 2 * id.len() && HEXLOWER.decode_mut(digits, &mut id).is_ok();
    is_hex.then(|| FsId::from_bytes(id))
}

fn push_file_system(out: &mut Vec<u8>, id: Option<FsId>) {
    let mut digits = *b"\"00000000000000000000000000000000\"";
    if let Some(id) = id {
        HEXLOWER.encode_mut(id.as_bytes(), &mut digits[1..33]);
    }
    out.extend_from_slice(&digits);
}

/// Appends a time. Nearly every time fits into 64 bits, which are much faster to format.
fn push_time(out: &mut Vec<u8>, time_ns: i128) {
    match i64::try_from(time_ns) {
        Ok(time_ns) => push_number(out, time_ns),
        Err(_) => push_number(out, time_ns),
    }
}

fn push_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends the mode as a string of four octal digits, since JSON has no octal numbers.
fn push_mode(out: &mut Vec<u8>, mode: u32) {
    let digit = |shift: u32| b'0' + (mode >> shift & 7) as u8;
    out.extend_from_slice(&[b'"', digit(9), digit(6), digit(3), digit(0), b'"']);
}

fn push_digests(out: &mut Vec<u8>, digests: &[u8], algorithms: &[Algorithm]) {
    let mut rest = digests;
    for (nth, algorithm) in algorithms.iter().enumerate() {
        out.extend_from_slice(if nth == 0 { b"{\"" } else { b",\"" });
        out.extend_from_slice(algorithm.name().as_bytes());
        out.extend_from_slice(b"\":\"");
        let digest = rest.split_off(..algorithm.digest_len()).expect("a digest by every algorithm");
        Digest::from_bytes(digest).write_hex(out);
        out.push(b'"');
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FieldSet;

    #[test]
    fn every_member_is_listed_once_under_its_own_name() {
        let mut set = FieldSet::default();
        for (nth, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field as usize, nth);
            assert!(set.insert(field) && !set.insert(field));
            assert_eq!(field.to_string(), field.name());
            assert_eq!(field.in_line(), format!(",\"{}\":", field.name()).as_bytes());
        }
    }

    #[test]
    fn modes_are_four_octal_digits() {
        for (mode, text) in [(0, "\"0000\""), (0o644, "\"0644\""), (0o7777, "\"7777\""), (0o1750, "\"1750\"")]
        {
            let mut out = Vec::new();
            push_mode(&mut out, mode);
            assert_eq!(out, text.as_bytes());
        }
    }
}
