//! Parsing one line of a manifest.

use ftk_file::Stat;
use ftk_record::read_path;
use ftk_walk::FileType;
use serde::de::DeserializeSeed as _;

use crate::canonical;
use crate::entry::ROOT;
use crate::field::{Field, each_field};
use crate::field_set::FieldSet;
use crate::json_line::{EntryLine, Found};
use crate::{Entry, EntryError, Header, Xattr};

/// An entry that owns its data. Its buffers are reused for the next entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    path: Vec<u8>,
    pub(crate) target: Option<Vec<u8>>,
    pub(crate) link_group: Option<Vec<u8>>,
    pub(crate) digests: Vec<u8>,
    pub(crate) tree: Vec<u8>,
    pub(crate) xattrs: Option<Vec<Xattr>>,
    /// Everything else.
    pub(crate) fixed: Entry<'static>,
}

impl Owned {
    pub(crate) fn new() -> Self {
        let fixed = Entry::new(&[], Stat::EMPTY);
        Self {
            path: Vec::new(),
            target: None,
            link_group: None,
            digests: Vec::new(),
            tree: Vec::new(),
            xattrs: None,
            fixed,
        }
    }

    pub(crate) fn set_path(&mut self, path: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(path);
    }

    /// Exchanges the path, to keep it while the next entry is read.
    pub(crate) fn swap_path(&mut self, path: &mut Vec<u8>) {
        std::mem::swap(&mut self.path, path);
    }

    pub(crate) fn entry(&self) -> Entry<'_> {
        let (target, xattrs) = (self.target.as_deref(), self.xattrs.as_deref());
        let link_group = self.link_group.as_deref();
        let (digests, tree) = (&*self.digests, &*self.tree);
        Entry { path: &self.path, target, link_group, digests, tree, xattrs, ..self.fixed }
    }

    /// Removes everything except the path.
    pub(crate) fn clear(&mut self) {
        self.fixed = Entry::new(&[], Stat::EMPTY);
        self.target = None;
        self.link_group = None;
        self.digests.clear();
        self.tree.clear();
        self.xattrs = None;
    }

    /// Parses a line, without its newline, of a manifest with this header. Returns whether the line is certainly the one that
    /// ftk writes for the entry.
    ///
    /// # Errors
    /// If the line is not a valid entry. The contents of `self` are then unspecified.
    pub(crate) fn read(&mut self, line: &[u8], header: &Header) -> Result<bool, EntryError> {
        match canonical::read(line, header, self) {
            Some(()) => Ok(true),
            None => self.read_json(line, header).map(|()| false),
        }
    }

    /// Returns the path of a line, with or without its newline. Only the path is parsed, if the line is written as ftk
    /// writes it.
    ///
    /// # Errors
    /// If the line is not a valid entry.
    pub(crate) fn path_of<'p>(&'p mut self, line: &'p [u8], header: &Header) -> Result<&'p [u8], EntryError> {
        if let Some(path) = canonical::path(line) {
            return Ok(path);
        }
        self.read(line.strip_suffix(b"\n").unwrap_or(line), header)?;
        Ok(&self.path)
    }

    /// Parses a line in any valid form.
    pub(crate) fn read_json(&mut self, line: &[u8], header: &Header) -> Result<(), EntryError> {
        self.clear();
        let mut line = serde_json::Deserializer::from_slice(line);
        let Found { members, names: [path, path_b64, target, target_b64, group, group_b64], invalid } =
            EntryLine { entry: &mut *self, header }
                .deserialize(&mut line)
                .and_then(|found| line.end().map(|()| found))
                .map_err(EntryError::Json)?;
        let path = read_path(path.as_deref(), path_b64.as_deref()).map_err(EntryError::Path)?;
        check_path(&path)?;
        self.set_path(&path);
        if let Some(invalid) = invalid {
            return Err(invalid);
        }
        if members.contains(Field::Target) {
            let target = read_path(target.as_deref(), target_b64.as_deref());
            self.target = Some(target.map_err(EntryError::TargetPath)?.into_owned());
        }
        if members.contains(Field::LinkGroup) {
            let group =
                read_path(group.as_deref(), group_b64.as_deref()).map_err(|_| EntryError::LinkGroup)?;
            check_path(&group).map_err(|_| EntryError::LinkGroup)?;
            self.link_group = Some(group.into_owned());
        }
        self.check(members, header)
    }

    /// Checks that the entry has the members that its type must have, and no others. `found` are those of the
    /// line. Records which optional ones are absent.
    pub(crate) fn check(&mut self, found: FieldSet, header: &Header) -> Result<(), EntryError> {
        for field in check_members(found, self.fixed.stat.file_type, header)?.iter() {
            if field.is_of(&self.fixed) || field == Field::Target {
                self.fixed.absent.insert(field);
            }
        }
        Ok(())
    }
}

/// Checks that an entry has the members that its type must have, and no others. Returns those that it could also have.
#[inline]
pub(crate) fn check_members(
    found: FieldSet,
    file_type: FileType,
    header: &Header,
) -> Result<FieldSet, EntryError> {
    let mut expected = FieldSet::default();
    each_field!(field => {
        if field.applies_to(file_type, header) {
            expected.insert(field);
        }
    });
    let absent = found.differences(expected);
    // Only one or two in nearly all lines, so that this loop is short.
    for field in absent.iter() {
        if found.contains(field) {
            return Err(EntryError::unexpected(field));
        }
        if field.is_in(header.version) && !field.is_optional(header) {
            return Err(EntryError::missing(field));
        }
    }
    Ok(absent)
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
