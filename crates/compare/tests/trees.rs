//! Compares two trees in a temporary directory, using only the library.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ftk_compare::trees::{PairTable, TreeCriteria, Trees, WalkedTree, What};
use ftk_inventory::{Budget, Collect, Full, Inventory};
use ftk_sched::{Constants, Counters, Limits, Model, Run, Stop, Threads};
use ftk_walk::Walker;
use proptest::prelude::*;
use proptest::sample::select;

/// A tree that was walked.
struct Walked {
    root: Vec<u8>,
    inventory: Inventory,
    failed: Vec<Vec<u8>>,
}

impl Walked {
    fn new(root: &Path) -> Self {
        Self::with(root, TreeCriteria::default())
    }

    fn with(root: &Path, criteria: TreeCriteria) -> Self {
        let walker = Walker::new([root]).threads(2);
        let root = root.as_os_str().as_bytes().to_vec();
        let parts = walker.run(|worker| Collect::new(worker, criteria.keep()));
        Self { root, inventory: Inventory::merge(parts).unwrap(), failed: Vec::new() }
    }

    fn tree(&self) -> WalkedTree<'_> {
        WalkedTree { inventory: &self.inventory, root: &self.root, failed: &self.failed }
    }
}

/// Returns two directories in a temporary one.
fn two() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
    [&a, &b].into_iter().for_each(|tree| fs::create_dir(tree).unwrap());
    (dir, a, b)
}

fn write(tree: &Path, path: &str, content: &[u8]) {
    let path = tree.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn compare(trees: &Trees<'_>, table: &mut PairTable, stop: &Stop, workers: usize) {
    let model = Model::new(Constants::default());
    let limits = Limits { threads: Threads::Fixed(workers), backend: None, ring: false, cpus: 0 };
    let counters = Counters::default();
    trees.compare(table, 1 << 30, &Run { model: &model, limits, stop, counters: &counters });
    if !stop.is_raised() {
        assert_eq!(counters.sum().files, table.pairs());
    }
}

/// Returns a word and the path for every difference.
fn report(trees: &Trees<'_>, table: &PairTable) -> Vec<String> {
    let mut report = Vec::new();
    trees.differences(table, |difference| {
        let what = match difference.what {
            What::Only(side, ..) => format!("only {side}"),
            What::Content { first } => format!("content {first}"),
            What::Size(..) => "size".into(),
            What::Failed(side, _) => format!("failed {side}"),
            What::Pending => "pending".into(),
            other => format!("{other:?}"),
        };
        report.push(format!("{what}: {}", String::from_utf8_lossy(difference.path)));
    });
    report
}

#[test]
fn differences_are_reported_in_path_order() {
    let (_dir, a, b) = two();
    for nth in 0..300 {
        write(&a, &format!("d{}/{nth}", nth % 7), &[0; 1000]);
        write(&b, &format!("d{}/{nth}", nth % 7), &[u8::from(nth % 100 == 50); 1000]);
    }
    write(&a, "d1.x", b"");
    write(&b, "d1/zz/below", b"");
    write(&b, "d2/1", b"");
    let walked = [Walked::new(&a), Walked::new(&b)];
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria: TreeCriteria::default() };
    for workers in [1, 2, 5] {
        let mut table = trees.plan(&Budget::new(1 << 20)).unwrap();
        assert_eq!(table.pairs(), 300, "sizes are looked at when files are opened");
        compare(&trees, &mut table, &Stop::new(), workers);
        let expected = [
            "content 0: d1/50",
            "only B: d1/zz",
            "only A: d1.x",
            "only B: d2/1",
            "content 0: d3/150",
            "content 0: d5/250",
        ];
        let mut expected = expected.map(String::from);
        expected.sort_by(|one, other| path(one).cmp(path(other)));
        assert_eq!(report(&trees, &table), expected);
    }
    assert_eq!(trees.plan(&Budget::new(1000)).unwrap_err(), Full::Memory);
}

fn path(report: &str) -> &str {
    report.split_once(": ").unwrap().1
}

#[test]
fn unlisted_directories_are_not_reported_as_missing() {
    let (_dir, a, b) = two();
    for path in ["d/x", "d/y/z", "d-e", "d0/x", "gone/x", "gone.x"] {
        write(&b, path, b"");
    }
    fs::create_dir(a.join("d")).unwrap();
    let mut walked = [Walked::new(&a), Walked::new(&b)];
    walked[0].failed = ["d", "gone"].map(|name| a.join(name).as_os_str().as_bytes().to_vec()).into();
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria: TreeCriteria::default() };
    let table = trees.plan(&Budget::new(1 << 20)).unwrap();
    assert_eq!(report(&trees, &table), ["only B: d-e", "only B: d0", "only B: gone.x"]);
}

/// Returns the path of each difference with a sum, and the sum.
fn sums(trees: &Trees<'_>) -> Vec<(String, u64, u64)> {
    let (table, mut sums) = (trees.plan(&Budget::new(1 << 20)).unwrap(), Vec::new());
    trees.differences(&table, |it| {
        let path = String::from_utf8_lossy(it.path).into_owned();
        sums.extend(it.below.map(|below| (path, below.entries, below.size_bytes)));
    });
    sums
}

#[test]
fn directories_of_one_tree_have_sums() {
    let (_dir, a, b) = two();
    let criteria = TreeCriteria { sums: true, ..TreeCriteria::default() };
    // Names that sort between a directory and what is in it are not below it.
    for path in ["d/x", "d/y/z", "d-e", "d-f/x", "d0/x", "type/x"] {
        write(&a, path, b"12345");
    }
    write(&b, "new/deep/x", b"123");
    fs::create_dir(b.join("empty")).unwrap();
    write(&b, "type", b"");
    let mut walked = [Walked::with(&a, criteria), Walked::with(&b, criteria)];
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria };
    let sum = |path: &str, entries, bytes| (path.to_owned(), entries, bytes);
    let all = [
        sum("d", 3, 10),
        sum("d-f", 1, 5),
        sum("d0", 1, 5),
        sum("empty", 0, 0),
        sum("new", 2, 3),
        sum("type", 1, 5),
    ];
    assert_eq!(sums(&trees), all);
    // Without the request, nothing is added up.
    let trees = Trees { criteria: TreeCriteria::default(), ..trees };
    assert_eq!(sums(&trees), []);
    // What could not be read has no sum.
    walked[0].failed = ["d/y", "type"].map(|name| a.join(name).as_os_str().as_bytes().to_vec()).into();
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria };
    assert_eq!(sums(&trees), all[1..5]);
}

#[test]
fn pairs_that_were_not_compared_are_pending() {
    let (_dir, a, b) = two();
    for nth in 0..100 {
        write(&a, &format!("{nth:03}"), b"same");
        write(&b, &format!("{nth:03}"), b"same");
    }
    let walked = [Walked::new(&a), Walked::new(&b)];
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria: TreeCriteria::default() };
    let mut table = trees.plan(&Budget::new(1 << 20)).unwrap();
    assert_eq!(report(&trees, &table).len(), 100);
    let stop = Stop::new();
    stop.raise();
    compare(&trees, &mut table, &stop, 2);
    assert!(report(&trees, &table).iter().all(|line| line.starts_with("pending")));
}

#[test]
fn changes_since_the_walk_are_noticed() {
    let (_dir, a, b) = two();
    for name in ["replaced", "removed", "grown", "same"] {
        write(&a, name, b"content");
        write(&b, name, b"content");
    }
    let walked = [Walked::new(&a), Walked::new(&b)];
    fs::remove_file(b.join("replaced")).unwrap();
    fs::create_dir(b.join("replaced")).unwrap();
    fs::remove_file(a.join("removed")).unwrap();
    write(&b, "grown", b"content and more");
    let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria: TreeCriteria::default() };
    let mut table = trees.plan(&Budget::new(1 << 20)).unwrap();
    compare(&trees, &mut table, &Stop::new(), 1);
    assert_eq!(report(&trees, &table), ["size: grown", "failed A: removed", "failed B: replaced"]);
    assert_eq!(table.failed(), 2);
}

/// The kernel reports a size of 0 bytes for one file and of 4096 for the other. Both sizes are wrong.
#[test]
fn synthetic_sizes_are_not_a_difference() {
    let lies = [("/proc/sys/kernel/random", "poolsize"), ("/sys/devices/virtual/net/lo", "mtu")];
    let lies: Vec<_> = lies.into_iter().filter(|(dir, name)| Path::new(dir).join(name).exists()).collect();
    assert!(!lies.is_empty(), "no file with a synthetic size found");
    for (shown, name) in lies {
        let shown = Path::new(shown);
        let bytes = fs::read(shown.join(name)).unwrap();
        let other = [b"x", &bytes[1..]].concat();
        for (content, expected) in
            [(&bytes[..], vec![]), (&other, vec!["content 0"]), (&bytes[..1], vec!["content 1"])]
        {
            let (_dir, a, _) = two();
            write(&a, name, content);
            let walked = [Walked::new(&a), Walked::new(shown)];
            let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria: TreeCriteria::default() };
            let mut table = trees.plan(&Budget::new(1 << 20)).unwrap();
            compare(&trees, &mut table, &Stop::new(), 1);
            let mut report = report(&trees, &table);
            report.retain(|what| what.ends_with(&format!(": {name}")));
            let expected: Vec<_> = expected.iter().map(|what| format!("{what}: {name}")).collect();
            assert_eq!(report, expected);
        }
    }
}

const NAMES: [&str; 6] = ["\u{e9}", "\u{e9}-", "\u{e9}\u{f6}", "\u{f6}", "f", "z"];

fn decomposed(path: &str) -> String {
    path.replace('\u{e9}', "e\u{301}").replace('\u{f6}', "o\u{308}")
}

/// Files with one of few contents, below directories with the same names.
fn files() -> impl Strategy<Value = Vec<(String, u8)>> {
    let file = (prop::collection::vec(select(NAMES.to_vec()), 1..4), 0..2_u8);
    prop::collection::vec(file, 0..10).prop_map(|files| {
        files.into_iter().map(|(names, content)| (format!("{}/file", names.join("/")), content)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The spelling of names changes nothing, whatever the order of the paths in it.
    #[test]
    fn names_in_another_normal_form_are_compared_like_the_same_names(a in files(), b in files()) {
        let found = |normalize_names: bool, spell: &dyn Fn(&str) -> String| {
            let (_dir, a_dir, b_dir) = two();
            a.iter().for_each(|(path, content)| write(&a_dir, path, &[*content]));
            b.iter().for_each(|(path, content)| write(&b_dir, &spell(path), &[*content]));
            let walked = [Walked::new(&a_dir), Walked::new(&b_dir)];
            let criteria = TreeCriteria { normalize_names, ..TreeCriteria::default() };
            let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria };
            let mut table = trees.plan(&Budget::new(1 << 24)).unwrap();
            compare(&trees, &mut table, &Stop::new(), 2);
            let mut found: Vec<_> = report(&trees, &table);
            found.iter_mut().filter(|it| it.starts_with("only B")).for_each(|it| *it = decomposed(it));
            found.sort();
            (found, table.pairs())
        };
        let expected = found(true, &str::to_owned);
        prop_assert_eq!(&found(true, &decomposed), &expected);
        let (mut with_names, pairs) = found(false, &decomposed);
        with_names.retain(|it| !it.starts_with("Name: "));
        prop_assert_eq!((with_names, pairs), expected);
    }
}

proptest! {
    /// The sums agree with a naive walk, in whatever spelling.
    #[test]
    fn sums_are_those_of_a_naive_walk(only in files(), both in files()) {
        let (_dir, a, b) = two();
        let criteria = TreeCriteria { sums: true, normalize_names: true, ..TreeCriteria::default() };
        for (path, size) in &only {
            write(&b, &decomposed(path), &vec![0; usize::from(*size) + 1]);
        }
        for (path, size) in &both {
            write(&a, path, &vec![0; usize::from(*size) + 1]);
            write(&b, &decomposed(path), &vec![0; usize::from(*size) + 1]);
        }
        let walked = [Walked::with(&a, criteria), Walked::with(&b, criteria)];
        let trees = Trees { a: walked[0].tree(), b: walked[1].tree(), criteria };
        for (path, entries, bytes) in sums(&trees) {
            let naive = naive_sum(&b.join(decomposed(&path)));
            prop_assert_eq!((entries, bytes), naive, "{}", path);
            prop_assert!(!a.join(&path).is_dir());
        }
    }
}

fn naive_sum(dir: &Path) -> (u64, u64) {
    fs::read_dir(dir).unwrap().map(Result::unwrap).fold((0, 0), |(entries, bytes), entry| {
        let below = match entry.file_type().unwrap().is_dir() {
            true => naive_sum(&entry.path()),
            false => (0, entry.metadata().unwrap().len()),
        };
        (entries + 1 + below.0, bytes + below.1)
    })
}
