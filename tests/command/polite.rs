//! `--polite` and `--limit-rate`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, fadvise};

use crate::harness::{Dir, Ftk, Mounted, Run, bytes, is_root, needs, skip, uring};

/// A tree of files that are cached, not cached, or cached in part.
struct Tree {
    root: PathBuf,
}

const SIZES: [usize; 6] = [1, 5000, 70_000, 300_000, 3_000_000, 40_000_000];

impl Tree {
    /// Writes the tree to the disk. Returns `None` and reports it if the file system keeps files in memory.
    fn new(root: PathBuf) -> Option<Self> {
        fs::create_dir_all(&root).unwrap();
        for (seed, size) in SIZES.into_iter().enumerate() {
            for (nth, name) in ["cold", "hot", "part"].into_iter().enumerate() {
                let path = root.join(format!("{name}{size}"));
                // The cold and the hot files are pairs that differ only at the end, and `part` is other content.
                let mut content = bytes((10 * seed + nth / 2) as u64, size);
                *content.last_mut().unwrap() = nth as u8;
                fs::write(&path, content).unwrap();
                File::open(path).unwrap().sync_all().unwrap();
            }
        }
        let tree = Self { root };
        tree.prepare();
        let pages = tree.pages();
        if pages.iter().any(|(name, pages)| name.starts_with("cold") && *pages > 0) {
            skip("the files cannot be dropped from the page cache");
            return None;
        }
        let hot = pages.iter().filter(|(name, _)| name.starts_with("hot")).all(|(_, pages)| *pages > 0);
        assert!(hot, "{pages:?}");
        Some(tree)
    }

    /// Loads the pages that are to be cached, and drops all others.
    fn prepare(&self) {
        for size in SIZES {
            for name in ["cold", "hot", "part"] {
                let path = self.root.join(format!("{name}{size}"));
                let file = File::open(&path).unwrap();
                fadvise(&file, 0, None, Advice::DontNeed).unwrap();
                match name {
                    "hot" => _ = fs::read(&path).unwrap(),
                    "part" => {
                        fadvise(&file, 0, None, Advice::Random).unwrap(); // no read-ahead
                        file.read_at(&mut [0; 10_000], size as u64 / 2).unwrap();
                    }
                    _ => {}
                }
            }
        }
    }

    /// The number of cached pages of every file.
    fn pages(&self) -> Vec<(String, u64)> {
        let mut names: Vec<_> = fs::read_dir(&self.root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.into_iter().map(|name| (name.clone(), cached_pages(&self.root.join(name)))).collect()
    }

    /// Checks that a command leaves the page cache as it was. The machine may need memory for others at any
    /// time and drop pages, so one of several attempts suffices.
    #[track_caller]
    fn stays_cached(&self, mut command: impl FnMut() -> Ftk) -> Run {
        let mut last = None;
        for _ in 0..4 {
            self.prepare();
            let before = self.pages();
            let run = command().run();
            let after = self.pages();
            if before == after {
                return run;
            }
            last = Some((run, before, after));
        }
        let (run, before, after) = last.unwrap();
        let changed: Vec<_> = before.iter().zip(&after).filter(|(before, after)| before != after).collect();
        run.check(false, &format!("cached pages before and after: {changed:?}"));
        unreachable!()
    }
}

fn cached_pages(path: &Path) -> u64 {
    let output = Command::new("fincore").args(["--noheadings", "--output", "PAGES"]).arg(path).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().parse().unwrap_or_else(|_| panic!("{text:?} {:?}", String::from_utf8(output.stderr)))
}

fn readers() -> Vec<&'static str> {
    if uring() { vec!["sync", "uring"] } else { vec!["sync"] }
}

/// Runs the commands that read files, and compares their output with that of runs without `--polite`.
fn all_commands_leave_the_cache_alone(dir: &Dir, tree: &Tree, method: &str) {
    let path = |name: &str| tree.root.join(name).into_os_string().into_string().unwrap();
    let (root, list) = (path(""), dir.aside("list").into_os_string().into_string().unwrap());
    let manifest = dir.aside("manifest").into_os_string().into_string().unwrap();
    dir.ftk(["hash", "-o", &list, &root]).run().status(0);
    dir.ftk(["manifest", "create", "-o", &manifest, &root]).run().status(0);
    let [cold, hot, part] = ["cold40000000", "hot40000000", "part40000000"].map(path);
    let commands: [&[&str]; 9] = [
        &["hash", "-a", "sha256", &root],
        &["hash", "-a", "blake3", "-j", "4", &root],
        &["hash", "-c", &list],
        &["hash", "--lines", "-a", "xxh3", &cold],
        &["dup", "--format", "fdupes", &root],
        &["manifest", "verify", &root, &manifest],
        &["cmp", "-s", &cold, &hot],
        &["cmp", "-j", "4", "--ranges", &cold, &hot],
        &["cmp", &cold, &part],
    ];
    for args in commands {
        let plain = dir.ftk(args).run();
        for io in readers() {
            let polite = || dir.ftk(args).args(["--polite", "-v", "--io", io]);
            let run = tree.stays_cached(polite).status(plain.code()).stdout(&plain.out);
            run.stderr_has("polite  idle I/O class, priority 19; pages dropped by ").stderr_has(method);
        }
    }
    let stdin = || dir.ftk(["hash", "--polite"]).stdin_from(File::open(path("cold3000000")).unwrap());
    tree.stays_cached(stdin).status(0);
}

#[test]
fn polite_commands_leave_the_page_cache_as_it_was() {
    needs!("fincore");
    let dir = Dir::on_disk();
    let Some(tree) = Tree::new(dir.path("t")) else { return };
    all_commands_leave_the_cache_alone(&dir, &tree, "pages dropped by ");
}

/// Btrfs has no `RWF_DONTCACHE`, at least until Linux 6.18.
#[test]
fn polite_commands_leave_the_page_cache_as_it_was_on_btrfs() {
    needs!("fincore");
    let (dir, Some(mounted)) = (Dir::on_disk(), Mounted::new("btrfs")) else { return };
    let Some(tree) = Tree::new(mounted.path("t")) else { return };
    all_commands_leave_the_cache_alone(&dir, &tree, "pages dropped by ");
}

/// `cachestat` on an overlay reports that nothing is cached, but `posix_fadvise` drops the pages of the file
/// below.
#[test]
fn pages_that_were_cached_stay_on_an_overlay() {
    needs!("fincore");
    let dir = Dir::on_disk();
    fs::create_dir_all(dir.aside("lower/t")).unwrap();
    if Tree::new(dir.aside("lower/t")).is_none() {
        return;
    }
    let Some(mounted) = Mounted::overlay(&dir.aside("")) else { return };
    let tree = Tree { root: mounted.path("t") };
    for io in readers() {
        let run = tree.stays_cached(|| dir.ftk(["hash", "-v", "--polite", "--io", io]).arg(&tree.root));
        run.status(0).stderr_has("by mincore and posix_fadvise (overlay)");
    }
}

/// The kernel does not say which pages of other users' files are cached.
#[test]
fn cached_pages_of_other_users_files_stay() {
    needs!("fincore");
    if !is_root() {
        return skip("only root creates files of other users");
    }
    let dir = Dir::on_disk();
    let mounted = Mounted::new("btrfs");
    let roots = [Some(dir.path("t")), mounted.as_ref().map(|mounted| mounted.path("t"))];
    for root in roots.into_iter().flatten() {
        let Some(tree) = Tree::new(root) else { continue };
        let plain = dir.ftk(["hash"]).arg(&tree.root).run().status(0);
        let mut was_kept = false;
        for _ in 0..4 {
            tree.prepare();
            let before = tree.pages();
            let run = dir.ftk(["hash", "--polite"]).arg(&tree.root).unprivileged(&dir).run();
            run.status(0).stdout(&plain.out);
            was_kept |= before.iter().zip(tree.pages()).all(|(before, after)| after.1 >= before.1);
        }
        assert!(was_kept, "{}", tree.root.display());
    }
}

/// Kernels that lack a call, or containers that forbid it.
#[test]
fn polite_works_without_the_calls_it_prefers() {
    needs!("strace", "fincore");
    let dir = Dir::on_disk();
    let Some(tree) = Tree::new(dir.path("t")) else { return };
    let plain = dir.ftk(["hash", "t"]).run().status(0);
    for (call, leaves_the_cache_alone) in [
        ("preadv2:error=EOPNOTSUPP:when=1", true), // the first call asks for the method
        ("preadv2:error=EOPNOTSUPP:when=2", true), // a file that differs from its file system
        ("preadv2:error=EINVAL:when=1", true),
        ("mincore:error=ENOSYS", false),
        ("fadvise64:error=ENOSYS", false),
        ("ioprio_set:error=EPERM", true),
    ] {
        let inject = format!("inject={call}");
        let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &inject];
        let run = || dir.ftk(["hash", "--polite", "--io", "sync", "-j", "1", "t"]).under(&dir, strace);
        let run = if leaves_the_cache_alone { tree.stays_cached(run) } else { run().run() };
        let run = run.status(0).stdout(&plain.out);
        let warning = "ftk: --polite: cannot set the I/O class or the priority: operation not permitted\n";
        run.check(run.err.contains(warning) == call.starts_with("ioprio"), call);
    }
}

#[test]
fn class_and_priority_are_set_before_threads_start() {
    needs!("strace");
    let dir = Dir::on_disk();
    for nth in 0..100 {
        dir.file(format!("t/{nth}"), &bytes(nth, 30_000));
    }
    let log = dir.aside("log");
    let calls = "trace=ioprio_set,setpriority,clone,clone3";
    let strace = ["strace", "-f", "-qq", "-e", calls, "-o", log.to_str().unwrap()];
    dir.ftk(["hash", "--polite", "-j", "3", "t"]).under(&dir, strace).run().status(0);
    let log = fs::read_to_string(log).unwrap();
    let at = |what: &str| log.find(what).unwrap_or_else(|| panic!("no {what} in {log}"));
    assert!(at("IOPRIO_CLASS_IDLE") < at("clone"), "{log}");
    assert!(at("setpriority(PRIO_PROCESS, 0, 19)") < at("clone"), "{log}");
}

#[test]
fn a_polite_prune_drops_the_pages_of_the_files_it_proves() {
    needs!("fincore");
    let dir = Dir::on_disk();
    let Some(_) = Tree::new(dir.path("t")) else { return };
    for name in ["a", "b"] {
        dir.file(format!("d/{name}"), &bytes(1, 5_000_000));
        let file = File::open(dir.path("d").join(name)).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
    dir.ftk(["dup", "prune", "--polite", "--yes", "--action", "hardlink", "d"]).run().status(0);
    assert_eq!(cached_pages(&dir.path("d/a")), 0);
    assert_eq!(fs::read(dir.path("d/b")).unwrap(), bytes(1, 5_000_000));
}

/// Measures only that a run is not faster than its limit.
#[test]
fn a_limited_run_takes_as_long_as_its_bytes_need() {
    let dir = Dir::on_disk();
    for nth in 0..20 {
        dir.file(format!("t/{nth}"), &bytes(nth, 10_000));
    }
    dir.file("big", &bytes(99, 200_000)).file("same", &bytes(99, 200_000));
    // 200,000 bytes at this rate need 0.4 s; a tenth of a second may be saved up, and the last read is not
    // waited for.
    let least = Duration::from_millis(250);
    let limited = |args: &[&str]| {
        let plain = dir.ftk(args).stdin_from(File::open(dir.path("big")).unwrap()).run();
        let start = Instant::now();
        let run =
            dir.ftk(args).arg("--limit-rate=500kB/s").stdin_from(File::open(dir.path("big")).unwrap()).run();
        run.check(start.elapsed() >= least, &format!("{:?}", start.elapsed()));
        run.status(plain.code()).stdout(&plain.out);
    };
    for io in readers() {
        for threads in ["1", "2", "8"] {
            limited(&["hash", "--io", io, "-j", threads, "t"]);
        }
        limited(&["hash", "--io", io, "-a", "blake3", "big"]);
    }
    limited(&["hash", "-"]);
    limited(&["hash", "--lines", "-a", "xxh3", "big"]);
    limited(&["cmp", "big", "same"]);
    limited(&["cmp", "-", "same"]);
    limited(&["dup", "--format", "fdupes", "big", "same"]);
}

#[test]
fn rates_that_make_no_sense_are_refused() {
    let dir = Dir::on_disk();
    dir.file("x", b"1");
    for rate in ["", "0", "0/s", "-5", "fast", "1M/min", "1KB"] {
        dir.ftk(["hash", "x"])
            .arg(format!("--limit-rate={rate}"))
            .run()
            .status(2)
            .stdout("")
            .stderr_has("--limit-rate");
    }
}

#[test]
fn a_signal_ends_a_run_that_waits_for_its_limit() {
    use crate::harness::{has_read, signal, wait_until};
    use rustix::process::Signal;

    let dir = Dir::on_disk();
    dir.file("x", &bytes(1, 100_000));
    let mut child = dir.ftk(["hash", "--limit-rate", "1", "x"]).spawn();
    // The second read waits for an hour.
    wait_until(|| has_read(&child) >= 4096);
    signal(&child, Signal::INT);
    assert!(!child.wait().unwrap().success());
}
