//! The recorded fields that can be compared, by name.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use ftk_hash::{Algorithm, Digest};
use ftk_record::write_path;

use crate::Entry;
use crate::entry::type_name;

/// A recorded field that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The type.
    Type,
    /// The length of a regular file.
    Size,
    /// The mtime, except that of directories.
    Mtime,
    /// The permissions.
    Mode,
    /// The owner.
    Uid,
    /// The group.
    Gid,
    /// The device number of a device file.
    Rdev,
    /// The target of a symbolic link.
    Target,
    /// The digests of a regular file.
    Digests,
    /// The extended attributes, if they were recorded.
    Xattrs,
}

impl Field {
    /// All fields, in the order they are listed to users.
    pub const ALL: [Self; 10] = [
        Self::Type,
        Self::Size,
        Self::Mtime,
        Self::Mode,
        Self::Uid,
        Self::Gid,
        Self::Rdev,
        Self::Target,
        Self::Digests,
        Self::Xattrs,
    ];

    /// Returns the name of the field's member in a manifest. [`FromStr`] accepts this name, and short forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Size => "size_bytes",
            Self::Mtime => "mtime_ns",
            Self::Mode => "mode",
            Self::Uid => "uid",
            Self::Gid => "gid",
            Self::Rdev => "rdev",
            Self::Target => "target",
            Self::Digests => "digests",
            Self::Xattrs => "xattrs",
        }
    }

    /// Appends the field's value in `entry` as the JSON member `"member":value`, in the form of a manifest.
    ///
    /// The value is `null` if the entry does not have the field. A target that is not UTF-8 is written as the
    /// member `member_b64`. `algorithms` are those of the entry's digests.
    pub fn write_member(self, out: &mut Vec<u8>, member: &str, entry: &Entry<'_>, algorithms: &[Algorithm]) {
        let stat = &entry.stat;
        let mut with = |push: &dyn Fn(&mut Vec<u8>)| {
            out.push(b'"');
            out.extend_from_slice(member.as_bytes());
            out.extend_from_slice(b"\":");
            push(out);
        };
        match (self, entry.target, entry.xattrs) {
            (Self::Type, ..) => with(&|out| {
                out.push(b'"');
                out.extend_from_slice(type_name(stat.file_type).as_bytes());
                out.push(b'"');
            }),
            (Self::Size, ..) => with(&|out| push_number(out, stat.size)),
            (Self::Mtime, ..) => with(&|out| push_time(out, stat.mtime_ns)),
            (Self::Mode, ..) => with(&|out| push_mode(out, stat.mode)),
            (Self::Uid, ..) => with(&|out| push_number(out, stat.uid)),
            (Self::Gid, ..) => with(&|out| push_number(out, stat.gid)),
            (Self::Rdev, ..) if stat.is_device() => with(&|out| push_number(out, stat.rdev)),
            (Self::Target, Some(target), _) => write_path(out, member, target),
            (Self::Digests, ..) if !entry.digests.is_empty() => {
                with(&|out| push_digests(out, entry.digests, algorithms));
            }
            (Self::Xattrs, _, Some(xattrs)) => with(&|out| {
                out.push(b'[');
                for (nth, xattr) in xattrs.iter().enumerate() {
                    out.extend_from_slice(if nth == 0 { b"{" } else { b",{" });
                    write_path(out, "name", &xattr.name);
                    out.extend_from_slice(b",\"value_b64\":\"");
                    let start = out.len();
                    out.resize(start + BASE64.encode_len(xattr.value.len()), 0);
                    BASE64.encode_mut(&xattr.value, &mut out[start..]);
                    out.extend_from_slice(b"\"}");
                }
                out.push(b']');
            }),
            _ => with(&|out| out.extend_from_slice(b"null")),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Field {
    type Err = UnknownField;

    /// Parses a [name](Field::name). The suffixes `_bytes` and `_ns` and the plural `s` of `digests` are
    /// optional; `owner`, `group` and `device` stand for `uid`, `gid` and `rdev`.
    fn from_str(text: &str) -> Result<Self, UnknownField> {
        match text {
            "size" => Ok(Self::Size),
            "mtime" => Ok(Self::Mtime),
            "owner" => Ok(Self::Uid),
            "group" => Ok(Self::Gid),
            "device" => Ok(Self::Rdev),
            "digest" => Ok(Self::Digests),
            name => {
                let known = Self::ALL.into_iter().find(|field| field.name() == name);
                known.ok_or_else(|| UnknownField(text.to_owned()))
            }
        }
    }
}

/// A name that is not the name of a field. The message lists the valid names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField(String);

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Field::ALL.map(Field::name).join(", ");
        write!(f, "unknown field {:?}, expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownField {}

/// Appends a time. Nearly every time fits into 64 bits, which are much faster to format.
pub(crate) fn push_time(out: &mut Vec<u8>, time_ns: i128) {
    match i64::try_from(time_ns) {
        Ok(time_ns) => push_number(out, time_ns),
        Err(_) => push_number(out, time_ns),
    }
}

pub(crate) fn push_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
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

    #[test]
    fn names_are_read_back() {
        for field in Field::ALL {
            assert_eq!(field.name().parse(), Ok(field));
            assert_eq!(field.to_string(), field.name());
        }
        for (text, field) in [("size", Field::Size), ("owner", Field::Uid), ("mtime", Field::Mtime)] {
            assert_eq!(text.parse(), Ok(field));
        }
        let message = "inode".parse::<Field>().unwrap_err().to_string();
        assert!(message.contains("\"inode\"") && message.contains("mtime_ns"), "{message}");
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
