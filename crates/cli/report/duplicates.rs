//! Groups of equal files: those of a tree, or of a report of `ftk dup --json`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, ensure};
use ftk_dedup::report::{Group, Header, Writer, decisions_header, read};
use ftk_record::{Seal, quote, sanitize};
use ftk_report::{Data, DuplicateFile, DuplicateGroup, Duplicates};

use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::dup::TreeDuplicates;
use crate::report::seconds;
use crate::selection::SelectionArgs;

/// The largest total length of the lines of groups on a page. The names in them are on the page a second time, so these
/// take at most about 6 MB.
const LINES: usize = 3_000_000;

/// What the duplicates of a tree say about its files.
#[derive(Debug, Default)]
pub(super) struct Waste {
    /// The sizes of all files of each group but the first, by device and inode number.
    pub(super) sizes: HashMap<(u64, u64), u64>,
    /// The number of files that could not be compared.
    pub(super) unread: u64,
}

/// Searches the tree at `root` and fills the duplicates. `own`: files to skip.
pub(super) fn of_tree(
    data: &mut Data,
    root: &OsStr,
    selection: &SelectionArgs,
    own: &[(u64, u64)],
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<(Waste, Outcome)> {
    let found = TreeDuplicates::find(root, selection, own, globals, console)?;
    let mut collector = Collector::new(&found.header)?;
    let mut waste = Waste { unread: found.unread(), ..Waste::default() };
    let outcome = found.each(globals, console, |group| {
        let surplus = group.members.iter().zip(group.clusters()).filter(|(_, file)| *file > 0);
        waste.sizes.extend(surplus.map(|(member, _)| (member.version.identity(), group.size)));
        collector.add(&group);
    });
    let mut head = Vec::new();
    Writer::new(&found.header, &mut head)?;
    data.duplicates = Some(collector.finish(&head)?);
    Ok((waste, outcome))
}

/// Fills the duplicates with the groups of the report `file`, which was opened as `name`.
pub(super) fn of_report(
    data: &mut Data,
    file: &mut BufReader<File>,
    name: &OsStr,
) -> anyhow::Result<Outcome> {
    let shown = quote(name.as_bytes());
    let mut head = Vec::new();
    let begun = file.by_ref().take(Seal::MAX_LINE as u64 + 1).read_until(b'\n', &mut head);
    begun.with_context(|| format!("cannot read {shown}"))?;
    let report = read((&head[..]).chain(file), false).with_context(|| format!("bad report {shown}"))?;
    ensure!(report.kept.is_none(), "{shown} has decisions: name the report that they are about");
    ensure!(report.recorded.is_none(), "{shown} is a report of manifests: a page needs one of trees");
    ensure!(
        report.directories.is_empty(),
        "{shown} has groups of directories, which a page cannot show: make a report without --dirs and --unit"
    );
    let header = Header {
        program: env!("CARGO_PKG_VERSION"),
        algorithm: report.algorithm,
        is_verified: false,
        min_size: 1,
        max_size: None,
        start_ns: 0,
        directory: None,
        roots: Vec::new(),
        manifests: Vec::new(),
        arguments: Vec::new(),
    };
    let mut collector = Collector::new(&header)?;
    report.groups.iter().for_each(|group| collector.add(group));
    data.duplicates = Some(collector.finish(&head)?);
    data.title = sanitize(name.as_bytes()).into();
    Ok(Outcome::Success)
}

/// Collects the groups that a page shows, and the totals of all.
struct Collector {
    writer: Writer,
    groups: Vec<DuplicateGroup>,
    /// The length of their lines.
    lines: usize,
    total_groups: u64,
    total_waste: u128,
}

impl Collector {
    /// The lines of groups do not depend on the header.
    fn new(header: &Header<'_>) -> anyhow::Result<Self> {
        let writer = Writer::new(header, &mut Vec::new())?;
        Ok(Self { writer, groups: Vec::new(), lines: 0, total_groups: 0, total_waste: 0 })
    }

    /// Adds a group. It is shown if it fits; the groups with the largest waste come first.
    fn add(&mut self, group: &Group) {
        let mut files: Vec<DuplicateFile> = Vec::new();
        for (member, file) in group.members.iter().zip(group.clusters()) {
            let name = sanitize(&member.path).into();
            match files.get_mut(file) {
                Some(file) => file.names.push(name),
                None => {
                    files.push(DuplicateFile { names: vec![name], mtime_s: seconds(member.version.mtime_ns) })
                }
            }
        }
        let waste = u128::from(group.size) * files.len().saturating_sub(1) as u128;
        self.total_groups += 1;
        self.total_waste += waste;
        let mut line = Vec::new();
        self.writer.group(group, &mut line);
        if self.lines + line.len() <= LINES {
            self.lines += line.len();
            line.pop();
            let line = String::from_utf8(line).expect("names that are not UTF-8 are in base64");
            let (size_bytes, waste_bytes) = (group.size.into(), waste.into());
            self.groups.push(DuplicateGroup { size_bytes, waste_bytes, files, line });
        }
    }

    /// Returns the groups of the report that begins with the line `head`.
    fn finish(self, head: &[u8]) -> anyhow::Result<Duplicates> {
        Ok(Duplicates {
            header: decisions_header(str::from_utf8(head)?.trim_end())?,
            groups: self.groups,
            total_groups: self.total_groups.into(),
            total_waste_bytes: self.total_waste.into(),
        })
    }
}
