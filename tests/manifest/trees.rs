//! Trees with entries of every kind.

use std::ffi::OsStr;
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::harness::{Dir, bytes};

/// Creates a few entries of each kind that any user can make.
pub(crate) fn everything() -> Dir {
    let dir = Dir::new();
    dir.file("a", b"abc").file("sub/b", b"").file("sub/deep/c", &bytes(1, 100_000)).dir("empty");
    dir.symlink("a", "link").symlink("nowhere/at all", "sub/broken").fifo("fifo").socket("socket");
    dir.hard_link("a", "sub/hard").file(".hidden", b"hidden");
    for name in [&b"new\nline"[..], b"\xff\xfe", b"back\\slash", b"tab\there", "caf\u{e9}".as_bytes(), b" "] {
        dir.raw_file(name, name);
    }
    dir.raw_file(&[b'n'; 255], b"longest");
    dir
}

/// Creates a tree that depends only on `seed`, except for its times.
pub(crate) fn random(seed: u64) -> Dir {
    let dir = Dir::new();
    let random = bytes(seed, 400 * 4);
    let mut dirs = vec![PathBuf::new()];
    for (nth, choice) in random.chunks_exact(4).enumerate() {
        let parent = dirs[usize::from(choice[0]) % dirs.len()].clone();
        // Names of one or two arbitrary bytes, and a number to make them unique.
        let odd: Vec<u8> =
            choice[1..3].iter().map(|&b| if matches!(b, 0 | b'/') { b'-' } else { b }).collect();
        let path = parent.join(OsStr::from_bytes(&[&odd[..], nth.to_string().as_bytes()].concat()));
        match choice[3] % 16 {
            0..3 => {
                dir.dir(&path);
                dirs.push(path);
            }
            3 => symlink(OsStr::from_bytes(&odd), dir.path(path)).unwrap(),
            4 => mknodat(CWD, dir.path(path), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap(),
            kind => {
                let size = usize::from(kind) * usize::from(choice[1]) * if kind == 15 { 400 } else { 3 };
                dir.file(&path, &bytes(nth as u64, size));
                fs::set_permissions(dir.path(&path), Permissions::from_mode(0o600 + u32::from(kind)))
                    .unwrap();
                age(&dir, &path, Duration::from_nanos(u64::from(choice[2]) << 45 | nth as u64));
            }
        }
    }
    dir
}

/// Makes a file older.
fn age(dir: &Dir, path: &PathBuf, by: Duration) {
    let file = fs::File::options().write(true).open(dir.path(path)).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::now() - by)).unwrap();
}
