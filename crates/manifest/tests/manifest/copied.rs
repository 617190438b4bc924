//! Lines that an update copies from the old manifest, compared with those that it makes from the entries.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use ftk_file::{FsId, Stat};
use ftk_hash::Algorithm;
use ftk_manifest::{Failed, Field, Header, Kinship};
use ftk_walk::FileType;
use proptest::prelude::*;

use crate::examined::examine_as;
use crate::format::xattrs;
use crate::model::{Entries, Owned, Path, entry, open, seal, written};
use crate::tree_digests::with_trees;
use crate::trees::Dir;
use crate::update::later;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// Changes some lines of entries, which are counted from 1.
fn changed(bytes: &[u8], change: impl Fn(usize, &str) -> String) -> Vec<u8> {
    let lines = str::from_utf8(bytes).unwrap().lines().filter(|line| !line.starts_with("{\"footer\""));
    let lines = lines.enumerate().map(|(nth, line)| if nth == 0 { line.into() } else { change(nth, line) });
    seal(&lines.collect::<Vec<_>>())
}

/// Returns a manifest with a space in these lines of entries. ftk writes none, so they are not copied.
pub(crate) fn spaced(bytes: &[u8], is_spaced: impl Fn(usize) -> bool) -> Vec<u8> {
    let space = |nth, line: &str| if is_spaced(nth) { line.replacen('{', "{ ", 1) } else { line.into() };
    changed(bytes, space)
}

/// Returns a manifest with members of a later version in these lines of entries.
pub(crate) fn with_later_members(bytes: &[u8], has: impl Fn(usize) -> bool) -> Vec<u8> {
    let more = |nth, line: &str| match has(nth) {
        true => format!("{},\"later\":{{\"ino\":5,\"verified_ns\":7}}}}", line.strip_suffix('}').unwrap()),
        false => line.into(),
    };
    changed(bytes, more)
}

/// The identity of a recorded snapshot.
const SNAPSHOT: FsId = FsId::from_bytes([7; 16]);

fn path() -> impl Strategy<Value = String> {
    let long: &'static str = "long".repeat(60).leak();
    let names =
        ["a", "b", "a-b", "a!", "\u{e9}", "K", "\u{212a}", "q\"q", "\u{202e}", "\u{7f}", "n\nn", long];
    let name = prop::sample::select(names.to_vec());
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

fn is_dir(entry: &Owned) -> bool {
    entry.stat.file_type == FileType::Directory
}

/// Entries with everything that a record can have, in directories that are recorded.
fn records() -> impl Strategy<Value = Entries> {
    let one = (entry(8), xattrs(), 0..5_u8, 1..9_u64);
    prop::collection::btree_map(path(), one, 0..40).prop_map(|chosen| {
        let stat = Stat { file_type: FileType::Directory, nlink: 1, ..Stat::EMPTY };
        let dir = Owned { xattrs: Some(Vec::new()), fs: Some(SNAPSHOT), ..Owned::new(stat, Vec::new()) };
        let mut entries = Entries::from([(Path::new("."), dir.clone())]);
        for (path, (mut entry, xattrs, kind, ino)) in chosen {
            let above = path.match_indices('/').map(|(at, _)| &path[..at]);
            above.for_each(|above| _ = entries.insert(Path::new(above), dir.clone()));
            // A directory without tree digests, which would be missing then, is examined.
            let is_needed = |field: &Field| entry.absent.contains(*field);
            if is_dir(&entry) || [Field::Mode, Field::Size, Field::Rdev].iter().any(is_needed) {
                entry.absent = dir.absent;
            }
            entry.stat.ino = if kind == 0 { 1 << 63 } else { ino };
            entry.xattrs = Some(xattrs);
            entry.fs = if kind == 4 { entry.fs } else { Some(SNAPSHOT) };
            match kind {
                1 => entry.link_group = None,
                2 if !entry.digests.is_empty() => entry.damaged_ns = Some(9),
                3 if !entry.digests.is_empty() => entry.verified_ns = Some(-9),
                _ => {}
            }
            entries.entry(Path::new(&path)).or_insert(entry);
        }
        // What is below something that is no directory is in a directory after all.
        let paths: Vec<_> = entries.keys().cloned().collect();
        for path in &paths {
            let is_above = |it: &Path| it.0.strip_prefix(&*path.0).is_some_and(|rest| rest.starts_with(b"/"));
            if paths.iter().any(is_above) {
                entries.insert(path.clone(), dir.clone());
            }
        }
        with_trees(entries, XXH3)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn copied_lines_are_those_that_would_be_made(
        records in records(),
        listed in prop::collection::vec(path(), 0..4),
        failed in prop::option::weighted(0.2, path()),
        is_snapshot in any::<bool>(),
        odd in prop::collection::vec(0..9_u8, 1..7),
    ) {
        let dir = Dir::empty();
        dir.write("b", "a file");
        let failed = Failed::new(failed.map(String::into_bytes).into_iter().collect());
        let header = Header { xattrs: true, failed, ..later(XXH3) };
        // Another directory would be examined as a whole.
        let mut records = records;
        let root = fs::metadata(dir.path()).unwrap();
        let dev = root.dev();
        records.get_mut(&Path::new(".")).unwrap().stat.ino = root.ino();
        let bytes = written(&header, &records);
        let kinship = if is_snapshot { Kinship::History { fs: SNAPSHOT, dev } } else { Kinship::None };
        let listed: Vec<_> = listed.iter().map(|path| &**path).collect();
        let update = |bytes: &[u8]| {
            examine_as(kinship, &dir, &open(bytes).unwrap(), &listed, None, &[])
        };
        let made = update(&spaced(&bytes, |_| true));
        prop_assert!(made.new.header().provenance.examined.is_some());
        let kind = |nth: usize| odd[nth % odd.len()];
        let mixed = with_later_members(&spaced(&bytes, |nth| kind(nth) == 0), |nth| kind(nth) == 1);
        for old in [bytes, mixed] {
            let copied = update(&old);
            prop_assert_eq!(str::from_utf8(&copied.bytes), str::from_utf8(&made.bytes));
            prop_assert_eq!(copied.updated, made.updated);
            prop_assert_eq!(&copied.said, &made.said);
            // The next update copies nearly all lines.
            let next = [&copied, &made].map(|run| run.bytes.clone());
            let next = [update(&next[0]).bytes, update(&spaced(&next[1], |_| true)).bytes];
            prop_assert!(next[0] == next[1]);
        }
    }
}
