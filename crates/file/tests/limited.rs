//! Reads under a rate limit, which applies to the whole process.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ftk_file::{Cursor, Failure, File, Symlinks, limit_rate, write_all_at};

/// With this limit, one read asks for at most 4096 bytes.
const RATE: u64 = 400_000;

fn open(path: &Path) -> File {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    File::open(rustix::fs::CWD, &path, Symlinks::NoFollow).unwrap()
}

#[test]
fn a_read_that_the_limit_shortened_is_not_the_end() {
    limit_rate(RATE);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, [7; 4096]).unwrap();
    let file = open(&path);
    // There is more than the size says, as in files on FUSE whose sizes are wrong.
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&[8; 4096]).unwrap();
    let mut cursor = Cursor::new(&file, 0);
    let filled = cursor.fill(&mut [0; 10_000]);
    assert!(matches!(filled, Err(Failure::Changed { read: 8192, .. })), "{filled:?}");
}

#[test]
fn a_change_while_the_read_waits_is_noticed() {
    limit_rate(RATE);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, [7; 4000]).unwrap();
    // From now on, no change is expected.
    sleep(Duration::from_millis(2100));
    let file = open(&path);
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[8; 10], 0).unwrap();
    let mut cursor = Cursor::new(&file, 0);
    assert_eq!(cursor.fill(&mut [0; 10_000]).unwrap(), 4000);
    assert!(cursor.has_ended() && matches!(cursor.verify(), Err(Failure::Changed { .. })));
}

#[test]
fn writes_wait_and_are_whole() {
    limit_rate(RATE);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let file = fs::File::create(&path).unwrap();
    let bytes: Vec<u8> = (0..200_003_u32).map(|nth| nth as u8 ^ (nth >> 8) as u8).collect();
    let start = Instant::now();
    write_all_at(&file, &bytes, 10).unwrap();
    write_all_at(&file, &[], 1 << 40).unwrap();
    // Half a second, of which a tenth may be saved up. The last part is not waited for.
    assert!(start.elapsed() >= Duration::from_millis(350));
    assert!(fs::read(&path).unwrap() == [&[0; 10], &bytes[..]].concat());
}
