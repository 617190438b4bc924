//! With random trees, keep rules and actions no content is lost, and nothing below a reference changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use super::tree::{Dice, contents_of, plant};
use crate::harness::Dir;

/// The parts of a file that must not change: inode, content, mtime and permissions.
type File = (u64, Vec<u8>, i64, i64, u32);

/// Returns all files below a directory.
fn untouched(dir: &Dir, root: &str) -> BTreeMap<Vec<u8>, File> {
    let known = |(path, content, ino): (Vec<u8>, Vec<u8>, u64)| {
        let metadata = fs::symlink_metadata(dir.path(OsStr::from_bytes(&path))).unwrap();
        (path, (ino, content, metadata.mtime(), metadata.mtime_nsec(), metadata.mode()))
    };
    contents_of(dir, root).into_iter().map(known).collect()
}

/// Returns for each content the inodes that have it, except the file that marks a directory for moved files.
fn copies(dir: &Dir) -> BTreeMap<Vec<u8>, BTreeSet<u64>> {
    let mut copies: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (path, content, ino) in contents_of(dir, ".") {
        if path.ends_with(b"FTK-QUARANTINE.TAG") {
            continue;
        }
        copies.entry(content).or_default().insert(ino);
    }
    copies
}

/// Returns random options, the reference among them, and how many copies they keep.
fn options(dice: &mut Dice) -> (Vec<String>, Option<String>, usize) {
    let mut args: Vec<String> = Vec::new();
    for _ in 0..dice.below(3) {
        let rule = *dice.pick(&["first", "oldest", "newest", "shortest", "path=d1/*", "path=*b*"]);
        args.extend(["--keep".into(), rule.into()]);
    }
    let copies = 1 + dice.below(3);
    args.extend(["--min-copies".into(), copies.to_string()]);
    if dice.below(3) == 0 {
        args.push("--isolate".into());
    }
    let reference = (dice.below(2) == 0).then(|| format!("d{}", dice.below(4)));
    if let Some(reference) = &reference {
        args.extend(["--reference".into(), reference.clone()]);
    }
    args.extend(["--min-size".into(), "0".into(), "--allow-unused-rules".into()]);
    (args, reference, copies)
}

#[test]
fn h04_no_content_is_lost_and_no_reference_changes() {
    for seed in 100..148 {
        let mut dice = Dice::new(seed);
        let dir = Dir::new();
        plant(&dir, seed, 60);
        let action = *dice.pick(&["hardlink", "symlink", "delete", "move=away"]);
        let (args, reference, asked) = options(&mut dice);
        let mut paths: Vec<&str> =
            (0..4).map(|_| *dice.pick(&["d0", "d1", "d2", "d3", ".", "d1/../d2"])).collect();
        paths.retain(|path| dir.path(path).exists());
        if paths.is_empty() || reference.as_ref().is_some_and(|it| !dir.path(it).exists()) {
            continue;
        }
        let before = copies(&dir);
        let kept = reference.as_ref().map(|reference| untouched(&dir, reference));
        let prune = |yes: &[&str]| {
            dir.ftk(["dup", "prune", "--action", action]).args(&args).args(yes).args(&paths).run().status(0)
        };
        let run = prune(&["--yes"]);
        let after = copies(&dir);
        for (content, files) in &before {
            let left = after.get(content).map_or(0, BTreeSet::len);
            let least = files.len().min(if action == "move=away" { files.len() } else { asked });
            run.check(left >= least, &format!("{left} copies of {} bytes are left", content.len()));
        }
        run.check(after.keys().all(|content| before.contains_key(content)), "no content is new");
        if let (Some(reference), Some(kept)) = (&reference, kept) {
            run.check(untouched(&dir, reference) == kept, "the reference is unchanged");
        }
        let again = prune(&["--yes"]).stderr_has("  nothing to do\n");
        again.check(copies(&dir) == after, "the second run changed nothing");
    }
}
