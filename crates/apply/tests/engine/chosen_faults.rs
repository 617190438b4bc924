//! Fault injection for entries that the user chose: every system call fails in turn, and the process is killed before each
//! call. What is moved is always in one of two places, and a deletion removes nothing but what was chosen.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::faults::{act_program, calls_in, errors_of, injecting};
use crate::harness::{Tree, holds, is_too_slow, needs};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    Move,
    Delete,
    UndoMove,
}

const FILES: [&str; 3] = ["f", "d/g", "d/e/h"];

struct Stage {
    tree: Tree,
    scene: Scene,
}

impl Stage {
    fn new(scene: Scene) -> Self {
        let tree = Tree::new();
        for top in ["v", "other"] {
            for name in FILES {
                tree.file(&format!("{top}/{name}"), format!("the content of {name}"));
            }
            symlink("f", tree.path(&format!("{top}/l"))).unwrap();
        }
        let stage = Self { tree, scene };
        if scene == Scene::UndoMove {
            let done = stage.directed(&mut Command::new(act_program()), false).output().unwrap();
            assert!(done.status.success() && !stage.tree.path("v").exists(), "{done:?}");
        }
        stage
    }

    fn directed<'c>(&self, command: &'c mut Command, undo: bool) -> &'c mut Command {
        command.current_dir(self.tree.path(""));
        match undo {
            true => command.args(["undo", "journal"]),
            false if self.scene == Scene::Delete => command.args(["chosen", "delete", "v", "journal"]),
            false => command.args(["chosen", "to", "v", "journal"]),
        }
    }

    fn play(&self, options: &[String]) -> Output {
        let mut strace = Command::new("strace");
        strace.args(options).arg(act_program());
        self.directed(&mut strace, self.scene == Scene::UndoMove).output().unwrap()
    }

    fn is_whole(&self, top: &str) -> bool {
        let is_there =
            |name: &&str| holds(&self.tree.path(&format!("{top}/{name}")), format!("the content of {name}"));
        FILES.iter().all(is_there) && self.tree.path(&format!("{top}/l")).is_symlink()
    }

    fn strays(&self) -> usize {
        let names = self.tree.names();
        let top = fs::read_dir(self.tree.path("")).unwrap().map(|it| it.unwrap().file_name());
        names.iter().filter(|name| name.contains(".ftk-")).count()
            + top.filter(|name| name.to_string_lossy().starts_with(".ftk-")).count()
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
    let mut played = 0;
    for (name, (before, within)) in calls_in(&fs::read_to_string(log).unwrap()) {
        let Some(errors) = errors_of(&name, within) else { continue };
        for nth in before + 1..=before + within {
            for way in [format!("error={}", errors[0]), "signal=KILL".to_owned()] {
                play_once(scene, &format!("inject={name}:{way}:when={nth}"), way.starts_with("signal"));
                played += 1;
            }
        }
    }
    assert!(played > 50, "{played}");
}

fn play_once(scene: Scene, inject: &str, is_killed: bool) {
    let stage = Stage::new(scene);
    let output = stage.play(&injecting(&[], inject));
    let what = format!("{scene:?} {inject}: {output:?}\n{:?}", stage.tree.names());
    assert!(stage.is_whole("other"), "{what}");
    let (is_here, is_there) = (stage.is_whole("v"), stage.is_whole("to/v"));
    match scene {
        Scene::Delete if output.status.success() => assert!(!stage.tree.path("v").exists(), "{what}"),
        Scene::Delete => {}
        _ => assert!(is_here != is_there || stage.strays() > 0, "{what}"),
    }
    if output.status.success() && scene != Scene::Delete {
        assert!(if scene == Scene::Move { is_there } else { is_here }, "{what}");
    }
    if !is_killed && stage.strays() > 0 {
        assert!(String::from_utf8_lossy(&output.stderr).contains(".ftk-"), "{what}");
    }
    if !stage.tree.journal().exists() {
        return;
    }
    // Undo moves back what was moved, and gives what a killed deletion has left its name.
    let repaired = stage.directed(&mut Command::new(act_program()), true).output().unwrap();
    let what = format!("{what}\n{repaired:?}\n{:?}", stage.tree.names());
    assert!(stage.is_whole("other"), "{what}");
    match scene {
        Scene::Delete => assert_eq!(stage.strays(), 0, "{what}"),
        _ => {
            assert!(stage.is_whole("v"), "{what}");
            assert_eq!(stage.strays(), 0, "{what}");
        }
    }
}

#[test]
fn faults_while_a_chosen_directory_is_moved() {
    play_with_faults(Scene::Move);
}

#[test]
fn faults_while_a_chosen_directory_is_deleted() {
    play_with_faults(Scene::Delete);
}

#[test]
fn faults_while_a_chosen_directory_is_restored() {
    play_with_faults(Scene::UndoMove);
}

/// Linux before 5.8 does not say what is a mount point, before 5.6 it has no `openat2`, and before 4.11 no `statx`.
#[test]
fn chosen_directories_move_and_go_without_later_calls() {
    needs!("strace");
    for scene in [Scene::Move, Scene::Delete] {
        let stage = Stage::new(scene);
        let options = ["-f", "-o", "/dev/null", "-e", "inject=statx,openat2:error=ENOSYS"];
        let output = stage.play(&options.map(str::to_owned));
        assert!(output.status.success() && !stage.tree.path("v").exists(), "{scene:?}: {output:?}");
    }
}
