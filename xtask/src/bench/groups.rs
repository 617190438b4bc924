//! Parses the groups of duplicates that different tools print into one form.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::answer::has;

/// Returns one line per group: its inodes, sorted. Tools differ in which names of an inode they print, so names do not
/// count. A group of one inode is not a group of duplicates.
pub(crate) fn lines(output: &[u8]) -> Vec<Vec<u8>> {
    let groups = if has(output, b"\nDUPTYPE_") { of_rdfind(output) } else { blocks(output) };
    groups.iter().filter_map(|paths| inodes(paths)).collect()
}

/// Parses the format of fdupes and similar tools: one path per line, groups separated by blank lines.
fn blocks(output: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut groups = vec![Vec::new()];
    for line in output.split(|&byte| byte == b'\n') {
        match path(line) {
            Some(path) => groups.last_mut().expect("there is a group").push(path),
            None => groups.push(Vec::new()),
        }
    }
    groups
}

/// Returns the path of a line. czkawka puts it between quotes, followed by a date.
fn path(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_end();
    let unquoted = || {
        let rest = line.strip_prefix(b"\"")?;
        Some(&rest[..rest.iter().rposition(|&byte| byte == b'"')?])
    };
    let path = unquoted().unwrap_or(line);
    path.starts_with(b"/").then_some(path)
}

/// Parses `DUPTYPE_... id depth size device inode priority name`. The id is negative in all members but the first.
fn of_rdfind(output: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut groups: BTreeMap<u64, Vec<&[u8]>> = BTreeMap::new();
    for line in output.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"DUPTYPE_")) {
        let mut fields = line.splitn(8, |&byte| byte == b' ');
        let id = fields.nth(1).and_then(|id| std::str::from_utf8(id).ok()?.parse::<i64>().ok());
        if let (Some(id), Some(path)) = (id, fields.nth(5)) {
            groups.entry(id.unsigned_abs()).or_default().push(path);
        }
    }
    groups.into_values().collect()
}

/// Replaces paths by their inodes. A path that does not exist stays unchanged and becomes a difference.
fn inodes(paths: &[&[u8]]) -> Option<Vec<u8>> {
    let inode = |path: &&[u8]| match fs::symlink_metadata(Path::new(OsStr::from_bytes(path))) {
        Ok(metadata) => format!("{}:{}", metadata.dev(), metadata.ino()).into_bytes(),
        Err(_) => path.to_vec(),
    };
    let mut inodes: Vec<_> = paths.iter().map(inode).collect();
    inodes.sort_unstable();
    inodes.dedup();
    (inodes.len() > 1).then(|| inodes.join(&b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_give_the_same_groups() {
        // Paths that do not exist stay unchanged.
        let expected = [b"/no/a 1 /no/b".to_vec(), b"/no/c /no/d /no/e".to_vec()];
        let blocks = b"/no/b\n/no/a 1\n\n/no/e\n/no/d\n/no/c\n\n\n/no/alone\n";
        let quoted = b"Found 2 groups\n---- 3.0 B\n\"/no/a 1\" - 2026\n\"/no/b\" - 2026\n\n----\n\"/no/c\"\n\"/no/d\"\n\"/no/e\"\n";
        let rdfind = b"Now scanning\nDUPTYPE_FIRST_OCCURRENCE 1 0 5 8 12 1 /no/a 1\nDUPTYPE_WITHIN_SAME_TREE -1 0 5 8 13 1 /no/b\n\
            DUPTYPE_FIRST_OCCURRENCE 7 0 5 8 14 1 /no/c\nDUPTYPE_WITHIN_SAME_TREE -7 0 5 8 15 1 /no/e\nDUPTYPE_OUTSIDE_TREE -7 0 5 8 16 1 /no/d\n";
        for output in [&blocks[..], quoted, rdfind] {
            assert_eq!(lines(output), expected, "{}", output.escape_ascii());
        }
    }

    #[test]
    fn names_of_one_inode_are_not_duplicates() {
        let here = std::env::current_exe().unwrap();
        let line = here.to_str().unwrap();
        assert!(lines(format!("{line}\n{line}\n").as_bytes()).is_empty());
        assert_eq!(lines(format!("{line}\n/no/x\n").as_bytes()).len(), 1);
    }
}
