//! Parsing one line of a manifest.

use std::fmt;

use ftk_file::Stat;
use ftk_hash::Digest;
use ftk_record::{Object, read_base64, read_path};
use ftk_walk::FileType;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::canonical;
use crate::entry::{ROOT, type_of};
use crate::text::Text;
use crate::{Entry, EntryError, Header, Xattr};

/// The members of a line. Unknown members are ignored; duplicate members are errors.
#[derive(Debug, Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    path: Option<Text<'l>>,
    #[serde(borrow)]
    path_b64: Option<Text<'l>>,
    #[serde(borrow, rename = "type")]
    file_type: Text<'l>,
    size_bytes: u64,
    mtime_ns: i128,
    ctime_ns: i128,
    #[serde(borrow)]
    mode: Text<'l>,
    uid: u32,
    gid: u32,
    dev: u64,
    ino: u64,
    nlink: u64,
    rdev: Option<u64>,
    #[serde(borrow)]
    target: Option<Text<'l>>,
    #[serde(borrow)]
    target_b64: Option<Text<'l>>,
    #[serde(borrow)]
    digests: Option<Digests<'l>>,
    #[serde(borrow)]
    xattrs: Option<Vec<Object<XattrLine<'l>>>>,
    damaged_ns: Option<i128>,
}

#[derive(Debug, Deserialize)]
struct XattrLine<'l> {
    #[serde(borrow)]
    name: Option<Text<'l>>,
    #[serde(borrow)]
    name_b64: Option<Text<'l>>,
    #[serde(borrow)]
    value_b64: Text<'l>,
}

/// The digests by the names of their algorithms, in the order of the line.
#[derive(Debug)]
struct Digests<'l>(Vec<(Text<'l>, Text<'l>)>);

impl<'l, 'de: 'l> Deserialize<'de> for Digests<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'l> Visitor<'l> for Members {
            type Value = Digests<'l>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of digests")
            }

            fn visit_map<M: MapAccess<'l>>(self, mut map: M) -> Result<Digests<'l>, M::Error> {
                let mut digests = Vec::new();
                while let Some(digest) = map.next_entry()? {
                    digests.push(digest);
                }
                Ok(Digests(digests))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// An entry that owns its data. Its buffers are reused for the next entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    path: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) target: Option<Vec<u8>>,
    pub(crate) digests: Vec<u8>,
    pub(crate) xattrs: Option<Vec<Xattr>>,
    pub(crate) damaged_ns: Option<i128>,
}

impl Owned {
    pub(crate) fn new() -> Self {
        let stat = Stat { file_type: FileType::Directory, ..Stat::EMPTY };
        Self { path: Vec::new(), stat, target: None, digests: Vec::new(), xattrs: None, damaged_ns: None }
    }

    pub(crate) fn set_path(&mut self, path: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(path);
    }

    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry {
            path: &self.path,
            stat: self.stat,
            target: self.target.as_deref(),
            digests: &self.digests,
            xattrs: self.xattrs.as_deref(),
            damaged_ns: self.damaged_ns,
        }
    }

    /// Parses a line, without its newline, of a manifest with this header.
    ///
    /// # Errors
    /// If the line is not a valid entry. The contents of `self` are then unspecified.
    pub(crate) fn read(&mut self, line: &[u8], header: &Header) -> Result<(), EntryError> {
        match canonical::read(line, header, self) {
            Some(()) => Ok(()),
            None => self.read_json(line, header),
        }
    }

    /// Parses a line in any valid form.
    pub(crate) fn read_json(&mut self, line: &[u8], header: &Header) -> Result<(), EntryError> {
        let Object(line): Object<Line<'_>> = serde_json::from_slice(line).map_err(EntryError::Json)?;
        let path = read_path(line.path.as_deref(), line.path_b64.as_deref()).map_err(EntryError::Path)?;
        check_path(&path)?;
        self.set_path(&path);
        let file_type =
            type_of(line.file_type.as_bytes()).ok_or_else(|| EntryError::Type(line.file_type.to_string()))?;
        self.stat = Stat {
            file_type,
            size: line.size_bytes,
            mtime_ns: line.mtime_ns,
            ctime_ns: line.ctime_ns,
            mode: mode(line.mode.as_bytes()).ok_or_else(|| EntryError::Mode(line.mode.to_string()))?,
            uid: line.uid,
            gid: line.gid,
            dev: line.dev,
            ino: line.ino,
            nlink: line.nlink,
            rdev: line.rdev.unwrap_or(0),
            ..Stat::EMPTY
        };
        if line.rdev.is_some() != self.stat.is_device() {
            return Err(EntryError::Rdev);
        }
        self.read_target(&line)?;
        self.read_digests(&line, header)?;
        self.damaged_ns = line.damaged_ns;
        if self.damaged_ns.is_some() && self.digests.is_empty() {
            return Err(EntryError::Damaged);
        }
        self.read_xattrs(&line, header)
    }

    fn read_target(&mut self, line: &Line<'_>) -> Result<(), EntryError> {
        self.target = match (&line.target, &line.target_b64) {
            (None, None) => None,
            (text, b64) => {
                let target = read_path(text.as_deref(), b64.as_deref());
                Some(target.map_err(EntryError::TargetPath)?.into_owned())
            }
        };
        if self.target.is_some() != (self.stat.file_type == FileType::Symlink) {
            return Err(EntryError::Target);
        }
        Ok(())
    }

    fn read_digests(&mut self, line: &Line<'_>, header: &Header) -> Result<(), EntryError> {
        self.digests.clear();
        let found = line.digests.as_ref().map_or(&[][..], |digests| &digests.0);
        let expected = if self.stat.is_regular() { &*header.algorithms } else { &[] };
        if found.len() != expected.len() || line.digests.is_some() == expected.is_empty() {
            return Err(EntryError::Digests);
        }
        for algorithm in expected {
            let hex = found.iter().find(|(name, _)| &**name == algorithm.name());
            let (_, hex) = hex.ok_or(EntryError::NoDigest(*algorithm))?;
            let digest = Digest::from_hex(hex.as_bytes())
                .filter(|digest| digest.as_bytes().len() == algorithm.digest_len())
                .ok_or_else(|| EntryError::Digest(*algorithm, hex.to_string()))?;
            self.digests.extend_from_slice(digest.as_bytes());
        }
        Ok(())
    }

    fn read_xattrs(&mut self, line: &Line<'_>, header: &Header) -> Result<(), EntryError> {
        self.xattrs = None;
        if line.xattrs.is_some() != header.xattrs {
            return Err(if header.xattrs { EntryError::NoXattrs } else { EntryError::Xattrs });
        }
        let Some(found) = &line.xattrs else { return Ok(()) };
        let mut xattrs = Vec::with_capacity(found.len());
        for Object(xattr) in found {
            let name = read_path(xattr.name.as_deref(), xattr.name_b64.as_deref());
            let name = name.map_err(EntryError::XattrName)?.into_owned();
            let value = read_base64(&xattr.value_b64).ok_or(EntryError::XattrValue)?;
            xattrs.push(Xattr { name, value });
        }
        if !xattrs.is_sorted_by(|a, b| a.name < b.name) {
            return Err(EntryError::XattrOrder);
        }
        self.xattrs = Some(xattrs);
        Ok(())
    }
}

/// Checks that a path is relative, stays below the root, and has no empty, `.` or `..` component, as the
/// paths of a walk.
pub(crate) fn check_path(path: &[u8]) -> Result<(), EntryError> {
    // Fast path: every `/` or `.` at the start of a component is suspicious. Without an early exit the loop
    // vectorises.
    let begins_odd = |byte: u8| (byte == b'/') | (byte == b'.');
    if let [first, rest @ ..] = path
        && let pairs = path.iter().zip(rest)
        && !pairs.fold(begins_odd(*first), |odd, (slash, next)| odd | (*slash == b'/') & begins_odd(*next))
        && path.last() != Some(&b'/')
    {
        return Ok(());
    }
    let is_bad = |name: &[u8]| matches!(name, b"" | b"." | b"..");
    if path == ROOT || !path.split(|&byte| byte == b'/').any(is_bad) {
        return Ok(());
    }
    Err(EntryError::NotBelowRoot(path.to_vec()))
}

/// Parses four octal digits.
pub(crate) fn mode(text: &[u8]) -> Option<u32> {
    let digits: &[u8; 4] = text.try_into().ok()?;
    let is_mode = digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
    is_mode.then(|| digits.iter().fold(0, |mode, digit| mode << 3 | u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_root() {
        let mut paths = vec![Vec::new()];
        for len in 0..7 {
            for path in paths.clone().into_iter().filter(|path| path.len() == len) {
                paths.extend(b"/.a".map(|byte| [&*path, &[byte]].concat()));
            }
        }
        for path in &paths {
            let mut names = path.split(|&byte| byte == b'/');
            let is_good = path == b"." || names.all(|name| ![&b""[..], b".", b".."].contains(&name));
            assert_eq!(check_path(path).is_ok(), is_good, "{}", path.escape_ascii());
        }
    }
}
