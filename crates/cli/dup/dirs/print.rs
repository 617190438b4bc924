//! Prints directories: for people, like fdupes, and as records of a report.

use std::io::Write as _;

use ftk_dedup::report::{DirectoryGroup, Writer};
use ftk_dedup::{Contained, DirGroup, DirReport, Share};
use ftk_inventory::{DirNo, Inventory};
use ftk_record::sanitize;
use indicatif::{DecimalBytes, HumanCount};

use crate::colour::Tone;
use crate::console::{Console, Outcome, cause};
use crate::dup::options::ReportFormat;
use crate::dup::report::text::push_path;
use crate::human;
use crate::list::List;

/// Directories that hold copies, at most this many of which are shown to people.
const SHOWN: usize = 3;

/// How directories are printed.
pub(in crate::dup) struct Printing<'p, 'o> {
    pub(in crate::dup) list: &'p mut List<'o>,
    pub(in crate::dup) inventory: &'p Inventory,
    pub(in crate::dup) format: ReportFormat,
    /// The end of a path, like fdupes.
    pub(in crate::dup) end: u8,
    /// Whether control characters are escaped.
    pub(in crate::dup) is_shown: bool,
}

/// Prints all directories. With JSON, `json` writes the records. A directory that cannot be opened any more is reported
/// and omitted.
pub(in crate::dup) fn print(
    report: &DirReport,
    printing: &mut Printing<'_, '_>,
    json: Option<&mut Writer>,
    console: &Console,
) -> Outcome {
    let inventory = printing.inventory;
    match (printing.format, json) {
        (ReportFormat::Json, Some(json)) => {
            let add = |group: DirectoryGroup| printing.list.line(|out| json.directories(&group, out));
            let outcome = each_group(report, inventory, console, add);
            for contained in &report.contained {
                printing.list.line(|out| DirReport::write_contained(contained, inventory, json, out));
            }
            return outcome;
        }
        (ReportFormat::Screen, _) => {
            let is_coloured = printing.list.is_coloured();
            for group in &report.groups {
                printing.list.line(|out| push_group(out, inventory, group, is_coloured));
            }
            for contained in &report.contained {
                printing.list.line(|out| push_contained(out, inventory, contained, is_coloured));
            }
        }
        (ReportFormat::Fdupes, _) => report.groups.iter().for_each(|group| printing.group(group)),
        _ => {}
    }
    Outcome::Success
}

/// Calls `add` with each group of directories as a report has it. A directory that cannot be opened any more is
/// reported.
pub(in crate::dup) fn each_group(
    report: &DirReport,
    inventory: &Inventory,
    console: &Console,
    add: impl FnMut(DirectoryGroup),
) -> Outcome {
    let mut outcome = Outcome::Success;
    let failed = |path: &[u8], error| {
        console.path_error("open", path, cause(&error));
        outcome = Outcome::Error;
    };
    report.each_group(inventory, failed, add);
    outcome
}

impl Printing<'_, '_> {
    /// Prints the paths of a group, and an empty line.
    fn group(&mut self, group: &DirGroup) {
        let Self { inventory, end, is_shown, .. } = *self;
        self.list.line(|out| {
            for &dir in group.kept.first().into_iter().chain(&group.dirs) {
                push_path(out, &inventory.dir_path(dir), end, is_shown);
            }
            out.push(end);
        });
    }
}

/// Appends a group and an empty line after it:
///
/// ```text
///   2 × 8.10 GB   1,204 files   wastes 8.10 GB
///     2019/trip/
///     backup/phone-2020/trip/
/// ```
fn push_group(out: &mut Vec<u8>, inventory: &Inventory, group: &DirGroup, is_coloured: bool) {
    let (head, note) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let first = group.kept.first();
    let dirs = HumanCount((usize::from(first.is_some()) + group.dirs.len()) as u64);
    let (size, files) = (DecimalBytes(group.size), human::count(group.files, "file"));
    let wastes = DecimalBytes(group.wasted);
    // Writing to a Vec cannot fail.
    let _ = writeln!(out, "  {head}{dirs} × {size}   {files}   wastes {wastes}{head:#}");
    if let Some(&dir) = first {
        let shown = shown(inventory, dir);
        let _ = writeln!(out, "    {shown}   {note}inside a directory of another group{note:#}");
    }
    for &dir in &group.dirs {
        let _ = writeln!(out, "    {}", shown(inventory, dir));
    }
    out.push(b'\n');
}

/// Appends a directory that is contained elsewhere:
///
/// ```text
///   97.12% of  inbox/old-laptop/   41.00 GB of 42.20 GB, 9,310 of 9,322 files
///      is in   2018/  2019/   12 files are nowhere else: --json lists them
/// ```
fn push_contained(out: &mut Vec<u8>, inventory: &Inventory, contained: &Contained, is_coloured: bool) {
    let (head, note) = (Tone::Notable.style(is_coloured), Tone::Minor.style(is_coloured));
    let share = percent(contained);
    let name = shown(inventory, contained.dir);
    let (found, all) = (DecimalBytes(contained.found_bytes), DecimalBytes(contained.bytes));
    let (found_files, files) = (HumanCount(contained.found_files), human::count(contained.files, "file"));
    let _ =
        writeln!(out, "  {head}{share:>7} of{head:#}  {name}   {found} of {all}, {found_files} of {files}");
    let holders: Vec<_> = contained.holders.iter().take(SHOWN).map(|it| shown(inventory, it.dir)).collect();
    let more = match contained.holders.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!("  and {} more", HumanCount(n as u64)),
    };
    let missing = match contained.missing.len() as u64 {
        0 => String::new(),
        1 => "   1 file is nowhere else: --json lists it".into(),
        n => format!("   {} files are nowhere else: --json lists them", HumanCount(n)),
    };
    let partial = if contained.is_whole { "" } else { "   (not everything in it was compared)" };
    let holders = holders.join("  ");
    let _ = writeln!(out, "    is in    {holders}{more}{note}{missing}{partial}{note:#}\n");
}

/// Returns the smaller share of bytes and files.
fn percent(contained: &Contained) -> String {
    let files = Share::of(contained.found_files, contained.files);
    let Share(share) = files.min(Share::of(contained.found_bytes, contained.bytes));
    format!("{}.{:02}%", share / 100, share % 100)
}

/// Returns the path of a directory for people, with a slash at its end.
fn shown(inventory: &Inventory, dir: DirNo) -> String {
    let path = inventory.dir_path(dir);
    let slash = if path.ends_with(b"/") { "" } else { "/" };
    format!("{}{slash}", sanitize(&path))
}
