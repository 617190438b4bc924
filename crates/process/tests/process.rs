//! Every choice of workers and reader gives the same rows, and each row is the digest of its file.

#[path = "process/reuse.rs"]
mod reuse;
#[path = "process/sparse.rs"]
mod sparse;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ftk_file::Failure;
use ftk_hash::{Algorithm, Digest, Platform};
use ftk_inventory::{Collect, FileNo, Inventory, Keep};
use ftk_process::{Progress, Report, Resources, Rows, State, Watch, Work, file_system, process};
use ftk_read::Span;
use ftk_sched::{Backend, Constants, Limits, Model, Stop, Threads};
use ftk_walk::Walker;

fn inventory(root: &Path) -> Inventory {
    inventory_of(root, Keep::Files)
}

fn inventory_of(root: &Path, keep: Keep) -> Inventory {
    let parts = Walker::new([root]).threads(1).run(|worker| Collect::new(worker, keep));
    Inventory::merge(parts).unwrap()
}

/// Creates files with sizes around every buffer and threshold, in several directories: lane and stream
/// buffers, and the minimum sizes of large and of shared files.
fn tree(files: usize) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let sizes = [0, 1, 100, 4096, 65_535, 65_536, 65_537, 200_000, (1 << 20) + 1, 3 << 20, (17 << 20) + 5];
    for i in 0..files {
        let dir = root.path().join(format!("d{}", i / 40));
        fs::create_dir_all(&dir).unwrap();
        // Large files are rare, to keep the test fast.
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
    run_work(&all(inventory, algorithms), threads, io)
}

/// Work on all files, read whole.
fn all<'w>(inventory: &'w Inventory, algorithms: &'w [Algorithm]) -> Work<'w> {
    Work {
        inventory,
        algorithms,
        platform: Platform::detect(),
        only: None,
        span: Span::Whole,
        fixed_sizes: inventory.has_sizes(),
        prefix: None,
    }
}

fn run_work(work: &Work<'_>, threads: Threads, io: Option<Backend>) -> (Rows, Report) {
    let mut rows = Rows::with_stats(work.files(), work.algorithms);
    let model = Model::new(Constants::default());
    let limits = Limits { threads, backend: io, ring: true, cpus: 4 };
    let resources =
        Resources { model: &model, limits, memory: 64 << 20, stop: &Stop::new(), watch: None, cache: None };
    let report = process(work, &mut rows, &resources);
    (rows, report)
}

#[test]
fn digests_do_not_depend_on_workers_or_reader() {
    for files in [0, 1, 31, 32, 33, 130] {
        let root = tree(files);
        let inventory = inventory(root.path());
        for algorithms in [
            &[Algorithm::Sha256][..],
            &[Algorithm::Blake3],
            &[Algorithm::Xxh128],
            // Engines with one, sixteen and eight lanes.
            &[Algorithm::Blake3, Algorithm::Sha256, Algorithm::Sha512],
        ] {
            let expected: Vec<Vec<_>> = (0..inventory.files())
                .map(|file| {
                    let path = inventory.path(FileNo(file));
                    let bytes = fs::read(std::ffi::OsStr::from_bytes(&path)).unwrap();
                    algorithms.iter().map(|it| it.hash_one(&bytes)).collect()
                })
                .collect();
            for threads in [Threads::Auto, Threads::Fixed(1), Threads::Fixed(2), Threads::Fixed(9)] {
                // If a ring cannot be created here, the plain reader is used and gives the same rows.
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

/// Returns the bytes that a span reads, computed from its definition.
fn wanted(bytes: &[u8], span: Span) -> Vec<u8> {
    let Span::Sample { whole, piece, pieces } = span else { return bytes.to_vec() };
    let (size, piece, pieces) = (bytes.len(), piece as usize, pieces as usize);
    if size as u64 <= whole || size <= piece * pieces {
        return bytes.to_vec();
    }
    let start = |i| if i == 0 { 0 } else { i * (size - piece) / (pieces - 1) };
    (0..pieces).flat_map(|i| bytes[start(i)..start(i) + piece].to_vec()).collect()
}

/// Checks that teams of all sizes and both readers give the right rows for the work.
fn check(work: &Work<'_>, large: impl Fn(usize) -> bool) {
    let files: Vec<_> = match work.only {
        Some(only) => only.to_vec(),
        None => (0..work.inventory.files()).map(FileNo).collect(),
    };
    let contents: Vec<_> = files
        .iter()
        .map(|&file| fs::read(std::ffi::OsStr::from_bytes(&work.inventory.path(file))).unwrap())
        .collect();
    let expected = contents
        .iter()
        .map(|bytes| work.algorithms[0].hash_one_with(work.platform, &wanted(bytes, work.span)));
    let expected: Vec<_> = expected.collect();
    for threads in [1, 2, 3, 4] {
        for io in [Backend::Sync, Backend::Uring] {
            let (rows, report) = run_work(work, Threads::Fixed(threads), Some(io));
            assert!(report.failed.is_empty());
            assert_eq!(report.done.files, files.len() as u64);
            // A file that would be the tail of the run is not deferred.
            assert!(report.plan.large <= contents.iter().filter(|bytes| large(bytes.len())).count());
            for ((row, &file), digest) in (0..).zip(&files).zip(&expected) {
                assert_eq!(rows.digest(row, 0), Some(digest.as_bytes()), "{threads} {io:?} {:?}", work.span);
                let metadata = fs::metadata(std::ffi::OsStr::from_bytes(&work.inventory.path(file))).unwrap();
                let stat = rows.stat(row).unwrap();
                assert_eq!(
                    (stat.dev, stat.ino, stat.nlink, stat.size, stat.uid, stat.mode),
                    (
                        metadata.dev(),
                        metadata.ino(),
                        metadata.nlink(),
                        metadata.size(),
                        metadata.uid(),
                        metadata.mode() & 0o7777
                    ),
                );
                let mtime_ns =
                    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
                assert_eq!(stat.mtime_ns, mtime_ns);
                let born = metadata.created().ok();
                let born =
                    born.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i128);
                assert_eq!(stat.birth_ns, born);
            }
        }
    }
}

#[test]
fn only_the_wanted_files_are_processed() {
    let root = tree(130);
    let inventory = inventory(root.path());
    let some =
        |takes: &dyn Fn(u32) -> bool| (0..130).filter(|&file| takes(file)).map(FileNo).collect::<Vec<_>>();
    let subsets = [
        some(&|_| false),
        some(&|file| file == 0),
        some(&|file| file == 129),
        some(&|file| file % 3 == 1),
        some(&|file| file % 50 > 6),
        some(&|file| file * 7_919 % 31 < 12),
        some(&|file| !(40..100).contains(&file)),
        some(&|_| true),
    ];
    for only in &subsets {
        for algorithms in [[Algorithm::Blake3], [Algorithm::Xxh128]] {
            let work = Work { only: Some(only), ..all(&inventory, &algorithms) };
            assert_eq!(work.files() as usize, only.len());
            check(&work, |size| size > 1 << 20);
        }
    }
}

#[test]
#[should_panic(expected = "not in ascending order")]
fn files_out_of_order_are_refused() {
    let root = tree(3);
    let inventory = inventory(root.path());
    let work = Work { only: Some(&[FileNo(1), FileNo(0)]), ..all(&inventory, &[Algorithm::Md5]) };
    run_work(&work, Threads::Fixed(1), None);
}

#[test]
fn sampled_pieces_are_hashed_for_files_of_any_size() {
    let root = tree(110);
    let inventory = inventory_of(root.path(), Keep::Sizes);
    let odd: Vec<_> = (0..110).filter(|file| file % 2 == 1).map(FileNo).collect();
    for (whole, piece, pieces) in [
        (0, 1, 1),
        (0, 100, 1),
        (65_536, 16_384, 2),
        (65_535, 16_384, 4),
        (0, 65_536, 1),
        // More pieces than fit in one buffer.
        (100_000, 16_384, 11),
        // Large files that are read whole are deferred as usual.
        (4 << 20, 4_096, 2),
    ] {
        let span = Span::Sample { whole, piece, pieces };
        for only in [None, Some(&odd[..])] {
            let work = Work { only, span, ..all(&inventory, &[Algorithm::Blake3]) };
            check(&work, |size| size > 1 << 20 && size as u64 <= whole);
        }
    }
}

#[test]
fn a_file_whose_size_differs_from_the_walk_has_changed() {
    let root = tree(60);
    let inventory = inventory_of(root.path(), Keep::Sizes);
    let victim = |file: FileNo| inventory.size(inventory.dir_of(file), file) % 3 == 1 || file.0 == 8;
    for file in (0..60).map(FileNo).filter(|&file| victim(file)) {
        let path = inventory.path(file);
        let file = fs::File::options().write(true).open(std::ffi::OsStr::from_bytes(&path)).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2 + 7).unwrap();
    }
    for span in [Span::Whole, Span::Sample { whole: 70_000, piece: 8_192, pieces: 2 }] {
        for (threads, io) in
            [(1, Backend::Sync), (3, Backend::Sync), (1, Backend::Uring), (3, Backend::Uring)]
        {
            let work = Work { span, ..all(&inventory, &[Algorithm::Blake3]) };
            let (rows, report) = run_work(&work, Threads::Fixed(threads), Some(io));
            assert_eq!(report.done.files, 60);
            let changed: Vec<_> = report.failed.iter().map(|failed| failed.file).collect();
            assert!(
                changed.len() > 3
                    && changed.iter().copied().eq((0..60).map(FileNo).filter(|&file| victim(file)))
            );
            for failed in &report.failed {
                let dir = inventory.dir_of(failed.file);
                let Failure::Changed { before, after, .. } = &failed.failure else { panic!("{failed:?}") };
                assert_eq!(before.size, inventory.size(dir, failed.file));
                assert_eq!(after.size, before.size / 2 + 7);
                assert_eq!((rows.state(failed.file.0), rows.stat(failed.file.0)), (State::Changed, None));
            }
            assert_eq!((0..60).filter(|&row| rows.state(row) == State::Ok).count(), 60 - changed.len());
        }
    }
}

#[test]
fn an_unreadable_file_does_not_affect_the_others() {
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
            let is_gone = inventory.path(failed.file).ends_with(b"/f3");
            assert_eq!(is_gone, matches!(failed.failure, Failure::Io { op: "open", .. }));
            assert_eq!(!is_gone, matches!(failed.failure, Failure::NotRegular));
        }
        assert_eq!((0..60).filter(|&file| rows.state(file) == State::Ok).count(), 58);
    }
}

#[test]
fn files_of_a_swapped_directory_have_no_digest() {
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
    let work = all(&inventory, &[Algorithm::Sha1]);
    let (model, stop) = (Model::new(Constants::default()), Stop::new());
    stop.raise();
    let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: false, cpus: 2 };
    let resources =
        Resources { model: &model, limits, memory: 1 << 20, stop: &stop, watch: None, cache: None };
    let report = process(&work, &mut rows, &resources);
    assert_eq!((report.done.files, report.failed.len()), (0, 0));
    assert!((0..40).all(|file| rows.is_pending(file) && rows.digest(file, 0).is_none()));
}

#[test]
fn progress_never_exceeds_the_number_of_files() {
    let root = tree(130);
    let inventory = inventory(root.path());
    let mut rows = Rows::new(inventory.files(), &[Algorithm::Md5]);
    let work = all(&inventory, &[Algorithm::Md5]);
    let model = Model::new(Constants::default());
    let (calls, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let show = |progress: Progress| {
        calls.fetch_add(1, Ordering::Relaxed);
        most.fetch_max(progress.files, Ordering::Relaxed);
    };
    let limits = Limits { threads: Threads::Fixed(2), backend: None, ring: false, cpus: 2 };
    // SAFETY: atomics use no descriptor.
    #[expect(unsafe_code, reason = "the shown function must use no descriptor")]
    let watch = Some(unsafe { Watch::new(Duration::ZERO, Duration::from_millis(1), &show) });
    let resources =
        Resources { model: &model, limits, memory: 1 << 20, stop: &Stop::new(), watch, cache: None };
    let report = process(&work, &mut rows, &resources);
    assert_eq!(report.done.files, 130);
    assert!(calls.into_inner() > 0 && most.into_inner() <= 130);
}

#[test]
fn a_tree_on_one_file_system_has_the_name_of_that() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("a/b")).unwrap();
    fs::write(root.path().join("a/b/below"), "below").unwrap();
    fs::write(root.path().join("top"), "top").unwrap();
    let name = file_system(&inventory(root.path()));
    assert!(name.is_some());
    assert_eq!(name, file_system(&inventory(&root.path().join("a"))));
    // A file as the starting point, several file systems, and nothing at all.
    assert_eq!(file_system(&inventory(&root.path().join("top"))), None);
    let several = Walker::new([root.path(), Path::new("/proc/self/fdinfo")]);
    let parts = several.threads(1).run(|worker| Collect::new(worker, Keep::Files));
    assert_eq!(file_system(&Inventory::merge(parts).unwrap()), None);
    assert_eq!(file_system(&inventory(&root.path().join("missing"))), None);
}
