//! Duplicates on the page, and decisions about them: saved by the page's own script, applied, and undone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::data;
use crate::harness::Dir;

/// Returns a tree with two groups of files. One has a hard link, the other a name that is not UTF-8.
pub(super) fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("t/a/film.mov", &[b'f'; 9000])
        .file("t/b/film.mov", &[b'f'; 9000])
        .file("t/c/film.mov", &[b'f'; 9000]);
    dir.hard_link("t/b/film.mov", "t/b/linked.mov");
    dir.file("t/</script>.txt", b"note").raw_file(b"t/\xff\n.txt", b"note").file("t/alone", b"alone");
    dir
}

/// Returns a tree with two equal directories, and two equal files outside of them.
pub(super) fn albums() -> Dir {
    let dir = Dir::new();
    for album in ["t/album", "t/backup/album"] {
        dir.file(format!("{album}/<b>.jpg"), &[b'j'; 9000])
            .raw_file(format!("{album}/deep/\n.txt").as_bytes(), b"note")
            .dir(format!("{album}/empty"))
            .symlink("deep", &format!("{album}/link"));
    }
    dir.file("t/loose/one.jpg", &[b'1'; 5000]).file("t/loose/two.jpg", &[b'1'; 5000]);
    dir
}

/// The content of an entry, its permissions, and its time in seconds and nanoseconds.
type Known = (Vec<u8>, u32, (i64, i64));

/// Returns what is known about each path below `t`.
pub(super) fn known(dir: &Dir) -> BTreeMap<PathBuf, Known> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![dir.path("t")];
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            Vec::new()
        } else if metadata.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        // What is removed and restored changes the time of the directory around it.
        let time = if metadata.is_dir() { (0, 0) } else { (metadata.mtime(), metadata.mtime_nsec()) };
        found.insert(path, (content, metadata.mode(), time));
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

/// Returns the kinds and the waste of the groups.
fn groups(data: &Value) -> Vec<(&str, u64)> {
    let groups = data["duplicates"]["groups"].as_array().unwrap();
    groups.iter().map(|it| (it["kind"].as_str().unwrap(), it["waste_bytes"].as_u64().unwrap())).collect()
}

#[test]
fn directories_and_files_come_with_the_largest_waste_first() {
    let dir = albums();
    dir.file("t/large/one", &[b'L'; 20_000]).file("t/large/two", &[b'L'; 20_000]);
    dir.ftk(["dup", "--json", "--dirs", "t", "-o", "dirs.json"]).run().status(0);
    let from_tree = data(dir.ftk(["report", "--json", "--dup", "--dirs", "t"]));
    assert_eq!(groups(&from_tree), [("file", 20_000), ("directory", 9004), ("file", 5000)]);
    assert_eq!(from_tree["duplicates"]["total_waste_bytes"], 34_004);
    assert_eq!(from_tree["duplicates"]["groups"][1]["files"], 2);
    // Links and directories are not files with equal content.
    assert_eq!(from_tree["space"]["waste_bytes"][0], 34_004);
    let from_report = data(dir.ftk(["report", "--json", "dirs.json"]));
    assert_eq!(from_tree["duplicates"]["groups"], from_report["duplicates"]["groups"]);

    dir.ftk(["dup", "--json", "--dirs", "--ignore-names", "t", "-o", "unnamed.json"]).run().status(0);
    let unnamed = data(dir.ftk(["report", "--json", "unnamed.json"]));
    assert_eq!(unnamed["duplicates"]["groups"][1]["same_names"], false);
    dir.ftk(["report", "--json", "--dirs", "t"]).run().status(2).stderr_has("--dup");
}

#[test]
fn a_decision_about_a_directory_decides_about_what_is_in_it() {
    let dir = albums();
    dir.file("t/other/copy.jpg", &[b'j'; 9000]);
    let before = known(&dir);
    let data = data(dir.ftk(["report", "--json", "--dup", "--dirs", "t"]));
    assert_eq!(groups(&data), [("directory", 9004), ("file", 9000), ("file", 5000)]);
    let apply = |file: &[u8]| dir.ftk(["dup", "apply", "-", "--action", "delete", "--yes"]).stdin(file).run();
    // `t/album/<b>.jpg` is to be kept, and the directory around it is not.
    let Some(file) = saved(&data, "decisions.set(0, 1, true); decisions.set(1, 0, true);") else { return };
    apply(&file).status(2).stderr_has("t/album/<b>.jpg' is to be kept, and 't/album' around it is not");
    assert_eq!(known(&dir), before);
    // `t/album` stays as a whole, although the copy elsewhere was preferred to a file in it.
    let file = saved(&data, "decisions.set(0, 0, true); decisions.set(1, 1, true);").unwrap();
    apply(&file).status(0);
    assert!(dir.path("t/album/<b>.jpg").exists() && dir.path("t/other/copy.jpg").exists());
    assert!(!dir.path("t/backup/album").exists());
}

#[test]
fn a_directory_that_was_changed_stays() {
    let dir = albums();
    let data = data(dir.ftk(["report", "--json", "--dup", "--dirs", "t"]));
    let Some(file) = saved(&data, "decisions.set(0, 1, true);") else { return };
    dir.file("t/album/new", b"new");
    let before = known(&dir);
    dir.ftk(["dup", "apply", "-", "--action", "delete", "--yes"]).stdin(&file).run().status(2);
    assert_eq!(known(&dir), before);
    // A forged decision is refused as a whole.
    let text = String::from_utf8(file).unwrap();
    for (to, why) in
        [("\"keep\":[]", "keeps nothing"), ("\"keep\":[2]", "no number 2"), ("\"kept\":[1]", "keeps nothing")]
    {
        let forged = text.replacen("\"keep\":[1]", to, 1);
        let run = dir.ftk(["dup", "apply", "-", "--edited", "--action", "delete", "--yes"]);
        run.stdin(forged.as_bytes()).run().status(2).stderr_has(why);
    }
    assert_eq!(known(&dir), before);
}

#[test]
fn other_reports_are_refused() {
    let dir = tree();
    dir.ftk(["dup", "--json", "t", "-o", "dup.json"]).run().status(0);
    let report = fs::read_to_string(dir.path("dup.json")).unwrap();
    let footer = report.trim_end().rfind('\n').unwrap();
    dir.file("cut", &report.as_bytes()[..=footer]).file("edited", report.replace("film", "FILM").as_bytes());
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    dir.ftk(["dup", "--json", "-o", "manifests", "--manifests", "m"]).run().status(0);
    for (input, why) in
        [("cut", "bad report"), ("edited", "bad report"), ("manifests", "report of manifests")]
    {
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
    let duplicates = &data["duplicates"];
    assert_eq!(duplicates["total_groups"], 500);
    let groups = duplicates["groups"].as_array().unwrap();
    let shown: u64 = groups.iter().map(|group| group["waste_bytes"].as_u64().unwrap()).sum();
    assert!((50..450).contains(&groups.len()), "{}", groups.len());
    assert_eq!(groups[0]["size_bytes"], 1499);
    assert_eq!(duplicates["omitted_groups"], 500 - groups.len());
    let total = duplicates["total_waste_bytes"].as_u64().unwrap();
    assert_eq!(duplicates["omitted_waste_bytes"], total - shown);
    dir.ftk(["report", "--dup", ".", "-o"]).arg(dir.aside("page.html")).run().status(0);
    let len = dir.aside("page.html").metadata().unwrap().len();
    assert!((2_000_000..4_000_000).contains(&len), "{len}");
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
