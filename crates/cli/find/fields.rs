//! Writes the fields of `--format`.

use std::collections::HashMap;
use std::ffi::CString;
use std::io::Write as _;

use ftk_record::sanitize;
use ftk_walk::{Entry, Fields as Has, FileType, WalkError};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use nix::unistd::{Gid, Group, Uid, User};

use super::format::{Field, TextFormat, TextPart};
use super::parts::{name, parent, split_extension};
use super::render::{facts, file_type, target};

/// Writes entries in one format, for one worker.
pub(super) struct Fields<'f> {
    format: &'f TextFormat,
    roots: &'f [CString],
    /// Whether names go to a terminal, so control characters in them are escaped.
    escape: bool,
    zone: TimeZone,
    owners: Owners,
    path: Vec<u8>,
}

impl<'f> Fields<'f> {
    /// `roots` are the starting points, by number.
    pub(super) fn new(format: &'f TextFormat, roots: &'f [CString], escape: bool) -> Self {
        let zone = if format.has_dates() { TimeZone::system() } else { TimeZone::UTC };
        Self { format, roots, escape, zone, owners: Owners::default(), path: Vec::new() }
    }

    /// Returns the metadata that the fields need.
    pub(super) fn reads(&self) -> ftk_walk::Fields {
        use Field::{Depth, Dir, Ext, Name, Path, Relative, Root, Stem, Target, Type};

        let is_listed = |part: &TextPart| match part {
            TextPart::Text(_) => true,
            TextPart::Field(field) => {
                matches!(field, Path | Name | Dir | Stem | Ext | Relative | Root | Depth | Type | Target)
            }
        };
        let are_listed = self.format.parts.iter().all(is_listed);
        if are_listed { ftk_walk::Fields::NONE } else { ftk_walk::Fields::BASIC }
    }

    /// Appends the formatted text for an entry, whose path is `dir` and its name.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        dir: &[u8],
        entry: &mut Entry<'_>,
    ) -> Result<(), WalkError> {
        self.path.clear();
        self.path.extend_from_slice(dir);
        self.path.extend_from_slice(entry.name());
        let format = self.format;
        for part in &format.parts {
            match part {
                TextPart::Text(text) => out.extend_from_slice(text),
                TextPart::Field(field) => self.push_field(out, *field, entry)?,
            }
        }
        Ok(())
    }

    fn push_field(
        &mut self,
        out: &mut Vec<u8>,
        field: Field,
        entry: &mut Entry<'_>,
    ) -> Result<(), WalkError> {
        let path = &*self.path;
        match field {
            Field::Path => self.push_name(out, path),
            Field::Name => self.push_name(out, name(path)),
            Field::Dir => self.push_name(out, parent(path)),
            Field::Stem => self.push_name(out, split_extension(name(path)).0),
            Field::Ext => self.push_name(out, split_extension(name(path)).1),
            Field::Relative => self.push_name(out, self.below_root(entry)),
            Field::Root => self.push_name(out, self.roots[entry.root()].to_bytes()),
            Field::Target => {
                if let Some(target) = target(path, entry)? {
                    self.push_name(out, target.to_bytes());
                }
            }
            Field::Depth => push_number(out, entry.depth()),
            Field::Type => out.push(letter(file_type(path, entry)?)),
            Field::Size => push_number(out, facts(entry, Has::SIZE)?.size),
            Field::Blocks => push_number(out, facts(entry, Has::BLOCKS)?.blocks),
            Field::Mode => {
                let _ = write!(out, "{:o}", facts(entry, Has::MODE)?.mode);
            }
            Field::Permissions => {
                let metadata = facts(entry, Has::MODE)?;
                push_permissions(out, metadata.file_type, metadata.mode);
            }
            Field::Uid => push_number(out, facts(entry, Has::UID)?.uid),
            Field::Gid => push_number(out, facts(entry, Has::GID)?.gid),
            Field::User => {
                let uid = facts(entry, Has::UID)?.uid;
                push_shown(out, self.escape, self.owners.user(uid).as_bytes());
            }
            Field::Group => {
                let gid = facts(entry, Has::GID)?.gid;
                push_shown(out, self.escape, self.owners.group(gid).as_bytes());
            }
            Field::Links => push_number(out, facts(entry, Has::NLINK)?.nlink),
            Field::Inode => push_number(out, facts(entry, Has::INO)?.ino),
            Field::Device => push_number(out, facts(entry, Has::INO)?.dev),
            Field::Mtime => push_date(out, facts(entry, Has::MTIME)?.mtime_ns, &self.zone),
            Field::Ctime => push_date(out, facts(entry, Has::CTIME)?.ctime_ns, &self.zone),
            Field::Atime => push_date(out, facts(entry, Has::ATIME)?.atime_ns, &self.zone),
            Field::MtimeNs => push_number(out, facts(entry, Has::MTIME)?.mtime_ns),
            Field::CtimeNs => push_number(out, facts(entry, Has::CTIME)?.ctime_ns),
            Field::AtimeNs => push_number(out, facts(entry, Has::ATIME)?.atime_ns),
        }
        Ok(())
    }

    /// Returns the path below the starting point; empty for the starting point itself.
    fn below_root(&self, entry: &Entry<'_>) -> &[u8] {
        let below = &self.path[self.roots[entry.root()].to_bytes().len()..];
        below.strip_prefix(b"/").unwrap_or(below)
    }

    fn push_name(&self, out: &mut Vec<u8>, name: &[u8]) {
        push_shown(out, self.escape, name);
    }
}

pub(super) fn push_shown(out: &mut Vec<u8>, escape: bool, name: &[u8]) {
    if escape {
        out.extend_from_slice(sanitize(name).as_bytes());
    } else {
        out.extend_from_slice(name);
    }
}

fn push_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    let _ = write!(out, "{number}"); // writing to a Vec cannot fail
}

/// Appends a time in ISO 8601, with nanoseconds and the offset of `zone` at that time. If the year has more
/// than four digits, appends `@` and the seconds since the epoch instead.
fn push_date(out: &mut Vec<u8>, nanoseconds: i128, zone: &TimeZone) {
    let date = Timestamp::from_nanosecond(nanoseconds).map(|time| time.to_zoned(zone.clone()));
    let _ = match date {
        Ok(date) => write!(out, "{}", date.strftime("%Y-%m-%dT%H:%M:%S%.9f%:z")),
        Err(_) => write!(out, "@{}", nanoseconds.div_euclid(1_000_000_000)),
    };
}

/// Returns the letter that `--type` and `find -type` use.
fn letter(file_type: FileType) -> u8 {
    match file_type {
        FileType::Regular => b'f',
        FileType::Directory => b'd',
        FileType::Symlink => b'l',
        FileType::Fifo => b'p',
        FileType::Socket => b's',
        FileType::Block => b'b',
        FileType::Char => b'c',
        _ => b'U', // as GNU find
    }
}

/// Appends the permissions like `ls -l`: `-rwxr-sr-t`.
pub(super) fn push_permissions(out: &mut Vec<u8>, file_type: FileType, mode: u32) {
    out.push(if file_type == FileType::Regular { b'-' } else { letter(file_type) });
    for (class, special, marked) in [(6, 0o4000, b's'), (3, 0o2000, b's'), (0, 0o1000, b't')] {
        let bits = mode >> class;
        out.push(if bits & 4 != 0 { b'r' } else { b'-' });
        out.push(if bits & 2 != 0 { b'w' } else { b'-' });
        out.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => marked,
            (true, false) => marked.to_ascii_uppercase(),
            (false, true) => b'x',
            (false, false) => b'-',
        });
    }
}

/// A cache of the names of users and groups. Those without a name are shown by their number, as in
/// `ls` and `find`.
#[derive(Default)]
pub(crate) struct Owners {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Owners {
    pub(crate) fn user(&mut self, uid: u32) -> &str {
        self.users.entry(uid).or_insert_with(|| match User::from_uid(Uid::from_raw(uid)) {
            Ok(Some(user)) => user.name,
            _ => uid.to_string(),
        })
    }

    pub(super) fn group(&mut self, gid: u32) -> &str {
        self.groups.entry(gid).or_insert_with(|| match Group::from_gid(Gid::from_raw(gid)) {
            Ok(Some(group)) => group.name,
            _ => gid.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(nanoseconds: i128, zone: &TimeZone) -> String {
        let mut out = Vec::new();
        push_date(&mut out, nanoseconds, zone);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates_are_iso_8601_or_seconds() {
        assert_eq!(date(0, &TimeZone::UTC), "1970-01-01T00:00:00.000000000+00:00");
        assert_eq!(date(-1, &TimeZone::UTC), "1969-12-31T23:59:59.999999999+00:00");
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let summer = 1_751_371_200_000_000_001;
        assert_eq!(date(summer, &zone), "2025-07-01T14:00:00.000000001+02:00");
        assert_eq!(date(summer - 182 * 86_400_000_000_000, &zone), "2024-12-31T13:00:00.000000001+01:00");
        assert_eq!(date(i128::from(i64::MAX) * 1_000_000_000 + 7, &zone), "@9223372036854775807");
        assert_eq!(date(i128::from(i64::MIN) * 1_000_000_000 + 7, &zone), "@-9223372036854775808");
    }

    #[test]
    fn permissions_look_like_those_of_ls() {
        for (file_type, mode, shown) in [
            (FileType::Regular, 0o644, "-rw-r--r--"),
            (FileType::Directory, 0o1777, "drwxrwxrwt"),
            (FileType::Directory, 0o1776, "drwxrwxrwT"),
            (FileType::Regular, 0o6755, "-rwsr-sr-x"),
            (FileType::Regular, 0o6644, "-rwSr-Sr--"),
            (FileType::Symlink, 0o777, "lrwxrwxrwx"),
            (FileType::Regular, 0, "----------"),
        ] {
            let mut out = Vec::new();
            push_permissions(&mut out, file_type, mode);
            assert_eq!(String::from_utf8(out).unwrap(), shown);
        }
    }
}
