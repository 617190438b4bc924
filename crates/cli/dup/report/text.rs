//! Prints groups as text: for people, and like fdupes.

use std::io::Write as _;

use ftk_dedup::Totals;
use ftk_inventory::Inventory;
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};

use crate::colour::Tone;
use crate::human;

/// A member of a group.
#[derive(Clone, Copy, Debug)]
pub(in crate::dup) struct Line<'l> {
    pub(in crate::dup) path: &'l [u8],
    /// The number of its file in the group, in order of appearance.
    pub(in crate::dup) cluster: usize,
    /// The manifest that has it, if no tree was searched.
    pub(in crate::dup) place: Option<&'l [u8]>,
}

/// Appends a group and an empty line after it:
///
/// ```text
///   3 × 48.20 MB   wastes 48.20 MB
///     2019/trip/IMG_2041.CR2
///     backup/2019/trip/IMG_2041.CR2
///     backup (copy)/2019/trip/IMG_2041.CR2   ⛓ hard link of the one above
/// ```
pub(in crate::dup) fn push_group(out: &mut Vec<u8>, size: u64, names: &[Line<'_>], is_coloured: bool) {
    let files = names.iter().map(|name| name.cluster).max().map_or(0, |last| last + 1);
    let waste = DecimalBytes(size.saturating_mul(files.saturating_sub(1) as u64));
    let n_names = HumanCount(names.len() as u64);
    // Writing to a Vec cannot fail.
    let (head, link) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let _ = writeln!(out, "  {head}{n_names} × {}   wastes {waste}{head:#}", DecimalBytes(size));
    let mut first_names = Vec::new();
    for (nth, &Line { path, cluster, place }) in names.iter().enumerate() {
        let _ = write!(out, "    {}", sanitize(path));
        if let Some(place) = place {
            let _ = write!(out, "   {link}in{link:#} {}", quote(place));
        }
        if cluster == first_names.len() {
            first_names.push(nth);
        } else if names[nth - 1].cluster == cluster {
            let _ = write!(out, "   {link}⛓ hard link of the one above{link:#}");
        } else {
            let first = names[first_names[cluster]].path;
            let _ = write!(out, "   {link}⛓ hard link of{link:#} {}", quote(first));
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

/// The format of fdupes and jdupes: one path per line, an empty line after each group. The terminator, and whether the output goes to a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fdupes {
    /// Written after each path, and once more after each group.
    pub(super) end: u8,
    pub(super) is_shown: bool,
}

impl Fdupes {
    /// Appends the first hard link of each file.
    pub(super) fn push_group(self, out: &mut Vec<u8>, inventory: &Inventory, group: &ftk_dedup::Group<'_>) {
        let mut path = Vec::new();
        for names in group.clusters() {
            path.clear();
            inventory.push_path(names[0], &mut path);
            push_name(out, &path, self.end, self.is_shown);
        }
        out.push(self.end);
    }
}

/// Appends a path and its terminator. `is_shown`: the output goes to a terminal, so control characters are escaped.
pub(in crate::dup) fn push_name(out: &mut Vec<u8>, path: &[u8], end: u8, is_shown: bool) {
    if is_shown {
        out.extend_from_slice(sanitize(path).as_bytes());
    } else {
        out.extend_from_slice(path);
    }
    out.push(end);
}
