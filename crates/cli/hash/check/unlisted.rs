//! `--new`: finds files of the tree that are not in any list.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use ftk_inventory::{Inventory, Keep, PathList};
use ftk_select::Selection;
use ftk_walk::Follow;

use crate::console::Outcome;
use crate::hash::check::files::Files;
use crate::hash::check::lists::{Lines, TOO_LARGE};
use crate::run::Run;
use crate::scan::none_of;

/// The tree to search for unlisted files.
pub(super) struct SearchedTree<'a> {
    /// The directory of `--root`, or the working directory.
    pub(super) start: CString,
    pub(super) selection: &'a Selection,
    pub(super) follow: Follow,
    pub(super) run: &'a Run<'a>,
}

impl SearchedTree<'_> {
    /// Returns the sorted paths of files that are in the tree but not in any list. If the first name in the
    /// lists begins with `./`, so do these paths. The outcome is `Error` if a part of the tree could not be
    /// listed.
    ///
    /// Paths are compared after removing `.`, `..` and repeated slashes. Links in them are not resolved.
    pub(super) fn unlisted(self, lines: &Lines, files: &Files) -> anyhow::Result<(Vec<Vec<u8>>, Outcome)> {
        let here = std::env::current_dir().unwrap_or_default();
        let (listed, has_dot) = self.listed(lines, files, here.as_os_str().as_bytes())?;

        let root = self.start.as_bytes();
        let prefix = root.len() + usize::from(!root.ends_with(b"/"));
        let scanned = self.run.walk(vec![self.start], self.follow, self.selection, Keep::Files, "")?;
        scanned.rules.say(self.run.console);
        if scanned.inventory.files() == 0
            && let Some(none) = none_of(scanned.skipped)
        {
            bail!("no file of the tree was compared: {none}");
        }
        let mut known = listed.in_path_order();
        let mut next_known = known.next();
        let mut order = scanned.inventory.in_path_order();
        let mut unlisted = Vec::new();
        while let Some(item) = order.next() {
            let path = &item.path[prefix..];
            while next_known.as_ref().is_some_and(|known| known.path < path) {
                next_known = known.next();
            }
            let is_known = next_known.as_ref().is_some_and(|known| known.path == path);
            let is_ignored = || lines.ignored.iter().any(|ignored| ignored.has(path, false));
            if !is_known && !is_ignored() && !is_list(item.path, lines) {
                unlisted.push(if has_dot { [b"./", path].concat() } else { path.to_vec() });
            }
        }
        Ok((unlisted, scanned.outcome))
    }

    /// Returns the simplified paths of all lines, relative to the tree, and whether the first one begins with
    /// `./`.
    fn listed(&self, lines: &Lines, files: &Files, here: &[u8]) -> anyhow::Result<(Inventory, bool)> {
        let mut listed = PathList::new().within(&self.run.budget);
        let (mut paths, mut plain) = (files.paths(lines), Vec::new());
        let mut has_dot = None;
        for &line in &lines.lines {
            let path = paths.of(line);
            has_dot.get_or_insert(path.starts_with(b"./"));
            if simplify(path, here, &mut plain) {
                listed.push(&plain).context(TOO_LARGE)?;
            }
        }
        let (listed, _) = Inventory::from_list(listed).context(TOO_LARGE)?;
        Ok((listed, has_dot.unwrap_or(false)))
    }
}

/// Writes `path` to `plain`, relative to `here` and without `.`, `..` and repeated slashes. Returns `false`
/// if the path is not below `here`.
pub(in crate::hash) fn simplify(path: &[u8], here: &[u8], plain: &mut Vec<u8>) -> bool {
    plain.clear();
    let relative = match path.strip_prefix(here) {
        Some(rest) if path.starts_with(b"/") && rest.starts_with(b"/") => rest,
        _ if path.starts_with(b"/") => return false,
        _ => path,
    };
    for part in relative.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                if plain.is_empty() {
                    return false;
                }
                plain.truncate(plain.iter().rposition(|&byte| byte == b'/').unwrap_or(0));
            }
            part => {
                if !plain.is_empty() {
                    plain.push(b'/');
                }
                plain.extend_from_slice(part);
            }
        }
    }
    !plain.is_empty()
}

/// Whether a file is one of the lists.
fn is_list(path: &[u8], lines: &Lines) -> bool {
    let metadata = Path::new(OsStr::from_bytes(path)).metadata();
    metadata.is_ok_and(|metadata| {
        let identity = Some((metadata.dev(), metadata.ino()));
        lines.lists.iter().any(|list| list.identity == identity)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_simplified() {
        for (path, expected) in [
            ("a/b", Some("a/b")),
            ("./a//b/./c", Some("a/b/c")),
            ("a/../b", Some("b")),
            ("a/b/../c", Some("a/c")),
            ("../a", None),
            ("a/../../b", None),
            ("/home/me/a", Some("a")),
            ("/home/meow/a", None),
            ("/etc/passwd", None),
            (".", None),
            ("...", Some("...")),
        ] {
            let mut plain = b"before".to_vec();
            let is_below = simplify(path.as_bytes(), b"/home/me", &mut plain);
            assert_eq!(is_below.then_some(&*plain), expected.map(str::as_bytes), "{path}");
        }
    }
}
