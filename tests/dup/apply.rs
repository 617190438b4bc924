//! `ftk dup apply`: acting on a saved report, and which parts of a report are not trusted.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use super::tree::{oracle, plant};
use crate::harness::{Dir, Ftk, is_root, needs, sha256, skip};

/// Writes a report on `.` next to the tree and returns its lines.
fn report(dir: &Dir) -> Vec<String> {
    let path = dir.aside("report");
    dir.ftk(["dup", "--json", "--min-size", "0", "-o"]).arg(&path).run().status(0);
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the lines with a matching footer.
pub(super) fn sealed(lines: &[String]) -> Vec<u8> {
    let mut text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let footer = format!(
        "{{\"footer\":{{\"records\":{},\"sha256\":\"{}\"}}}}\n",
        lines.len(),
        sha256(text.as_bytes())
    );
    text += &footer;
    text.into_bytes()
}

const DELETE: [&str; 6] = ["dup", "apply", "-", "--action", "delete", "--yes"];

#[test]
fn a_report_does_what_prune_does() {
    for action in ["hardlink", "symlink", "delete"] {
        for seed in [50, 51] {
            let dir = Dir::new();
            plant(&dir, seed, 100);
            report(&dir);
            let report = dir.aside("report");
            let plan = dir
                .ftk(["dup", "prune", ".", "--min-size", "0", "--keep", "newest", "--action", action])
                .run();
            let args = ["dup", "apply", "--keep", "newest", "--action", action];
            let saved = dir.ftk(args).arg(&report).run().status(0);
            assert_eq!(saved.out, plan.out);
            let done = dir.ftk(args).arg("--yes").arg(&report).run().status(0);
            assert_eq!(done.out, plan.out);
            // Links to empty files would free nothing.
            assert!(oracle(&dir, 1).is_empty());
        }
    }
}

/// A report names files anywhere. One that another user could have written acts only through standard input.
#[test]
fn the_report_of_another_user_does_not_act() {
    if !is_root() {
        return skip("only root changes owners");
    }
    for (owner, mode) in [(65534, 0o644), (0, 0o646)] {
        let dir = Dir::new();
        dir.file("a", b"same").file("b", b"same");
        report(&dir);
        let report = dir.aside("report");
        fs::set_permissions(&report, fs::Permissions::from_mode(mode)).unwrap();
        chown(&report, Some(owner), Some(owner)).unwrap();
        dir.ftk(&DELETE[..2]).args(&DELETE[3..5]).arg(&report).run().status(0);
        let run = dir.ftk(&DELETE[..2]).args(&DELETE[3..]).arg(&report).run().status(2);
        run.stderr_has("another user could have written ");
        assert!(dir.path("b").exists());
        dir.ftk(DELETE).stdin_from(fs::File::open(&report).unwrap()).run().status(0);
        assert!(!dir.path("b").exists());
    }
}

#[test]
fn a_report_from_a_pipe() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").raw_file(b"\xff\n", b"same");
    let mut lines = report(&dir);
    lines.pop();
    dir.ftk(DELETE).stdin(&sealed(&lines)).run().status(0);
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 1);
}

#[test]
fn h29_an_incomplete_report_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    let lines = report(&dir);
    let text = lines.join("\n") + "\n";
    let first = text.find('\n').unwrap() + 1;
    for (bad, why) in [
        (String::new(), "incomplete"),
        (lines[..2].join("\n") + "\n", "incomplete"),
        (text[..text.len() - 1].to_owned(), "incomplete"),
        (text[first..].to_owned(), ""),
        (text.clone() + "\n", "something follows the footer"),
        (text.replace("./b", "./c"), "--edited"),
        (text.replacen("\"records\":2", "\"records\":3", 1), "--edited"),
    ] {
        let run = dir.ftk(DELETE).stdin(bad.as_bytes()).run().status(2).stdout("");
        run.stderr_has("bad report '-'").stderr_has(why);
        assert!(dir.path("a").exists() && dir.path("b").exists());
    }
}

#[test]
fn an_edited_report_needs_the_option_edited() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").file("c", b"other").file("d", b"other");
    let lines = report(&dir);
    let edited: String =
        lines.iter().filter(|line| !line.contains("./c")).flat_map(|line| [line, "\n"]).collect();
    dir.ftk(DELETE).stdin(edited.as_bytes()).run().status(2);
    assert!(dir.path("b").exists());
    dir.ftk(DELETE).arg("--edited").stdin(edited.as_bytes()).run().status(0);
    assert!(!dir.path("b").exists() && dir.path("d").exists());
    // Without a footer it is unknown whether records are missing.
    let cut = &edited[..edited.find("{\"footer\"").unwrap()];
    dir.ftk(DELETE).arg("--edited").stdin(cut.as_bytes()).run().status(2);
}

#[test]
fn a_reference_protects_what_a_report_names() {
    let dir = Dir::new();
    dir.file("x/a", b"same").file("y/b", b"same").file("y/z/c", b"same");
    dir.symlink("y", "link");
    report(&dir);
    let report = dir.aside("report");
    let args = ["dup", "apply", "--action", "delete", "--yes", "--reference", "link/z"];
    dir.ftk(args).arg(&report).run().status(0);
    assert!(dir.path("y/z/c").exists() && !dir.path("x/a").exists() && !dir.path("y/b").exists());
    dir.ftk(["dup", "apply", "--action", "delete", "--reference", "missing"]).arg(&report).run().status(2);
}

/// If a file changed since the report was written, the action is refused with a reason, and nothing is lost.
#[test]
fn h08_files_changed_since_the_report_are_refused() {
    type Change = fn(&Dir);
    let change: [(&str, Change); 6] = [
        ("another content", |dir| _ = dir.file("b", b"SAME")),
        ("another length", |dir| _ = dir.file("b", b"same and more")),
        ("another file", |dir| {
            fs::remove_file(dir.path("b")).unwrap();
            dir.file("b", b"SAME");
        }),
        ("a symbolic link", |dir| {
            fs::remove_file(dir.path("b")).unwrap();
            dir.symlink("a", "b");
        }),
        ("a directory", |dir| {
            fs::remove_file(dir.path("b")).unwrap();
            dir.dir("b");
        }),
        ("nothing", |dir| fs::remove_file(dir.path("b")).unwrap()),
    ];
    for (what, change) in change {
        for action in ["hardlink", "symlink", "delete", "move=away"] {
            let dir = Dir::new();
            dir.file("a", b"same").file("b", b"same");
            report(&dir);
            change(&dir);
            let before = fs::symlink_metadata(dir.path("b")).ok().map(|it| (it.ino(), it.len()));
            let report = dir.aside("report");
            let run = dir.ftk(["dup", "apply", "--yes", "--action", action]).arg(&report).run().status(2);
            run.check(run.err.contains("ftk: './b': refused: "), what);
            run.check(!run.err.contains("os error"), "the cause is in words");
            if what == "nothing" {
                run.check(run.err.contains("cannot open the victim: no such file or directory\n"), what);
            }
            let after = fs::symlink_metadata(dir.path("b")).ok().map(|it| (it.ino(), it.len()));
            assert_eq!(after, before, "{what}, {action}");
            assert_eq!(fs::read(dir.path("a")).unwrap(), b"same");
        }
    }
}

/// If the paths of a report are relative to another directory, a message says so; files are verified as
/// always.
#[test]
fn a_report_from_another_directory_says_so() {
    let dir = Dir::new();
    dir.file("below/a", b"same").file("below/b", b"same");
    let report = dir.aside("report");
    let from = |directory: &str| {
        let change = format!("cd {directory} && exec \"$@\"");
        move |ftk: Ftk, dir: &Dir| ftk.under(dir, ["sh", "-c", &change, "sh"])
    };
    let (below, here) = (from("below"), from("."));
    below(dir.ftk(["dup", "--json", "-o"]).arg(&report), &dir).run().status(0);
    let apply = || dir.ftk(["dup", "apply", "--action", "delete", "--yes"]).arg(&report);
    let begin = format!(
        "ftk: the paths of the report are relative to '{}', which is not the working directory: run ftk there\n",
        dir.path("below").display()
    );
    let run = here(apply(), &dir).run().status(2);
    run.check(run.err.contains("ftk: './b': refused: "), "it is not there");
    run.check(run.err.matches(&begin).count() == 1, "it is said once");
    below(apply(), &dir).run().status(0).stderr_lacks("working directory");
    assert!(dir.path("below/a").exists() && !dir.path("below/b").exists());
}

/// If an edited report says that two files without room for links are copies of each other, the search for a
/// keeper ends.
#[test]
fn h13_keepers_at_the_link_limit_in_a_cycle_end_the_search() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").hard_link("b", "c").hard_link("a", "d").hard_link("a", "e");
    dir.file("f", b"same");
    let lines = report(&dir);
    let group: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    let names = |member: &serde_json::Value| member["path"].as_str().unwrap().to_owned();
    let mut edited = vec![lines[0].clone()];
    for (nth, pair) in ["./a ./b", "./c ./d", "./e ./f"].into_iter().enumerate() {
        let mut part = group.clone();
        part["group"] = (nth + 1).into();
        let members = part["members"].as_array_mut().unwrap();
        members.retain(|member| pair.split(' ').any(|name| name == names(member)));
        assert_eq!(members.len(), 2, "{pair}");
        // With names outside of the group, nothing would be freed, and nothing be done.
        members.iter_mut().for_each(|member| member["nlink"] = 1.into());
        edited.push(part.to_string());
    }
    let inodes = || ["a", "b", "c", "d", "e", "f"].map(|name| fs::metadata(dir.path(name)).unwrap().ino());
    let before = inodes();
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", "inject=linkat:error=EMLINK"];
    let args = ["dup", "apply", "-", "--action", "hardlink", "--yes", "--edited"];
    let run = dir.ftk(args).under(&dir, strace).stdin(&sealed(&edited)).run().status(0);
    let kept = run.text().lines().filter(|line| line.contains("as many hard links as")).count();
    run.check(kept == 3, "each step says why nothing was done");
    assert_eq!(inodes(), before);
}

/// A trial: jq 1.6 keeps 53 bits of a number, and every file had "changed" then.
#[test]
fn a_report_whose_numbers_were_rounded_is_refused_for_that_reason() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    let odd = |name: &str, ns: u32| {
        let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::new(1_795_733_891, ns)).unwrap();
    };
    odd("a", 440_869_331);
    odd("b", 445_854_571);
    let report = dir.ftk(["dup", "--json"]).run().status(0);
    let round = |digits: &str| match digits.parse::<u64>() {
        Ok(exact) if exact > 1 << 53 => (exact as f64 as u64).to_string(),
        _ => digits.to_owned(),
    };
    let (mut rounded, mut digits) = (String::new(), String::new());
    for next in report.text().chars() {
        if next.is_ascii_digit() {
            digits.push(next);
            continue;
        }
        rounded += &round(&std::mem::take(&mut digits));
        rounded.push(next);
    }
    let run =
        dir.ftk(["dup", "apply", "-", "--edited", "--action", "delete"]).stdin(rounded.as_bytes()).run();
    run.status(2)
        .stderr_has("the recorded inode number or times of the victim are rounded, as by jq before 1.7: ");
}
