//! Fault injection for whole directories, and for files that go only together: every system call fails in turn, and the
//! process is killed before each call. No content may be lost, and undo restores everything that was moved.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::faults::{act_program, calls_in, errors_of, injecting};
use crate::harness::{Tree, is_too_slow, needs, old_time, set_mode};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    Delete,
    Move,
    UndoMove,
    /// Only the files, of which the first is a sidecar of the second.
    DeleteSet,
    MoveSet,
    UndoMoveSet,
}

impl Scene {
    fn is_undo(self) -> bool {
        matches!(self, Self::UndoMove | Self::UndoMoveSet)
    }

    fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::DeleteSet)
    }

    fn is_set(self) -> bool {
        matches!(self, Self::DeleteSet | Self::MoveSet | Self::UndoMoveSet)
    }
}

/// Two equal directories. For an undo, the second, or what is in it, has been moved.
struct Stage {
    tree: Tree,
    scene: Scene,
}

const FILES: [&str; 2] = ["f", "d/g"];

impl Stage {
    fn new(scene: Scene) -> Self {
        let tree = Tree::new();
        for top in ["k", "v"] {
            for name in FILES {
                tree.file(&format!("{top}/{name}"), format!("the content of {name}"));
            }
            symlink("f", tree.path(&format!("{top}/l"))).unwrap();
            set_mode(&tree.path(&format!("{top}/d")), 0o750);
        }
        for name in ["v/d", "v"] {
            fs::File::open(tree.path(name)).unwrap().set_modified(old_time()).unwrap();
        }
        let stage = Self { tree, scene };
        if scene.is_undo() {
            let done = stage.directed(&mut Command::new(act_program()), false).output().unwrap();
            assert!(done.status.success() && stage.is_gone(), "{done:?}");
        }
        stage
    }

    fn directed<'c>(&self, command: &'c mut Command, undo: bool) -> &'c mut Command {
        command.current_dir(self.tree.path(""));
        if undo {
            return command.args(["undo", "journal"]);
        }
        command.arg(if self.scene.deletes() { "delete" } else { "to" });
        match self.scene.is_set() {
            true => command.args(["k/d/g", "v/d/g", "k/f", "v/f", "journal"]),
            false => command.args(["k", "v", "journal"]),
        }
    }

    fn play(&self, options: &[String]) -> Output {
        let mut strace = Command::new("strace");
        strace.args(options).arg(act_program());
        self.directed(&mut strace, self.scene.is_undo()).output().unwrap()
    }

    fn has(&self, path: &str, name: &str) -> bool {
        let path = self.tree.path(path);
        fs::symlink_metadata(&path).is_ok_and(|stat| stat.is_file())
            && fs::read(path).unwrap() == format!("the content of {name}").as_bytes()
    }

    /// Returns whether everything that should go is gone.
    fn is_gone(&self) -> bool {
        match self.scene.is_set() {
            true => FILES.iter().all(|name| !self.tree.path(&format!("v/{name}")).exists()),
            false => !self.tree.path("v").exists(),
        }
    }

    /// Checks what must hold after every fault: the keeper is complete, moved files are in one of two places, and no sidecar
    /// is left alone by an action.
    fn assert_nothing_lost(&self, what: &str) {
        for name in FILES {
            assert!(self.has(&format!("k/{name}"), name), "{what}: {name}");
        }
        assert!(self.tree.path("k/l").is_symlink() && self.tree.path("k/d").is_dir(), "{what}");
        let strays: Vec<_> = self.tree.names().into_iter().filter(|name| name.contains(".ftk-")).collect();
        // An undo restores each file on its own.
        if self.scene.is_set() && !self.scene.is_undo() && strays.is_empty() {
            assert!(self.has("v/f", "f") || !self.has("v/d/g", "d/g"), "{what}: {:?}", self.tree.names());
        }
        for name in FILES.iter().filter(|_| !self.scene.deletes()) {
            let here = self.has(&format!("v/{name}"), name);
            let there = self.has(&format!("to/v/{name}"), name);
            assert!(here != there || !strays.is_empty(), "{what}: {name} in {:?}", self.tree.names());
        }
    }

    /// Returns whether the victim is complete, with its metadata if the directories had to be made again.
    fn is_complete(&self) -> bool {
        let mode = |path: &Path| fs::metadata(path).is_ok_and(|it| it.permissions().mode() & 0o777 == 0o750);
        FILES.iter().all(|name| self.has(&format!("v/{name}"), name))
            && fs::read_link(self.tree.path("v/l")).is_ok_and(|target| target == Path::new("f"))
            && mode(&self.tree.path("v/d"))
    }
}

fn play_with_faults(scene: Scene) {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    let stage = Stage::new(scene);
    let log = stage.tree.path("log");
    let output = stage.play(&["-o", log.to_str().unwrap()].map(str::to_owned));
    assert!(output.status.success(), "{output:?}");
    let counts: BTreeMap<_, _> = calls_in(&fs::read_to_string(log).unwrap());
    let mut played = 0;
    for (name, (before, within)) in counts {
        let Some(errors) = errors_of(&name, within) else { continue };
        // One error of each call: others are played with single files.
        let ways = [format!("error={}", errors[0]), "signal=KILL".to_owned()];
        for (nth, way) in
            (before + 1..=before + within).flat_map(|nth| ways.iter().map(move |way| (nth, way)))
        {
            let inject = format!("inject={name}:{way}:when={nth}");
            play_once(scene, &inject, way.starts_with("signal"));
            played += 1;
        }
    }
    assert!(played > 50, "{played}");
}

fn play_once(scene: Scene, inject: &str, is_killed: bool) {
    let stage = Stage::new(scene);
    let output = stage.play(&injecting(&[], inject));
    let what = format!("{scene:?} {inject}: {output:?}");
    stage.assert_nothing_lost(&what);
    if output.status.success() {
        assert!(if scene.is_undo() { stage.is_complete() } else { stage.is_gone() }, "{what}");
    }
    if !is_killed && !scene.is_undo() {
        let strays = stage.tree.names().into_iter().filter(|name| name.contains(".ftk-")).count();
        assert!(strays == 0 || String::from_utf8_lossy(&output.stderr).contains(".ftk-"), "{what}");
    }
    // Undo restores everything that was moved, whatever failed before.
    let repaired = stage.directed(&mut Command::new(act_program()), true).output().unwrap();
    let what = format!("{what}\n{repaired:?}\n{:?}", stage.tree.names());
    stage.assert_nothing_lost(&what);
    let is_private = |name: &str| name.starts_with(".ftk-");
    for dir in ["", "v", "v/d"] {
        let entries = fs::read_dir(stage.tree.path(dir)).into_iter().flatten().flatten();
        let left = entries.filter(|entry| is_private(&entry.file_name().to_string_lossy())).count();
        assert!(left == 0 || scene.deletes(), "{what}");
    }
    if !scene.deletes() {
        assert!(stage.is_complete(), "{what}");
        assert!(stage.tree.names().iter().all(|name| !name.contains(".ftk-")), "{what}");
    }
}

#[test]
fn faults_while_a_directory_is_deleted() {
    play_with_faults(Scene::Delete);
}

#[test]
fn faults_while_a_directory_is_moved() {
    play_with_faults(Scene::Move);
}

#[test]
fn faults_while_a_directory_is_restored() {
    play_with_faults(Scene::UndoMove);
}

#[test]
fn faults_while_a_file_is_deleted_with_its_sidecar() {
    play_with_faults(Scene::DeleteSet);
}

#[test]
fn faults_while_a_file_is_moved_with_its_sidecar() {
    play_with_faults(Scene::MoveSet);
}

#[test]
fn faults_while_a_file_and_its_sidecar_are_restored() {
    play_with_faults(Scene::UndoMoveSet);
}
