//! Digests of earlier runs.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use ftk_cache::{Cache, Stored};
use ftk_file::FsId;
use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Inventory, Keep};
use ftk_process::{Report, Resources, Rows, State, Work, process};
use ftk_read::Span;
use ftk_sched::{Backend, Constants, Limits, Model, Stop, Threads};

use crate::inventory_of;

/// Creates files of many sizes, and waits until their times are older than a read.
fn tree() -> tempfile::TempDir {
    // The temporary directory may be in memory, where nothing is remembered.
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (nth, size) in [0, 1, 5000, 70_000, (1 << 20) + 1, (17 << 20) + 5].into_iter().enumerate() {
        let dir = root.path().join(format!("dir{}", nth % 2));
        fs::create_dir_all(&dir).unwrap();
        let bytes: Vec<u8> = (0..size).map(|at: usize| (at * 7 + nth + at / 251) as u8).collect();
        fs::write(dir.join(format!("file{nth}")), bytes).unwrap();
    }
    sleep(Duration::from_millis(50));
    root
}

struct Run {
    digests: Vec<Option<Vec<u8>>>,
    report: Report,
    stored: Stored,
}

fn run(inventory: &Inventory, store: &Path, algorithms: &[Algorithm], span: Span, io: Backend) -> Run {
    let platform = Platform::detect();
    let fixed_sizes = inventory.has_sizes();
    let work = Work { inventory, algorithms, platform, only: None, span, fixed_sizes, prefix: None };
    let mut rows = Rows::new(work.files(), algorithms);
    let (model, stop) = (Model::new(Constants::default()), Stop::new());
    let limits = Limits { threads: Threads::Fixed(2), backend: Some(io), ring: true, cpus: 2 };
    let cache = Cache::open(&store.join("store/digests")).unwrap();
    let resources =
        Resources { model: &model, limits, memory: 64 << 20, stop: &stop, watch: None, cache: Some(&cache) };
    let report = process(&work, &mut rows, &resources);
    assert!(report.unusable.is_none() && report.done.files == u64::from(work.files()), "{report:?}");
    let digest = |row| rows.digests(row).map(|digests| digests.flatten().copied().collect());
    let digests = (0..work.files()).map(digest).collect();
    let failed = (0..work.files()).filter(|&row| rows.state(row) != State::Ok).count();
    assert_eq!(failed, report.failed.len());
    Run { digests, report, stored: cache.finish() }
}

/// The number of `files` that can be remembered on this file system.
fn remembered(root: &Path, files: u64) -> u64 {
    let fs = FsId::of(fs::File::open(root).unwrap()).unwrap();
    if fs.is_some() { files } else { 0 }
}

#[test]
fn known_files_are_not_opened() {
    for io in [Backend::Sync, Backend::Uring] {
        for algorithms in [&[Algorithm::Blake3][..], &[Algorithm::Sha256, Algorithm::Md5]] {
            let (root, store) = (tree(), tempfile::tempdir().unwrap());
            let inventory = inventory_of(root.path(), Keep::Times);
            let all = remembered(root.path(), 6);
            let first = run(&inventory, store.path(), algorithms, Span::Whole, io);
            assert_eq!((first.report.reused, first.stored.files), (0, all), "{algorithms:?}");
            if all > 0 {
                // The walk is over, so only an open could notice this. A file that is not there is not reused: the caller
                // could not read it.
                (0..6).for_each(|nth| {
                    let path = root.path().join(format!("dir{}/file{nth}", nth % 2));
                    fs::remove_file(&path).unwrap();
                    fs::write(path, "other content").unwrap();
                });
            }
            let second = run(&inventory, store.path(), algorithms, Span::Whole, io);
            assert_eq!((second.report.reused, second.stored.files), (all, 0));
            assert_eq!(second.digests, first.digests);
            assert!(first.digests.iter().all(Option::is_some) && second.report.failed.is_empty());
        }
    }
}

/// A table without times has the inode numbers of the listing, and the look-up asks for the times.
#[test]
fn files_are_looked_up_with_and_without_times_in_the_table() {
    for keep in
        [Keep::Files, Keep::Sizes, Keep::Times, Keep::Stats { files: false }, Keep::Stats { files: true }]
    {
        let (root, store) = (tree(), tempfile::tempdir().unwrap());
        let algorithms = &[Algorithm::Xxh128];
        let inventory = inventory_of(root.path(), keep);
        let first = run(&inventory, store.path(), algorithms, Span::Whole, Backend::Sync);
        assert_eq!((first.report.reused, first.stored.files), (0, remembered(root.path(), 6)), "{keep:?}");
        fs::remove_file(root.path().join("dir0/file4")).unwrap();
        fs::write(root.path().join("dir0/file2"), [3; 5000]).unwrap();
        sleep(Duration::from_millis(50));
        let inventory = inventory_of(root.path(), keep);
        let second = run(&inventory, store.path(), algorithms, Span::Whole, Backend::Sync);
        assert_eq!(second.report.reused, remembered(root.path(), 4), "{keep:?}");
        assert!(second.digests.iter().all(Option::is_some) && second.digests.len() == 5);
    }
}

#[test]
fn only_changed_files_are_read_again() {
    let (root, store) = (tree(), tempfile::tempdir().unwrap());
    let algorithms = &[Algorithm::Xxh128];
    let inventory = inventory_of(root.path(), Keep::Times);
    run(&inventory, store.path(), algorithms, Span::Whole, Backend::Sync);
    fs::write(root.path().join("dir0/file2"), [3; 5000]).unwrap();
    sleep(Duration::from_millis(50));
    let inventory = inventory_of(root.path(), Keep::Times);
    let second = run(&inventory, store.path(), algorithms, Span::Whole, Backend::Sync);
    assert_eq!(second.report.reused, remembered(root.path(), 5));
    assert_eq!(second.stored.files, remembered(root.path(), 1));
    let digest = algorithms[0].hash_one(&[3; 5000]);
    assert!(second.digests.contains(&Some(digest.as_bytes().to_vec())));
}

#[test]
fn digests_of_parts_are_kept_apart_from_those_of_whole_files() {
    let (root, store) = (tree(), tempfile::tempdir().unwrap());
    let inventory = inventory_of(root.path(), Keep::Times);
    let ends = Span::Sample { whole: 8192, piece: 100, pieces: 2 };
    let runs = [ends, Span::Whole, ends, Span::Whole]
        .map(|span| run(&inventory, store.path(), &[Algorithm::Xxh128], span, Backend::Sync));
    // The digests of the three small files are those of their whole content.
    let reused = [0, 3, 6, 6].map(|files| remembered(root.path(), files));
    assert_eq!(runs.each_ref().map(|run| run.report.reused), reused);
    assert!(runs[0].digests == runs[2].digests && runs[1].digests == runs[3].digests);
    assert_ne!(runs[0].digests, runs[1].digests);
}
