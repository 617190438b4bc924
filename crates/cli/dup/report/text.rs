//! Prints groups as text: for people, and like fdupes.

use std::io::Write as _;

use ftk_dedup::Totals;
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};

use crate::colour::Tone;
use crate::dup::report::groups::{Found, Name};
use crate::human;

/// Appends a group and an empty line after it:
///
/// ```text
///   3 × 48.20 MB   wastes 48.20 MB
///     2019/trip/IMG_2041.CR2
///     backup/2019/trip/IMG_2041.CR2
///     backup (copy)/2019/trip/IMG_2041.CR2   ⛓ hard link of the one above
/// ```
pub(super) fn push_group(
    out: &mut Vec<u8>,
    size: u64,
    names: &[Name],
    manifests: &[Vec<u8>],
    is_coloured: bool,
) {
    let last = names.iter().map(|name| name.cluster).max().unwrap_or(0);
    let waste = DecimalBytes(size.saturating_mul(last));
    let n_names = HumanCount(names.len() as u64);
    // Writing to a Vec cannot fail.
    let (head, link) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let _ = writeln!(out, "  {head}{n_names} × {}   wastes {waste}{head:#}", DecimalBytes(size));
    let mut first_names = Vec::new();
    for (nth, name) in names.iter().enumerate() {
        let (path, cluster) = (name.path(), name.cluster as usize);
        let _ = write!(out, "    {}", sanitize(path));
        if let Found::Recorded(member) = &name.member {
            let _ = write!(out, "   {link}in{link:#} {}", quote(&manifests[member.manifest]));
        }
        if cluster == first_names.len() {
            first_names.push(path);
        } else if names[nth - 1].cluster == name.cluster {
            let _ = write!(out, "   {link}⛓ hard link of the one above{link:#}");
        } else {
            let _ = write!(out, "   {link}⛓ hard link of{link:#} {}", quote(first_names[cluster]));
        }
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Appends a heading for the groups of files after groups of directories:
///
/// ```text
///   then 214 files in 101 groups outside of these waste 3.20 GB
/// ```
pub(super) fn push_outside(out: &mut Vec<u8>, totals: &Totals) {
    let (files, groups) = (human::count(totals.files, "file"), human::count(totals.groups, "group"));
    let line = match totals.groups {
        0 => "  there are no other duplicate files\n\n".into(),
        _ => format!("  then {files} in {groups} outside of these waste {}\n\n", DecimalBytes(totals.wasted)),
    };
    out.extend_from_slice(line.as_bytes());
}

/// Returns what ends a path, and once more a group, in the format of fdupes: the first hard link of each file is
/// listed.
pub(in crate::dup) fn end_of_path(null: bool) -> u8 {
    if null { 0 } else { b'\n' }
}

/// Appends a path and its end. `is_shown`: the output goes to a terminal, so control characters are escaped.
pub(in crate::dup) fn push_path(out: &mut Vec<u8>, path: &[u8], end: u8, is_shown: bool) {
    match is_shown {
        true => out.extend_from_slice(sanitize(path).as_bytes()),
        false => out.extend_from_slice(path),
    }
    out.push(end);
}
