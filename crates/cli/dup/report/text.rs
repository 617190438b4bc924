//! Prints groups as text: for people, and like fdupes.

use std::io::Write as _;

use ftk_dedup::Totals;
use ftk_dedup::report::Group;
use ftk_inventory::Inventory;
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};

use crate::colour::Tone;
use crate::human;

/// Appends a group and an empty line after it:
///
/// ```text
///   3 × 48.20 MB   wastes 48.20 MB
///     2019/trip/IMG_2041.CR2
///     backup/2019/trip/IMG_2041.CR2
///     backup (copy)/2019/trip/IMG_2041.CR2   ⛓ hard link of the one above
/// ```
pub(super) fn push_group(out: &mut Vec<u8>, group: &Group, is_coloured: bool) {
    let Group { size, members, .. } = group;
    let clusters = group.clusters();
    let files = clusters.iter().max().map_or(0, |last| last + 1);
    let waste = DecimalBytes(size.saturating_mul(files.saturating_sub(1) as u64));
    let names = HumanCount(members.len() as u64);
    // Writing to a Vec cannot fail.
    let (head, link) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let _ = writeln!(out, "  {head}{names} × {}   wastes {waste}{head:#}", DecimalBytes(*size));
    let mut named = 0;
    for (nth, (member, &cluster)) in members.iter().zip(&clusters).enumerate() {
        let _ = write!(out, "    {}", sanitize(&member.path));
        if cluster == named {
            named += 1;
        } else if clusters[nth - 1] == cluster {
            let _ = write!(out, "   {link}⛓ hard link of the one above{link:#}");
        } else {
            let first = clusters.iter().position(|&it| it == cluster).expect("it appeared before");
            let _ = write!(out, "   {link}⛓ hard link of{link:#} {}", quote(&members[first].path));
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
        for names in group.clusters() {
            let start = out.len();
            inventory.push_path(names[0], out);
            if self.is_shown {
                let shown = sanitize(&out[start..]).into_owned();
                out.truncate(start);
                out.extend_from_slice(shown.as_bytes());
            }
            out.push(self.end);
        }
        out.push(self.end);
    }
}
