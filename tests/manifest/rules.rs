//! Rules by path: what is compared of which entries.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::damage::flip;
use super::records::{Manifest, lines, seal};
use crate::harness::{Dir, Run, bytes, needs, set_mode};

fn manifest(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest"]).args(args).run()
}

/// A tree `t`, and its manifest `m` with these rules.
fn recorded(files: &[(&str, usize)], rules: &str) -> Dir {
    let dir = Dir::new();
    for (nth, (path, len)) in (1..).zip(files) {
        dir.file(format!("t/{path}"), &bytes(nth, *len));
    }
    dir.file("rules", rules.as_bytes());
    manifest(&dir, &["create", "t", "--rules", "rules", "-o", "m"]).status(0);
    dir
}

fn append(path: &Path) {
    File::options().append(true).open(path).unwrap().write_all(b"more\n").unwrap();
}

fn truncate(path: &Path, len: u64) {
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

fn touch(path: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Rewrites the first byte, so that the size stays and the time does not.
fn edit(path: &Path) {
    let mut content = fs::read(path).unwrap();
    content[0] ^= 1;
    fs::write(path, content).unwrap();
    touch(path);
}

/// The words and paths of findings.
fn found(run: &Run) -> BTreeMap<String, String> {
    let columns = |line: &str| {
        let mut columns = line.split('\t').map(str::to_owned);
        let word = columns.next().unwrap();
        (columns.next().unwrap(), word)
    };
    run.text().lines().map(columns).collect()
}

fn expected(words: &[(&str, &str)]) -> BTreeMap<String, String> {
    words.iter().map(|(path, word)| ((*path).to_owned(), (*word).to_owned())).collect()
}

/// What verify, update and diff report of each kind of change, by check.
#[test]
fn each_check_compares_its_part() {
    let files = ["appended", "chmod", "damaged", "edited", "gone", "intact", "kept", "shrunk", "touched"]
        .map(|name| (name, 200));
    let all = [
        ("appended", "modified"),
        ("edited", "modified"),
        ("gone", "missing"),
        ("new", "new"),
        ("shrunk", "modified"),
    ];
    let others = [("chmod", "metadata"), ("touched", "metadata")];
    let damage = [("damaged", "corrupted")];
    let exists = [("gone", "missing"), ("new", "new")];
    let growing = [
        ("chmod", "metadata"),
        ("edited", "modified"),
        ("gone", "missing"),
        ("new", "new"),
        ("shrunk", "modified"),
    ];
    let metadata = [("edited", "metadata")];
    let without_edit = [all[0], all[2], all[3], all[4]];
    for (check, verified, kept) in [
        ("all", [&all[..], &others, &damage].concat(), &["damaged"][..]),
        ("content", [&all[..], &damage].concat(), &["damaged"]),
        ("metadata", [&without_edit[..], &metadata, &others].concat(), &[]),
        ("growing", [&growing[..], &damage].concat(), &["damaged", "edited", "shrunk"]),
        ("exists", exists.to_vec(), &[]),
        ("ignore", Vec::new(), &[]),
    ] {
        let dir = recorded(&files, &format!("{check} *\nall kept # the last rule wins\n"));
        let path = |name: &str| dir.path(format!("t/{name}"));
        append(&path("appended"));
        set_mode(&path("chmod"), 0o604);
        flip(&path("damaged"));
        edit(&path("edited"));
        fs::remove_file(path("gone")).unwrap();
        dir.file("t/new", b"new");
        truncate(&path("shrunk"), 100);
        touch(&path("touched"));
        let status = i32::from(!verified.is_empty());
        let run = manifest(&dir, &["verify", "t", "m"]).status(status);
        assert_eq!(found(&run), expected(&verified), "{check}");
        let run = run.stderr_has("the manifest was recorded with 2 rules").stderr_lacks("matched nothing");
        if check == "ignore" {
            run.stderr_has("8 entries of the tree were skipped");
            assert_eq!(Manifest::read(&dir.path("m")).paths, [&b"."[..], b"kept"]);
        }

        let run = manifest(&dir, &["update", "t", "m", "-o", "n"]).status(i32::from(!kept.is_empty()));
        for name in kept {
            run.check(run.text().is_empty(), "update prints no findings");
            assert!(run_says(&dir, name), "{check}: update reports {name} again");
        }
        let old = Manifest::read(&dir.path("m"));
        let new = Manifest::read(&dir.path("n"));
        for (name, _) in files.iter().filter(|(name, _)| new.entries.contains_key(name.as_bytes())) {
            let is_kept = old.entry(name)["digests"] == new.entry(name)["digests"];
            let has_changed = ["appended", "damaged", "edited", "shrunk"].contains(name);
            // A file whose content is not compared is recorded as it is.
            assert_eq!(is_kept, kept.contains(name) || !has_changed, "{check} {name}");
        }
        // Records that were kept are the same on both sides.
        let diff: Vec<_> = verified.iter().filter(|(name, _)| !kept.contains(name)).collect();
        let word = |word: &'static str| match word {
            "missing" => "removed",
            "new" => "added",
            word => word,
        };
        let diff: Vec<_> = diff.into_iter().map(|(name, it)| (*name, word(it))).collect();
        let run = manifest(&dir, &["diff", "m", "n"]).status(i32::from(!diff.is_empty()));
        assert_eq!(found(&run), expected(&diff), "{check}");
    }
}

/// Whether another update, of what the first has written, still reports this file.
fn run_says(dir: &Dir, name: &str) -> bool {
    let run = manifest(dir, &["update", "t", "n", "-o", "n"]).status(1);
    run.err.contains(&format!("'{name}'"))
}

#[test]
fn a_log_may_grow_and_nothing_else() {
    let dir = recorded(&[("log/a", 3_000_000), ("log/b", 1000), ("log/empty", 0)], "growing log/*\n");
    let path = |name: &str| dir.path(format!("t/log/{name}"));
    for name in ["a", "b", "empty"] {
        append(&path(name));
    }
    manifest(&dir, &["verify", "t", "m"]).status(0).stdout("").stderr_has("5 of 5 as recorded");
    manifest(&dir, &["verify", "--exit-on-first", "t", "m"]).status(0).stdout("");
    // A growing file is read whole and recorded with its present size.
    let run = manifest(&dir, &["update", "t", "m", "-o", "n"]).status(0);
    run.stderr_has("no changes to record");
    manifest(&dir, &["create", "t", "--rules", "rules", "-o", "again"]).status(0);
    let [updated, again] = ["n", "again"].map(|name| Manifest::read(&dir.path(name)).untimed());
    assert_eq!(updated.entries, again.entries, "the record of a file that grew is complete");
    manifest(&dir, &["export", "--format", "sha256", "n", "-o", "sums"]).status(0);
    dir.ftk(["hash", "--root", "t", "--check", "sums"]).run().status(0);
    manifest(&dir, &["scrub", "t", "n"]).status(0).stderr_has("3 files verified");

    // Growth does not hide that recorded bytes have changed.
    flip(&path("a"));
    append(&path("a"));
    truncate(&path("b"), 10);
    let run = manifest(&dir, &["verify", "t", "n"]).status(1);
    assert_eq!(found(&run), expected(&[("log/a", "modified"), ("log/b", "modified")]));
    for old in ["n", "o"] {
        let run = manifest(&dir, &["update", "t", old, "-o", "o"]).status(1);
        run.stderr_has("'log/a': what was recorded of it has changed, and a rule lets it only grow")
            .stderr_has("'log/b': it is shorter than recorded, and a rule lets it only grow")
            .stderr_has("2 growing files kept as recorded; --accept PATH");
    }
    let run = manifest(&dir, &["update", "--append-only", "t", "n", "-o", "p"]).status(1);
    run.stderr_has("'log/a'").stderr_has("'log/b' is not as recorded: size 1005 → 10");
    let accept = ["update", "t", "o", "-o", "o", "--accept", "log/a", "--accept", "log/b"];
    manifest(&dir, &accept).status(0).stderr_has("recorded 2 modified");
    manifest(&dir, &["verify", "t", "o"]).status(0).stdout("");
    // The same size and time with other content is damage.
    flip(&path("b"));
    let run = manifest(&dir, &["verify", "t", "o"]).status(1);
    assert_eq!(found(&run), expected(&[("log/b", "corrupted")]));
    manifest(&dir, &["update", "t", "o", "-o", "o"]).status(1).stderr_has("'log/b' is corrupted");
    // Damage stays known although the file grows.
    append(&path("b"));
    manifest(&dir, &["verify", "t", "o"]).status(1).stdout_has("modified\tlog/b\t");
    for old in ["o", "q"] {
        manifest(&dir, &["update", "t", old, "-o", "q"]).status(1).stderr_has("'log/b'");
    }
    manifest(&dir, &["update", "t", "q", "-o", "q", "--accept", "log/b"]).status(0);
    manifest(&dir, &["verify", "t", "q"]).status(0).stdout("");
}

/// An archive is read whole, so a log that has grown is not as recorded there.
#[test]
fn members_of_an_archive_follow_rules() {
    needs!("tar");
    let dir = recorded(&[("log", 1000), ("b", 10), ("tmp/x", 1)], "growing log\nignore tmp\n");
    let pack =
        || dir.ftk([] as [&str; 0]).instead(&dir, ["tar", "-C", "t", "-cf", "t.tar", "."]).run().status(0);
    let verify = |status| manifest(&dir, &["verify", "--tar", "t.tar", "m"]).status(status);
    pack();
    verify(0).stdout("");
    fs::write(dir.path("t/log"), [b'x'; 1001]).unwrap();
    pack();
    assert_eq!(found(&verify(1)), expected(&[("log", "modified")]));
}

#[test]
fn directories_links_and_special_files_follow_their_rules() {
    let dir = Dir::new();
    for check in ["all", "content", "metadata", "growing", "exists"] {
        dir.dir(format!("t/{check}/d")).symlink("old", &format!("t/{check}/l")).fifo(&format!("t/{check}/p"));
        dir.file(format!("rules/{check}"), format!("{check} {check}/*\n").as_bytes());
    }
    let rules: Vec<_> =
        ["all", "content", "metadata", "growing", "exists"].map(|it| format!("{it} {it}/*\n")).to_vec();
    dir.file("r", rules.concat().as_bytes());
    manifest(&dir, &["create", "t", "--rules", "r", "-o", "m"]).status(0);
    for check in ["all", "content", "metadata", "growing", "exists"] {
        for name in ["d", "p"] {
            set_mode(&dir.path(format!("t/{check}/{name}")), 0o700);
        }
        fs::remove_file(dir.path(format!("t/{check}/l"))).unwrap();
        dir.symlink("other", &format!("t/{check}/l"));
    }
    let run = manifest(&dir, &["verify", "--ignore", "mtime", "t", "m"]).status(1);
    let mut words = vec![("content/l", "modified")];
    for path in ["all/d", "all/p", "metadata/d", "metadata/p", "growing/d", "growing/p"] {
        words.push((path, "metadata"));
    }
    words.extend(["all/l", "metadata/l", "growing/l"].map(|path| (path, "modified")));
    assert_eq!(found(&run), expected(&words));
    // Another type is always a difference.
    fs::remove_dir(dir.path("t/exists/d")).unwrap();
    dir.file("t/exists/d", b"");
    manifest(&dir, &["verify", "t", "m"]).status(1).stdout_has("modified\texists/d\ttype directory → file\n");
}

#[test]
fn hard_links_are_compared_unless_a_rule_says_otherwise() {
    for (check, word) in
        [("all", Some("metadata")), ("exists", None), ("content", None), ("growing", Some("metadata"))]
    {
        let dir = Dir::new();
        dir.file("t/a", &bytes(1, 100))
            .hard_link("t/a", "t/b")
            .file("t/c", &bytes(2, 50))
            .hard_link("t/c", "t/d");
        dir.file("r", format!("{check} [ab]").as_bytes());
        manifest(&dir, &["create", "t", "--rules", "r", "-o", "m"]).status(0);
        let times = fs::metadata(dir.path("t/b")).unwrap().modified().unwrap();
        fs::remove_file(dir.path("t/b")).unwrap();
        dir.file("t/b", &bytes(1, 100));
        File::options().write(true).open(dir.path("t/b")).unwrap().set_modified(times).unwrap();
        let run = manifest(&dir, &["verify", "t", "m"]);
        assert_eq!(found(&run).get("b").map(String::as_str), word, "{check}");
    }
}

#[test]
fn a_rule_hides_no_read_error() {
    for check in ["all", "content", "growing"] {
        let dir = recorded(&[("a", 100)], &format!("{check} a\n"));
        set_mode(&dir.path("t/a"), 0);
        set_mode(&dir.path("t"), 0o755);
        let verify = ["manifest", "verify", "--ignore", "mode", "t", "m"];
        let run = dir.ftk(verify).unprivileged(&dir).run().status(2);
        run.stdout_has("unreadable\ta\tpermission denied\n").stderr_has("'t/a': permission denied");
        append(&dir.path("t/a"));
        let run = dir.ftk(["manifest", "update", "t", "m", "-o", "-"]).unprivileged(&dir).run().status(2);
        run.stderr_has("cannot").stderr_has("1 old record kept");
        let create = ["manifest", "create", "--rules", "rules", "t"];
        dir.ftk(create).unprivileged(&dir).run().status(2).stderr_has("1 file not recorded");
    }
}

#[test]
fn rules_can_be_replaced_and_never_forget_damage() {
    let dir = recorded(&[("a", 100), ("b", 200), ("c", 300)], "exists c\n");
    flip(&dir.path("t/a"));
    manifest(&dir, &["update", "t", "m", "-o", "m"]).status(1);
    let before = fs::read(dir.path("m")).unwrap();
    dir.file("new", b"ignore a\nexists b\n");
    let update = ["update", "--rules", "new", "t", "m", "-o", "m"];
    let run =
        manifest(&dir, &update).status(2).stderr_has("the rules ignore 'a', which is recorded as damaged");
    run.stderr_has("--accept");
    assert_eq!(fs::read(dir.path("m")).unwrap(), before);
    // A mark is kept whatever the rule, and the content is read again.
    dir.file("exists", b"exists *\n");
    let run = manifest(&dir, &["update", "--rules", "exists", "t", "m", "-o", "x"]).status(1);
    run.stderr_has("'a' is corrupted");
    manifest(&dir, &["verify", "t", "x"]).status(1).stdout_has("corrupted\ta\t");
    let run = manifest(&dir, &["scrub", "t", "x"]).status(1).stdout_has("corrupted\ta\t");
    run.stderr_has("content of 2 files is not compared, as the recorded rules say");

    let accept = [&update[..], &["--accept", "a"]].concat();
    manifest(&dir, &accept).status(0);
    let new = Manifest::read(&dir.path("m"));
    assert_eq!(new.paths, [&b"."[..], b"b", b"c"]);
    assert_eq!(
        new.header["options"].to_string(),
        r#"[{"option":"--rule=ignore a"},{"option":"--rule=exists b"}]"#
    );
    // Without rules, what was ignored is new, and what was not compared is.
    append(&dir.path("t/b"));
    manifest(&dir, &["verify", "t", "m"]).status(0).stdout("");
    dir.file("none", b"# nothing\n");
    let run = manifest(&dir, &["update", "--rules", "none", "t", "m", "-o", "m"]).status(0);
    run.stderr_has("recorded 1 modified, 1 added");
    for other in [&["--append-only"][..], &["--changed", "new"]] {
        let run = manifest(&dir, &[&update, other].concat()).status(2);
        run.stderr_has("--append-only, --changed and --since cannot be used with it");
    }
}

#[test]
fn manifests_with_different_rules_are_compared_whole() {
    let dir = recorded(&[("a", 100), ("b", 200)], "exists *\n");
    append(&dir.path("t/a"));
    dir.file("new", b"exists b\nignore c\n");
    manifest(&dir, &["update", "--rules", "new", "t", "m", "-o", "n"]).status(0);
    let run = manifest(&dir, &["diff", "m", "n"]).status(1).stdout_has("modified\ta\t");
    run.stderr_has("OLD and NEW have different rules (--rules), so everything is compared");
    manifest(&dir, &["update", "t", "m", "--force", "-o", "n"]).status(0);
    manifest(&dir, &["diff", "m", "n"]).status(0).stdout("").stderr_lacks("different");
}

#[test]
fn parts_have_the_same_rules() {
    let dir = recorded(&[("log/a", 100), ("tmp/b", 100), ("c", 100)], "growing log/a\nignore tmp\n");
    dir.file("other", b"growing log/a\n");
    let part = |nth: &str, rules: &str| {
        let part = format!("p{nth}");
        manifest(
            &dir,
            &["create", "--shard", &format!("{nth}/2"), "--rules", rules, "t", "--force", "-o", &part],
        )
        .status(0);
    };
    part("1", "rules");
    part("2", "rules");
    manifest(&dir, &["merge", "p1", "p2", "-o", "whole"]).status(0);
    append(&dir.path("t/log/a"));
    append(&dir.path("t/tmp/b"));
    manifest(&dir, &["verify", "t", "whole"]).status(0).stdout("");
    manifest(&dir, &["verify", "--shard", "1/2", "t", "p1"]).status(0).stdout("");
    part("2", "other");
    manifest(&dir, &["merge", "p1", "p2", "-o", "again"]).status(2).stderr_has("options");
    // A plan has rules, too.
    manifest(&dir, &["plan", "--shards", "2", "--rules", "rules", "t", "-o", "plan"]).status(0);
    let run = manifest(&dir, &["create", "--shard", "1/2", "--plan", "plan", "t", "-o", "q1"]).status(2);
    run.stderr_has("options");
    manifest(&dir, &["create", "--shard", "1/2", "--plan", "plan", "--rules", "rules", "t", "-o", "q1"])
        .status(0);
}

#[test]
fn rules_stay_relative_to_the_recorded_root() {
    let files = [("ssl/log/a", 100), ("ssl/tmp/b", 100), ("ssl/c", 100), ("log/a", 100)];
    let dir = recorded(&files, "growing ssl/log\nignore ssl/tmp\nexists /log\n");
    append(&dir.path("t/ssl/log/a"));
    append(&dir.path("t/ssl/tmp/b"));
    manifest(&dir, &["verify", "t/ssl", "m"]).status(0).stdout("").stderr_has("a part of");
    manifest(&dir, &["verify", "--path", "ssl/*", "t", "m"]).status(0).stdout("");
    truncate(&dir.path("t/ssl/log/a"), 50);
    manifest(&dir, &["verify", "--below", "ssl", "t/ssl", "m"]).status(1).stdout_has("modified\tlog/a\t");
}

#[test]
fn other_formats_have_what_is_recorded() {
    let files = [("a", 100), ("b", 200)];
    let dir = recorded(&files, "exists a\ngrowing b\n");
    manifest(&dir, &["create", "t", "-o", "plain"]).status(0);
    for format in ["sha256", "mtree", "csv"] {
        let exported = ["m", "plain"].map(|name| {
            let run = manifest(&dir, &["export", "--format", format, name]).status(0);
            run.text().to_owned()
        });
        assert_eq!(exported[0], exported[1], "{format}");
    }
    manifest(&dir, &["unique", "plain", "m"]).status(0).stdout("");
}

#[test]
fn growth_is_no_damage_to_repair() {
    let dir = recorded(&[("log", 1000), ("db", 2000), ("e", 100)], "growing log\nmetadata db\nexists e\n");
    fs::create_dir(dir.path("copy")).unwrap();
    for name in ["log", "db", "e"] {
        fs::copy(dir.path(format!("t/{name}")), dir.path(format!("copy/{name}"))).unwrap();
    }
    append(&dir.path("t/log"));
    flip(&dir.path("t/db"));
    append(&dir.path("t/e"));
    let now = ["log", "db", "e"].map(|name| fs::read(dir.path(format!("t/{name}"))).unwrap());
    let repair = ["repair", "t", "m", "--from", "copy", "--modified", "--metadata", "--yes"];
    let run = manifest(&dir, &repair).status(0).stdout("");
    let grown = "  1 file grew, as the rules permit, and stays as it is: `ftk manifest verify` compares what was recorded of";
    run.stderr_has(grown);
    assert_eq!(now, ["log", "db", "e"].map(|name| fs::read(dir.path(format!("t/{name}"))).unwrap()));
    // A log that was cut off is an edit, and is restored only if that is asked for.
    truncate(&dir.path("t/log"), 10);
    manifest(&dir, &["repair", "t", "m", "--from", "copy", "--yes"]).status(1);
    assert_eq!(fs::metadata(dir.path("t/log")).unwrap().len(), 10);
    manifest(&dir, &repair).status(0);
    assert_eq!(fs::metadata(dir.path("t/log")).unwrap().len(), 1000);
}

#[test]
fn contents_that_may_change_are_not_protected() {
    let dir = recorded(
        &[("log", 9000), ("db", 8000), ("e", 7000), ("film", 6000), ("c", 5000), ("tmp", 100)],
        "growing log\nmetadata db\nexists e\ncontent c\nignore tmp\n",
    );
    append(&dir.path("t/log"));
    let run = manifest(&dir, &["protect", "t", "m", "-o", "p"]).status(0);
    run.stdout_has("protected 2 contents, 11.00 kB")
        .stderr_has("3 files not protected: rules let the content change");
}

#[test]
fn a_malformed_rule_is_refused_before_anything_is_done() {
    let dir = recorded(&[("a", 10)], "all a\n");
    let many = "all a\n".repeat(1001);
    let long = format!("\nall {}\n", "x".repeat(5000));
    for (rules, why) in [
        (
            &b"all a\n\ngrow *.log\n"[..],
            "line 3: unknown check \"grow\": expected one of all, content, metadata, ",
        ),
        (b"growing\n", "line 1: no glob after \"growing\""),
        (b"all [\n", "line 1: cannot understand the glob `[`"),
        (b"all a\nall a\0\n", "line 2: it contains a NUL"),
        (b"all \xff\n", "line 1: it is not UTF-8"),
        (long.as_bytes(), "line 2: it is longer than 4096 bytes"),
        (many.as_bytes(), "line 1001: there are more than 1000 rules"),
    ] {
        dir.file("bad", rules);
        for args in [&["create", "t"][..], &["update", "t", "m"], &["plan", "t", "--shards", "2"]] {
            let run = manifest(&dir, &[args, &["--rules", "bad", "-o", "new"]].concat()).status(2).stdout("");
            run.stderr_has(&format!("'bad': {why}"));
            assert!(!dir.path("new").exists());
        }
    }
    manifest(&dir, &["create", "t", "--rules", "absent", "-o", "new"])
        .status(2)
        .stderr_has("cannot open 'absent'");
    let run =
        dir.ftk(["manifest", "create", "t", "--rules", "-", "-o", "new"]).stdin(b"exists a").run().status(0);
    run.stderr_lacks("matched nothing");
    // What a later version records is not guessed.
    let mut of_later = lines(&dir.path("m"));
    of_later[0] = of_later[0].replace("--rule=all a", "--rule=shrinking a");
    dir.file("later", seal(&of_later).as_bytes());
    for args in
        [&["verify", "t", "later"][..], &["update", "t", "later", "-o", "-"], &["scrub", "t", "later"]]
    {
        manifest(&dir, args).status(2).stderr_has("shrinking");
    }
    manifest(&dir, &["diff", "later", "m"]).status(2).stderr_has("unknown check \"shrinking\"");
    // A record never names a file to read.
    of_later[0] = of_later[0].replace("--rule=shrinking a", "--rules=/etc/passwd");
    dir.file("later", seal(&of_later).as_bytes());
    manifest(&dir, &["verify", "t", "later"])
        .status(2)
        .stderr_has("made with an unknown option: '--rules=/etc/passwd'");
}

#[test]
fn a_rule_without_effect_is_named() {
    let dir = recorded(&[("a", 10), ("tmp/x", 10)], "growing *.log\nignore tmp\nall tmp/x\nexists a\n");
    for args in [
        &["create", "t", "--rules", "rules", "--force", "-o", "m"][..],
        &["verify", "t", "m"],
        &["update", "t", "m", "-o", "m"],
        &["scrub", "t", "m"],
    ] {
        let run = manifest(&dir, args).status(0);
        // What is in an ignored directory is ignored, whatever later rules say.
        let run = run
            .stderr_has("--rule 'growing *.log' matched nothing")
            .stderr_has("--rule 'all tmp/x' matched nothing");
        run.stderr_lacks("'exists a' matched").stderr_lacks("'ignore tmp' matched");
    }
}
