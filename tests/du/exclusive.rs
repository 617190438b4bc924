//! `--exclusive`: the space that no other file shares, on loop devices.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Dir, Mounted, Run, bytes, needs, wait_until};

/// The exclusive bytes and the unknown files of each directory.
fn exclusive(dir: &Dir, root: &Path) -> Vec<(String, Option<u64>, u64)> {
    let run = dir.ftk(["du", "--exclusive", "--json", "-d9"]).arg(root).run().status(0);
    rows(&run, root)
}

fn rows(run: &Run, root: &Path) -> Vec<(String, Option<u64>, u64)> {
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let path = Path::new(line["path"].as_str().unwrap()).strip_prefix(root).unwrap();
        let unknown = line["exclusive_unknown_files"].as_u64().unwrap();
        (path.to_str().unwrap().to_owned(), line["exclusive_bytes"].as_u64(), unknown)
    };
    let mut rows: Vec<_> = run.text().lines().map(line).collect();
    rows.sort();
    rows
}

fn expect(dir: &Dir, root: &Path, expected: &[(&str, Option<u64>, u64)]) {
    let expected: Vec<_> =
        expected.iter().map(|(path, bytes, unknown)| ((*path).to_owned(), *bytes, *unknown)).collect();
    assert_eq!(exclusive(dir, root), expected, "{}", root.display());
}

/// Clones a file, or a range of it to another offset.
fn clone(from: &Path, to: &Path) {
    rustix::fs::ioctl_ficlone(File::create(to).unwrap(), File::open(from).unwrap()).unwrap();
}

fn write(path: PathBuf, seed: u64, len: usize) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes(seed, len)).unwrap();
    path
}

const MIB: u64 = 1 << 20;

fn reflinks(kind: &str) {
    let Some(disk) = Mounted::new(kind) else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    write(root.join("own/a"), 1, MIB as usize);
    write(root.join("own/b"), 2, 4096);
    File::create(root.join("own/empty")).unwrap();
    let shared = write(root.join("shared/a"), 3, MIB as usize);
    fs::create_dir(root.join("other")).unwrap();
    clone(&shared, &root.join("other/clone"));
    // Not written to the disk yet: the kernel has to choose a place first.
    let changed = File::options().write(true).open(root.join("other/clone")).unwrap();
    changed.write_all_at(&bytes(4, 64 << 10), 256 << 10).unwrap();
    let all = MIB + 4096 + (64 << 10);
    // Only what was written again is not shared. Of the original, the replaced range is its own now.
    let replaced = if kind == "xfs" { 64 << 10 } else { 0 };
    expect(
        &dir,
        &root,
        &[
            ("", Some(all + replaced), 0),
            ("other", Some(64 << 10), 0),
            ("own", Some(MIB + 4096), 0),
            ("shared", Some(replaced), 0),
        ],
    );
    // Two files in one directory that share everything have nothing of their own, though both could be removed.
    fs::rename(root.join("other/clone"), root.join("shared/clone")).unwrap();
    fs::remove_dir(root.join("other")).unwrap();
    expect(
        &dir,
        &root,
        &[
            ("", Some(all + replaced), 0),
            ("own", Some(MIB + 4096), 0),
            ("shared", Some((64 << 10) + replaced), 0),
        ],
    );
    // It is at least this that is freed.
    let before = disk.used();
    fs::remove_dir_all(root.join("own")).unwrap();
    wait_until(|| before.saturating_sub(disk.used()) >= MIB + 4096);
    // Preallocated space belongs to the file.
    let sparse = File::create(root.join("shared/sparse")).unwrap();
    sparse.set_len(64 * MIB).unwrap();
    let full = File::create(root.join("allocated")).unwrap();
    rustix::fs::fallocate(&full, rustix::fs::FallocateFlags::empty(), 0, MIB).unwrap();
    let shared = (64 << 10) + replaced;
    expect(&dir, &root, &[("", Some(MIB + shared), 0), ("shared", Some(shared), 0)]);
}

#[test]
fn on_btrfs() {
    reflinks("btrfs");
}

#[test]
fn on_xfs() {
    reflinks("xfs");
}

/// The size of the blocks of both file systems.
const BLOCK: usize = 4096;

/// Random numbers below some limits.
struct Random(std::vec::IntoIter<u8>);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        let two: [u8; 2] = std::array::from_fn(|_| self.0.next().unwrap());
        usize::from(u16::from_le_bytes(two)) % limit
    }
}

/// Files with random names that were cloned and overwritten at random; the last changes are not on the disk. Returns
/// the blocks of each file, as numbers.
fn make_random_reflinks(root: &Path, seed: u64) -> BTreeMap<String, Vec<usize>> {
    let mut random = Random(bytes(seed, 10_000).into_iter());
    let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut blocks = 0..;
    for dir in ["a", "a/b", "c"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for _ in 0..40 {
        let name = format!("{}/{}", ["a", "a/b", "c"][random.below(3)], random.below(1 << 16));
        let old = (!files.is_empty()).then(|| files.keys().nth(random.below(files.len())).unwrap().clone());
        match (random.below(4), old) {
            (0, Some(old)) => {
                clone(&root.join(&old), &root.join(&name));
                files.insert(name, files[&old].clone());
            }
            (1, _) | (_, None) => {
                let own: Vec<_> = blocks.by_ref().take(1 + random.below(40)).collect();
                fs::write(root.join(&name), bytes(seed ^ own[0] as u64, own.len() * BLOCK)).unwrap();
                files.insert(name, own);
            }
            (_, Some(old)) => {
                let own = files.get_mut(&old).unwrap();
                let from = random.below(own.len());
                let len = 1 + random.below(own.len() - from);
                own.splice(from..from + len, blocks.by_ref().take(len));
                let file = File::options().write(true).open(root.join(old)).unwrap();
                file.write_all_at(&bytes(seed ^ own[from] as u64, len * BLOCK), (from * BLOCK) as u64)
                    .unwrap();
            }
        }
    }
    files
}

/// The bytes of each file that `filefrag` does not call shared.
fn filefrag<'n>(dir: &Dir, root: &Path, names: impl Iterator<Item = &'n String>) -> Vec<u64> {
    let filefrag = dir.ftk([] as [&str; 0]).instead(dir, ["filefrag", "-v", "-b4096"]);
    let run = names.fold(filefrag, |run, name| run.arg(root.join(name))).run().status(0);
    let own = |file: &str| {
        let mut own = BTreeSet::new();
        // Number, logical offset, physical offset, length, perhaps expected offset, flags.
        for fields in file.lines().map(|line| line.split(':').map(str::trim).collect::<Vec<_>>()) {
            if let [nth, _, physical, _, .., flags] = *fields
                && nth.parse::<u32>().is_ok()
                && !flags.contains("shared")
            {
                let (from, to) = physical.split_once("..").unwrap();
                own.extend(from.parse::<u64>().unwrap()..=to.trim().parse().unwrap());
            }
        }
        own.len() as u64 * BLOCK as u64
    };
    run.text().split("File size of ").skip(1).map(own).collect()
}

/// The files of a tree at rest have the same space of their own in every run, whichever of them is asked first, and
/// although their last changes are not on the disk.
#[test]
fn random_reflinks_have_one_answer() {
    for kind in ["xfs", "btrfs"] {
        let Some(disk) = Mounted::new(kind) else { return };
        let dir = Dir::new();
        for seed in 0..8 {
            let root = disk.path(&format!("t{seed}"));
            let files = make_random_reflinks(&root, seed);
            let du = |threads: &str| {
                let run =
                    dir.ftk(["du", "--exclusive", "--json", "-d9", "-j", threads]).arg(&root).run().status(0);
                (run.text().to_owned(), rows(&run, &root))
            };
            let (first, found) = du(if seed % 2 == 0 { "1" } else { "4" });
            for threads in ["4", "1"] {
                assert_eq!(du(threads).0, first, "{kind}, {seed}");
            }
            let sum = |own: &dyn Fn(usize, &str) -> u64| -> Vec<_> {
                let all = || files.keys().enumerate();
                let below = |dir: &str| {
                    let is_below = |name: &str| Path::new(name).starts_with(dir);
                    all().filter(|(_, name)| is_below(name)).map(|(nth, name)| own(nth, name)).sum()
                };
                ["", "a", "a/b", "c"].map(|dir| (dir.to_owned(), Some(below(dir)), 0)).into()
            };
            let frag = filefrag(&dir, &root, files.keys());
            assert_eq!(found, sum(&|nth, _| frag[nth]), "{kind}, {seed}");
            // Btrfs marks whole extents, which several changes may have filled.
            if kind == "xfs" {
                let mut uses: HashMap<usize, u32> = HashMap::new();
                files.values().flatten().for_each(|block| *uses.entry(*block).or_default() += 1);
                let own = |name: &str| files[name].iter().filter(|block| uses[block] == 1).count();
                assert_eq!(found, sum(&|_, name| (own(name) * BLOCK) as u64), "{seed}");
            }
        }
    }
}

#[test]
fn a_failed_flush_is_an_error() {
    needs!("strace");
    let Some(disk) = Mounted::new("xfs") else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    let file = write(root.join("a/x"), 1, 8192);
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=syncfs:error=EIO"];
    let du = |path: &Path| {
        let du = dir.ftk(["du", "--exclusive", "--json", "-s"]).arg(path);
        du.under(&dir, strace).run().status(2).stderr_has(&format!("cannot read '{}'", path.display()))
    };
    assert_eq!(rows_of_one(&du(&root)), (Some(8192), 0));
    assert_eq!(rows_of_one(&du(&file)), (None, 1));
}

/// Extents in thousands of pieces are all added up.
#[test]
fn many_extents() {
    let Some(disk) = Mounted::new("xfs") else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    fs::create_dir(&root).unwrap();
    let file = File::create(root.join("file")).unwrap();
    file.set_len(16_384_000).unwrap();
    for nth in 0..2_000 {
        file.write_all_at(&[1; 4096], nth * 8192).unwrap();
    }
    expect(&dir, &root, &[("", Some(2_000 * 4096), 0)]);
    let [a, b] = [File::open(root.join("file")).unwrap(), File::create(root.join("half")).unwrap()];
    rustix::fs::ioctl_ficlone(&b, &a).unwrap();
    b.set_len(8_192_000).unwrap();
    expect(&dir, &root, &[("", Some(1_000 * 4096), 0)]);
}

/// A file with several names is freed with the last of them.
#[test]
fn hard_links() {
    let Some(disk) = Mounted::new("xfs") else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    let file = write(root.join("a/b/x"), 1, 8192);
    write(root.join("a/c/y"), 2, 4096);
    fs::create_dir(root.join("d")).unwrap();
    fs::hard_link(&file, root.join("a/c/x")).unwrap();
    expect(
        &dir,
        &root,
        &[
            ("", Some(12_288), 0),
            ("a", Some(12_288), 0),
            ("a/b", Some(0), 0),
            ("a/c", Some(4096), 0),
            ("d", Some(0), 0),
        ],
    );
    fs::hard_link(&file, root.join("d/x")).unwrap();
    fs::hard_link(&file, root.join("a/b/x2")).unwrap();
    let rows = exclusive(&dir, &root);
    assert_eq!([&rows[0], &rows[1]].map(|row| row.1), [Some(12_288), Some(4096)]);
    // One name is elsewhere.
    fs::hard_link(&file, disk.path("x")).unwrap();
    assert_eq!(exclusive(&dir, &root)[0].1, Some(4096));
    let run = dir.ftk(["du", "--exclusive", "--json", "-s"]).arg(root.join("a")).run().status(0);
    assert_eq!(rows_of_one(&run), (Some(4096), 0));
}

fn rows_of_one(run: &Run) -> (Option<u64>, u64) {
    let line: Value = serde_json::from_str(run.text()).unwrap();
    (line["exclusive_bytes"].as_u64(), line["exclusive_unknown_files"].as_u64().unwrap())
}

#[test]
fn snapshots_share_everything() {
    let Some(disk) = Mounted::new("btrfs") else { return };
    let dir = Dir::new();
    let btrfs = |args: &[&str], paths: &[PathBuf]| {
        dir.ftk([] as [&str; 0])
            .instead(&dir, ["btrfs", "-q", "subvolume"])
            .args(args)
            .args(paths)
            .run()
            .status(0)
    };
    let sub = disk.path("sub");
    btrfs(&["create"], std::slice::from_ref(&sub));
    write(sub.join("a/x"), 1, MIB as usize);
    rustix::fs::sync();
    expect(&dir, &sub, &[("", Some(MIB), 0), ("a", Some(MIB), 0)]);
    btrfs(&["snapshot", "-r"], &[sub.clone(), disk.path("snapshot")]);
    expect(&dir, &sub, &[("", Some(0), 0), ("a", Some(0), 0)]);
    btrfs(&["delete"], &[disk.path("snapshot")]);
    btrfs(&["sync"], &[disk.path("")]);
    expect(&dir, &sub, &[("", Some(MIB), 0), ("a", Some(MIB), 0)]);
}

/// Btrfs does not mark blocks that only parts of one file share.
#[test]
fn a_file_that_shares_with_itself() {
    for kind in ["btrfs", "xfs"] {
        let Some(disk) = Mounted::new(kind) else { return };
        let dir = Dir::new();
        let root = disk.path("t");
        let path = write(root.join("x"), 1, MIB as usize);
        let half = dir.ftk([] as [&str; 0]).instead(&dir, ["cp", "--reflink=always"]);
        half.arg(&path).arg(root.join("y")).run().status(0);
        fs::remove_file(root.join("y")).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        clone_range(&file, 0, MIB, MIB);
        let found = exclusive(&dir, &root)[0].1.unwrap();
        let before = disk.used();
        drop(file);
        fs::remove_file(path).unwrap();
        assert!(found <= MIB, "{kind}: {found}");
        // XFS frees blocks in the background.
        wait_until(|| before.saturating_sub(disk.used()) >= found);
    }
}

/// Lets a file have the same blocks at two offsets.
fn clone_range(file: &File, from: u64, len: u64, to: u64) {
    let command = format!("reflink /dev/stdin {from} {to} {len}");
    let run = std::process::Command::new("xfs_io")
        .args(["-c", &command, "/dev/stdout"])
        .stdin(file.try_clone().unwrap())
        .stdout(file.try_clone().unwrap())
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
}

#[test]
fn what_is_not_known() {
    let dir = Dir::new();
    // A file system that cannot say.
    if let Some(disk) = Mounted::new("ext4") {
        let root = disk.path("t");
        write(root.join("a/x"), 1, 5000);
        File::create(root.join("empty")).unwrap();
        expect(&dir, &root, &[("", None, 1), ("a", None, 1)]);
        let run = dir.ftk(["du", "--exclusive"]).arg(&root).run().status(0);
        let shown = root.display();
        run.stdout(format!("?\t1\t{shown}\n?\t1\t{shown}/a\n")).stderr_has(" exclusive, 1 file unknown");
    }
    // Small files are stored with their metadata, and compressed ones use less space than their extents say.
    if let Some(disk) = Mounted::new("btrfs") {
        let root = disk.path("t");
        write(root.join("inline/x"), 1, 500);
        write(root.join("plain/x"), 2, 8192);
        fs::create_dir(root.join("zip")).unwrap();
        let property = dir.ftk([] as [&str; 0]).instead(&dir, ["btrfs", "property", "set"]);
        property.arg(root.join("zip")).args(["compression", "zstd"]).run().status(0);
        fs::write(root.join("zip/x"), vec![b'x'; 300_000]).unwrap();
        expect(
            &dir,
            &root,
            &[("", Some(8192), 2), ("inline", None, 1), ("plain", Some(8192), 0), ("zip", None, 1)],
        );
    }
}

#[test]
fn files_that_cannot_be_opened_are_unknown_and_reported() {
    let Some(disk) = Mounted::new("xfs") else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    write(root.join("a/x"), 1, 8192);
    let secret = write(root.join("a/secret"), 2, 8192);
    std::os::unix::fs::chown(&secret, Some(0), Some(0)).unwrap();
    fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    fs::set_permissions(disk.path(""), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = dir.ftk(["du", "--exclusive", "--json", "-s"]).arg(&root).unprivileged(&dir).run().status(2);
    let run = run.stderr_has("cannot open '").stderr_has("a/secret': permission denied");
    assert_eq!(rows_of_one(&run), (Some(8192), 1));
}

#[test]
fn a_tree_on_a_terminal() {
    needs!("script");
    let Some(disk) = Mounted::new("xfs") else { return };
    let dir = Dir::new();
    let root = disk.path("t");
    write(root.join("own/a"), 1, MIB as usize);
    let shared = write(root.join("shared/a"), 3, MIB as usize);
    clone(&shared, &root.join("own/b"));
    let shell = format!("{} du --exclusive {} 2>/dev/null", env!("CARGO_BIN_EXE_ftk"), root.display());
    let run = dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &shell, "/dev/null"]).run().status(0);
    let root = root.display();
    let expected = format!(
        "   1.0 MB  100 %  {root}\r\n\
         \x20  1.0 MB  100 %  ├─ own                                        2\r\n\
         \x20     0 B    0 %  └─ shared                                     1\r\n"
    );
    assert_eq!(run.text(), expected);
}

#[test]
fn refused_requests() {
    let dir = Dir::new();
    for (args, why) in [
        (&["-L"][..], "--exclusive cannot be used with --follow"),
        (&["-a"], "cannot be used with"),
        (&["--apparent-size"], "cannot be used with"),
        (&["--from", "x"], "cannot be used with"),
        (&["--format", "ncdu"], "cannot be used with"),
    ] {
        dir.ftk(["du", "--exclusive"]).args(args).run().status(2).stdout("").stderr_has(why);
    }
}
