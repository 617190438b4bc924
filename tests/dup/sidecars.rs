//! `--with-sidecars`: a sidecar goes only together with its file, and a file only with its sidecars.

use std::fs;

use super::tree::Dice;
use crate::harness::{Dir, Run, gnu_find};

const OPTION: [&str; 2] = ["--with-sidecars", "xmp,thm,aae,srt"];

fn prune(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["dup", "prune", "--reference", "t/keep"]).args(OPTION).args(args).arg("t/in").run()
}

fn left(dir: &Dir) -> Vec<String> {
    let found = gnu_find(dir, &["t/in", "-type", "f"]);
    let mut names: Vec<_> =
        found.into_iter().map(|path| String::from_utf8(path).unwrap()["t/in/".len()..].to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_goes_with_its_sidecars_or_stays() {
    for action in ["delete", "move=away"] {
        let dir = Dir::new();
        for (name, raw) in [("1", b"raw 1"), ("2", b"raw 2"), ("3", b"raw 3"), ("4", b"raw 4")] {
            dir.file(format!("t/in/IMG_{name}.CR3"), raw).file(format!("t/keep/IMG_{name}.CR3"), raw);
        }
        // Both forms of names, a different sidecar, one that the kept file lacks.
        for top in ["in", "keep"] {
            dir.file(format!("t/{top}/IMG_1.CR3.xmp"), b"edits 1")
                .file(format!("t/{top}/IMG_2.xmp"), b"edits 2");
            dir.file(format!("t/{top}/IMG_2.THM"), b"thumbnail")
                .file(format!("t/{top}/IMG_3.xmp"), top.as_bytes());
        }
        dir.file("t/in/IMG_4.aae", b"only here");
        let before = left(&dir);
        let plan = prune(&dir, &["--action", action]).status(0);
        assert_eq!(left(&dir), before);
        let run = prune(&dir, &["--action", action, "--yes", "--journal", "j"]).status(0);
        assert_eq!(run.text(), plan.text());
        for (file, sidecar) in [("IMG_3.CR3", "IMG_3.xmp"), ("IMG_4.CR3", "IMG_4.aae")] {
            let line = run.text().lines().find(|line| line.contains(&format!(" t/in/{file}"))).unwrap();
            let why = format!("its sidecar 't/in/{sidecar}' is not a copy of a sidecar of the kept file");
            run.check(line.starts_with("  leave ") && line.ends_with(&why), line);
        }
        assert_eq!(left(&dir), ["IMG_3.CR3", "IMG_3.xmp", "IMG_4.CR3", "IMG_4.aae"]);
        if action != "delete" {
            dir.ftk(["undo", "j"]).run().status(0);
            assert_eq!(left(&dir), before);
        }
    }
}

/// Without the option, the sidecar stays alone.
#[test]
fn sidecars_are_files_like_others_without_the_option() {
    let dir = Dir::new();
    dir.file("t/in/1.CR3", b"raw").file("t/keep/1.CR3", b"raw").file("t/in/1.xmp", b"edits");
    dir.ftk(["dup", "prune", "--action", "delete", "--yes", "--reference", "t/keep", "t/in"]).run().status(0);
    assert_eq!(left(&dir), ["1.xmp"]);
}

#[test]
fn a_sidecar_that_changed_keeps_its_file() {
    for (changed, is_removed) in [("t/in/1.CR3.xmp", false), ("t/in/1.CR3", true), ("t/keep/1.CR3.xmp", true)]
    {
        let dir = Dir::new();
        for top in ["in", "keep"] {
            dir.file(format!("t/{top}/1.CR3"), b"raw 1").file(format!("t/{top}/1.CR3.xmp"), b"edits");
            dir.file(format!("t/{top}/2.CR3"), b"raw 2");
        }
        dir.ftk(["dup", "--json", "-o", "r", "t"]).run().status(0);
        match is_removed {
            true => fs::remove_file(dir.path(changed)).unwrap(),
            false => fs::write(dir.path(changed), b"other").unwrap(),
        }
        let before: Vec<_> = left(&dir).into_iter().filter(|name| name != "2.CR3").collect();
        let apply = dir.ftk(["dup", "apply", "r", "--action", "delete", "--yes", "--reference", "t/keep"]);
        let run = apply.args(OPTION).run();
        run.check(left(&dir) == before, changed);
    }
}

#[test]
fn sidecars_that_the_search_excludes_protect_their_files() {
    let dir = Dir::new();
    for top in ["in", "keep"] {
        dir.file(format!("t/{top}/1.CR3"), b"raw").file(format!("t/{top}/1.CR3.xmp"), b"edits");
    }
    prune(&dir, &["--action", "delete", "--yes", "-e", "CR3"]).status(0);
    assert_eq!(left(&dir), ["1.CR3", "1.CR3.xmp"]);
}

#[test]
fn the_option_needs_an_action_that_removes_names() {
    let dir = Dir::new();
    dir.file("t/in/a", b"").dir("t/keep");
    for action in ["hardlink", "symlink", "reflink"] {
        prune(&dir, &["--action", action]).status(2).stderr_has("--with-sidecars needs --action delete");
    }
    for args in
        [&["--with-sidecars", "x/y"][..], &["--with-sidecars", ""], &["--with-sidecars", "xmp", "--script"]]
    {
        dir.ftk(["dup", "prune", "--action", "delete", "t/in"]).args(args).run().status(2);
    }
}

/// In random trees, no sidecar is left without a file that it had, and no file without its sidecars.
#[test]
fn no_sidecar_is_parted_from_its_files() {
    for seed in 900..924 {
        let mut dice = Dice::new(seed);
        let dir = Dir::new();
        for _ in 0..40 {
            let (top, stem) = (*dice.pick(&["in", "in/deep", "keep"]), dice.below(4));
            let extension = *dice.pick(&["CR3", "JPG", "xmp", "CR3.xmp", "JPG.xmp", "thm"]);
            let content = format!("{extension} {}", dice.below(3));
            dir.file(format!("t/{top}/{stem}.{extension}"), content.as_bytes());
        }
        let owners = |names: &[String], sidecar: &str| {
            let base = sidecar.rsplit_once('.').unwrap().0.to_owned();
            let is_owner = |name: &&String| {
                let (stem, extension) = name.rsplit_once('.').unwrap();
                !["xmp", "thm"].contains(&extension) && (**name == base || stem == base)
            };
            names.iter().filter(is_owner).cloned().collect::<Vec<_>>()
        };
        let before = left(&dir);
        let run = prune(&dir, &["--action", "delete", "--yes", "--allow-unused-rules"]).status(0);
        let after = left(&dir);
        for sidecar in before.iter().filter(|name| name.ends_with("xmp") || name.ends_with("thm")) {
            let (had, has) = (owners(&before, sidecar), owners(&after, sidecar));
            let stays = after.contains(sidecar);
            run.check(stays == (had.is_empty() || !has.is_empty()), &format!("{seed}: {sidecar}"));
        }
    }
}
