//! Every choice of workers and reader gives the same rows, and each is the digest of its file.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ftk_hash::{Algorithm, Digest, Platform};
use ftk_inventory::{Collect, FileNo, Inventory, Keep};
use ftk_process::{Env, Progress, Report, Rows, State, Watch, Work, process};
use ftk_read::Failure;
use ftk_sched::{Backend, Constants, Limits, Model, Stop, Threads};
use ftk_walk::Walker;

fn inventory(root: &Path) -> Inventory {
    let root = std::ffi::CString::new(root.as_os_str().as_bytes()).unwrap();
    let parts = Walker::new([root]).threads(1).run(|worker| Collect::new(worker, Keep::Files));
    Inventory::merge(parts).unwrap()
}

/// Sizes around every buffer and threshold, over some directories: lane and stream buffers, the bound of
/// large files, and that of files shared by all workers.
fn tree(files: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let sizes = [0, 1, 100, 4096, 65_535, 65_536, 65_537, 200_000, (1 << 20) + 1, 3 << 20, (17 << 20) + 5];
    for i in 0..files {
        let dir = root.path().join(format!("d{}", i / 40));
        fs::create_dir_all(&dir).unwrap();
        // Large ones are rare, or the test is slow.
        let size = sizes[if i % 50 < sizes.len() { i % 50 } else { i % 5 }];
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7 + i * 31 + at / 251) as u8).collect();
        fs::write(dir.join(format!("f{i}")), bytes).unwrap();
    }
    root
}

fn run(
    inventory: &Inventory,
    algorithms: &[Algorithm],
    threads: Threads,
    io: Option<Backend>,
) -> (Rows, Report) {
    let mut rows = Rows::new(inventory.files(), algorithms);
    let work = Work { inventory, algorithms, platform: Platform::detect() };
    let model = Model::new(Constants::default());
    let limits = Limits { threads, backend: io, ring: true, cpus: 4 };
    let env = Env { model: &model, limits, memory: 64 << 20, stop: &Stop::new(), watch: None };
    let report = process(&work, &mut rows, &env);
    (rows, report)
}

fn path(inventory: &Inventory, file: u32) -> Vec<u8> {
    let mut path = Vec::new();
    inventory.push_path(FileNo(file), &mut path);
    path
}

#[test]
fn rows_are_the_digests_of_their_files_whatever_was_chosen() {
    for files in [0, 1, 31, 32, 33, 130] {
        let root = tree(files);
        let inventory = inventory(root.path());
        for algorithms in [
            &[Algorithm::Sha256][..],
            &[Algorithm::Blake3],
            &[Algorithm::Xxh128],
            // Of one lane, of sixteen and of eight.
            &[Algorithm::Blake3, Algorithm::Sha256, Algorithm::Sha512],
        ] {
            let expected: Vec<Vec<_>> = (0..inventory.files())
                .map(|file| {
                    let path = path(&inventory, file);
                    let bytes = fs::read(std::ffi::OsStr::from_bytes(&path)).unwrap();
                    algorithms.iter().map(|it| it.hash_one(Platform::detect(), &bytes)).collect()
                })
                .collect();
            for threads in [Threads::Auto, Threads::Fixed(1), Threads::Fixed(2), Threads::Fixed(9)] {
                // A ring that cannot be made here means the plain reader, and the same rows.
                for io in [None, Some(Backend::Sync), Some(Backend::Uring)] {
                    let (rows, report) = run(&inventory, algorithms, threads, io);
                    assert!(report.failed.is_empty());
                    assert_eq!(report.done.files, files as u64);
                    for (file, digests) in (0..).zip(&expected) {
                        let expected = digests.iter().map(Digest::as_bytes);
                        assert!(rows.digests(file).unwrap().eq(expected), "{threads:?} {io:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_read_fails_alone() {
    let root = tree(60);
    let inventory = inventory(root.path());
    let victims = [root.path().join("d0/f3"), root.path().join("d1/f50")];
    fs::remove_file(&victims[0]).unwrap();
    fs::remove_file(&victims[1]).unwrap();
    symlink("f51", &victims[1]).unwrap();
    for threads in [1, 4] {
        let (rows, report) = run(&inventory, &[Algorithm::Sha1], Threads::Fixed(threads), None);
        assert_eq!(report.failed.len(), 2);
        for failed in &report.failed {
            assert_eq!((rows.state(failed.file.0), rows.digest(failed.file.0, 0)), (State::Failed, None));
            let is_gone = path(&inventory, failed.file.0).ends_with(b"/f3");
            assert_eq!(is_gone, matches!(failed.failure, Failure::Io { op: "open", .. }));
            assert_eq!(!is_gone, matches!(failed.failure, Failure::NotRegular));
        }
        assert_eq!((0..60).filter(|&file| rows.state(file) == State::Ok).count(), 58);
    }
}

#[test]
fn a_directory_that_was_swapped_gives_no_digest() {
    let root = tree(80);
    let inventory = inventory(root.path());
    fs::rename(root.path().join("d0"), root.path().join("old")).unwrap();
    fs::rename(root.path().join("d1"), root.path().join("d0")).unwrap();
    let (rows, report) = run(&inventory, &[Algorithm::Sha1], Threads::Fixed(2), None);
    assert_eq!(report.failed.len(), 80);
    assert!((0..80).all(|file| rows.digest(file, 0).is_none()));
}

#[test]
fn a_stopped_run_leaves_rows_pending() {
    let root = tree(40);
    let inventory = inventory(root.path());
    let mut rows = Rows::new(inventory.files(), &[Algorithm::Sha1]);
    let work = Work { inventory: &inventory, algorithms: &[Algorithm::Sha1], platform: Platform::detect() };
    let (model, stop) = (Model::new(Constants::default()), Stop::new());
    stop.raise();
    let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: false, cpus: 2 };
    let env = Env { model: &model, limits, memory: 1 << 20, stop: &stop, watch: None };
    let report = process(&work, &mut rows, &env);
    assert_eq!((report.done.files, report.failed.len()), (0, 0));
    assert!((0..40).all(|file| rows.is_pending(file) && rows.digest(file, 0).is_none()));
}

#[test]
fn progress_is_shown_and_never_runs_ahead() {
    let root = tree(130);
    let inventory = inventory(root.path());
    let mut rows = Rows::new(inventory.files(), &[Algorithm::Md5]);
    let work = Work { inventory: &inventory, algorithms: &[Algorithm::Md5], platform: Platform::detect() };
    let model = Model::new(Constants::default());
    let (calls, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let show = |progress: Progress| {
        calls.fetch_add(1, Ordering::Relaxed);
        most.fetch_max(progress.files, Ordering::Relaxed);
    };
    let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: false, cpus: 2 };
    let watch = Some(Watch { delay: Duration::ZERO, tick: Duration::from_millis(1), show: &show });
    let env = Env { model: &model, limits, memory: 1 << 20, stop: &Stop::new(), watch };
    let report = process(&work, &mut rows, &env);
    assert_eq!(report.done.files, 130);
    assert!(calls.into_inner() > 0 && most.into_inner() <= 130);
}
