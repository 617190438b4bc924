//! Groups of equal files and directories: those of a tree, or of a report of `ftk dup --json`.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::iter::Peekable;
use std::os::unix::ffi::OsStrExt as _;
use std::vec;

use anyhow::{Context as _, ensure};
use ftk_dedup::report::{DirectoryGroup, Group, Header, Report, Writer, decisions_header, read};
use ftk_dedup::{Member, Names};
use ftk_file::Stat;
use ftk_inventory::{Budget, Item};
use ftk_record::{Seal, quote, sanitize};
use ftk_report::{Data, DuplicateCopy, DuplicateGroup, DuplicateKind, Duplicates, DuplicatesBuilder};

use crate::console::{Console, Outcome};
use crate::dup::TreeDuplicates;
use crate::report::seconds;

/// What the duplicates of a tree say about its files.
#[derive(Default)]
pub(super) struct Waste<'f> {
    /// The sizes of all files of each group but the first, by device and inode number.
    sizes: HashMap<(u64, u64), u64>,
    found: Option<&'f TreeDuplicates>,
    /// Files with several names in surplus directories.
    seen: HashSet<(u64, u64)>,
}

impl Waste<'_> {
    /// Returns the bytes of an entry that are wasted. A file with several names wastes them once.
    pub(super) fn of(&mut self, item: &Item<'_>, stat: &Stat) -> u64 {
        let identity = (stat.dev, stat.ino);
        if let Some(size) = self.sizes.remove(&identity) {
            return size;
        }
        let is_surplus = stat.is_regular() && self.found.is_some_and(|found| found.is_surplus(item.dir));
        match is_surplus && (stat.nlink < 2 || self.seen.insert(identity)) {
            true => stat.size,
            false => 0,
        }
    }
}

/// Fills the duplicates of a tree.
pub(super) fn of_tree<'f>(
    data: &mut Data,
    found: &'f TreeDuplicates,
    console: &Console,
) -> anyhow::Result<(Waste<'f>, Outcome)> {
    let mut directories = Vec::new();
    let listed = found.each_directory(console, |group| directories.push(group));
    let has_directories = !directories.is_empty();
    let mut collector = Collector::new(&found.header, directories)?;
    let mut waste = Waste { found: Some(found), ..Waste::default() };
    let (gain, outcome) = found.each(console, |group| {
        let surplus = group.members.iter().zip(group.clusters()).filter(|(_, file)| *file > 0);
        waste.sizes.extend(surplus.map(|(member, _)| (member.version.identity(), group.size)));
        collector.add(&group);
    });
    let mut head = Vec::new();
    Writer::new(&found.header, &mut head)?;
    let mut duplicates = collector.finish(&head)?;
    // What whole directories free is not known.
    if !has_directories {
        duplicates.freed_bytes = Some(gain.most().into());
        duplicates.is_upper_bound = gain.possible > 0;
    }
    data.duplicates = Some(duplicates);
    Ok((waste, outcome.max(listed)))
}

/// Fills the duplicates with the groups of the report `file`, which was opened as `name`.
pub(super) fn of_report(
    data: &mut Data,
    file: &mut BufReader<File>,
    name: &OsStr,
    budget: &Budget,
) -> anyhow::Result<Outcome> {
    let shown = quote(name.as_bytes());
    let mut head = Vec::new();
    let begun = file.by_ref().take(Seal::MAX_LINE as u64 + 1).read_until(b'\n', &mut head);
    begun.with_context(|| format!("cannot read {shown}"))?;
    let report =
        read((&head[..]).chain(file), false, budget).with_context(|| format!("bad report {shown}"))?;
    ensure!(report.kept.is_none(), "{shown} has decisions: name the report that they are about");
    ensure!(report.recorded.is_none(), "{shown} is a report of manifests: a page needs one of trees");
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
        unused_rules: Vec::new(),
        arguments: Vec::new(),
    };
    // Other programs may write groups in another order.
    let Report { mut directories, mut groups, .. } = report;
    directories.sort_by_key(|group| Reverse(group.wasted));
    groups.sort_by_cached_key(|group| Reverse(wasted(group)));
    let mut collector = Collector::new(&header, directories)?;
    groups.iter().for_each(|group| collector.add(group));
    data.duplicates = Some(collector.finish(&head)?);
    data.title = sanitize(name.as_bytes()).into();
    Ok(Outcome::Success)
}

/// Collects the groups that a page shows, those with the largest waste first.
struct Collector {
    writer: Writer,
    builder: DuplicatesBuilder,
    /// The groups of directories that were not added yet.
    directories: Peekable<vec::IntoIter<DirectoryGroup>>,
    line: Vec<u8>,
}

impl Collector {
    /// The lines of groups do not depend on the header. `directories` come with the largest waste first.
    fn new(header: &Header<'_>, directories: Vec<DirectoryGroup>) -> anyhow::Result<Self> {
        let writer = Writer::new(header, &mut Vec::new())?;
        let directories = directories.into_iter().peekable();
        Ok(Self { writer, builder: DuplicatesBuilder::default(), directories, line: Vec::new() })
    }

    /// Adds a group of files, which come with the largest waste first.
    fn add(&mut self, group: &Group) {
        let waste = wasted(group);
        while let Some(larger) = self.directories.next_if(|it| u128::from(it.wasted) >= waste) {
            self.add_directories(&larger);
        }
        if !self.builder.has_room() {
            return self.builder.omit(waste);
        }
        let mut copies: Vec<DuplicateCopy> = Vec::new();
        for (member, file) in group.members.iter().zip(group.clusters()) {
            match copies.get_mut(file) {
                Some(copy) => copy.names.push(sanitize(&member.path).into()),
                None => copies.push(copy(member)),
            }
        }
        self.writer.group(group, &mut self.line);
        let line = self.take_line();
        self.builder.add(DuplicateGroup {
            kind: DuplicateKind::File,
            size_bytes: group.size.into(),
            waste_bytes: waste.into(),
            files: 1_u64.into(),
            same_names: true,
            copies,
            line,
        });
    }

    fn add_directories(&mut self, group: &DirectoryGroup) {
        if !self.builder.has_room() {
            return self.builder.omit(group.wasted.into());
        }
        self.writer.directories(group, &mut self.line);
        let line = self.take_line();
        self.builder.add(DuplicateGroup {
            kind: DuplicateKind::Directory,
            size_bytes: group.size.into(),
            waste_bytes: group.wasted.into(),
            files: group.files.into(),
            same_names: group.names == Names::Compared,
            copies: group.members.iter().map(copy).collect(),
            line,
        });
    }

    /// Returns the line of a group without its newline. A group of several lines is larger than the room on a page.
    fn take_line(&mut self) -> String {
        let mut line = std::mem::take(&mut self.line);
        line.pop();
        String::from_utf8(line).expect("names that are not UTF-8 are in base64")
    }

    /// Returns the groups of the report that begins with the line `head`.
    fn finish(mut self, head: &[u8]) -> anyhow::Result<Duplicates> {
        while let Some(group) = self.directories.next() {
            self.add_directories(&group);
        }
        Ok(self.builder.finish(decisions_header(str::from_utf8(head)?.trim_end())?))
    }
}

fn copy(member: &Member) -> DuplicateCopy {
    DuplicateCopy { names: vec![sanitize(&member.path).into()], mtime_s: seconds(member.version.mtime_ns) }
}

/// Returns the size of all files but one.
fn wasted(group: &Group) -> u128 {
    let files: HashSet<_> = group.members.iter().map(|member| member.version.identity()).collect();
    u128::from(group.size) * files.len().saturating_sub(1) as u128
}
