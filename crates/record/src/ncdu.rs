//! The objects of ncdu's JSON (`ncdu -o`), version 1.2: one for each entry of a tree.
//!
//! The file is an array of two version numbers, an object about the program, and the root. A directory is an array of its
//! own object and its contents; any other entry is an object. Names are strings of bytes: like ncdu itself, this writes
//! bytes that are not UTF-8 as they are, although most JSON parsers do not accept them.

use std::io::Write as _;

/// What is written about an entry. Members that are `None` or `false` are omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NcduObject<'n> {
    /// The name; for the root its path.
    pub name: &'n [u8],
    /// The size in bytes.
    pub apparent_bytes: Option<u64>,
    /// The allocated bytes.
    pub allocated_bytes: Option<u64>,
    /// The device, if it is not that of the directory that contains the entry.
    pub dev: Option<u64>,
    /// The owner.
    pub uid: Option<u32>,
    /// The group.
    pub gid: Option<u32>,
    /// The type and permissions, as in `st_mode`.
    pub mode: Option<u32>,
    /// The time of the last change to the content, in seconds since 1970.
    pub mtime: Option<u64>,
    /// For an entry with several hard links: the inode number, and the number of links.
    pub link: Option<(u64, u64)>,
    /// Whether the entry is neither a regular file nor a directory.
    pub is_special: bool,
    /// Why the contents are missing.
    pub missing: Option<NcduMissing>,
}

/// Why the contents of an entry are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NcduMissing {
    /// They could not be read.
    Unreadable,
    /// They are on another file system.
    OtherFileSystem,
}

/// Appends the first line. `seconds`: when the tree was read, since 1970. `filter`: the first option that selected the
/// entries.
pub fn write_ncdu_start(out: &mut Vec<u8>, seconds: u64, filter: Option<&str>) {
    let version = env!("CARGO_PKG_VERSION");
    // Writing to a Vec cannot fail.
    let _ = write!(out, "[1,2,{{\"progname\":\"ftk\",\"progver\":\"{version}\",\"timestamp\":{seconds}");
    if let Some(filter) = filter {
        let _ = write!(out, ",\"filter\":\"{filter}\"");
    }
    out.extend_from_slice(b"},\n");
}

/// Appends an object.
pub fn write_ncdu_object(out: &mut Vec<u8>, object: &NcduObject<'_>) {
    push_name(out, object.name);
    let mut number = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        }
    };
    number(",\"asize\":", object.apparent_bytes);
    number(",\"dsize\":", object.allocated_bytes);
    number(",\"dev\":", object.dev);
    number(",\"uid\":", object.uid.map(u64::from));
    number(",\"gid\":", object.gid.map(u64::from));
    number(",\"mode\":", object.mode.map(u64::from));
    number(",\"mtime\":", object.mtime);
    if let Some((ino, links)) = object.link {
        number(",\"ino\":", Some(ino));
        number(",\"hlnkc\":true,\"nlink\":", Some(links));
    }
    if object.is_special {
        out.extend_from_slice(b",\"notreg\":true");
    }
    match object.missing {
        None => {}
        Some(NcduMissing::Unreadable) => out.extend_from_slice(b",\"read_error\":true"),
        Some(NcduMissing::OtherFileSystem) => out.extend_from_slice(b",\"excluded\":\"otherfs\""),
    }
    out.push(b'}');
}

/// Appends the start of an object.
fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(b"{\"name\":\"");
    let is_plain = |byte: u8| (byte >= b' ') & (byte != b'"') & (byte != b'\\') & (byte != 0x7f);
    if name.iter().fold(true, |plain, byte| plain & is_plain(*byte)) {
        out.extend_from_slice(name);
    } else {
        for &byte in name {
            match byte {
                b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                byte if is_plain(byte) => out.push(byte),
                byte => {
                    let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
                    out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]);
                }
            }
        }
    }
    out.push(b'"');
}
