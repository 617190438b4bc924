//! Names that change while the engine runs.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;

use ftk_apply::{Action, Step};
use ftk_file::Stat;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::harness::{Tree, ino, seen, seen_as};

/// Calls `disturb` repeatedly on another thread while `act` runs. `act` receives the number of successful
/// calls so far.
fn disturbed(disturb: impl Fn() -> bool + Sync, act: impl FnOnce(&AtomicU32)) {
    let (ended, times) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Relaxed) {
                times.fetch_add(disturb().into(), Relaxed);
            }
        });
        // Catches panics: after a failed assertion the other thread must be stopped, too.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&times)));
        ended.store(true, Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn exchange(a: &Path, b: &Path) -> bool {
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

/// A directory on the way to the victim alternates with a link to a directory outside. The files there look
/// like the victim, and half of the steps even name them.
#[test]
fn h09_a_parent_that_becomes_a_link_is_not_followed() {
    const FILES: usize = 20;
    for action in ["delete", "hardlink", "symlink", "move"] {
        let tree = Tree::new();
        let top = tree.path("top");
        let action = match action {
            "delete" => Action::Delete,
            "hardlink" => Action::Hardlink,
            "symlink" => Action::Symlink,
            _ => Action::Move(tree.path("to")),
        };
        for directory in ["top/dir/sub", "outside/sub"] {
            fs::create_dir_all(tree.path(directory)).unwrap();
        }
        for nth in 0..FILES {
            tree.file(&format!("outside/sub/v{nth}"), "same");
        }
        tree.file("top/k", "same");
        std::os::unix::fs::symlink("../outside", top.join("link")).unwrap();
        let sub = fs::File::open(top.join("dir/sub")).unwrap();
        let inside = |nth: usize| PathBuf::from(format!("/proc/self/fd/{}/v{nth}", sub.as_raw_fd()));
        let outside = |nth: usize| tree.path(&format!("outside/sub/v{nth}"));
        let inodes: Vec<_> = (0..FILES).map(|nth| ino(&outside(nth))).collect();
        let root_len = top.as_os_str().len();
        let mut done = 0;
        disturbed(
            || exchange(&top.join("dir"), &top.join("link")),
            |swaps| {
                while swaps.load(Relaxed) < 3000 || done < 20 {
                    let steps = (0..FILES).map(|nth| {
                        _ = fs::remove_file(inside(nth));
                        fs::write(inside(nth), "same").unwrap();
                        let mut victim =
                            seen(&if nth % 2 == 0 { inside(nth) } else { outside(nth) }, root_len);
                        victim.path =
                            top.join(format!("dir/sub/v{nth}")).into_os_string().into_encoded_bytes();
                        Step::new(victim, seen(&top.join("k"), root_len))
                    });
                    _ = fs::remove_dir_all(tree.path("to"));
                    let outcomes = tree.run(action.clone(), steps.collect());
                    for (nth, outcome) in outcomes.iter().enumerate() {
                        assert!(nth % 2 == 0 || outcome.is_err(), "{action:?}: a file outside");
                        done += u32::from(outcome.is_ok());
                    }
                }
            },
        );
        let after: Vec<_> = (0..FILES).map(|nth| ino(&outside(nth))).collect();
        assert_eq!(after, inodes, "{action:?}");
        assert_eq!(fs::read_dir(tree.path("outside/sub")).unwrap().count(), FILES, "{action:?}");
    }
}

/// Runs one step while two names alternate, and returns whether it was performed. The scan is repeated for
/// each step, since a rename changes the ctime of an inode.
///
/// If the names are exchanged once more while a step is taken back, the victim keeps a private name. Then an error must
/// name it.
fn tried(tree: &Tree, action: &Action, names: [&str; 2]) -> bool {
    let [victim, keeper] = ["v", "k"].map(|name| fs::File::open(tree.path(name)).unwrap());
    let step = || {
        let root_len = tree.path("").as_os_str().len();
        let [victim, keeper] = [("v", &victim), ("k", &keeper)]
            .map(|(name, file)| seen_as(&Stat::of(file).unwrap(), &tree.path(name), root_len));
        Step::new(victim, keeper)
    };
    let names = names.map(|name| tree.path(name));
    let pauses = AtomicU32::new(1);
    let (mut done, mut errors) = (false, String::new());
    let mut run = || match tree.run(action.clone(), vec![step()]).remove(0) {
        Ok(_) => true,
        Err(error) => {
            errors += &format!("{error}\n");
            false
        }
    };
    disturbed(
        || {
            // The pauses vary, so that changes come at any moment of a step.
            let pause = pauses.fetch_add(7, Relaxed) % 300;
            thread::sleep(std::time::Duration::from_micros(pause.into()));
            exchange(&names[0], &names[1])
        },
        |_| done = (0..50).any(|_| run()),
    );
    let strays = tree.names().into_iter().filter(|name| name.contains(".ftk-"));
    strays.for_each(|stray| assert!(errors.contains(&stray), "{stray}: {errors}"));
    done
}

/// The victim's name alternates between the victim and another file, whose content exists only there.
#[test]
fn a_victim_name_that_alternates_loses_no_content() {
    let mut done = 0;
    for nth in 0..200 {
        let tree = Tree::new();
        let to = Action::Move(tree.path("to"));
        let action = [Action::Delete, Action::Hardlink, Action::Symlink, to][nth % 4].clone();
        tree.file("k", "same");
        tree.file("v", "same");
        let unique = tree.file("unique", "only");
        let only = ino(&unique);
        done += u32::from(tried(&tree, &action, ["v", "unique"]));
        let has_only = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.ino() == only);
        assert!(has_only(&tree.path("v")) || has_only(&unique), "{action:?}: {:?}", tree.names());
        assert_eq!(fs::read(tree.path("k")).unwrap(), b"same");
    }
    assert!(done > 0);
}

/// The keeper's name alternates between the keeper and another file, so that a link to it may lead to the
/// other file.
#[test]
fn a_keeper_name_that_alternates_never_replaces_the_victim() {
    for nth in 0..200 {
        let tree = Tree::new();
        tree.file("k", "same");
        tree.file("other", "diff");
        tree.file("v", "same");
        let action = if nth % 4 == 0 { Action::Symlink } else { Action::Hardlink };
        tried(&tree, &action, ["k", "other"]);
        if action == Action::Hardlink {
            assert_eq!(fs::read(tree.path("v")).unwrap(), b"same");
        }
        let contents: Vec<_> =
            tree.names().into_iter().map(|name| fs::read(tree.path(&name)).unwrap()).collect();
        assert!(contents.iter().any(|content| content == b"same"));
        assert!(tree.names().iter().all(|name| !name.contains(".ftk-")), "{:?}", tree.names());
    }
}

/// A file that is being written to, alternately with the keeper's bytes and with others, keeps what its
/// writer has written, unless it is removed. `h08_writes_at_the_last_moment_are_not_lost` tests
/// writes after the last check.
#[test]
fn writes_during_the_comparison_are_not_lost() {
    use std::os::unix::fs::FileExt;

    let mut refused = 0;
    for _ in 0..60 {
        let tree = Tree::new();
        tree.file("k", vec![7; 300_000]);
        let victim = tree.file("v", vec![7; 300_000]);
        let inode = ino(&victim);
        let writer = fs::File::options().write(true).open(&victim).unwrap();
        let flip = AtomicBool::new(false);
        let mut outcome = None;
        disturbed(
            || {
                let byte = if flip.fetch_xor(true, Relaxed) { 7 } else { 8 };
                writer.write_at(&[byte], 299_999).is_ok()
            },
            |times| {
                // On a busy machine the writer would otherwise start after the end of the action.
                while times.load(Relaxed) == 0 {
                    thread::yield_now();
                }
                outcome = Some(tree.run(Action::Delete, vec![tree.step("v", "k")]).remove(0));
            },
        );
        if outcome.unwrap().is_err() {
            refused += 1;
            let mut left = vec![7; 300_000];
            left[299_999] = if flip.into_inner() { 8 } else { 7 };
            assert!(ino(&victim) == inode && fs::read(&victim).unwrap() == left);
            assert_eq!(tree.names(), ["k", "v"]);
        } else {
            assert_eq!(tree.names(), ["k"]);
        }
    }
    assert!(refused > 0);
}
