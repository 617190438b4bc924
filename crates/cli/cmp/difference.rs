//! Prints the differences between two trees.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;

use ftk_compare::Side;
use ftk_compare::trees::{Difference, Field, What};
use ftk_file::{AttributeDifference, Stat};
use ftk_record::{path_member, quote, type_name, write_record};
use indicatif::HumanCount;

use crate::attributes;
use crate::colour::{self, Tone};
use crate::human::{describe_split_links, forms, shown};
use crate::human::{device, local_time};
use crate::stdout::Stdout;

/// The output format of differences.
pub(super) enum Manner {
    Json,
    /// Only paths of the first tree, each with this byte at its end.
    Paths {
        end: u8,
    },
    /// Kind, path and details, separated by tabs. `only`: the words for "only in A" and "only in B".
    Fields {
        only: [String; 2],
        is_coloured: bool,
    },
    /// The fields of `Fields`, but in columns, for a terminal.
    Columns {
        only: [String; 2],
        /// Width of the first column.
        width: usize,
        is_coloured: bool,
    },
}

/// Kinds of differences, in the order of the summary.
pub(super) const KINDS: [&str; 11] = [
    "only_a", "only_b", "name", "type", "size", "content", "target", "device", "metadata", "links",
    "unlinked",
];

/// Whether a difference of this kind is about an entry of the first tree.
pub(super) fn lists_path(kind: usize) -> bool {
    !matches!(KINDS[kind], "only_b" | "unlinked")
}

/// The index of names that differ.
pub(super) const NAME: usize = 2;

/// Returns the index into [`KINDS`], or `None` for entries that were not compared.
pub(super) fn kind(what: &What<'_>) -> Option<usize> {
    Some(match what {
        What::Only(Side::A, ..) => 0,
        What::Only(Side::B, ..) => 1,
        What::Name => NAME,
        What::Type(..) => 3,
        What::Size(..) => 4,
        What::Content { .. } => 5,
        What::Target(..) => 6,
        What::Device(..) => 7,
        What::Metadata { .. } => 8,
        What::Links { .. } => 9,
        What::Unlinked(..) => 10,
        _ => return None,
    })
}

impl Manner {
    /// Chooses the format. `names` are the two starting points.
    pub(super) fn new(json: bool, names: [&[u8]; 2]) -> Self {
        if json {
            return Self::Json;
        }
        let only = names.map(|name| format!("only in {}", shown(name)));
        if !Stdout::is_terminal() {
            return Self::Fields { only, is_coloured: colour::wanted() };
        }
        let widest = only.iter().map(|word| word.chars().count()).max().unwrap_or_default();
        let width = widest.max(word(8, &only).len());
        Self::Columns { only, width, is_coloured: colour::wanted() }
    }

    /// Appends the line of a difference of this kind.
    pub(super) fn push(&self, out: &mut Vec<u8>, kind: usize, difference: &Difference<'_>) {
        let path = if difference.path.is_empty() { b"." } else { difference.path };
        // Writing to a Vec cannot fail.
        _ = match self {
            Self::Json => {
                push_object(out, kind, path, difference);
                Ok(())
            }
            Self::Paths { end } => {
                // Comments for rsync, even if paths end with NUL.
                let dot = if matches!(path, [b'#' | b';', ..]) { &b"./"[..] } else { b"" };
                out.extend_from_slice(dot);
                out.extend_from_slice(path);
                out.push(*end);
                Ok(())
            }
            Self::Fields { only, is_coloured } => {
                let detail = detail(difference, u64::to_string);
                let gap = if detail.is_empty() { "" } else { "\t" };
                let style = tone(kind).style(*is_coloured);
                writeln!(out, "{style}{}{style:#}\t{}{gap}{detail}", word(kind, only), shown(path))
            }
            Self::Columns { only, width, is_coloured } => {
                let detail = detail(difference, |n| HumanCount(*n).to_string());
                let style = tone(kind).style(*is_coloured);
                let (word, path) = (word(kind, only), shown(path));
                let line = match detail.as_str() {
                    "" => format!("  {style}{word:<width$}{style:#}   {path}"),
                    _ => format!("  {style}{word:<width$}{style:#}   {path:<16}   {detail}"),
                };
                writeln!(out, "{line}")
            }
        };
    }
}

fn word(kind: usize, only: &[String; 2]) -> &str {
    match kind {
        0 => &only[0],
        1 => &only[1],
        NAME => "name differs",
        3 => "type differs",
        4 => "size differs",
        5 => "content differs",
        6 => "target differs",
        7 => "device differs",
        9 => "links differ",
        10 => "unlinked",
        _ => "metadata differs",
    }
}

fn tone(kind: usize) -> Tone {
    match kind {
        0..=NAME => Tone::Notable,
        3..=7 => Tone::Wrong,
        _ => Tone::Minor,
    }
}

/// Describes a difference in words. `number` formats sizes and offsets.
fn detail(Difference { path, path_b, what, .. }: &Difference<'_>, number: impl Fn(&u64) -> String) -> String {
    match what {
        What::Name => {
            let [a, b] = forms([path, path_b.unwrap_or(path)]);
            format!("{a} in A, {b} in B")
        }
        What::Type(a, b) => format!("{}, {}", type_name(*a), type_name(*b)),
        What::Size(a, b) => format!("{} and {} bytes", number(a), number(b)),
        What::Content { first } => format!("first at byte {}", number(&(first + 1))),
        What::Target(a, b) => format!("{}, {}", quote(a), quote(b)),
        What::Device(a, b) => format!("{}, {}", device(*a), device(*b)),
        What::Links { first } => {
            let [a, b] = linked_to(first, path).map(|first| first.map_or_else(|| "none".into(), quote));
            format!("hard link of {a}, {b}")
        }
        What::Unlinked(_, groups) => describe_split_links(*groups),
        What::Metadata { fields, attributes, a, b } => {
            let field = |field: &Field| {
                let (name, a, b) = (name(*field), value(*field, a), value(*field, b));
                format!("{name} {a}, {b}")
            };
            let attributes = Some(*attributes).filter(|attributes| !attributes.is_empty());
            let attributes =
                attributes.map(|it| attributes::describe(it, ["only in A", "only in B", "different"]));
            fields.iter().map(field).chain(attributes).collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    }
}

/// Returns the other path of a file in each tree, if there is one before this path.
fn linked_to<'d>(first: &[&'d [u8]; 2], path: &[u8]) -> [Option<&'d [u8]>; 2] {
    first.map(|first| Some(first).filter(|first| *first != path))
}

fn name(field: Field) -> &'static str {
    match field {
        Field::Mode => "mode",
        Field::Uid => "uid",
        Field::Gid => "gid",
        Field::Mtime => "mtime",
        _ => "other",
    }
}

fn value(field: Field, metadata: &Stat) -> String {
    match field {
        Field::Mode => format!("{:04o}", metadata.mode),
        Field::Uid => metadata.uid.to_string(),
        Field::Gid => metadata.gid.to_string(),
        Field::Mtime => local_time(metadata.mtime_ns),
        _ => String::new(),
    }
}

fn push_object(out: &mut Vec<u8>, kind: usize, path: &[u8], difference: &Difference<'_>) {
    let Difference { path_b, what, below, .. } = difference;
    write_record(out, |record| {
        record.member("difference", KINDS[kind]).path("path", path);
        _ = path_b.map(|path| record.path("path_b", path));
        match what {
            What::Name => {
                let [a, b] = forms([path, path_b.unwrap_or(path)]);
                record.member("form_a", a).member("form_b", b);
            }
            What::Only(_, file_type, size) => {
                record.member("type", type_name(*file_type));
                _ = size.map(|size| record.member("size_bytes", size));
            }
            What::Type(a, b) => _ = record.member("type_a", type_name(*a)).member("type_b", type_name(*b)),
            What::Size(a, b) => _ = record.member("size_bytes_a", a).member("size_bytes_b", b),
            What::Content { first } => _ = record.member("first_byte", first + 1),
            What::Target(a, b) => _ = record.path("target_a", a).path("target_b", b),
            What::Device(a, b) => _ = record.member("rdev_a", a).member("rdev_b", b),
            What::Links { first } => {
                for (name, first) in ["link_group_a", "link_group_b"].into_iter().zip(linked_to(first, path))
                {
                    _ = first.map(|first| record.path(name, first));
                }
            }
            What::Unlinked(side, groups) => {
                _ = record.member("in", ["a", "b"][*side as usize]).member("link_groups", groups);
            }
            What::Metadata { fields, attributes, a, b } => {
                for &field in *fields {
                    _ = match field {
                        Field::Mode => {
                            record.member("mode_a", value(field, a)).member("mode_b", value(field, b))
                        }
                        Field::Uid => record.member("uid_a", a.uid).member("uid_b", b.uid),
                        Field::Gid => record.member("gid_a", a.gid).member("gid_b", b.gid),
                        Field::Mtime => {
                            record.member("mtime_ns_a", a.mtime_ns).member("mtime_ns_b", b.mtime_ns)
                        }
                        _ => record,
                    };
                }
                if !attributes.is_empty() {
                    record.member("xattrs", attributes.iter().map(attribute).collect::<Vec<_>>());
                }
            }
            _ => {}
        }
        _ = below.map(|it| record.member("entries", it.entries).member("size_bytes", it.size_bytes));
    });
}

/// Returns the members of an object for an attribute: its name, and the trees that have it.
fn attribute(
    AttributeDifference { name, has }: &AttributeDifference,
) -> BTreeMap<Cow<'_, str>, Cow<'_, str>> {
    let trees = match has {
        [_, false] => "a",
        [false, _] => "b",
        _ => "both",
    };
    BTreeMap::from([path_member("name", name), ("in".into(), trees.into())])
}
