//! Descriptors are closed, few of them suffice, and none is mistaken for another directory.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::set_thread_res_uid;

use super::harness::{BUF, Tree, bytes_of, content, name, open_dir, read_all, readers, start};
use crate::{Reader, Ready, SyncReader, Uring};

/// Returns how many of this process's descriptors refer to `path`.
fn held(path: &Path) -> usize {
    let fds = fs::read_dir("/proc/self/fd").unwrap();
    fds.filter(|fd| fs::read_link(fd.as_ref().unwrap().path()).is_ok_and(|target| target == path)).count()
}

#[test]
fn cancel_finish_and_drop_close_the_file() {
    let tree = Tree::new();
    tree.file("file", &content(8 * BUF, 1));
    let path: PathBuf = fs::canonicalize(tree.path("file")).unwrap();
    let dir = tree.open();
    for (which, mut reader) in readers() {
        for chunks in 1..9 {
            start(&mut *reader, 0, &dir, &name("file"));
            for chunk in 1..=chunks {
                let Some(Ready::Data(data)) = reader.poll(true) else { panic!("{which}: no chunk {chunk}") };
                if chunk < chunks {
                    reader.more(0, data.into_buf());
                }
            }
            assert_eq!(held(&path), 1, "{which}");
            reader.cancel(0);
            assert_eq!(held(&path), 0, "{which}: {chunks} chunks");
        }
        bytes_of(read_all(&mut *reader, &dir, &["file"]).remove(0)).unwrap();
        assert_eq!(held(&path), 0, "{which}");
        start(&mut *reader, 0, &dir, &name("file"));
        reader.poll(true).unwrap();
        drop(reader);
        assert_eq!(held(&path), 0, "{which}");
        assert_eq!(Rc::strong_count(&dir), 1, "{which}");
    }
}

#[test]
fn a_directory_closed_by_the_caller_stays_open_until_the_files_open() {
    let tree = Tree::new();
    let n = 64;
    for i in 0..n {
        fs::create_dir(tree.path(&format!("{i}"))).unwrap();
        tree.file(&format!("{i}/file"), format!("of {i}").as_bytes());
    }
    for (which, mut reader) in readers() {
        let slots = reader.slots().min(n);
        let mut last: Option<Rc<OwnedFd>> = None;
        for slot in 0..slots {
            // If the caller's drop freed a descriptor number, the next directory reuses it.
            drop(last.take());
            let dir = open_dir(&tree.path(&format!("{slot}")));
            start(&mut *reader, slot as u32, &dir, &name("file"));
            last = Some(dir);
        }
        drop(last);
        let _others: Vec<_> = (0..n).map(|i| open_dir(&tree.path(&format!("{i}")))).collect();
        for _ in 0..slots {
            let Some(Ready::Data(chunk)) = reader.poll(true) else { panic!("{which}") };
            assert_eq!(chunk.as_ref(), format!("of {}", chunk.slot).as_bytes(), "{which}");
            reader.finish(chunk.slot).unwrap();
        }
    }
}

#[test]
#[expect(unsafe_code, reason = "leave_shared_descriptors is unsafe")]
fn a_private_table_contains_only_the_standard_streams() {
    let tree = Tree::new();
    tree.file("file", b"content");
    let dir = tree.open();
    let path = fs::canonicalize(tree.path("")).unwrap();
    let numbers = || fs::read_dir("/proc/thread-self/fd").unwrap().count();
    let seen = std::thread::spawn(move || {
        // SAFETY: this is the first call of the thread, which uses no older descriptor and closes all that it
        // opens.
        unsafe { crate::leave_shared_descriptors() };
        let targets = fs::read_dir("/proc/thread-self/fd").unwrap();
        let holds =
            |fd: std::io::Result<fs::DirEntry>| fs::read_link(fd.unwrap().path()).is_ok_and(|to| to == path);
        (targets.filter_map(|fd| holds(fd).then_some(())).count(), numbers())
    });
    let (held, numbers) = seen.join().unwrap();
    assert_eq!(held, 0, "the private table contains the directory");
    assert!(numbers <= 4, "{numbers} descriptors, more than the standard streams and the listing");
    let mut reader = SyncReader::new(1, BUF);
    bytes_of(read_all(&mut reader, &dir, &["file"]).remove(0))
        .expect("the caller's descriptors are unchanged");
}

#[cfg(target_os = "linux")]
#[test]
#[expect(unsafe_code, reason = "leave_shared_descriptors is unsafe")]
fn make_room_grows_the_table_as_requested() {
    let room = || {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        size.trim().parse::<usize>().unwrap()
    };
    let rooms = std::thread::spawn(move || {
        // SAFETY: this is the first call of the thread, which uses no older descriptor and closes all that it
        // opens.
        unsafe { crate::leave_shared_descriptors() };
        [0, 200, 1000].map(|more| {
            crate::make_room(more);
            room()
        })
    });
    let [before, some, most] = rooms.join().unwrap();
    assert!(before < 200 && (200..=1000).contains(&some) && most > 1000, "{before} {some} {most}");
}

/// Runs a test again in a separate process, which it may limit. Returns `true` in that process.
fn is_separate_process(test: &str) -> bool {
    const SEPARATE: &str = "FTK_READ_TEST_SEPARATE";
    if std::env::var_os(SEPARATE).is_some() {
        return true;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(SEPARATE, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && stdout.contains("1 passed"),
        "{stdout}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    false
}

/// Limits this process so that it can open `n` more files.
fn leave_descriptors(n: usize) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let listed: Vec<_> = fs::read_dir("/proc/self/fd").unwrap().map(|fd| fd.unwrap().path()).collect();
    let is_free = |fd: &u64| !listed.contains(&format!("/proc/self/fd/{fd}").into());
    // The listing itself used a descriptor, which is free again.
    let is_free = |fd: &u64| is_free(fd) || fs::read_link(format!("/proc/self/fd/{fd}")).is_err();
    let current = (0..).filter(is_free).nth(n);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

#[test]
fn few_descriptors_suffice() {
    if !is_separate_process("tests::descriptors::few_descriptors_suffice") {
        return;
    }
    let tree = Tree::new();
    let names: Vec<String> = (0..60).map(|i| i.to_string()).collect();
    for (i, name) in names.iter().enumerate() {
        tree.file(name, &content(i * BUF / 10, i as u64));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let dir = tree.open();
    for left in [1, 2, 5] {
        for (which, mut reader) in readers() {
            leave_descriptors(left);
            for (i, outcome) in read_all(&mut *reader, &dir, &names).into_iter().enumerate() {
                assert_eq!(bytes_of(outcome), Ok(content(i * BUF / 10, i as u64)), "{which}, {left}: {i}");
            }
            leave_descriptors(100);
        }
    }
}

#[test]
fn without_descriptors_every_open_fails() {
    if !is_separate_process("tests::descriptors::without_descriptors_every_open_fails") {
        return;
    }
    let tree = Tree::new();
    tree.file("file", b"content");
    let dir = tree.open();
    let mut readers = readers();
    leave_descriptors(0);
    assert!(Uring::new(8, BUF).is_err(), "a ring needs a descriptor too");
    for (which, reader) in &mut readers {
        let names = vec!["file"; reader.slots() + 1];
        for outcome in read_all(&mut **reader, &dir, &names) {
            let Err(crate::Failure::Io { op: "open", source }) = outcome else { panic!("{which}") };
            assert_eq!(source.raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()), "{which}");
        }
    }
    leave_descriptors(100);
}

#[test]
fn with_too_few_descriptors_an_open_waits_for_finish() {
    if !is_separate_process("tests::descriptors::with_too_few_descriptors_an_open_waits_for_finish") {
        return;
    }
    let tree = Tree::new();
    tree.file("a", b"a").file("b", b"b").file("c", b"c");
    let dir = tree.open();
    let mut readers: Vec<Box<dyn Reader>> = vec![Box::new(SyncReader::new(3, BUF))];
    readers.extend(Uring::new(3, BUF).map(|ring| Box::new(ring) as Box<dyn Reader>));
    for reader in &mut readers {
        leave_descriptors(2);
        let is_out = |reader: &mut dyn Reader, slot, content: &[u8]| {
            let Some(Ready::Data(chunk)) = reader.poll(true) else { panic!("no chunk") };
            assert_eq!((chunk.slot, chunk.as_ref()), (slot, content));
        };
        start(&mut **reader, 0, &dir, &name("a"));
        is_out(&mut **reader, 0, b"a");
        start(&mut **reader, 1, &dir, &name("b"));
        is_out(&mut **reader, 1, b"b");
        start(&mut **reader, 2, &dir, &name("c"));
        for _ in 0..3 {
            assert!(reader.poll(true).is_none(), "no descriptor is free, and nothing else is in progress");
        }
        reader.finish(1).unwrap();
        is_out(&mut **reader, 2, b"c");
        reader.finish(0).unwrap();
        reader.finish(2).unwrap();
        leave_descriptors(100);
    }
}

#[test]
fn files_of_other_users_are_read_without_noatime() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    let (dir, file) = match rustix::process::geteuid() {
        root if root.is_root() => {
            fs::set_permissions(tree.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
            tree.file("file", b"content");
            (tree.dir.path().to_owned(), "file")
        }
        _ => ("/etc".into(), "passwd"),
    };
    let expected = fs::read(dir.join(file)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let dir = open_dir(&dir);
            if rustix::process::geteuid().is_root() {
                let unprivileged = rustix::process::Uid::from_raw(65534);
                set_thread_res_uid(unprivileged, unprivileged, unprivileged).unwrap();
            }
            for (which, mut reader) in readers() {
                for outcome in read_all(&mut *reader, &dir, &[file; 20]) {
                    assert_eq!(bytes_of(outcome).as_ref(), Ok(&expected), "{which}");
                }
            }
            assert!(
                !crate::file::open_flags(false).contains(rustix::fs::OFlags::NOATIME),
                "O_NOATIME was not refused"
            );
        });
    });
}
