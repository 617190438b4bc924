//! Stops, panics, metadata, and directories that change during the walk.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use ftk_walk::{Directory, Entry, FileType, Follow, Op, Step, Visitor, WalkError, Walker};
use tempfile::TempDir;

use crate::support::{tree, walk};

/// A visitor made of closures. Starting points are not shown to them.
struct Call<E, F> {
    enter: E,
    entry: F,
    errors: Vec<WalkError>,
}

impl<E, F> Visitor for Call<E, F>
where
    E: FnMut(&Directory<'_>) -> Step + Send,
    F: FnMut(&mut Entry<'_>) -> Step + Send,
{
    type Dir = ();

    fn enter(&mut self, _: &(), dir: &Directory<'_>) -> Step {
        (self.enter)(dir)
    }
    fn entry(&mut self, dir: Option<&()>, entry: &mut Entry<'_>) -> Step {
        if dir.is_some() { (self.entry)(entry) } else { Step::Descend }
    }
    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}

fn call<F: FnMut(&mut Entry<'_>) -> Step + Send>(
    entry: F,
) -> Call<impl FnMut(&Directory<'_>) -> Step + Send, F> {
    Call { enter: |_: &Directory<'_>| Step::Descend, entry, errors: Vec::new() }
}

/// Makes a tree large enough for helper threads to start.
fn wide() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for outer in 0..40 {
        for inner in 0..20 {
            fs::create_dir_all(dir.path().join(format!("{outer}/{inner}"))).unwrap();
        }
    }
    dir
}

#[test]
fn stop_ends_the_walk() {
    let dir = wide();
    for threads in [1, 4] {
        let (seen, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        Walker::new([dir.path()]).threads(threads).run(|_| {
            call(|_: &mut Entry<'_>| {
                assert!(threads > 1 || !stopped.load(SeqCst), "nothing is shown after a stop");
                if seen.fetch_add(1, SeqCst) == 10 {
                    stopped.store(true, SeqCst);
                    return Step::Stop;
                }
                Step::Descend
            })
        });
        assert!(seen.load(SeqCst) < 840, "{}", seen.load(SeqCst));
    }
}

#[test]
fn a_panic_is_resumed_with_its_payload() {
    let dir = wide();
    for threads in [1, 4] {
        let seen = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            Walker::new([dir.path()]).threads(threads).run(|_| {
                call(|_: &mut Entry<'_>| {
                    if seen.fetch_add(1, SeqCst) == 200 {
                        std::panic::resume_unwind(Box::new("two hundred"));
                    }
                    Step::Descend
                })
            })
        }));
        let payload = outcome.err().expect("the panic is not swallowed");
        assert_eq!(payload.downcast_ref(), Some(&"two hundred"));
    }
}

#[test]
fn cpus_are_counted_only_for_directories() {
    let dir = tree(&["f"]);
    let visitors = |walker: Walker| walker.run(|_| call(|_: &mut Entry<'_>| Step::Next)).len();
    assert_eq!(visitors(Walker::new([dir.path()]).threads(2).cpus(|| unreachable!())), 2);
    assert_eq!(visitors(Walker::new([dir.path().join("f")]).cpus(|| unreachable!())), 1);
    assert_eq!(visitors(Walker::new([dir.path()]).cpus(|| 3)), 3);
}

#[test]
fn all_visitors_are_made_first_and_returned() {
    let dir = tree(&["f"]);
    let mut made = Vec::new();
    let visitors = Walker::new([dir.path()]).threads(3).run(|worker| {
        made.push(worker);
        call(|_: &mut Entry<'_>| Step::Next)
    });
    assert_eq!(visitors.len(), 3);
    assert_eq!(made, [0, 1, 2]);
}

#[test]
fn more_than_64_workers_find_everything() {
    let dir = wide();
    assert_eq!(walk(&[dir.path()], Follow::Never, 100).seen.len(), 841);
}

#[test]
fn next_skips_a_directory() {
    let dir = tree(&["in/", "in/f", "out/", "out/g"]);
    let names = Mutex::new(Vec::new());
    Walker::new([dir.path()]).threads(1).run(|_| {
        call(|entry: &mut Entry<'_>| {
            names.lock().unwrap().push(entry.name().to_vec());
            if entry.name() == b"out" { Step::Next } else { Step::Descend }
        })
    });
    let mut names = names.into_inner().unwrap();
    names.sort();
    assert_eq!(names, [&b"f"[..], b"in", b"out"]);
}

#[test]
fn metadata_matches_stat() {
    let dir = tree(&["file", "link -> file"]);
    let expected = fs::metadata(dir.path().join("file")).unwrap();
    for follow in [Follow::Never, Follow::Always] {
        let checked = AtomicUsize::new(0);
        Walker::new([dir.path()]).threads(1).follow(follow).run(|_| {
            call(|entry: &mut Entry<'_>| {
                let (name, via_link) = (entry.name().to_vec(), entry.via_link());
                let metadata = *entry.metadata().unwrap();
                assert_eq!(metadata.file_type, entry.file_type());
                assert_eq!(via_link, name == b"link" && follow == Follow::Always);
                if name == b"file" || via_link {
                    use std::os::unix::fs::MetadataExt;
                    assert_eq!(metadata.ino, expected.ino());
                    assert_eq!(metadata.dev, expected.dev());
                    assert_eq!(metadata.size, 4);
                    assert_eq!(metadata.mode, expected.mode() & 0o7777);
                    let mtime = i128::from(expected.mtime()) * 1_000_000_000;
                    assert_eq!(metadata.mtime_ns, mtime + i128::from(expected.mtime_nsec()));
                } else {
                    assert_eq!(metadata.file_type, FileType::Symlink);
                }
                checked.fetch_add(1, SeqCst);
                Step::Next
            })
        });
        assert_eq!(checked.into_inner(), 2);
    }
}

#[test]
fn a_vanished_directory_is_an_error() {
    let dir = tree(&["gone/", "stays/", "stays/f"]);
    let gone = dir.path().join("gone");
    let shown = AtomicUsize::new(0);
    let visitors = Walker::new([dir.path()]).threads(1).run(|_| {
        call(|entry: &mut Entry<'_>| {
            shown.fetch_add(1, SeqCst);
            if entry.name() == b"gone" {
                fs::remove_dir(&gone).unwrap();
            }
            Step::Descend
        })
    });
    let [error] = &visitors[0].errors[..] else { panic!("one error") };
    assert_eq!(error.op, Op::Open);
    assert_eq!(error.path, gone.as_os_str().as_encoded_bytes());
    assert_eq!(shown.load(SeqCst), 3);
}

#[test]
fn a_vanished_file_has_no_metadata() {
    let dir = tree(&["gone"]);
    let failed = AtomicBool::new(false);
    Walker::new([dir.path()]).threads(1).run(|_| {
        call(|entry: &mut Entry<'_>| {
            fs::remove_file(dir.path().join("gone")).unwrap();
            failed.store(entry.metadata().is_err_and(|error| error.op == Op::Stat), SeqCst);
            Step::Next
        })
    });
    assert!(failed.into_inner());
}

#[test]
fn a_directory_replaced_by_a_link_is_not_entered() {
    let dir = tree(&["outside/", "outside/secret", "root/", "root/d/"]);
    let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
    let visitors = Walker::new([&root]).threads(1).run(|_| {
        call(|entry: &mut Entry<'_>| {
            assert_ne!(entry.name(), b"secret");
            fs::remove_dir(root.join("d")).unwrap();
            std::os::unix::fs::symlink(&outside, root.join("d")).unwrap();
            Step::Descend
        })
    });
    assert_eq!(visitors[0].errors.len(), 1);
}

#[test]
fn directories_report_device_and_depth() {
    let dir = tree(&["d/"]);
    let dev = {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(dir.path()).unwrap().dev()
    };
    let depths = Mutex::new(Vec::new());
    Walker::new([dir.path()]).threads(1).run(|_| Call {
        enter: |dir: &Directory<'_>| {
            assert_eq!((dir.dev(), dir.root_dev()), (dev, dev));
            assert!(!dir.is_mount() && !dir.is_pseudo());
            depths.lock().unwrap().push(dir.depth());
            Step::Descend
        },
        entry: |_: &mut Entry<'_>| Step::Descend,
        errors: Vec::new(),
    });
    assert_eq!(depths.into_inner().unwrap(), [0, 1]);
}

#[cfg(all(target_os = "linux", not(feature = "portable")))]
#[test]
fn proc_is_pseudo_and_a_mount() {
    let seen = AtomicUsize::new(0);
    for (root, depth) in [("/", 1), ("/proc", 0)] {
        Walker::new([root]).threads(1).run(|_| Call {
            enter: |dir: &Directory<'_>| {
                if dir.depth() == depth {
                    assert!(dir.is_pseudo());
                    assert_eq!(dir.is_mount(), depth == 1);
                    seen.fetch_add(1, SeqCst);
                    return Step::Next;
                }
                Step::Descend
            },
            entry: |entry: &mut Entry<'_>| if entry.name() == b"proc" { Step::Descend } else { Step::Next },
            errors: Vec::new(),
        });
    }
    assert_eq!(seen.into_inner(), 2);
}
