//! Trees that are recorded in shards and merged: the result is that of a single run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path as FsPath, PathBuf};

use ftk_file::{FsId, Identity, Stat};
use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Collect, Inventory, Keep};
use ftk_manifest::{
    Balance, Contents, Cost, Failed, Header, Listed, Manifest, MergeError, Merged, Mount, Parts, PathRange,
    Place, Plan, PlannedShard, Planner, Root, RootIdentity, Shard, Sharded, Split, Writer,
};
use ftk_sched::Constants;
use ftk_walk::{FileType, Walker};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::compressed::compressed;
use crate::model::{Entries, Owned, Path, by_ranges, file, header, line, open, read, unchecked, written};
use crate::tree_digests::with_trees;
use crate::trees::Walked;

const ALGORITHMS: &[Algorithm] = &[Algorithm::Sha256, Algorithm::Xxh3];

/// A path whose names are prefixes of each other, with bytes before and after the slash.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let name = select(vec![&b"a"[..], b"a-b", b"ab", b"a0", b"x", b"\n", b"\xff", b"a\x01"]);
    vec(name, 1..4).prop_map(|names| names.join(&b"/"[..]))
}

/// A tree of these paths. The others end in a directory.
fn make(root: &FsPath, paths: &[(Vec<u8>, bool)]) {
    for (path, is_file) in paths {
        let at = root.join(OsStr::from_bytes(path));
        // A name that is a file already cannot be a directory.
        if *is_file {
            let _ = fs::create_dir_all(at.parent().unwrap());
            let _ = fs::write(at, path);
        } else {
            let _ = fs::create_dir_all(at);
        }
    }
}

/// The tree of a test, and the unreadable files: they vanish after each walk and come back later.
struct Tree {
    dir: tempfile::TempDir,
    away: PathBuf,
    vanishing: BTreeSet<Vec<u8>>,
}

impl Tree {
    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn walk(&self, shard: Option<&Shard>, keep: Keep) -> (Walked, Listed) {
        let root = self.root().as_os_str().as_bytes().to_vec();
        let visitors =
            Walker::new([self.root()]).run(|worker| Sharded::new(shard, Collect::new(worker, keep)));
        let (parts, listed): (Vec<_>, Vec<_>) = visitors.into_iter().map(Sharded::into_parts).unzip();
        let mut inventory = Inventory::merge(parts).unwrap();
        let failed = inventory.take_errors().into_iter().map(|error| error.path).collect();
        (Walked { inventory, root, failed }, Listed::merge(listed))
    }

    /// Returns the manifest of a shard, or of the whole tree.
    fn record(&self, algorithms: &[Algorithm], shard: Option<Shard>) -> Manifest {
        let (walked, listed) = self.walk(shard.as_ref(), Keep::Stats { files: algorithms.is_empty() });
        let mut header = Header { shard, ..header(algorithms, false) };
        if let Some(shard) = &mut header.shard {
            listed.record(shard);
        }
        if algorithms.is_empty() {
            return walked.write(&header, &Contents::none());
        }
        self.rename(false);
        let rows = walked.read(None, algorithms);
        self.rename(true);
        walked.write(&header, &Contents::read(None, &rows))
    }

    /// Moves the vanishing files away or back.
    fn rename(&self, is_back: bool) {
        for (nth, path) in self.vanishing.iter().enumerate() {
            let (here, away) = (self.root().join(OsStr::from_bytes(path)), self.away.join(nth.to_string()));
            let (from, to) = if is_back { (away, here) } else { (here, away) };
            if from.is_file() {
                fs::rename(from, to).unwrap();
            }
        }
    }
}

fn merged(parts: Vec<Manifest>) -> Result<Manifest, MergeError> {
    merged_with(parts).map(|(manifest, _)| manifest)
}

fn merged_with(parts: Vec<Manifest>) -> Result<(Manifest, Merged), MergeError> {
    merged_in(parts, u64::MAX)
}

/// Merges parts in groups if they need more memory.
fn merged_in(parts: Vec<Manifest>, memory: u64) -> Result<(Manifest, Merged), MergeError> {
    let names: Vec<_> = (0..parts.len()).map(|given| format!("given {given}").into_bytes()).collect();
    let parts = Parts::new(parts, Parts::MAX_SPAN_NS)?.into_manifest(&names);
    let parts = parts.group(memory).map_err(MergeError::Input)?;
    let mut bytes = Vec::new();
    let mut writer = Writer::new(parts.header(), |line: &[u8]| bytes.write_all(line));
    let merged = parts.merge(&mut writer)?;
    writer.finish().unwrap();
    let manifest = open(&bytes).unwrap();
    assert_eq!(read(&manifest).unwrap().len() as u64, merged.entries);
    Ok((manifest, merged))
}

/// Returns the entries without the times that change when a file vanishes from a directory.
fn entries(manifest: &Manifest) -> Entries {
    let mut entries = read(manifest).unwrap();
    for entry in entries.values_mut().filter(|entry| entry.stat.file_type == FileType::Directory) {
        (entry.stat.mtime_ns, entry.stat.ctime_ns) = (0, 0);
    }
    entries
}

/// Returns a plan with these cuts.
fn plan_of(cuts: &[Vec<u8>]) -> Plan {
    let mut bounds: Vec<_> = cuts.iter().map(|cut| Some(&**cut)).collect();
    bounds.sort();
    bounds.insert(0, None);
    bounds.push(None);
    let ranges = bounds.windows(2).map(|pair| PathRange::new(pair[0], pair[1]));
    let shards = ranges.map(|range| PlannedShard { range, entries: 1, bytes: 2 }).collect();
    let root = Root { path: b"/r\xff".to_vec(), identity: None };
    Plan { root, mounts: vec![Mount::Named(b"a/x".to_vec())], options: Vec::new(), by: Balance::Cost, shards }
}

fn cost() -> Cost {
    Cost::new(&Constants::default(), ALGORITHMS, Platform::detect())
}

/// How the tree is divided.
#[derive(Clone, Debug)]
enum Division {
    /// At these paths, whether they exist or not.
    Cuts(Vec<Vec<u8>>),
    /// By a plan of the tree, into so many shards.
    Planned(u32, Balance),
    /// Without a plan.
    Hash(u32),
}

fn division() -> impl Strategy<Value = Division> {
    let by = select(Balance::ALL.map(|(by, _)| by).to_vec());
    prop_oneof![
        vec(path(), 0..6).prop_map(Division::Cuts),
        (1..7_u32, by).prop_map(|(n, by)| Division::Planned(n, by)),
        (1..7_u32).prop_map(Division::Hash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn merged_shards_are_the_manifest_of_a_single_run(
        paths in vec((path(), prop::bool::weighted(0.7)), 0..24),
        division in division(),
        changes in vec((path(), prop::bool::ANY), 0..6),
        removed in vec(any::<prop::sample::Index>(), 0..3),
        vanishing in vec(any::<prop::sample::Index>(), 0..2),
        has_content in prop::bool::weighted(0.9),
        order in any::<prop::sample::Index>(),
        memory in prop_oneof![Just(0), Just(3000), Just(u64::MAX)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let away = dir.path().join("away");
        fs::create_dir(&away).unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        let mut tree = Tree { dir, away, vanishing: BTreeSet::new() };
        make(&tree.root(), &paths);
        let plan = match &division {
            Division::Cuts(cuts) => Some(plan_of(cuts)),
            Division::Planned(shards, by) => {
                let mut planner = Planner::new(*shards, *by, cost());
                planner.add_tree(&tree.walk(None, Keep::Stats { files: true }).0.tree()).unwrap();
                Some(planner.finish(Root { path: b"/r".to_vec(), identity: None }, Vec::new()))
            }
            Division::Hash(_) => None,
        };
        if let Some(plan) = &plan {
            prop_assert_eq!(&Plan::read(&*plan.to_bytes()).unwrap(), plan);
        }

        // The tree changes between the plan and the run.
        make(&tree.root(), &changes);
        for index in removed.iter().filter(|_| !paths.is_empty()) {
            let at = tree.root().join(OsStr::from_bytes(&index.get(&paths).0));
            let _ = if at.is_dir() { fs::remove_dir_all(at) } else { fs::remove_file(at) };
        }
        let doomed = vanishing.iter().filter(|_| !paths.is_empty()).map(|index| index.get(&paths).0.clone());
        tree.vanishing = doomed.collect();

        let algorithms = if has_content { ALGORITHMS } else { &[] };
        let whole = tree.record(algorithms, None);
        let shard = |number, of| match &plan {
            Some(plan) => plan.shard(number, of).unwrap(),
            None => Shard::hashed(number, of),
        };
        let of = match (&plan, &division) {
            (None, Division::Hash(of)) => *of,
            (plan, _) => plan.as_ref().unwrap().shards.len() as u32,
        };
        let mut parts: Vec<_> = (1..=of).map(|number| tree.record(algorithms, Some(shard(number, of)))).collect();
        for (part, number) in parts.iter().zip(1..) {
            let shard = shard(number, of);
            prop_assert!(part.header().shard.as_ref().unwrap().is_same(&shard));
            for (path, entry) in read(part).unwrap() {
                prop_assert!(shard.contains(&path.0));
                prop_assert!(entry.tree.is_empty() || !shard.shares(&path.0));
            }
        }
        parts.rotate_left(order.index(of as usize));
        let (merged, _) = merged_in(parts, memory).unwrap();
        prop_assert_eq!(merged.header(), whole.header());
        prop_assert_eq!(entries(&merged), entries(&whole));
    }

    /// Each path belongs to one shard, whatever the division.
    #[test]
    fn each_path_belongs_to_one_shard(division in division(), path in prop_oneof![path(), Just(b".".to_vec())]) {
        let shards: Vec<_> = match division {
            Division::Cuts(cuts) => {
                let plan = plan_of(&cuts);
                let of = plan.shards.len() as u32;
                (1..=of).map(|number| plan.shard(number, of).unwrap()).collect()
            }
            Division::Planned(of, _) | Division::Hash(of) => {
                (1..=of).map(|number| Shard::hashed(number, of)).collect()
            }
        };
        prop_assert_eq!(shards.iter().filter(|shard| shard.contains(&path)).count(), 1);
        prop_assert!(path != b"." || shards[0].contains(&path));
    }
}

/// Returns entries of regular files with these sizes and names in order.
fn files(sizes: &[u64]) -> Entries {
    let mut entries = Entries::new();
    let entry =
        |file_type, size| Owned::of(&ftk_manifest::Entry::new(b"", Stat { file_type, size, ..Stat::EMPTY }));
    entries.insert(Path::new("."), entry(FileType::Directory, 4096));
    for (nth, size) in sizes.iter().enumerate() {
        let path = Path::new(&format!("dir{}/{nth:07}", nth / 1000));
        entries.insert(path, entry(FileType::Regular, *size));
    }
    entries
}

/// Returns the plan of a manifest without digests.
fn planned(entries: &Entries, shards: u32, by: Balance) -> Plan {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&written(&header(&[], false), entries)).unwrap();
    let (planner, header, root) = Planner::of_manifest(file, |algorithms| {
        Planner::new(shards, by, Cost::new(&Constants::default(), algorithms, Platform::detect()))
    })
    .unwrap();
    planner.finish(root, header.options)
}

#[test]
fn the_largest_shard_is_within_5_percent_of_the_mean() {
    let sizes: Vec<u64> = (0..20_000).map(|nth| nth * 7919 % 10_007).collect();
    let entries = files(&sizes);
    for shards in [1, 2, 7, 16] {
        for (by, of) in [
            (Balance::Entries, (|shard: &PlannedShard| shard.entries) as fn(&PlannedShard) -> u64),
            (Balance::Bytes, |shard| shard.bytes),
            (Balance::Cost, |shard| shard.entries),
        ] {
            let plan = planned(&entries, shards, by);
            let total: u64 = plan.shards.iter().map(of).sum();
            let largest = plan.shards.iter().map(of).max().unwrap();
            assert!(
                largest * u64::from(shards) * 100 <= total * 105,
                "{by:?} {shards}: {largest} of {total}"
            );
            assert_eq!(plan.shards.iter().map(|shard| shard.entries).sum::<u64>(), 20_001);
            assert_eq!(plan.shards.iter().map(|shard| shard.bytes).sum::<u64>(), sizes.iter().sum::<u64>());
        }
    }
}

/// A file that is larger than a shard gets one, and the rest is divided among the others.
#[test]
fn a_huge_file_does_not_unbalance_the_other_shards() {
    let mut sizes = vec![1000; 4000];
    sizes[1500] = 4_000_000;
    let plan = planned(&files(&sizes), 8, Balance::Bytes);
    let mut bytes: Vec<_> = plan.shards.iter().map(|shard| shard.bytes).collect();
    bytes.sort_unstable();
    assert!(bytes[7] >= 4_000_000 && bytes[6] <= 1_050_000, "{bytes:?}");
}

#[test]
fn fewer_entries_than_shards_leave_empty_shards() {
    for count in [0, 1, 3] {
        let plan = planned(&files(&vec![1; count]), 8, Balance::Cost);
        assert_eq!(plan.shards.len(), 8);
        assert_eq!(Plan::read(&*plan.to_bytes()).unwrap(), plan);
        assert_eq!(plan.shards.iter().map(|shard| shard.entries).sum::<u64>(), count as u64 + 1);
    }
}

/// Returns the manifest of one shard of a tree without entries, with a changed header.
fn part(plan: Option<&Plan>, number: u32, of: u32, change: impl Fn(&mut Header)) -> Manifest {
    let shard = plan.map_or_else(|| Shard::hashed(number, of), |plan| plan.shard(number, of).unwrap());
    let mut header = Header { shard: Some(shard), ..header(&[], false) };
    change(&mut header);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&written(&header, &Entries::new())).unwrap();
    Manifest::open_any(file).unwrap()
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let plan = plan_of(&[b"a".to_vec(), b"a/x".to_vec()]);
    let other = plan_of(&[b"a".to_vec(), b"b".to_vec()]);
    let same = |_: &mut Header| ();
    let all = || (1..=3).map(|number| part(Some(&plan), number, 3, same)).collect::<Vec<_>>();
    let why = |parts: Vec<Manifest>| merged(parts).unwrap_err().to_string();
    assert!(merged(all()).is_ok());
    assert_eq!(why(Vec::new()), "there are no parts");
    let mut parts = all();
    parts.remove(1);
    assert_eq!(why(parts), "1 of 3 shards are missing: 2");
    let mut parts = all();
    parts.push(part(Some(&plan), 2, 3, same));
    assert_eq!(why(parts), "both are shard 2");
    let mut parts = all();
    parts[1] = part(Some(&other), 2, 3, same);
    assert_eq!(why(parts), "not parts of one tree: they have different plans");
    let mut parts = all();
    parts[1] = part(None, 2, 3, same);
    assert_eq!(why(parts), "not parts of one tree: they have different plans");
    let mut parts = all();
    parts[2] = part(None, 2, 2, same);
    assert_eq!(why(parts), "not parts of one tree: they have different numbers of shards");
    type Change = (&'static str, fn(&mut Header));
    let changes: [Change; 4] = [
        ("algorithms", |header| header.algorithms = vec![Algorithm::Md5]),
        ("options", |header| header.options = vec![b"--no-hidden".to_vec()]),
        ("settings of --no-xattrs", |header| header.xattrs = true),
        ("roots", |header| header.root = b"/other".to_vec()),
    ];
    for (what, change) in changes {
        let parts = vec![part(None, 1, 2, same), part(None, 2, 2, change)];
        let why = why(parts);
        assert!(why.starts_with(&format!("not parts of one tree: they have different {what}")), "{why}");
    }
    // Without an identity of the root, a plan is for one directory, and hosts may have it under other paths.
    let mut parts = all();
    parts[1] = part(Some(&plan), 2, 3, |header| header.root = b"/mnt/r".to_vec());
    assert!(merged(parts).is_ok());
    // A plan cannot be edited without changing its digest, but a header can.
    let gap = |header: &mut Header| {
        let Some(Shard { split: Split::Plan { range, .. }, .. }) = &mut header.shard else { unreachable!() };
        *range = PathRange::new(Some(b"a-b"), range.to());
    };
    let mut parts = all();
    parts[1] = part(Some(&plan), 2, 3, gap);
    assert_eq!(why(parts), "their ranges overlap, or have a gap between them");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&written(&header(&[], false), &Entries::new())).unwrap();
    let mut parts = all();
    parts.push(Manifest::open(file).unwrap());
    assert_eq!(why(parts), "it records a whole tree, and is not a part");
}

/// Returns a part with these entries, which need not be those of the header.
fn resealed(header: &Header, entries: &Entries) -> Manifest {
    let lines = entries.iter().map(|(path, entry)| line(path, entry, &header.algorithms));
    Manifest::open_any(file(&unchecked(header, lines))).unwrap()
}

/// An attacker removes, renames or alters entries of a part and seals it again.
#[test]
fn parts_with_tree_digests_of_other_entries_are_refused() {
    let of = header(&[Algorithm::Xxh3], false);
    let stat = |file_type| ftk_file::Stat { file_type, mode: 0o755, size: 1, ..ftk_file::Stat::EMPTY };
    let dir = || Owned::new(stat(FileType::Directory), Vec::new());
    let files = ["a/x/1", "a/x/2", "b/1", "b/x/1"]
        .map(|path| (path, Owned::new(stat(FileType::Regular), vec![7; 8])));
    let dirs = [".", "a", "a/x", "b", "b/x"].map(|path| (path, dir()));
    let all: Entries = files.into_iter().chain(dirs).map(|(path, it)| (Path::new(path), it)).collect();
    let whole = with_trees(all, &of.algorithms);
    let shards = by_ranges(&[b"b"]);
    let parts = |change: fn(&mut Entries)| {
        let part = |shard: &Shard| {
            let mut entries: Entries = whole.clone();
            entries.retain(|path, _| shard.contains(&path.0));
            for (path, entry) in &mut entries {
                if shard.place(&path.0) != Place::Inside {
                    entry.tree.clear();
                }
            }
            change(&mut entries);
            resealed(&Header { shard: Some(shard.clone()), ..of.clone() }, &entries)
        };
        shards.iter().map(part).collect::<Vec<_>>()
    };
    let good = merged(parts(|_| ())).unwrap();
    assert_eq!(read(&good).unwrap(), whole);

    type Change = fn(&mut Entries);
    let changes: [(Change, &str); 5] = [
        (|part| _ = part.remove(&Path::new("a/x/2")), "'given 0': line 4: tree of 'a/x'"),
        (
            |part| {
                let renamed = part.remove(&Path::new("a/x/2"));
                part.extend(renamed.map(|entry| (Path::new("a/x/3"), entry)));
            },
            "'given 0': line 4: tree of 'a/x'",
        ),
        (
            |part| {
                if let Some(file) = part.get_mut(&Path::new("b/1")) {
                    file.digests[3] ^= 1;
                }
            },
            "'given 1': line 2: tree of 'b'",
        ),
        (|part| _ = part.remove(&Path::new("b/x")), "'given 1': line 2: tree of 'b'"),
        (
            |part| part.values_mut().for_each(|it| it.tree.iter_mut().take(1).for_each(|byte| *byte ^= 1)),
            "'given 0': line 4: tree of 'a/x'",
        ),
    ];
    for (change, why) in changes {
        let error = merged(parts(change)).unwrap_err().to_string();
        assert_eq!(error, format!("{why} is not the digest of the entries below it"));
    }
}

#[test]
fn entries_of_other_shards_are_refused() {
    let plan = plan_of(&[b"dir0/0000001".to_vec()]);
    let all = files(&[1, 2, 3]);
    let record = |number: u32, entries: &Entries| {
        let header = Header { shard: Some(plan.shard(number, 2).unwrap()), ..header(&[], false) };
        resealed(&header, entries)
    };
    let (mut first, mut second) = (all.clone(), all.clone());
    first.retain(|path, _| path < &Path::new("dir0/0000001"));
    second.retain(|path, _| path >= &Path::new("dir0/0000001"));
    let found = read(&merged(vec![record(2, &second), record(1, &first)]).unwrap()).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>());
    let error = merged(vec![record(1, &all), record(2, &second)]).unwrap_err();
    assert_eq!(error.to_string(), "'given 0': line 4: 'dir0/0000001' belongs to another shard");
}

#[test]
fn invalid_plans_are_refused() {
    let plan = plan_of(&[b"a\xff".to_vec(), b"b\n".to_vec()]);
    let text = String::from_utf8(plan.to_bytes()).unwrap();
    assert!(text.contains("\"to_b64\":\"Yf8=\"") && text.contains("\"from\":\"b\\n\""), "{text}");
    let lines: Vec<_> = text.lines().collect();
    let read = |text: &str| Plan::read(text.as_bytes()).map_err(|error| error.to_string());
    let sealed = |text: String| {
        let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("{\"footer\"")).collect();
        String::from_utf8(crate::model::seal(&lines)).unwrap()
    };
    assert_eq!(read(&text), Ok(plan.clone()));
    for cut in 0..text.len() {
        assert!(read(&text[..cut]).is_err(), "{cut}");
    }
    assert!(read(&text.replace("\"entries\":1", "\"entries\":9")).unwrap_err().starts_with("damaged"));
    for (from, to, why) in [
        ("\"plan\"", "\"manifest\"", "it is a \"manifest\""),
        ("\"version\":1", "\"version\":2", "plan version 2 needs a newer ftk"),
        ("\"version\":1", "\"version\":0", "there is no version 0"),
        ("\"shards\":3", "\"shards\":4", "only the range of the last shard has no end"),
        ("\"shards\":3", "\"shards\":2", "only the range of the last shard has no end"),
        ("\"shards\":3", "\"shards\":0", "it has 0 shards"),
        ("\"by\":\"cost\"", "\"by\":\"luck\"", "it is balanced by \"luck\""),
        ("\"shard\":2", "\"shard\":3", "line 3: shard 3 where shard 2 is expected"),
        ("\"to_b64\":\"Yf8=\"", "\"to\":\"a\"", "line 3: the range does not start where"),
        ("\"to\":\"b\\n\"", "\"to\":\"a\"", "line 3: the range ends before it starts"),
        ("\"to\":\"b\\n\"", "\"to\":\".\"", "starts at or ends before the root"),
        ("\"to\":\"b\\n\"", "\"to\":\"../b\"", "'../b' is not a path below the root"),
        (
            "\"from\":\"b\\n\"",
            "\"from\":\"b\\n\",\"to\":\"c\"",
            "only the range of the last shard has no end",
        ),
        ("\"options\":[]", "\"options\":[{\"option\":\"--exec=rm\"}]", "made with an unknown option"),
        (
            "\"mounts\":[{\"path\":\"a/x\"}]",
            "\"mounts\":[{\"path\":\"/a\"}]",
            "'/a' is not a path below the root",
        ),
    ] {
        let edited = text.replace(from, to);
        assert_ne!(edited, text, "{from}");
        let error = read(&sealed(edited)).unwrap_err();
        assert!(error.contains(why), "{why}: {error}");
    }
    let missing = [lines[0], lines[1], lines[2]].join("\n");
    assert_eq!(read(&sealed(missing)).unwrap_err(), "not a plan of ftk: it has 2 of 3 shards");
    assert_eq!(plan.shard(1, 4).unwrap_err().to_string(), "the plan has 3 shards, and 4 are requested");
    assert_eq!(plan.shard(4, 3).unwrap_err().to_string(), "there is no shard 4 of 3");
    assert_eq!(plan.shard(0, 3).unwrap_err().to_string(), "there is no shard 0 of 3");
}

/// Returns the header of a shard with another text in it.
fn reread(from: &str, to: &str) -> Result<Header, String> {
    let plan = plan_of(&[b"a".to_vec(), b"b".to_vec()]);
    let shard = Shard {
        incomplete: vec![b".".to_vec(), b"a\xff".to_vec()],
        listed: vec![(b"a".to_vec(), -1), (b"\xff".to_vec(), i128::from(i64::MAX))],
        listed_since_ns: Some(-2),
        ..plan.shard(2, 3).unwrap()
    };
    let header = Header { shard: Some(shard), ..header(&[], false) };
    let text = String::from_utf8(written(&header, &Entries::new())).unwrap();
    assert!(text.contains(from), "{text}");
    let line = text.lines().next().unwrap().replace(from, to);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&crate::model::seal(&[line])).unwrap();
    let manifest = Manifest::open_any(file).map_err(|error| error.to_string())?;
    assert!(from != to || *manifest.header() == header);
    Ok(manifest.header().clone())
}

#[test]
fn invalid_shards_in_headers_are_refused() {
    assert!(reread("\"number\":2", "\"number\":2").is_ok());
    for (from, to, why) in [
        ("\"number\":2", "\"number\":4", "there is no shard 4 of 3"),
        ("\"number\":2", "\"number\":0", "there is no shard 0 of 3"),
        ("\"number\":2", "\"number\":1", "the range is not that of shard 1 of 3"),
        ("\"of\":3", "\"of\":2", "the range is not that of shard 2 of 2"),
        ("\"of\":3", "\"of\":4000000000", "there is no shard 2 of 4000000000"),
        ("\"from\":\"a\"", "\"from\":\"c\"", "the range ends before it starts"),
        ("\"from\":\"a\"", "\"from\":\"a/\"", "is not a path below the root"),
        ("\"plan\":\"", "\"plan\":\"X", "is not the SHA-256 of a plan"),
        ("\"plan\":", "\"plane\":", "a range without a plan"),
        (
            "{\"path\":\".\"},{\"path_b64\":\"Yf8=\"}",
            "{\"path_b64\":\"Yf8=\"},{\"path\":\".\"}",
            "not sorted",
        ),
        ("{\"path\":\".\"}", "{}", "the path is missing"),
        ("\"listed\":[{\"path\":\"a\"", "\"listed\":[{\"path\":\"../a\"", "is not a path below the root"),
        (",\"mtime_ns\":-1", "", "the member `mtime_ns` is missing"),
    ] {
        let error = reread(from, to).unwrap_err();
        assert!(error.contains(why), "{why}: {error}");
    }
}

/// Returns the identity of a root on a file system that has a lasting one.
fn identity(ino: u64) -> RootIdentity {
    let fs = Some(FsId::from_bytes([7; 16]));
    let file_type = FileType::Directory;
    let identity = Identity { fs, dev: 1, ino, birth_ns: None, file_type, uid: 0 };
    RootIdentity { path: b"/r".to_vec(), fs_type: 1, identity }
}

#[test]
fn h103_parts_of_different_roots_are_refused() {
    let plan = plan_of(&[b"a".to_vec()]);
    for plan in [Some(&plan), None] {
        let record = |number: u32, root: Option<RootIdentity>| {
            part(plan, number, 2, |header| header.root_identity.clone_from(&root))
        };
        let both = |one, other| merged(vec![record(1, one), record(2, other)]);
        let elsewhere = RootIdentity { path: b"/mnt/r".to_vec(), ..identity(2) };
        let whole = both(Some(identity(2)), Some(elsewhere)).unwrap();
        assert_eq!(whole.header().root_identity, Some(identity(2)));
        // Without an identity, the type of the file system and the path count.
        let nfs = |path: &str, fs_type| {
            let identity = Identity { fs: None, ..identity(2).identity };
            Some(RootIdentity { path: path.into(), fs_type, identity })
        };
        assert!(both(nfs("/r", 5), nfs("/r", 5)).is_ok());
        for (one, other) in [
            (Some(identity(2)), Some(identity(3))),
            (Some(identity(2)), nfs("/r", 1)),
            (nfs("/r", 5), nfs("/r", 6)),
            (nfs("/r", 5), nfs("/r2", 5)),
            (Some(identity(2)), None),
        ] {
            let error = both(one, other).unwrap_err().to_string();
            assert!(error.starts_with("not parts of one tree: they have different roots"), "{error}");
        }
    }
}

#[test]
fn parts_with_different_file_systems_below_the_root_are_refused() {
    let plan = plan_of(&[b"b".to_vec(), b"m/x".to_vec()]);
    // The file system at `m` is seen by the shards that list it: with the plan, not by the first one.
    let record = |plan, number, mounts: &[&str], failed: &[&str]| {
        let paths = |paths: &[&str]| paths.iter().map(|path| path.as_bytes().to_vec()).collect::<Vec<_>>();
        part(plan, number, 3, |header| {
            header.mounts = paths(mounts).into_iter().map(Mount::Named).collect();
            header.failed = Failed::new(paths(failed));
        })
    };
    let all = ["m"].as_slice();
    let by_plan = |second, third| {
        merged(vec![
            record(Some(&plan), 1, &[], &[]),
            record(Some(&plan), 2, second, &[]),
            record(Some(&plan), 3, third, &[]),
        ])
    };
    assert_eq!(by_plan(all, all).unwrap().header().mounts, [Mount::Named(b"m".to_vec())]);
    for (second, third) in [(all, &[][..]), (&[], all)] {
        let error = by_plan(second, third).unwrap_err();
        assert!(matches!(&error, MergeError::Mount(_, _, path) if path == b"m"), "{error}");
    }
    let by_hash = |mounts: [&[&str]; 3], failed: &[&str]| {
        merged((1..=3).zip(mounts).map(|(number, mounts)| record(None, number, mounts, failed)).collect())
    };
    assert!(by_hash([all; 3], &[]).is_ok());
    let error = by_hash([all, &[], all], &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("a file system was mounted at 'm' for the first, and not for the second"),
        "{error}"
    );
    // What could not be listed may have been mounted.
    assert!(by_hash([all, &[], all], &["m"]).is_ok() && by_hash([all, &[], all], &["."]).is_ok());
}

#[test]
fn parts_with_other_file_systems_at_one_mount_point_are_refused() {
    let plan = plan_of(&[b"m/x".to_vec()]);
    let at = |path: &str, byte, ino| {
        let fs = Some(FsId::from_bytes([byte; 16]));
        let identity = Identity { fs, ..identity(ino).identity };
        Mount::Identified(RootIdentity { path: path.into(), fs_type: 1, identity })
    };
    let named = |path: &str| Mount::Named(path.into());
    for plan in [Some(&plan), None] {
        let both = |one: &Mount, other: &Mount| {
            let record =
                |number, mount: &Mount| part(plan, number, 2, |header| header.mounts = vec![mount.clone()]);
            merged(vec![record(1, one), record(2, other)]).map(|whole| whole.header().mounts.clone())
        };
        let known = at("m", 7, 2); // listed by both
        let (same, named) = ([known.clone()], named("m"));
        for (one, other) in [(&known, &known), (&known, &named), (&named, &known)] {
            assert_eq!(both(one, other).unwrap(), same);
        }
        for (other, why) in [(at("m", 8, 2), "its file system differs"), (at("m", 7, 3), "its inode differs")]
        {
            let error = both(&known, &other).unwrap_err();
            assert!(matches!(&error, MergeError::OtherMount(0, 1, path, _) if path == b"m"), "{error}");
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}

#[test]
fn h105_parts_of_another_day_are_refused() {
    let hours = |hours: i128| hours * 3600 * 1_000_000_000;
    let record = |number, at| part(None, number, 2, |header| header.start_ns = at);
    for (first, second, is_refused) in
        [(0, 12, false), (12, 0, false), (0, 13, true), (24 * 30, 0, true), (-13, 0, true)]
    {
        let merged = merged(vec![record(1, hours(first)), record(2, hours(second))]);
        assert_eq!(merged.is_err(), is_refused, "{first} {second}");
        if let Err(error) = merged {
            let apart = i64::abs(first as i64 - second as i64);
            assert!(error.to_string().contains(&format!("began {apart} h 0 min after the first")), "{error}");
        }
    }
    let far = || vec![record(1, 0), record(2, hours(13))];
    assert!(Parts::new(far(), hours(13)).is_ok() && Parts::new(far(), hours(13) - 1).is_err());
}

#[test]
fn what_a_part_could_not_read_is_in_the_merged_header() {
    let failed = |paths: &[&str]| Failed::new(paths.iter().map(|path| path.as_bytes().to_vec()).collect());
    let lists = [failed(&["b/x", "a"]), Failed::default(), failed(&["a", "c"])];
    let record =
        |number: u32| part(None, number, 3, |header| header.failed = lists[number as usize - 1].clone());
    let whole = merged((1..=3).map(record).collect()).unwrap();
    assert_eq!(whole.header().failed, failed(&["a", "b/x", "c"]));
    assert_eq!(whole.header().version, 3);
}

/// A part that was closed is opened again for each block, and must still be the same.
#[test]
fn parts_without_descriptors_are_read_again() {
    let all = files(&vec![1; 5_000]);
    let dir = tempfile::tempdir().unwrap();
    for by_hash in [true, false] {
        let shards: Vec<_> = match by_hash {
            true => crate::model::by_hash(3),
            false => by_ranges(&[b"dir1", b"dir3"]),
        };
        let open = |shard: &Shard, is_closed: bool| {
            let path = dir.path().join(format!("{}", shard.number));
            fs::write(&path, crate::model::part(&header(&[], false), &all, shard)).unwrap();
            let mut manifest = Manifest::open_any(fs::File::open(&path).unwrap()).unwrap();
            if is_closed {
                manifest.close(path);
            }
            manifest
        };
        let parts = |is_closed| shards.iter().map(|shard| open(shard, is_closed)).collect::<Vec<_>>();
        assert_eq!(
            read(&merged(parts(true)).unwrap()).unwrap(),
            read(&merged(parts(false)).unwrap()).unwrap()
        );
        let closed = parts(true);
        fs::write(dir.path().join("2"), "another file\n").unwrap();
        assert_eq!(merged(closed).unwrap_err().to_string(), "'given 1': changed while being read");
        let closed = parts(true);
        fs::remove_file(dir.path().join("3")).unwrap();
        assert!(merged(closed).is_err());
    }
}

/// Whatever the memory, groups have the entries of their parts.
#[test]
fn parts_by_hash_are_merged_in_groups() {
    let all = files(&vec![1; 2_000]);
    let shards = crate::model::by_hash(70);
    for is_compressed in [false, true] {
        let part = |shard: &Shard| {
            let bytes = crate::model::part(&header(&[], false), &all, shard);
            let bytes = if is_compressed { compressed(&bytes) } else { bytes };
            Manifest::open_any(file(&bytes)).unwrap()
        };
        let joined = || {
            let parts = shards.iter().map(part).collect();
            Parts::new(parts, 0).unwrap().into_manifest(&vec![Vec::new(); shards.len()])
        };
        let (least, at_a_time) = (joined().least_memory(), joined().bytes_at_a_time());
        // Decompressing takes a lot of memory, and the groups are not compressed.
        assert!(
            if is_compressed { least < at_a_time / 8 } else { least == at_a_time },
            "{least}, {at_a_time}"
        );
        for memory in [0, least / 2, least, at_a_time - 1, at_a_time] {
            let grouped = joined().group(memory).unwrap();
            assert_eq!(read(&grouped).unwrap(), all, "{memory}");
            assert!(memory < least || grouped.bytes_at_a_time() <= memory, "{memory}");
            let parts = shards.iter().map(part).collect();
            assert_eq!(read(&merged_in(parts, memory).unwrap().0).unwrap(), all, "{memory}");
        }
    }
}

/// One file is renamed from the range of the first shard to that of the second, after the first was recorded.
#[test]
fn renames_between_two_shards_are_found() {
    const LATER: i128 = 1_000_000_000_123_456_789;
    let start = LATER - 60_000_000_000;
    let shards = by_ranges(&[b"b"]);
    let old = ftk_file::Stat { ino: 5, dev: 1, nlink: 1, mtime_ns: 7, ctime_ns: 7, ..ftk_file::Stat::EMPTY };
    let dir = ftk_file::Stat { file_type: FileType::Directory, ino: 9, nlink: 2, ..old };
    type Listed = Vec<(Vec<u8>, i128)>;
    let found = |first: &[(&str, ftk_file::Stat)], second: &[(&str, ftk_file::Stat)], listed: Listed| {
        let record = |shard: &Shard, entries: &[(&str, ftk_file::Stat)], listed: Listed| {
            let entries = entries.iter().map(|(path, stat)| (Path::new(path), Owned::new(*stat, Vec::new())));
            let header = Header { start_ns: start, ..header(&[], false) };
            let shard = Shard { listed, ..shard.clone() };
            Manifest::open_any(file(&crate::model::part(&header, &entries.collect(), &shard))).unwrap()
        };
        let parts = vec![record(&shards[0], first, Vec::new()), record(&shards[1], second, listed)];
        let (_, merged) = merged_with(parts).unwrap();
        let text =
            |paths: Vec<Vec<u8>>| paths.into_iter().map(|path| crate::model::text(&path)).collect::<Vec<_>>();
        (text(merged.renames.twice), text(merged.renames.changes.some))
    };
    let moved = ftk_file::Stat { ctime_ns: LATER, ..old };
    let is = |found: (Vec<String>, Vec<String>), twice: &[&str], changed: &[&str]| {
        assert_eq!(
            found,
            (
                twice.iter().map(ToString::to_string).collect(),
                changed.iter().map(ToString::to_string).collect()
            )
        );
    };
    is(found(&[("a", old)], &[("b", old)], vec![]), &[], &[]); // as hosts see it that have no clock
    is(found(&[("a", old)], &[("b", moved)], vec![]), &["a", "b"], &[]);
    is(found(&[("a", moved)], &[("b", moved)], vec![]), &["a", "b"], &[]);
    is(found(&[("a", old)], &[("b", ftk_file::Stat { ino: 6, ..moved })], vec![]), &[], &[]);
    is(found(&[("a", old)], &[("b", ftk_file::Stat { mtime_ns: 8, ..moved })], vec![]), &[], &[]);
    let links = |stat| ftk_file::Stat { nlink: 2, ..stat };
    is(found(&[("a", links(old))], &[("b", links(moved))], vec![]), &[], &[]);
    is(found(&[("a", dir)], &[("b", ftk_file::Stat { ctime_ns: LATER, ..dir })], vec![]), &["a", "b"], &[]);
    // The directories that were changed are named, whether they have a line or were only listed.
    let changed = ftk_file::Stat { mtime_ns: LATER, ctime_ns: LATER, ..dir };
    is(found(&[("a", dir)], &[("b", ftk_file::Stat { ino: 1, ..changed })], vec![]), &[], &["b"]);
    let listed = vec![(b"a".to_vec(), LATER), (b"gone".to_vec(), LATER), (b"old".to_vec(), 7)];
    is(found(&[("a", dir)], &[], listed), &[], &["a", "gone"]);
}
