//! Prints groups as text: for people, and like fdupes.

use std::io::Write as _;

use ftk_dedup::Surveyed;
use ftk_inventory::Inventory;
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};

use crate::colour::Tone;

/// Appends a group and an empty line after it:
///
/// ```text
///   3 × 48.20 MB   wastes 48.20 MB
///     2019/trip/IMG_2041.CR2
///     backup/2019/trip/IMG_2041.CR2
///     backup (copy)/2019/trip/IMG_2041.CR2   ⛓ hard link of the one above
/// ```
pub(super) fn push_group(out: &mut Vec<u8>, size: u64, names: &[Surveyed], is_coloured: bool) {
    let files = names.iter().map(|name| name.cluster).max().map_or(0, |last| last + 1);
    let waste = DecimalBytes(size.saturating_mul(files.saturating_sub(1).into()));
    let n_names = HumanCount(names.len() as u64);
    // Writing to a Vec cannot fail.
    let (head, link) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let _ = writeln!(out, "  {head}{n_names} × {}   wastes {waste}{head:#}", DecimalBytes(size));
    let mut first_names = Vec::new();
    for (nth, Surveyed { cluster, member, .. }) in names.iter().enumerate() {
        let _ = write!(out, "    {}", sanitize(&member.path));
        if *cluster as usize == first_names.len() {
            first_names.push(nth);
        } else if names[nth - 1].cluster == *cluster {
            let _ = write!(out, "   {link}⛓ hard link of the one above{link:#}");
        } else {
            let first = &names[first_names[*cluster as usize]].member.path;
            let _ = write!(out, "   {link}⛓ hard link of{link:#} {}", quote(first));
        }
        out.push(b'\n');
    }
    out.push(b'\n');
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
