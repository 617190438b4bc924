//! `--group-by`: counts entries and their bytes by a property.

use std::collections::HashMap;
use std::io::Write as _;

use clap::ValueEnum;
use ftk_record::{sanitize, type_name, write_record};
use ftk_walk::{Entry, Fields, FileType, WalkError};
use indicatif::HumanCount;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fields::Owners;
use super::order::SortKey;
use super::parts;
use super::render::{facts, file_type};
use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// The property that makes a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum GroupBy {
    Extension,
    Type,
    Owner,
    Year,
    Depth,
    Directory,
}

impl GroupBy {
    /// Returns the key as a number, if it is one.
    fn number(self, key: &[u8]) -> Option<i64> {
        let is_number = matches!(self, Self::Year | Self::Depth);
        is_number.then(|| str::from_utf8(key).ok()?.parse().ok()).flatten()
    }
}

/// The groups that one worker has seen.
pub(super) struct Groups {
    by: GroupBy,
    zone: TimeZone,
    owners: Owners,
    groups: HashMap<Vec<u8>, Group>,
    key: Vec<u8>,
}

/// What is counted of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: u64,
    bytes: u128,
}

/// What groups are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Name,
    Size,
    Count,
}

impl Order {
    /// Returns the order for a value of `--sort`, if groups have it. Without a value, they are sorted by their names.
    pub(super) fn of(key: SortKey) -> Option<Self> {
        match key {
            SortKey::Path | SortKey::Name => Some(Self::Name),
            SortKey::Size => Some(Self::Size),
            SortKey::Count => Some(Self::Count),
            SortKey::Mtime | SortKey::Extension => None,
        }
    }
}

/// How groups are printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) json: bool,
    pub(super) null: bool,
    pub(super) human_readable: bool,
    /// `None`: the largest first.
    pub(super) order: Option<Order>,
    pub(super) reverse: bool,
}

/// The width of a bar.
const BAR: u128 = 20;

impl Groups {
    pub(super) fn new(by: GroupBy) -> Self {
        let zone = if by == GroupBy::Year { TimeZone::system() } else { TimeZone::UTC };
        Self { by, zone, owners: Owners::default(), groups: HashMap::new(), key: Vec::new() }
    }

    /// Counts an entry, whose path is `dir` and its name.
    pub(super) fn add(&mut self, dir: &[u8], entry: &mut Entry<'_>) -> Result<(), WalkError> {
        self.key.clear();
        let key = &mut self.key;
        match self.by {
            GroupBy::Extension => {
                key.extend_from_slice(parts::split_extension(entry.name()).1);
                key.make_ascii_lowercase();
            }
            GroupBy::Type => {
                let known = file_type(&[dir, entry.name()].concat(), entry)?;
                key.extend_from_slice(type_name(known).as_bytes());
            }
            GroupBy::Owner => {
                let uid = facts(entry, Fields::UID)?.uid;
                key.extend_from_slice(self.owners.user(uid).as_bytes());
            }
            GroupBy::Year => {
                if let Ok(time) = Timestamp::from_nanosecond(facts(entry, Fields::MTIME)?.mtime_ns) {
                    // Writing to a Vec cannot fail.
                    let _ = write!(key, "{}", time.to_zoned(self.zone.clone()).year());
                }
            }
            GroupBy::Depth => {
                let _ = write!(key, "{}", entry.depth());
            }
            GroupBy::Directory if dir.is_empty() => key.extend_from_slice(parts::parent(entry.name())),
            GroupBy::Directory => {
                key.extend_from_slice(dir.strip_suffix(b"/").filter(|it| !it.is_empty()).unwrap_or(dir))
            }
        }
        let bytes = match entry.file_type() {
            FileType::Directory => 0,
            _ => facts(entry, Fields::SIZE)?.size,
        };
        let group = match self.groups.get_mut(&self.key) {
            Some(group) => group,
            None => self.groups.entry(self.key.clone()).or_default(),
        };
        group.count += 1;
        group.bytes += u128::from(bytes);
        Ok(())
    }
}

/// Prints the first `most` groups of all workers.
pub(super) fn print(by: GroupBy, parts: Vec<Groups>, most: usize, form: Form, out: &Stdout) {
    let mut all: HashMap<Vec<u8>, Group> = HashMap::new();
    for (key, group) in parts.into_iter().flat_map(|part| part.groups) {
        let sum = all.entry(key).or_default();
        sum.count += group.count;
        sum.bytes += group.bytes;
    }
    let total: u128 = all.values().map(|group| group.bytes).sum();
    let mut groups: Vec<_> = all.into_iter().collect();
    groups.sort_unstable_by(|(a_key, a), (b_key, b)| {
        let order = match form.order {
            None => (b.bytes, b.count).cmp(&(a.bytes, a.count)),
            Some(Order::Name) => by.number(a_key).cmp(&by.number(b_key)),
            Some(Order::Size) => (a.bytes, a.count).cmp(&(b.bytes, b.count)),
            Some(Order::Count) => (a.count, a.bytes).cmp(&(b.count, b.bytes)),
        };
        let order = if form.reverse { order.reverse() } else { order };
        order.then_with(|| a_key.cmp(b_key))
    });
    let largest = groups.iter().map(|(_, group)| group.bytes).max().unwrap_or(0);
    let is_terminal = Stdout::is_terminal();
    let mut lines = Lines::new(out);
    for (key, group) in groups.into_iter().take(most) {
        let is_written = lines.line(|line| match () {
            () if form.json => push_json(line, by, &key, group, total),
            () if is_terminal && !form.null => push_bar(line, by, &key, group, total, largest, form),
            () => push_fields(line, &key, group, total, form),
        });
        if !is_written {
            return;
        }
    }
    lines.flush();
}

fn push_json(out: &mut Vec<u8>, by: GroupBy, key: &[u8], group: Group, total: u128) {
    write_record(out, |record| {
        record.member("by", name(by));
        // Entries without an extension, or with a year that the calendar lacks, have no key.
        if key.is_empty() {
            record.member("key", None::<&str>);
        } else {
            record.path("key", key);
        }
        let share = if total == 0 { 0.0 } else { group.bytes as f64 / total as f64 };
        record.member("count", group.count).member("size_bytes", group.bytes).member("share", share);
    });
}

fn push_bar(
    out: &mut Vec<u8>,
    by: GroupBy,
    key: &[u8],
    group: Group,
    total: u128,
    largest: u128,
    form: Form,
) {
    let unit = if form.human_readable { Unit::Binary } else { Unit::Decimal };
    let full = (group.bytes * BAR).checked_div(largest).unwrap_or(0) as usize;
    let bar = "\u{2501}".repeat(full);
    let key = match key {
        b"" if by == GroupBy::Extension => "(no extension)".into(),
        b"" => "(no date)".into(),
        key => sanitize(key),
    };
    let percent = (group.bytes * 100 + total / 2).checked_div(total).unwrap_or(0);
    let (bytes, count) = (unit.format(group.bytes), HumanCount(group.count).to_string());
    // Writing to a Vec cannot fail.
    let _ = writeln!(out, "  {bytes:>7}  {percent:>3} %  {bar:<20}  {count:>11}  {key}");
}

/// Appends bytes, count, percentage and key, with tabs between them.
fn push_fields(out: &mut Vec<u8>, key: &[u8], group: Group, total: u128, form: Form) {
    let Group { count, bytes } = group;
    let percent = if total == 0 { 0.0 } else { bytes as f64 * 100.0 / total as f64 };
    let _ = match form.human_readable {
        true => write!(out, "{}\t{count}\t{percent:.2}\t", Unit::Binary.format(bytes)),
        false => write!(out, "{bytes}\t{count}\t{percent:.2}\t"),
    };
    out.extend_from_slice(key);
    out.push(if form.null { 0 } else { b'\n' });
}

/// Returns the name of the property, as it is typed.
fn name(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Extension => "extension",
        GroupBy::Type => "type",
        GroupBy::Owner => "owner",
        GroupBy::Year => "year",
        GroupBy::Depth => "depth",
        GroupBy::Directory => "directory",
    }
}
