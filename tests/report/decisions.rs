//! Duplicates on the page, and decisions about them: saved by the page's own script, applied, and undone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use serde_json::Value;

use super::data;
use crate::harness::Dir;

/// Returns a tree with two groups of files. One has a hard link, the other a name that is not UTF-8.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("t/a/film.mov", &[b'f'; 9000])
        .file("t/b/film.mov", &[b'f'; 9000])
        .file("t/c/film.mov", &[b'f'; 9000]);
    dir.hard_link("t/b/film.mov", "t/b/linked.mov");
    dir.file("t/</script>.txt", b"note").raw_file(b"t/\xff\n.txt", b"note").file("t/alone", b"alone");
    dir
}

/// Returns each name below `t` with its content and time.
fn known(dir: &Dir) -> BTreeMap<Vec<u8>, (Vec<u8>, i64)> {
    use std::os::unix::ffi::OsStrExt as _;
    let mut found = BTreeMap::new();
    let mut waiting = vec![dir.path("t")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        } else {
            let value = (fs::read(&path).unwrap(), path.metadata().unwrap().mtime_nsec());
            found.insert(path.as_os_str().as_bytes().to_vec(), value);
        }
    }
    found
}

/// Runs `ticks` with `decisions`, as the page does when the user ticks boxes, and returns the file that the page would
/// save. `None` where Node.js is missing, except under CI.
fn saved(data: &Value, ticks: &str) -> Option<Vec<u8>> {
    let script = format!(
        "import {{ readFileSync }} from 'node:fs';
         import {{ Decisions }} from '{}/crates/report/assets/decisions.js';
         const decisions = new Decisions(JSON.parse(readFileSync(0, 'utf8')).duplicates);
         {ticks}
         process.stdout.write(decisions.text());",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", &script]);
    let input = tempfile(data.to_string().as_bytes());
    let output = match node.stdin(input).output() {
        Ok(output) => output,
        Err(_) if std::env::var_os("CI").is_none() => return None,
        Err(error) => panic!("node is needed: {error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// Returns an open file with this content and without a name.
fn tempfile(content: &[u8]) -> File {
    let dir = Dir::new();
    dir.file("input", content);
    File::open(dir.path("input")).unwrap()
}

#[test]
fn a_decision_is_applied_and_undone() {
    let dir = tree();
    let before = known(&dir);
    let data = data(dir.ftk(["report", "--json", "--dup", "t"]));
    assert_eq!(data["duplicates"]["total_waste_bytes"], 18_004);
    // The user keeps the copy in `b`, which is the second file of the first group, and decides nothing about the other.
    let Some(file) = saved(&data, "decisions.set(0, 1, true);") else { return };
    fs::write(dir.aside("decisions"), &file).unwrap();
    let apply = || {
        dir.ftk(["dup", "apply", "--action", "delete", "--quarantine", "away"]).arg(dir.aside("decisions"))
    };
    apply().run().status(0);
    assert_eq!(known(&dir), before, "without --yes there is only a plan");
    apply().arg("--yes").run().status(0);
    for (name, stays) in
        [("a/film.mov", false), ("b/film.mov", true), ("b/linked.mov", true), ("c/film.mov", false)]
    {
        assert_eq!(dir.path("t").join(name).exists(), stays, "{name}");
    }
    assert_eq!(known(&dir).len(), before.len() - 2);
    let journal = fs::read_dir(dir.aside("state").join("ftk")).unwrap().next().unwrap().unwrap().path();
    dir.ftk(["undo"]).arg(journal).run().status(0);
    assert_eq!(known(&dir), before);
}

#[test]
fn all_kept_files_stay_and_other_rules_are_refused() {
    let dir = tree();
    let before = known(&dir);
    let data = data(dir.ftk(["report", "--json", "--dup", "t"]));
    let all = "decisions.set(0, 0, true); decisions.set(0, 1, true); decisions.set(0, 2, true);";
    let Some(file) = saved(&data, all) else { return };
    let apply = || dir.ftk(["dup", "apply", "-", "--action", "delete", "--yes"]);
    apply().stdin(&file).run().status(0);
    assert_eq!(known(&dir), before);

    let file = saved(&data, "decisions.set(0, 2, true); decisions.set(1, 1, true);").unwrap();
    for rule in [&["--keep", "oldest"][..], &["--keep-one-per", "t/a"], &["--isolate"]] {
        apply().args(rule).stdin(&file).run().status(2).stderr_has("cannot be used with decisions");
    }
    // A forged decision is refused as a whole.
    let text = String::from_utf8(file.clone()).unwrap();
    for (from, to) in
        [("\"keep\":[2]", "\"keep\":[]"), ("\"keep\":[2]", "\"keep\":[3]"), ("\"keep\":[2],", "")]
    {
        let forged = text.replacen(from, to, 1);
        assert_ne!(forged, text);
        apply().stdin(forged.as_bytes()).run().status(2).stderr_has("bad report");
        apply().arg("--edited").stdin(forged.as_bytes()).run().status(2).stderr_has("line 2: ");
    }
    assert_eq!(known(&dir), before);
    // What is protected stays, and the rest goes.
    apply().args(["--reference", "t/a"]).stdin(&file).run().status(0);
    assert!(dir.path("t/a/film.mov").exists() && dir.path("t/c/film.mov").exists());
    assert!(!dir.path("t/b/film.mov").exists() && !dir.path("t/b/linked.mov").exists());
    assert_eq!(known(&dir).len(), before.len() - 3);
}

#[test]
fn a_kept_file_that_was_changed_removes_nothing() {
    let dir = tree();
    let data = data(dir.ftk(["report", "--json", "--dup", "t"]));
    let Some(file) = saved(&data, "decisions.set(0, 2, true);") else { return };
    dir.file("t/c/film.mov", &[b'F'; 9000]);
    let before = known(&dir);
    dir.ftk(["dup", "apply", "-", "--action", "delete", "--yes"]).stdin(&file).run().status(2);
    assert_eq!(known(&dir), before);
}

#[test]
fn a_report_gives_the_same_duplicates_as_its_tree() {
    let dir = tree();
    dir.ftk(["dup", "--json", "t", "-o", "dup.json"]).run().status(0);
    let from_tree = data(dir.ftk(["report", "--json", "--dup", "t"]));
    let from_report = data(dir.ftk(["report", "--json", "dup.json"]));
    for part in ["groups", "total_groups", "total_waste_bytes"] {
        assert_eq!(from_tree["duplicates"][part], from_report["duplicates"][part], "{part}");
    }
    assert_eq!(from_report["space"], Value::Null);
    let report = fs::read_to_string(dir.path("dup.json")).unwrap();
    let mut lines = report.lines();
    let header = lines.next().unwrap().replacen("dup-report", "dup-decisions", 1);
    assert_eq!(from_report["duplicates"]["header"], header);
    let groups = from_report["duplicates"]["groups"].as_array().unwrap();
    assert_eq!(
        groups.iter().map(|it| it["line"].as_str().unwrap()).collect::<Vec<_>>(),
        [lines.next().unwrap(), lines.next().unwrap()]
    );
    // The waste is that of all copies but the first.
    assert_eq!(from_tree["space"]["waste_bytes"][0], 18_004);
    dir.ftk(["report", "-o", "page.html", "dup.json"]).run().status(0);
    assert!(fs::read_to_string(dir.path("page.html")).unwrap().contains("film.mov"));
}

#[test]
fn other_reports_are_refused() {
    let dir = tree();
    dir.ftk(["dup", "--json", "t", "-o", "dup.json"]).run().status(0);
    let report = fs::read_to_string(dir.path("dup.json")).unwrap();
    let footer = report.trim_end().rfind('\n').unwrap();
    dir.file("cut", &report.as_bytes()[..=footer]).file("edited", report.replace("film", "FILM").as_bytes());
    dir.file("t/dirs/one/x", b"same").file("t/dirs/two/x", b"same");
    dir.ftk(["dup", "--json", "--dirs", "t/dirs", "-o", "dirs"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.ftk(["dup", "--json", "-o", "manifests", "--manifests", "m"]).run().status(0);
    for (input, why) in [
        ("cut", "bad report"),
        ("edited", "bad report"),
        ("dirs", "groups of directories"),
        ("manifests", "report of manifests"),
    ] {
        dir.ftk(["report", "-o", "p", input]).run().status(2).stderr_has(why);
    }
    let data = data(dir.ftk(["report", "--json", "dup.json"]));
    if let Some(file) = saved(&data, "decisions.set(0, 0, true);") {
        dir.file("decisions", &file);
        dir.ftk(["report", "-o", "p", "decisions"]).run().status(2).stderr_has("has decisions");
    }
    dir.ftk(["report", "-o", "p", "--dup", "m"]).run().status(2).stderr_has("--dup searches one directory");
    dir.ftk(["report", "-o", "p", "-S", "+1", "dup.json"])
        .run()
        .status(2)
        .stderr_has("--size cannot be used");
    assert!(!dir.path("p").exists());
}

#[test]
fn groups_that_do_not_fit_are_only_counted() {
    let dir = Dir::new();
    // The paths of 300 groups of 2 files have about 4,000 bytes each.
    let long = format!("{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}", "n".repeat(250));
    for n in 0..500 {
        let content = format!("{n:0width$}", width = 1000 + n);
        dir.file(format!("{long}/{n}-a"), content.as_bytes())
            .file(format!("{long}/{n}-b"), content.as_bytes());
    }
    let data = data(dir.ftk(["report", "--json", "--dup", "."]));
    assert_eq!(data["duplicates"]["total_groups"], 500);
    let groups = data["duplicates"]["groups"].as_array().unwrap();
    let lines: usize = groups.iter().map(|group| group["line"].as_str().unwrap().len() + 1).sum();
    assert!((2_900_000..=3_000_000).contains(&lines), "{lines}");
    assert_eq!(groups[0]["size_bytes"], 1499);
}

#[test]
fn a_full_disk_is_an_error() {
    let dir = tree();
    let full = File::options().write(true).open("/dev/full").unwrap();
    dir.ftk(["report", "--json", "--dup", "t"])
        .stdout(full)
        .run()
        .status(2)
        .stderr_has("no space left on device");
    let small = ["sh", "-c", "trap '' XFSZ; ulimit -f 1 && exec \"$@\"", "sh"];
    dir.ftk(["report", "-o", "page.html", "t"]).under(&dir, small).run().status(2).stderr_has("page.html");
    assert!(!dir.path("page.html").exists());
    assert!(dir.path("t/alone").metadata().unwrap().size() == 5);
}
