//! Describes the changes of an entry for people: `size 812 → 940, mode 0644 → 0600`.

use ftk_file::attribute_differences;
use ftk_hash::{Algorithm, Digest};
use ftk_manifest::{Entry, Field};
use ftk_record::quote;
use ftk_walk::FileType;

use crate::attributes;
use crate::human::ARROW;
use crate::human::{device, local_time};

/// Number of digits shown of a digest.
const DIGITS: usize = 8;

/// Describes the change of a field. `algorithms`: those of the digests of each entry.
pub(super) fn change(field: Field, [old, new]: [&Entry<'_>; 2], algorithms: [&[Algorithm]; 2]) -> String {
    match field {
        Field::Digests => digests([old, new], algorithms),
        Field::Xattrs => xattrs([old, new]),
        _ => format!("{} {} {ARROW} {}", name(field), value(field, old), value(field, new)),
    }
}

fn name(field: Field) -> &'static str {
    match field {
        Field::Size => "size",
        Field::Mtime => "mtime",
        Field::Rdev => "device",
        Field::LinkGroup => "hard link of",
        _ => field.name(),
    }
}

/// Describes a single value. Numbers and modes look as in a manifest.
fn value(field: Field, entry: &Entry<'_>) -> String {
    let stat = &entry.stat;
    match field {
        Field::Type => type_name(stat.file_type).into(),
        Field::Mode => format!("{:04o}", stat.mode),
        Field::Mtime => local_time(stat.mtime_ns),
        Field::Target | Field::LinkGroup => field.name_in(entry).map_or_else(|| "none".into(), quote),
        Field::Rdev => device(stat.rdev),
        _ => {
            let mut json = Vec::new();
            field.write_value(&mut json, entry, &[]);
            String::from_utf8_lossy(&json).into_owned()
        }
    }
}

fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Regular => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "FIFO",
        FileType::Socket => "socket",
        FileType::Block => "block device",
        FileType::Char => "character device",
        _ => "special file",
    }
}

/// Returns the digests that differ, among the algorithms that both entries have, shortened.
fn digests(entries: [&Entry<'_>; 2], [old, new]: [&[Algorithm]; 2]) -> String {
    let differing = old.iter().filter_map(|algorithm| {
        let (a, b) = (digest(entries[0], old, algorithm)?, digest(entries[1], new, algorithm)?);
        (a != b).then(|| format!("{algorithm} {a:.DIGITS$}\u{2026} {ARROW} {b:.DIGITS$}\u{2026}"))
    });
    differing.collect::<Vec<_>>().join(", ")
}

/// Returns the digest of an entry by one of its algorithms, in hexadecimal.
fn digest(entry: &Entry<'_>, algorithms: &[Algorithm], wanted: &Algorithm) -> Option<String> {
    let mut rest = entry.digests;
    for algorithm in algorithms {
        let digest = rest.split_off(..algorithm.digest_len())?;
        if algorithm == wanted {
            return Some(Digest::from_bytes(digest).to_string());
        }
    }
    None
}

/// Says which extended attributes were added, removed or changed.
fn xattrs(entries: [&Entry<'_>; 2]) -> String {
    fn pairs<'e>(entry: &Entry<'e>) -> impl Iterator<Item = (&'e [u8], &'e [u8])> {
        entry.xattrs.unwrap_or_default().iter().map(|it| (&it.name[..], &it.value[..]))
    }
    let [old, new] = entries.map(pairs);
    attributes::describe(&attribute_differences(old, new), ["removed", "added", "changed"])
}
