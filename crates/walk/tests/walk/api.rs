//! Paths, names, opening files, and errors, as programs use them that know only the standard library.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ftk_walk::{Directory, Entry, Follow, Op, Step, Visitor, WalkError, Walker};
use rustix::fs::{CWD, Mode};

use crate::support::tree;

/// Calls `each` for every entry of a walk on one thread, and returns the errors.
fn each(walker: Walker, each: impl Fn(&mut Entry<'_>) -> Step + Sync) -> Vec<WalkError> {
    let errors = walker.threads(1).fold(Vec::new, |errors, entry| match entry {
        Ok(entry) => each(entry),
        Err(error) => {
            errors.push(error);
            Step::Next
        }
    });
    errors.into_iter().flatten().collect()
}

#[test]
fn starting_points_are_any_paths() {
    let dir = tree(&["f"]);
    for walker in [
        Walker::new([dir.path()]),
        Walker::new(vec![dir.path().to_owned()]),
        Walker::new([dir.path().to_str().unwrap()]),
        Walker::new([dir.path().as_os_str().to_owned()]),
    ] {
        let (entries, errors) = walker.collect_sorted();
        assert_eq!((entries.len(), errors.len()), (2, 0));
    }
}

#[test]
fn a_starting_point_with_a_nul_is_an_error() {
    let dir = tree(&["f"]);
    let (entries, errors) = Walker::new([Path::new("a\0b"), dir.path()]).collect_sorted();
    assert_eq!(entries.iter().map(|entry| entry.root()).collect::<Vec<_>>(), [1, 1]);
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!((error.op, error.path()), (Op::Stat, Path::new("a\0b")));
    assert_eq!(error.source.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn names_and_paths_are_those_of_the_standard_library() {
    let dir = tree(&["d/", "d/f"]);
    let name = OsStr::from_bytes(b"not \xff UTF-8");
    fs::write(dir.path().join(name), "").unwrap();
    let seen = Mutex::new(Vec::new());
    let errors = each(Walker::new([dir.path().join("d"), dir.path().join(name)]), |entry| {
        seen.lock().unwrap().push((entry.file_name().to_owned(), entry.path()));
        Step::Descend
    });
    assert!(errors.is_empty());
    let mut seen = seen.into_inner().unwrap();
    seen.sort();
    let expected = [("d", "d"), ("f", "d/f")].map(|(name, path)| (name.into(), dir.path().join(path)));
    assert_eq!(seen[..2], expected);
    assert_eq!(seen[2], (name.to_owned(), dir.path().join(name)));
    each(Walker::new(["/", "..", "."]), |entry| {
        assert_eq!(entry.file_name(), entry.path().as_os_str());
        Step::Next
    });
}

#[test]
fn files_are_opened_at_any_depth() {
    let dir = tempfile::tempdir().unwrap();
    let name = "n".repeat(200);
    let (mut at, mut path) = (fs::File::open(dir.path()).unwrap(), dir.path().to_owned());
    for _ in 0..40 {
        rustix::fs::mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, name.as_str(), flags, Mode::empty()).unwrap().into();
        path.push(&name);
    }
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let mut file: fs::File = rustix::fs::openat(&at, "deep", flags, Mode::RWXU).unwrap().into();
    io::Write::write_all(&mut file, b"content").unwrap();
    let text = Mutex::new(String::new());
    let errors = each(Walker::new([dir.path()]), |entry| {
        if entry.file_name() == "deep" {
            assert_eq!(entry.path(), path.join("deep"));
            assert!(fs::File::open(entry.path()).is_err(), "the path is longer than PATH_MAX");
            entry.open().unwrap().read_to_string(&mut text.lock().unwrap()).unwrap();
        }
        Step::Descend
    });
    assert!(errors.is_empty());
    assert_eq!(text.into_inner().unwrap(), "content");
    // `remove_dir_all` of the standard library works at this depth.
    fs::remove_dir_all(dir.path().join(&name)).unwrap();
}

#[test]
fn only_regular_files_are_opened_and_links_only_if_followed() {
    let dir = tree(&["d/", "f", "link -> f"]);
    rustix::fs::mkfifoat(CWD, dir.path().join("fifo"), Mode::RWXU).unwrap();
    let read = |walker: Walker| {
        let opened = Mutex::new(Vec::new());
        each(walker, |entry| {
            let mut text = String::new();
            match entry.open() {
                Ok(mut file) => drop(file.read_to_string(&mut text).unwrap()),
                Err(error) => {
                    assert_eq!((error.op, error.path()), (Op::Open, &*entry.path()));
                    assert_eq!(error.source.kind(), io::ErrorKind::InvalidInput);
                    text = "refused".to_owned();
                }
            }
            opened.lock().unwrap().push((entry.file_name().to_owned(), text));
            Step::Descend
        });
        let mut opened = opened.into_inner().unwrap();
        opened.sort();
        opened.into_iter().map(|(name, text)| format!("{} {text}", name.display())).collect::<Vec<_>>()
    };
    let below = |follow| read(Walker::new([dir.path()]).follow(follow))[1..].to_vec();
    assert_eq!(below(Follow::Never), ["d refused", "f f", "fifo refused", "link refused"]);
    assert_eq!(below(Follow::Always), ["d refused", "f f", "fifo refused", "link f"]);
    let link = || Walker::new([dir.path().join("link")]);
    assert_eq!(read(link().follow(Follow::Roots)), ["link f"]);
    assert_eq!(read(link()), ["link refused"]);
}

/// A file is replaced after it was listed: by a link, which is not followed, and by a FIFO, which is not waited for.
#[test]
fn replaced_files_are_not_opened() {
    for replace in [
        (|path: &Path| symlink("/etc/hostname", path).unwrap()) as fn(&Path),
        |path| rustix::fs::mkfifoat(CWD, path, Mode::RWXU).unwrap(),
        |path| fs::create_dir(path).unwrap(),
    ] {
        let dir = tree(&["f"]);
        let path = dir.path().join("f");
        each(Walker::new([dir.path()]), |entry| {
            if entry.file_name() == "f" {
                fs::remove_file(&path).unwrap();
                replace(&path);
                assert_eq!(entry.open().unwrap_err().path(), path);
            }
            Step::Descend
        });
    }
}

#[test]
fn errors_keep_names_that_are_not_utf_8() {
    let path = PathBuf::from(OsStr::from_bytes(b"missing \xff"));
    let (_, mut errors) = Walker::new([&path]).collect_sorted();
    let error = errors.pop().unwrap();
    assert_eq!(error.path(), path);
    assert_eq!(error.to_string(), r#"cannot stat "missing \xFF""#);
    let cause = error.source.to_string();
    assert_eq!(format!("{error:#}"), format!(r#"cannot stat "missing \xFF": {cause}"#));
    let error = io::Error::from(error);
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), r#"cannot stat "missing \xFF""#);
    let inner = error.into_inner().unwrap().downcast::<WalkError>().unwrap();
    assert_eq!(inner.path(), path);
}

#[test]
fn times_and_directories_have_the_metadata_of_the_standard_library() {
    struct Check;
    impl Visitor for Check {
        type Dir = ();
        fn entry(&mut self, _: Option<&()>, entry: &mut Entry<'_>) -> Step {
            let expected = fs::symlink_metadata(entry.path()).unwrap();
            let metadata = entry.metadata_with_birth().unwrap();
            assert_eq!(metadata.modified(), expected.modified().unwrap());
            assert_eq!(metadata.accessed(), expected.accessed().unwrap());
            if cfg!(not(feature = "portable")) {
                assert_eq!(metadata.created(), expected.created().ok());
            }
            Step::Descend
        }
        fn enter(&mut self, _: &(), dir: &Directory<'_>) -> Step {
            let expected = fs::metadata(dir.path()).unwrap();
            assert_eq!(dir.metadata().modified(), expected.modified().unwrap());
            Step::Descend
        }
        fn error(&mut self, error: WalkError) -> Step {
            panic!("{error}")
        }
    }
    let dir = tree(&["d/", "d/f"]);
    let file = fs::File::open(dir.path().join("d/f")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH - std::time::Duration::from_millis(1500)).unwrap();
    Walker::new([dir.path()]).threads(1).run(|_| Check);
}

/// `descend` comes directly after the `entry` that asked for it, and may read metadata.
#[test]
fn descend_follows_its_entry() {
    #[derive(Default)]
    struct Order(Option<PathBuf>, usize);
    impl Visitor for Order {
        type Dir = u64;
        fn entry(&mut self, dir: Option<&u64>, entry: &mut Entry<'_>) -> Step {
            assert_eq!(self.0, None, "no other call comes in between");
            assert_eq!(dir.is_none(), entry.depth() == 0);
            if entry.file_type() == ftk_walk::FileType::Directory {
                self.0 = Some(entry.path());
            }
            Step::Descend
        }
        fn descend(&mut self, _: Option<&u64>, entry: &mut Entry<'_>) -> u64 {
            assert_eq!(self.0.take(), Some(entry.path()));
            self.1 += 1;
            entry.metadata().unwrap().ino
        }
        fn enter(&mut self, ino: &u64, dir: &Directory<'_>) -> Step {
            assert_eq!((self.0.as_ref(), *ino), (None, dir.ino()));
            Step::Descend
        }
        fn error(&mut self, error: WalkError) -> Step {
            panic!("{error}")
        }
    }
    let dir = tree(&["a/b/c/", "d/", "e", "f/"]);
    for threads in [1, 4] {
        let parts = Walker::new([dir.path()]).threads(threads).run(|_| Order::default());
        assert_eq!(parts.iter().map(|part| part.1).sum::<usize>(), 6);
    }
}
