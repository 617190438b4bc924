//! The store as a run uses it: what was stored is found again, and a store that cannot be used is refused.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ftk_cache::{Batch, Cache, Content, Contents, Stored, Unusable};
use ftk_file::{FsId, Stat};
use ftk_hash::{Algorithm, Digest};
use ftk_read::Span;
use tempfile::TempDir;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 24 * 60 * 60 * SECOND;
const SHA256: Content = Content { algorithm: Algorithm::Sha256, span: Span::Whole };
const MD5: Content = Content { algorithm: Algorithm::Md5, span: Span::Whole };

/// A time after every file of these tests was written, rounded to a day.
fn now_ns() -> i128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_nanos() as i128 / DAY * DAY
}

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ftk/digests");
    (dir, path)
}

fn fs(nth: u8) -> FsId {
    FsId::from_bytes([nth; 16])
}

fn stat(ino: u64) -> Stat {
    Stat { ino, size: 10 * ino, mtime_ns: 7 * SECOND, ctime_ns: 8 * SECOND, ..Stat::EMPTY }
}

fn digest(content: Content, ino: u64) -> Digest {
    content.algorithm.hash_one(&ino.to_le_bytes())
}

/// Adds a file that was read with these contents.
fn add(batch: &mut Batch, fs: FsId, ino: u64, read_ns: i128, contents: &[Content]) {
    let digests: Vec<_> = contents.iter().map(|&content| digest(content, ino)).collect();
    let digests: Vec<_> = digests.iter().flat_map(|digest| digest.as_bytes()).copied().collect();
    let before = batch.len();
    batch.add(fs, &stat(ino), read_ns, contents, &digests);
    assert_eq!(batch.len(), before + 1);
}

fn read(fs: FsId, inos: impl IntoIterator<Item = u64>, read_ns: i128, contents: &[Content]) -> Batch {
    let mut batch = Batch::default();
    inos.into_iter().for_each(|ino| add(&mut batch, fs, ino, read_ns, contents));
    batch
}

fn store(path: &Path, batches: impl IntoIterator<Item = Batch>) -> Stored {
    let cache = Cache::open(path).unwrap();
    let rows = cache.new_rows();
    batches.into_iter().for_each(|batch| rows.send(batch));
    drop(rows);
    cache.finish()
}

/// The digests that the store knows for a file.
fn known(path: &Path, fs: FsId, now: &Stat, contents: &[Content]) -> Result<Option<Vec<u8>>, Unusable> {
    let cache = Cache::open(path)?;
    let (mut digests, mut used) = (Vec::new(), Batch::default());
    let found = cache.known()?.digests(fs, now, contents, &mut digests, &mut used)?;
    assert!(cache.finish().error.is_none());
    Ok(found.then_some(digests))
}

fn rows(path: &Path) -> u64 {
    Cache::contents(path).unwrap().unwrap().rows
}

#[test]
fn digests_are_found_under_file_system_inode_and_times() {
    let (_dir, path) = place();
    let stored = store(&path, [read(fs(1), [5], now_ns(), &[SHA256, MD5]), Batch::default()]);
    assert_eq!((stored.files, stored.lost), (1, 0), "{:?}", stored.error);
    let both = [digest(MD5, 5).as_bytes(), digest(SHA256, 5).as_bytes()].concat();
    assert_eq!(known(&path, fs(1), &stat(5), &[MD5, SHA256]).unwrap(), Some(both));
    let touched = Stat { ctime_ns: 9 * SECOND, ..stat(5) };
    let renumbered = Stat { ino: 6, ..stat(5) };
    let sha1 = Content { algorithm: Algorithm::Sha1, span: Span::Whole };
    for (fs, stat, content) in
        [(fs(2), stat(5), MD5), (fs(1), touched, MD5), (fs(1), renumbered, MD5), (fs(1), stat(5), sha1)]
    {
        assert_eq!(known(&path, fs, &stat, &[content]).unwrap(), None, "{fs:?} {stat:?}");
    }
    assert_eq!(known(&path, fs(1), &stat(5), &[MD5, sha1]).unwrap(), None, "one of two is unknown");
}

#[test]
fn runs_add_to_what_earlier_runs_stored() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), 1..=1000, now_ns(), &[SHA256])]);
    store(&path, [1, 2].map(|nth| read(fs(nth), [700], now_ns(), &[MD5])));
    let both = [digest(MD5, 700).as_bytes(), digest(SHA256, 700).as_bytes()].concat();
    assert_eq!(known(&path, fs(1), &stat(700), &[MD5, SHA256]).unwrap(), Some(both));
    assert_eq!(known(&path, fs(2), &stat(700), &[SHA256]).unwrap(), None);
    let Contents { rows, file_systems, .. } = Cache::contents(&path).unwrap().unwrap();
    assert_eq!((rows, file_systems), (1001, 2));
}

#[test]
fn two_processes_use_one_store() {
    let (_dir, path) = place();
    let (a, b) = (Cache::open(&path).unwrap(), Cache::open(&path).unwrap());
    for (cache, nth) in [(&a, 1), (&b, 2)] {
        let rows = cache.new_rows();
        rows.send(read(fs(nth), 1..2000, now_ns(), &[MD5]));
    }
    let (a, b) = (a.finish(), b.finish());
    assert!(a.error.is_none() && b.error.is_none(), "{a:?} {b:?}");
    assert_eq!(rows(&path), 2 * 1999);
}

#[test]
fn rows_that_were_not_used_for_half_a_year_are_removed() {
    let (_dir, path) = place();
    let row = |ino, days| read(fs(1), [ino], now_ns() - days * DAY, &[MD5]);
    store(&path, [row(1, 190), row(2, 170), row(3, 0), row(99, 185), row(205, 181), row(206, 1)]);
    for (ino, is_known) in [(1, false), (2, true), (3, true), (99, false), (205, false), (206, true)] {
        assert_eq!(known(&path, fs(1), &stat(ino), &[MD5]).unwrap().is_some(), is_known, "{ino}");
    }
    assert_eq!(rows(&path), 3);
}

#[test]
fn using_a_row_makes_it_stay() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), [1], now_ns() - 170 * DAY, &[MD5])]);
    let cache = Cache::open(&path).unwrap();
    let used_rows = || {
        let (mut known, mut used) = (cache.known().unwrap(), Batch::default());
        assert!(known.digests(fs(1), &stat(1), &[MD5], &mut Vec::new(), &mut used).unwrap());
        used
    };
    let used = used_rows();
    assert_eq!(used.len(), 1);
    store(&path, [used]);
    assert!(used_rows().is_empty(), "its use is stored");
    assert_eq!(cache.finish().files, 0);
}

#[test]
fn the_store_is_trimmed_to_its_size_and_keeps_what_was_used_last() {
    let (_dir, path) = place();
    for back in [3, 2, 1] {
        let first = 10_000 * back as u64;
        store(&path, [read(fs(1), first..first + 3000, now_ns() - back * DAY, &[SHA256])]);
    }
    let before = Cache::contents(&path).unwrap().unwrap();
    assert_eq!(before.rows, 9000);
    let limit = before.bytes / 2;
    Cache::set_max_size(&path, limit).unwrap();
    let after = Cache::contents(&path).unwrap().unwrap();
    assert!((3000..6000).contains(&after.rows) && after.max_bytes == limit, "{after:?}");
    assert!(after.bytes <= limit && fs::metadata(&path).unwrap().len() <= limit, "{after:?}");
    assert!(known(&path, fs(1), &stat(12_999), &[SHA256]).unwrap().is_some());
    // The limit stays in force.
    store(&path, [read(fs(1), 1..=3000, now_ns(), &[SHA256])]);
    let after = Cache::contents(&path).unwrap().unwrap();
    assert!(after.bytes <= limit && (3000..6000).contains(&after.rows), "{after:?}");
}

#[test]
fn a_store_smaller_than_the_rows_of_a_day_keeps_some_of_them() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), 1..=6000, now_ns(), &[SHA256])]);
    let limit = Cache::contents(&path).unwrap().unwrap().bytes / 2;
    Cache::set_max_size(&path, limit).unwrap();
    let after = Cache::contents(&path).unwrap().unwrap();
    assert!(after.bytes <= limit && (1000..6000).contains(&after.rows), "{after:?}");
}

#[test]
fn a_store_below_a_linked_directory_is_used() {
    let (dir, _) = place();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("link")).unwrap();
    let path = dir.path().join("link/ftk/digests");
    assert_eq!(store(&path, [read(fs(1), [1], now_ns(), &[MD5])]).files, 1);
    assert_eq!(rows(&dir.path().join("real/ftk/digests")), 1);
}

#[test]
fn files_of_one_block_are_stored_and_changed_one_by_one() {
    let (_dir, path) = place();
    for inos in [&[64, 70, 95][..], &[71, 64], &[65, 95, 96]] {
        assert_eq!(
            store(&path, [read(fs(1), inos.iter().copied(), now_ns(), &[MD5])]).files,
            inos.len() as u64
        );
    }
    for ino in 60..100 {
        let expected = [64, 65, 70, 71, 95, 96].contains(&ino).then(|| digest(MD5, ino).as_bytes().to_vec());
        assert_eq!(known(&path, fs(1), &stat(ino), &[MD5]).unwrap(), expected, "{ino}");
    }
    assert_eq!(rows(&path), 6);
}

#[test]
fn of_two_rows_of_a_file_the_later_one_is_stored() {
    let (_dir, path) = place();
    let (old, new) = (stat(5), Stat { mtime_ns: 9 * SECOND, ..stat(5) });
    let mut batches = [Batch::default(), Batch::default()];
    let digests = [1, 2].map(|ino| digest(MD5, ino));
    batches[0].add(fs(1), &old, now_ns(), &[MD5], digests[0].as_bytes());
    batches[1].add(fs(1), &new, now_ns(), &[MD5], digests[1].as_bytes());
    store(&path, batches);
    assert_eq!(known(&path, fs(1), &old, &[MD5]).unwrap(), None);
    assert_eq!(known(&path, fs(1), &new, &[MD5]).unwrap(), Some(digests[1].as_bytes().to_vec()));
}

#[test]
fn a_file_is_listed_as_known_whatever_its_version() {
    let (_dir, path) = place();
    assert!(Cache::open(&path).unwrap().is_empty());
    store(&path, [read(fs(1), [64, 70], now_ns(), &[MD5])]);
    let cache = Cache::open(&path).unwrap();
    assert!(!cache.is_empty());
    let mut known = cache.known().unwrap();
    assert!(known.has_files_on(fs(1)) && !known.has_files_on(fs(2)));
    for (nth, ino, is_known) in [(1, 64, true), (1, 70, true), (1, 65, false), (2, 64, false), (1, 6, false)]
    {
        assert_eq!(known.has(fs(nth), ino).unwrap(), is_known, "{nth} {ino}");
    }
}

/// SQLite would let the look-up fail, and try again for half a minute.
#[test]
fn look_ups_wait_for_commits_of_the_same_run() {
    let (_dir, path) = place();
    let cache = Cache::open(&path).unwrap();
    let rows = cache.new_rows();
    for nth in 0..50 {
        rows.send(read(fs(1), nth * 1000..nth * 1000 + 1000, now_ns(), &[SHA256]));
        cache.flush();
        let mut known = cache.known().unwrap();
        for ino in (0..nth * 1000).step_by(997) {
            assert!(known.has(fs(1), ino).is_ok());
        }
    }
    drop(rows);
    let stored = cache.finish();
    assert!(stored.error.is_none() && stored.files == 50_000, "{stored:?}");
}

#[test]
fn a_run_goes_on_after_its_store_was_cleared_or_removed() {
    for clear in
        [|path: &Path| assert!(Cache::clear(path).unwrap()), |path: &Path| fs::remove_file(path).unwrap()]
    {
        goes_on_after(clear);
    }
}

fn goes_on_after(clear: fn(&Path)) {
    let (_dir, path) = place();
    let cache = Cache::open(&path).unwrap();
    let rows = cache.new_rows();
    rows.send(read(fs(1), 1..100, now_ns(), &[MD5]));
    cache.flush();
    while Cache::contents(&path).unwrap().unwrap().rows == 0 {}
    clear(&path);
    rows.send(read(fs(1), 100..300, now_ns(), &[MD5]));
    drop(rows);
    let stored = cache.finish();
    assert!(stored.error.is_none() && (stored.files, stored.lost) == (299, 0), "{stored:?}");
    assert_eq!(self::rows(&path), 200);
}

/// Two runs make the same number of changes, one before the store is cleared and one after it. The first run must not
/// take the pages that it remembers for those of the second.
#[test]
fn a_run_that_goes_on_after_a_clear_keeps_what_others_stored_since() {
    let (_dir, path) = place();
    let cache = Cache::open(&path).unwrap();
    let rows = cache.new_rows();
    rows.send(read(fs(1), 1..100, now_ns(), &[MD5]));
    cache.flush();
    while Cache::contents(&path).unwrap().unwrap().rows == 0 {}
    assert!(Cache::clear(&path).unwrap());
    let cleared = Cache::contents(&path).unwrap().unwrap();
    assert!((cleared.rows, cleared.file_systems) == (0, 0) && cleared.bytes <= 8 << 10, "{cleared:?}");
    store(&path, [read(fs(2), 1..100, now_ns(), &[MD5])]);
    rows.send(read(fs(1), 100..300, now_ns(), &[MD5]));
    drop(rows);
    let stored = cache.finish();
    assert!(stored.error.is_none() && (stored.files, stored.lost) == (299, 0), "{stored:?}");
    let after = Cache::contents(&path).unwrap().unwrap();
    assert_eq!((after.rows, after.file_systems), (99 + 200, 2));
    for (nth, ino, is_known) in [(1, 5, false), (1, 100, true), (2, 5, true), (2, 100, false)] {
        assert_eq!(known(&path, fs(nth), &stat(ino), &[MD5]).unwrap().is_some(), is_known, "{nth} {ino}");
    }
}

#[test]
fn a_store_of_another_version_and_one_with_damaged_tables_can_be_cleared() {
    let (_dir, path) = place();
    let damages: [fn(&Path); 2] = [
        // `user_version` is a big-endian number at byte 60 of an SQLite file.
        |path| OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0, 0, 0, 1], 60).unwrap(),
        |path| {
            let len = fs::metadata(path).unwrap().len() as usize;
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(&vec![0xff; len - (8 << 10)], 8 << 10).unwrap();
        },
    ];
    for damage in damages {
        store(&path, [read(fs(1), 1..5000, now_ns(), &[MD5])]);
        damage(&path);
        assert!(Cache::contents(&path).is_err());
        assert!(Cache::clear(&path).unwrap() && !Cache::clear(&path).unwrap());
        assert_eq!(self::rows(&path), 0);
        store(&path, [read(fs(1), 1..9, now_ns(), &[MD5])]);
        assert_eq!(self::rows(&path), 8);
        assert!(Cache::clear(&path).unwrap());
    }
}

/// A look-up keeps others from storing. They go on, and store everything later.
#[test]
fn a_run_goes_on_while_another_one_uses_the_store() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), 1..100, now_ns(), &[MD5])]);
    let (holder, cache) = (Cache::open(&path).unwrap(), Cache::open(&path).unwrap());
    let known = holder.known().unwrap();
    let rows = cache.new_rows();
    // More rows than a commit may wait for, and more batches than may be sent during one.
    for nth in 0..140 {
        rows.send(read(fs(2), nth * 500..nth * 500 + 500, now_ns(), &[MD5]));
    }
    drop(known);
    drop(rows);
    let stored = cache.finish();
    assert!(stored.error.is_none() && (stored.files, stored.lost) == (70_000, 0), "{stored:?}");
    assert!(holder.finish().error.is_none());
    assert_eq!(self::rows(&path), 99 + 70_000);
}

/// Clears a store again and again while runs write to it. Nothing fails, and no run damages the store of another.
#[test]
fn runs_and_clears_do_not_disturb_each_other() {
    let (_dir, path) = place();
    std::thread::scope(|scope| {
        for nth in 0..3 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..20 {
                    let stored =
                        store(path, [read(fs(nth), round * 500..round * 500 + 500, now_ns(), &[MD5])]);
                    assert!(stored.error.is_none() && stored.files == 500, "{stored:?}");
                }
            });
        }
        scope.spawn(|| (0..40).for_each(|_| _ = Cache::clear(&path).unwrap()));
        scope.spawn(|| {
            for _ in 0..500 {
                Cache::contents(&path).unwrap();
            }
        });
    });
    store(&path, [read(fs(7), 0..500, now_ns(), &[MD5])]);
    assert!((500..=30_500).contains(&self::rows(&path)));
}

#[test]
fn a_store_is_cleared_between_two_commits_of_another_run() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), 1..100, now_ns(), &[MD5])]);
    let cache = Cache::open(&path).unwrap();
    let mut known = cache.known().unwrap();
    assert!(known.has(fs(1), 5).unwrap());
    std::thread::scope(|scope| {
        let clear = scope.spawn(|| Cache::clear(&path).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(fs::metadata(&path).unwrap().len() > 0, "it waits for look-ups in progress");
        drop(known);
        assert!(clear.join().unwrap());
    });
    assert_eq!(self::rows(&path), 0);
    assert!(cache.finish().error.is_none());
}

#[test]
fn a_cache_that_is_dropped_has_stored_everything() {
    let (_dir, path) = place();
    let cache = Cache::open(&path).unwrap();
    cache.new_rows().send(read(fs(1), [1], now_ns(), &[MD5]));
    drop(cache);
    assert_eq!(rows(&path), 1);
}

#[test]
fn forgotten_files_are_unknown() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), 1..=9, now_ns(), &[MD5])]);
    let files = [(fs(1), 3), (fs(1), 4), (fs(1), 77), (fs(2), 5)];
    assert_eq!(Cache::forget(&path, files.into_iter()).unwrap(), 2);
    assert_eq!(known(&path, fs(1), &stat(3), &[MD5]).unwrap(), None);
    assert_eq!(rows(&path), 7);
}

#[test]
fn only_the_owner_can_read_the_store() {
    let (_dir, path) = place();
    store(&path, [read(fs(1), [1], now_ns(), &[MD5])]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_store_in_the_wrong_place_is_refused() {
    let refused = |why: fn(&Unusable) -> bool, prepare: &dyn Fn(&Path)| {
        let (_dir, path) = place();
        fs::create_dir(path.parent().unwrap()).unwrap();
        prepare(&path);
        let error = Cache::open(&path).map(drop).unwrap_err();
        assert!(why(&error), "{error:?}");
    };
    let not_a_file = |error: &Unusable| matches!(error, Unusable::NotAFile);
    refused(not_a_file, &|path| fs::create_dir(path).unwrap());
    refused(not_a_file, &|path| symlink("elsewhere", path).unwrap());
    refused(not_a_file, &|path| rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap());
    let shared = |error: &Unusable| matches!(error, Unusable::Shared);
    refused(shared, &|path| {
        fs::write(path, "").unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o620)).unwrap();
    });
    refused(shared, &|path| {
        fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
    });
    let damaged = |error: &Unusable| matches!(error, Unusable::Damaged);
    refused(damaged, &|path| {
        fs::write(path, [7; 5000]).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    });
    let other = |error: &Unusable| matches!(error, Unusable::OtherVersion);
    refused(other, &|path| {
        store(path, [read(fs(1), [1], now_ns(), &[MD5])]);
        // `user_version` is a big-endian number at byte 60 of an SQLite file.
        OpenOptions::new().write(true).open(path).unwrap().write_all_at(&[0, 0, 0, 1], 60).unwrap();
    });
}

#[test]
fn a_damaged_store_never_returns_a_wrong_digest() {
    let (dir, path) = place();
    store(&path, [read(fs(1), 1..=5000, now_ns(), &[SHA256])]);
    let intact = fs::read(&path).unwrap();
    let damaged = dir.path().join("damaged/digests");
    fs::create_dir(damaged.parent().unwrap()).unwrap();
    let (mut wrong, mut unusable) = (0, 0);
    for nth in 0..80_usize {
        Cache::clear(&damaged).unwrap();
        let mut bytes = intact.clone();
        let at = nth * 7919 * 13 % (bytes.len() - 600);
        match nth % 4 {
            0 => bytes[at..at + 500].fill(nth as u8),
            1 => bytes.truncate(at),
            2 => bytes[at] ^= 1 << (nth % 8),
            // A page in the place of another.
            _ => bytes.copy_within((at / 4096) * 4096..(at / 4096) * 4096 + 500, 8192),
        }
        fs::write(&damaged, bytes).unwrap();
        fs::set_permissions(&damaged, Permissions::from_mode(0o600)).unwrap();
        for ino in (1..=5000).step_by(37) {
            match known(&damaged, fs(1), &stat(ino), &[SHA256]) {
                Ok(None) => {}
                Ok(Some(found)) => wrong += usize::from(found != digest(SHA256, ino).as_bytes()),
                Err(_) => {
                    unusable += 1;
                    break;
                }
            }
        }
    }
    assert_eq!(wrong, 0);
    assert!(unusable > 10, "only {unusable} of 80 were damaged enough to notice");
    assert!(Cache::clear(&damaged).unwrap() && !Cache::clear(&damaged).unwrap());
    assert_eq!(rows(&damaged), 0);
    fs::remove_file(&damaged).unwrap();
    assert_eq!(Cache::contents(&damaged).unwrap(), None);
}

#[test]
fn a_store_that_disappears_is_reported_and_the_rest_is_counted_as_lost() {
    let (_dir, path) = place();
    let cache = Cache::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    cache.new_rows().send(read(fs(1), [1], now_ns(), &[MD5]));
    let stored = cache.finish();
    assert!(matches!(stored.error, Some(Unusable::NotAFile)) && stored.lost == 1, "{stored:?}");
    drop(File::open(&path).unwrap());
}
