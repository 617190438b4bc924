//! The script has the same results as the engine, in every shell and with every name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use ftk_apply::{Action, Seen, Step, script};
use ftk_file::Version;

use crate::harness::{Tree, has, ino};

/// Names with a special meaning for a shell or a command, and a name with every possible byte.
fn names() -> Vec<Vec<u8>> {
    let special = [
        "'",
        "''",
        "\"",
        "`touch X`",
        "$(touch X)",
        "$HOME",
        "; touch X",
        "a\nb",
        "\n",
        "end\n",
        "-rf",
        "--",
        "-",
        "*",
        "?",
        "[a]",
        "~",
        "~root",
        "\\",
        "\\n",
        "a b",
        " ",
        "#",
        "!",
        "&",
        "|",
        "(",
        "{a,b}",
        "\u{fffd}",
        "%s",
    ];
    let mut names: Vec<_> = special.iter().map(|name| name.as_bytes().to_vec()).collect();
    names.push(b"\xff".to_vec());
    names.push((1..=255).filter(|&byte| byte != b'/').collect());
    names
}

/// The available shells, and how each is called.
fn shells() -> Vec<Vec<&'static str>> {
    let all = [vec!["dash"], vec!["bash"], vec!["busybox", "sh"]];
    all.into_iter().filter(|shell| has(shell[0])).collect()
}

/// Runs a script in the directory above the tree, where no file may appear.
fn run(tree: &Tree, shell: &[&str], steps: &[Step], action: &Action) -> Output {
    let mut text = script::header(tree.path("").as_os_str().as_bytes());
    if let Action::Move(to) = action {
        // A directory that exists gets no mark.
        fs::create_dir_all(tree.path("").join(to)).unwrap();
    }
    text.extend_from_slice(&script::destination(action));
    for (nth, step) in steps.iter().enumerate() {
        text.extend_from_slice(&script::step(step, action, nth));
    }
    text.extend_from_slice(&script::footer());
    let path = tree.journal();
    fs::write(&path, text).unwrap();
    Command::new(shell[0]).args(&shell[1..]).arg(path).current_dir("/").output().unwrap()
}

fn relative(path: Vec<u8>) -> Seen {
    Seen { path, root_len: 0, version: Version::default() }
}

/// Creates a pair of files for each of the [`names`]: both files have the name, and so do their directories.
fn pairs(tree: &Tree) -> Vec<(PathBuf, PathBuf, Step)> {
    let pair = |name: Vec<u8>| {
        let below = |top: &str| [top.as_bytes(), b"/", &name, b"/", &name].concat();
        let path = |below: &[u8]| tree.path("").join(OsStr::from_bytes(below));
        let (keeper, victim) = (below("keep"), below("give"));
        for path in [path(&keeper), path(&victim)] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &name).unwrap();
        }
        (path(&keeper), path(&victim), Step::new(relative(victim), relative(keeper)))
    };
    names().into_iter().map(pair).collect()
}

#[test]
fn h21_scripts_work_with_every_name_in_every_shell() {
    for shell in shells() {
        for action in [Action::Hardlink, Action::Symlink, Action::Delete, Action::Move("-to".into())] {
            let tree = Tree::new();
            let pairs = pairs(&tree);
            let steps: Vec<_> = pairs.iter().map(|(_, _, step)| step.clone()).collect();
            let victims: Vec<_> = pairs.iter().map(|(_, victim, _)| ino(victim)).collect();
            let output = run(&tree, &shell, &steps, &action);
            assert!(output.status.success() && output.stderr.is_empty(), "{shell:?} {action:?}: {output:?}");
            for ((keeper, victim, step), old) in pairs.iter().zip(victims) {
                match action {
                    Action::Hardlink => assert_eq!(ino(victim), ino(keeper), "{shell:?} {victim:?}"),
                    Action::Symlink => {
                        assert_eq!(
                            fs::read_link(victim).unwrap(),
                            keeper.canonicalize().unwrap(),
                            "{shell:?}"
                        );
                    }
                    Action::Delete => assert!(!victim.exists(), "{shell:?} {victim:?}"),
                    _ => {
                        let to = tree.path("-to").join(OsStr::from_bytes(&step.victim.path));
                        assert_eq!(ino(&to), old, "{shell:?} {victim:?}");
                        assert!(!victim.exists(), "{shell:?} {victim:?}");
                    }
                }
                assert!(keeper.is_file());
            }
            let expected = if action == Action::Delete { pairs.len() } else { 2 * pairs.len() };
            assert_eq!(tree.names().len(), expected, "{shell:?} {action:?}: {:?}", tree.names());
        }
    }
}

#[test]
fn a_script_keeps_files_that_differ() {
    for shell in shells() {
        for action in
            [Action::Hardlink, Action::Symlink, Action::Delete, Action::Move("to".into()), Action::Reflink]
        {
            let tree = Tree::new();
            for name in ["k", "differs", "longer", "link target"] {
                tree.file(name, "same");
            }
            tree.file("differs", "diff");
            tree.file("longer", "same and more");
            fs::hard_link(tree.path("k"), tree.path("hard link")).unwrap();
            std::os::unix::fs::symlink("link target", tree.path("link")).unwrap();
            let victims = ["differs", "longer", "hard link", "link", "missing", ".", "-n"];
            let steps = victims.map(|victim| Step {
                copies: None,
                with_next: false,
                victim: relative(victim.as_bytes().to_vec()),
                keeper: relative(b"k".to_vec()),
            });
            let before: Vec<_> = tree.names().iter().map(|name| ino(&tree.path(name))).collect();
            let output = run(&tree, &shell, &steps, &action);
            assert_eq!(output.status.code(), Some(2), "{shell:?} {action:?}: {output:?}");
            let said = String::from_utf8(output.stderr).unwrap();
            for nth in 0..steps.len() {
                assert!(said.contains(&format!("step {nth}: ")), "{shell:?} {action:?}: {said}");
            }
            let after: Vec<_> = tree.names().iter().map(|name| ino(&tree.path(name))).collect();
            assert_eq!(after, before, "{shell:?} {action:?}");
            assert_eq!(fs::read(tree.path("differs")).unwrap(), b"diff");
        }
    }
}

#[test]
fn a_script_moves_nothing_through_a_link_below_the_destination() {
    for shell in shells() {
        for (link, target) in [("to/a", "../out"), ("to/a/b", "../../out")] {
            let tree = Tree::new();
            for name in ["k", "a/b/v", "out/other"] {
                tree.file(name, "same");
            }
            fs::create_dir_all(tree.path(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, tree.path(link)).unwrap();
            let before = tree.names();
            let step = Step::new(relative(b"a/b/v".to_vec()), relative(b"k".to_vec()));
            let output = run(&tree, &shell, &[step], &Action::Move("to".into()));
            assert_eq!(output.status.code(), Some(2), "{shell:?} {link}: {output:?}");
            assert_eq!(tree.names(), before, "{shell:?} {link}");
        }
    }
}

/// A shell takes `link/..` for the directory of the link unless it is told otherwise.
#[test]
fn a_script_follows_links_in_the_path_of_a_keeper() {
    for shell in shells() {
        let tree = Tree::new();
        for name in ["t/k/x", "t/v/x", "t/d/other", "q/other"] {
            tree.file(name, "same");
        }
        std::os::unix::fs::symlink("../t/d", tree.path("q/r")).unwrap();
        let at = |path: &str| relative(format!("q/r/../{path}").into_bytes());
        let output = run(&tree, &shell, &[Step::new(at("v/x"), at("k/x"))], &Action::Symlink);
        assert!(output.status.success(), "{shell:?}: {output:?}");
        let keeper = tree.path("t/k/x").canonicalize().unwrap();
        assert_eq!(fs::read_link(tree.path("t/v/x")).unwrap(), keeper, "{shell:?}");
    }
}

/// If a link cannot be made, or the file system has no reflinks, the victim stays.
#[test]
fn a_failed_script_step_keeps_the_victim() {
    let elsewhere = tempfile::tempdir().unwrap();
    let tree = Tree::new();
    let victim = tree.file("v", "same");
    let keeper = elsewhere.path().join("k");
    fs::write(&keeper, "same").unwrap();
    if fs::metadata(&keeper).unwrap().dev() == fs::metadata(&victim).unwrap().dev() {
        return crate::harness::skip("there is no second file system");
    }
    let before = ino(&victim);
    let step = Step {
        copies: None,
        with_next: false,
        victim: relative(b"v".to_vec()),
        keeper: relative(keeper.into_os_string().into_encoded_bytes()),
    };
    for shell in shells() {
        let to = elsewhere.path().join("to");
        for action in [Action::Hardlink, Action::Reflink, Action::Move(to)] {
            let output = run(&tree, &shell, std::slice::from_ref(&step), &action);
            assert_eq!(output.status.code(), Some(2), "{shell:?} {action:?}: {output:?}");
            assert_eq!(ino(&victim), before, "{shell:?} {action:?}");
            assert_eq!(tree.names(), ["v"], "{shell:?} {action:?}");
        }
    }
}
