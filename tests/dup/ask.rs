//! `ftk dup prune --ask` on a terminal, which `script` provides.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::harness::{Dir, Run, needs};

/// Creates two groups of three copies.
fn copies() -> Dir {
    let dir = Dir::new();
    for (content, names) in [(&b"larger"[..], ["a", "sub/b", "c"]), (b"small", ["x", "sub/y", "z"])] {
        names.iter().for_each(|name| _ = dir.file(name, content));
    }
    dir
}

/// Asks about all groups, with these lines as answers.
fn ask(dir: &Dir, args: &str, answers: &str) -> Run {
    let line = format!("'{}' dup prune --action hardlink --ask {args} .", env!("CARGO_BIN_EXE_ftk"));
    let command = dir.ftk([""; 0]).instead(dir, ["script", "-qec", &line, "/dev/null"]);
    command.stdin(answers.as_bytes()).run()
}

/// Returns the names that are hard links of this one, besides itself.
fn linked(dir: &Dir, name: &str) -> Vec<&'static str> {
    let inode = |name: &str| fs::metadata(dir.path(name)).unwrap().ino();
    let mut names = vec!["a", "sub/b", "c", "x", "sub/y", "z"];
    names.retain(|other| *other != name && inode(other) == inode(name));
    names
}

#[test]
fn answers_decide_and_the_plan_is_shown_before_it_is_carried_out() {
    needs!("script");
    let dir = copies();
    let run = ask(&dir, "--keep first", "2 3\n\ny\n").status(0);
    for part in [
        "group 1 of 2: 3 files of 6 B",
        "group 2 of 2",
        "chosen",
        "first",
        "would link 3 files",
        "carry out this plan?",
        "linked 3 files",
    ] {
        run.check(run.text().contains(part), part);
    }
    // `./a`, `./c` and `./sub/b` in this order: the second and the third stay, and the first is linked to the better one.
    assert_eq!((linked(&dir, "a"), linked(&dir, "sub/b")), (vec!["c"], vec![]));
    assert_eq!(linked(&dir, "x"), ["sub/y", "z"]);
}

#[test]
fn nothing_is_done_without_consent() {
    needs!("script");
    for (answers, is_planned) in
        [("1\n1\nn\n", true), ("1\n1\n\n", true), ("all\nskip\n", false), ("stop\n", false)]
    {
        let dir = copies();
        let run = ask(&dir, "", answers).status(0);
        run.check(run.text().contains("carry out this plan?") == is_planned, "the question");
        assert!(linked(&dir, "a").is_empty() && linked(&dir, "x").is_empty(), "{answers:?}");
        assert!(
            !dir.aside("state").join("ftk").exists()
                || fs::read_dir(dir.aside("state").join("ftk")).unwrap().count() == 0
        );
    }
    // What was decided before `stop` is planned, and with --yes carried out without another question.
    let dir = copies();
    ask(&dir, "--yes", "wrong\n9\n1\nstop\n").status(0);
    assert_eq!(linked(&dir, "a"), ["sub/b", "c"]);
    assert!(linked(&dir, "x").is_empty());
}

#[test]
fn without_a_terminal_it_is_refused() {
    let dir = copies();
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--ask", "--yes", "."]).stdin(b"1\n1\n").run();
    run.status(2).stdout("").stderr_has("--ask needs a terminal");
    assert!(linked(&dir, "a").is_empty());
}
