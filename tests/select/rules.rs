//! A rule that has no effect is never silent, and a path in a rule may be spelled in any way.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, needs, records, sorted};

/// Two equal files, one of which is to be protected.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("p/inbox/a", &[7; 50_000]).file("p/keep/a", &[7; 50_000]);
    dir
}

/// Spellings of `p/keep` for the starting point `p`.
fn spellings(dir: &Dir) -> Vec<String> {
    dir.symlink("tree", "../link");
    let here = dir.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let link = dir.aside("link").to_str().unwrap().to_owned();
    let relative = [
        "keep/.",
        "keep/",
        "/keep",
        "./keep",
        "p/keep",
        "./p/keep",
        "p//keep/",
        "p/./keep/.",
        "../tree/p/keep",
    ];
    let relative = relative.map(String::from).into_iter();
    relative
        .chain(
            ["p/keep", "./p//keep/."].iter().flat_map(|it| [format!("{here}/{it}"), format!("{link}/{it}")]),
        )
        .collect()
}

const PRUNE: [&str; 5] = ["dup", "prune", "--action", "delete", "--yes"];

#[test]
fn h85_every_spelling_protects() {
    let dir = scene();
    for spelling in spellings(&dir) {
        dir.ftk(PRUNE).args(["-E", &spelling, "p"]).run().status(0).stderr_lacks("matched nothing");
        let expression = format!("path = \"{}\"", spelling.trim_end_matches("/.").trim_end_matches('/'));
        if spelling.contains("p/") {
            let run = dir.ftk(PRUNE).args(["--exclude-where", &expression, "p"]).run().status(0);
            run.stderr_lacks("matched nothing");
        }
        assert!(dir.path("p/keep/a").exists() && dir.path("p/inbox/a").exists(), "{spelling}");
    }
}

#[test]
fn every_spelling_selects_the_same_in_all_commands() {
    let dir = scene();
    dir.file("p/b", b"b");
    for spelling in spellings(&dir) {
        let find = dir.ftk(["find", "-t", "f", "--sort", "-E", &spelling, "p"]).run().status(0).stderr("");
        find.stdout("p/b\np/inbox/a\n");
        let hash = dir.ftk(["hash", "-a", "xxh64", "-E", &spelling, "p"]).run().status(0);
        assert_eq!(records(&hash.out, b'\n').len(), 2, "{spelling}");
        let du = dir
            .ftk(["du", "-a", "--apparent-size", "-E", &spelling, "p"])
            .run()
            .status(0)
            .stderr_lacks("matched");
        assert!(!String::from_utf8_lossy(&du.out).contains("keep"), "{spelling}");
        dir.ftk(["report", "--json", "-E", &spelling, "p"]).run().status(0).stderr_lacks("matched nothing");
        let path = spelling.trim_end_matches("/.").trim_end_matches('/');
        if path.contains('/') {
            let selected = dir.ftk(["find", "--path", &spelling, "p"]).run().status(0);
            selected.stdout("p/keep\n").stderr_lacks("matched nothing");
        }
    }
}

#[test]
fn du_honours_an_absolute_path_as_gnu_du_does() {
    needs!("du");
    let dir = scene();
    let (p, exclude) =
        (dir.path("p").to_str().unwrap().to_owned(), dir.path("p/keep").to_str().unwrap().to_owned());
    let gnu = dir
        .ftk([""; 0])
        .instead(&dir, ["du", &format!("--exclude={exclude}"), "-a", "-B1", &p])
        .run()
        .status(0);
    let ours = dir.ftk(["du", "-a", &format!("--exclude={exclude}"), &p]).run().status(0);
    assert_eq!(sorted(records(&ours.out, b'\n')), sorted(records(&gnu.out, b'\n')));
}

#[test]
fn h85_a_rule_that_protects_nothing_stops_prune_before_its_first_change() {
    let dir = scene();
    let unused = [
        (&["-E", "web,data"][..], "--exclude 'web,data' matched nothing"),
        (&["-E", "/somewhere/p/keep"], "--exclude '/somewhere/p/keep' matched nothing"),
        (&["-E", "p"], "--exclude 'p' matched nothing"),
        (&["-E", "./p"], "--exclude './p' matched nothing"),
        (&["--exclude-where", "size < 0"], "--exclude-where 'size < 0' matched nothing"),
        (&["-E", "keep", "-E", "kepe"], "--exclude 'kepe' matched nothing"),
    ];
    for (rule, message) in unused {
        let refused = format!("ftk: {message}, so nothing was changed (--allow-unused-rules permits it)\n");
        dir.ftk(PRUNE).args(rule).args(["p"]).run().status(2).stdout("").stderr_has(&refused);
        let script = ["dup", "prune", "--action", "delete", "--script"];
        dir.ftk(script).args(rule).args(["p"]).run().status(2).stdout("").stderr_has(&refused);
        assert!(dir.path("p/keep/a").exists() && dir.path("p/inbox/a").exists(), "{rule:?}");
        // A plan names the rule and changes nothing.
        let plan = dir.ftk(["dup", "prune", "--action", "delete"]).args(rule).args(["p"]).run().status(0);
        plan.stderr_has(&format!("  {message}"));
    }
    assert!(!dir.aside("state/ftk").exists() || fs::read_dir(dir.aside("state/ftk")).unwrap().count() == 0);
    // A rule that selects files protects none, so it is only named.
    let run = dir.ftk(PRUNE).args(["-e", "jpg", "-E", "keep", "p"]).run().status(0);
    run.stderr_has("the filters match none of 1 file");
    let run = dir.ftk(PRUNE).args(["-E", "kepe", "--allow-unused-rules", "p"]).run().status(0);
    run.stderr_has("--exclude 'kepe' matched nothing\n");
    // Both may have one time, so either may be the kept one.
    assert!(dir.path("p/inbox/a").exists() != dir.path("p/keep/a").exists());
}

#[test]
fn find_runs_no_command_if_a_rule_protects_nothing() {
    let dir = scene();
    let refused =
        "ftk: --exclude 'kepe' matched nothing, so nothing was changed (--allow-unused-rules permits it)\n";
    let find = ["find", "-t", "f", "-E", "kepe", "p"];
    for order in [&[][..], &["--sort=size"], &["--max-results", "1"], &["--sort", "--reverse"]] {
        for way in ["--exec", "--exec-batch"] {
            let run = dir.ftk(find).args(order).args([way, "rm"]).run().status(2).stdout("");
            run.stderr_has(refused).stderr_has("  --exclude 'kepe' matched nothing\n");
            assert!(dir.path("p/keep/a").exists() && dir.path("p/inbox/a").exists());
        }
    }
    // Nothing is listed first, and the rule is named afterwards.
    let allowed = ["--allow-unused-rules", "--exec", "echo"];
    dir.ftk(find).args(allowed).run().status(0).stderr_has("  --exclude 'kepe' matched nothing\n");
    let run = dir.ftk(["find", "-t", "f", "-E", "keep", "p", "--exec", "rm"]).run().status(0);
    run.stderr("");
    assert!(dir.path("p/keep/a").exists() && !dir.path("p/inbox/a").exists());
    // A rule that selects does not stop a command.
    dir.ftk(["find", "-n", "a", "-n", "b", "p", "--exec", "echo"])
        .run()
        .status(0)
        .stderr("  --name 'b' matched nothing\n");
}

#[test]
fn every_command_names_rules_that_matched_nothing() {
    let dir = scene();
    dir.file("q/keep/a", b"a").file("q/inbox/a", b"b");
    let commands: [&[&str]; 13] = [
        &["find", "p"],
        &["find", "--sort", "p"],
        &["find", "-l", "--sort=size", "p"],
        &["find", "--group-by", "type", "p"],
        &["find", "-c", "p"],
        &["du", "p"],
        &["du", "--format", "ncdu", "p"],
        &["hash", "p"],
        &["hash", "--tree", "p"],
        &["cmp", "p", "p/."],
        &["manifest", "create", "p"],
        &["report", "--json", "p"],
        &["dup", "p"],
    ];
    for command in commands {
        let cmp = if command[0] == "cmp" { &["--no-shortcuts"][..] } else { &[] };
        let rules = ["-E", "kepe", "-E", "new\nline", "--stats", "../stats"];
        let run = dir.ftk(command).args(cmp).args(rules).run().status(0);
        let run = run.stderr_has("  --exclude 'kepe' matched nothing\n");
        run.stderr_has("  --exclude 'new\\nline' matched nothing\n");
        let stats: Value = serde_json::from_slice(&fs::read(dir.aside("stats")).unwrap()).unwrap();
        let expected = serde_json::json!([{"rule": "--exclude=kepe"}, {"rule": "--exclude=new\nline"}]);
        assert_eq!(stats["unused_rules"], expected, "{command:?}");
        let run = dir.ftk(command).args(cmp).args(["-q", "-E", "kepe"]).run();
        run.stderr_lacks("matched nothing");
    }
    // A shard is only a part of the tree.
    let run = dir.ftk(["manifest", "create", "p", "--shard", "1/1", "-E", "kepe"]).run().status(0);
    run.stderr_has("  --exclude 'kepe' matched nothing in this shard\n");
    // All walks of a command count: the rule matches only below the second starting point.
    dir.ftk(["find", "-c", "p", "q", "-E", "q/keep"]).run().status(0).stdout("8\n").stderr("");
    let trees = dir.ftk(["hash", "--tree=git", "p", "q", "-E", "q/inbox"]).run();
    trees.stderr_lacks("matched nothing");
}

#[test]
fn summary_objects_name_unused_rules() {
    let dir = scene();
    let unused = r#""unused_rules":[{"rule":"--exclude=kepe"}]"#;
    let count = dir.ftk(["find", "-c", "--json", "-E", "kepe", "p"]).run().status(0);
    count.stdout(format!("{{\"count\":5,{unused}}}\n"));
    let run = dir.ftk(["dup", "--summary", "--json", "-E", "kepe", "p"]).run().status(0);
    assert!(String::from_utf8_lossy(&run.out).ends_with(&format!("{unused}}}\n")));
    // Bytes that are not UTF-8 are encoded.
    let run = dir.ftk(["find", "-c", "--json", "p", "-E"]).arg(bytes(b"\xff")).run().status(0);
    run.stdout("{\"count\":5,\"unused_rules\":[{\"rule_b64\":\"LS1leGNsdWRlPf8=\"}]}\n");
    let run = dir.ftk(["find", "-c", "--json", "-E", "keep", "p"]).run().status(0);
    run.stdout("{\"count\":3}\n");
}

fn bytes(bytes: &[u8]) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[test]
fn a_comma_gives_a_hint() {
    let dir = scene();
    let run = dir.ftk(["find", "p", "-E", "web,data"]).run().status(0);
    run.stderr(
        "  --exclude 'web,data' matched nothing: a glob is not a list: repeat --exclude, or write {a,b}\n",
    );
    let run = dir.ftk(["find", "p", "-e", "jpg,png"]).run().status(0).stdout("");
    run.stderr_has(
        "  --extension 'jpg,png' matched nothing: an extension is not a list: repeat --extension\n",
    );
    let run = dir.ftk(["find", "p", "-E", "{web,data}"]).run().status(0);
    run.stderr("  --exclude '{web,data}' matched nothing\n");
    // A shell variable that is not set.
    dir.ftk(["find", "p", "-E", ""]).run().status(0).stderr("  --exclude '' matched nothing\n");
    dir.file("p/web,data", b"");
    dir.ftk(["find", "p", "-E", "web,data"]).run().status(0).stderr("");
}

#[test]
fn a_path_that_fits_twice_is_skipped_twice() {
    let dir = scene();
    dir.file("p/p/keep/b", b"").file("q/keep/c", b"").file("q/p/keep/d", b"");
    let run = dir.ftk(["find", "-t", "f", "--sort", "-E", "p/keep", "p", "q"]).run().status(0).stderr("");
    run.stdout("p/inbox/a\nq/keep/c\n");
    // With an absolute path, only the one below `p` is meant.
    let absolute = dir.path("p/keep");
    let run = dir.ftk(["find", "-t", "f", "--sort", "p", "q", "-E"]).arg(absolute).run().status(0).stderr("");
    run.stdout("p/inbox/a\np/p/keep/b\nq/keep/c\nq/p/keep/d\n");
}

#[test]
fn a_comparison_skips_a_path_on_both_sides() {
    let dir = Dir::new();
    dir.file("a/x/1", b"1").file("b/x/1", b"2").file("a/y", b"y").file("b/y", b"y");
    for rule in ["a/x", "./b//x/", "x", "../tree/a/x"] {
        dir.ftk(["cmp", "a", "b", "-E", rule]).run().status(0).stdout("").stderr_lacks("matched nothing");
    }
    // A rule that matches on one side is used.
    dir.file("a/only", b"");
    dir.ftk(["cmp", "a", "b", "-E", "x", "-E", "only"]).run().status(0).stderr_lacks("matched nothing");
}

#[test]
fn a_starting_point_with_special_characters_is_a_name() {
    let dir = Dir::new();
    for (root, other) in [("a[1]", "a1"), ("{b,c}", "b"), ("d*", "dx")] {
        dir.file(format!("{root}/keep/x"), b"")
            .file(format!("{other}/keep/x"), b"")
            .file(format!("{root}/y"), b"");
        let run = dir
            .ftk(["find", "-t", "f", "--sort", root, other, "-E", &format!("{root}/keep")])
            .run()
            .status(0);
        let mut listed = [format!("{root}/y\n"), format!("{other}/keep/x\n")];
        listed.sort();
        run.stdout(listed.concat()).stderr("");
    }
}

#[test]
fn starting_points_of_all_kinds() {
    let dir = scene();
    dir.file("p/inbox/b", b"").symlink("tree/p", "../other");
    let list = dir.aside("list");
    fs::write(&list, "p/inbox\0p/keep\0").unwrap();
    let run =
        dir.ftk(["find", "-t", "f", "--files0-from", "../list", "-E", "./p/keep/a", "-E", "p/inbox/b"]).run();
    run.status(0).stdout("p/inbox/a\n").stderr("");
    dir.ftk(["find", "-t", "f", "-E", "p/keep", "--sort"])
        .run()
        .status(0)
        .stdout("./p/inbox/a\n./p/inbox/b\n")
        .stderr("");
    dir.ftk(["find", "-t", "f", "-E", "../tree/p/keep", "..", "-n", "a"])
        .run()
        .status(0)
        .stdout("../tree/p/inbox/a\n")
        .stderr("");
    dir.ftk(["hash", "-a", "xxh64", "-E", "../other/inbox", "-E", "p/keep", "../other"])
        .run()
        .status(0)
        .stdout("")
        .stderr_lacks("matched nothing");
    // Starting points that overlap.
    let run =
        dir.ftk(["find", "-t", "f", "p", "p/inbox", "./p", "-E", "p/inbox/b", "-E", "keep"]).run().status(0);
    run.stdout("p/inbox/a\n").stderr_lacks("matched nothing");
    // A directory given as a starting point is never skipped, so nothing protects it.
    let run = dir.ftk(PRUNE).args(["p", "p/keep", "-E", "p/keep"]).run().status(2);
    run.stderr_has(
        "--exclude 'p/keep' matched nothing: a directory given as a starting point is never skipped\n",
    );
    let root = dir
        .ftk(["find", "/", "--max-depth", "1", "-E", "/proc", "-E", "etc"])
        .run()
        .status(0)
        .stderr_lacks("matched");
    assert!(!records(&root.out, b'\n').iter().any(|path| matches!(&**path, b"/etc" | b"/proc")));
}

/// GNU du skips files given as arguments, too. Its globs also match the directories of an argument, and directories.
#[test]
fn exclusions_apply_to_files_given_as_arguments() {
    needs!("du");
    let dir = Dir::new();
    dir.file("a.tgz", b"a")
        .file("a.tgz.asc", b"b")
        .file("s/b.tgz", b"c")
        .file("s/b.asc", b"d")
        .symlink("a.tgz", "l.asc");
    let files = ["a.tgz", "a.tgz.asc", "l.asc", "s/b.asc", "s/b.tgz"];
    let path = |line: Vec<u8>| line.rsplit(|&byte| byte == b'\t').next().unwrap().to_vec();
    let paths = |text: &[u8]| sorted(records(text, b'\n').into_iter().map(path).collect());
    for glob in ["*.asc", "a*", "s/*", "s/b.asc", "b.*", "a.tgz", "l.asc", "none", "*", "s/b.tgz/"] {
        let exclude = format!("--exclude={glob}");
        let gnu = dir.ftk([""; 0]).instead(&dir, ["du", "-a", &exclude]).args(files).run().status(0);
        let gnu = paths(&gnu.out);
        let list = files.join("\n");
        for command in [&["find"][..], &["du", "-a"]] {
            let run = dir.ftk(command).args([&*exclude]).args(files).run().status(0);
            let has_used = gnu.len() < files.len();
            run.check(paths(&run.out) == gnu, &format!("du has {gnu:?}"));
            let has_note = run.err.contains("matched nothing");
            run.check(has_note != has_used, "the note");
            let run = dir.ftk(command).args([&*exclude, "--files-from", "-"]).stdin(list.as_bytes()).run();
            run.check(paths(&run.out) == gnu, &format!("of a list, du has {gnu:?}"));
        }
    }
    let asc = ["hash", "-a", "md5", "-E", "*.asc"];
    dir.ftk(asc).args(["-o", "S"]).args(files).run().status(0).stderr_lacks("matched nothing");
    let list = std::fs::read_to_string(dir.path("S")).unwrap();
    assert_eq!(list.lines().map(|line| &line[34..]).collect::<Vec<_>>(), ["a.tgz", "s/b.tgz"]);
    let run = dir.ftk(["find", "--explain", "s/b.asc", "-E", "s/*.asc", "s/b.asc"]).run().status(0);
    run.stdout_has("not selected: s/b.asc\n");
}

#[test]
fn a_walk_that_ends_early_names_no_rules() {
    let dir = scene();
    dir.ftk(["find", "--max-results", "1", "p", "-E", "kepe"]).run().status(0).stderr("");
    dir.ftk(["find", "--status", "p", "-E", "kepe", "--stats", "../stats"]).run().status(0).stderr("");
    let stats: Value = serde_json::from_slice(&fs::read(dir.aside("stats")).unwrap()).unwrap();
    assert_eq!(stats["unused_rules"], serde_json::json!([]));
}

#[test]
fn a_manifest_records_rules_relative_to_its_root() {
    let dir = scene();
    let absolute = dir.path("p/keep").to_str().unwrap().to_owned();
    for rule in [&absolute, "p/keep", "./p//keep"] {
        let create = ["manifest", "create", "p", "-o", "../m", "--force", "-E", rule];
        dir.ftk(create).run().status(0).stderr_lacks("matched nothing");
        let manifest = fs::read_to_string(dir.aside("m")).unwrap();
        let header: Value = serde_json::from_str(manifest.lines().next().unwrap()).unwrap();
        assert_eq!(header["options"], serde_json::json!([{"option": "--exclude=/keep"}]), "{rule}");
        assert!(!manifest.contains("keep/a") && manifest.contains("inbox/a"));
        // From elsewhere, and with another spelling of the root, the rules are the same.
        let sh = |line: &str| dir.ftk([""; 0]).instead(&dir, ["sh", "-c", line, env!("CARGO_BIN_EXE_ftk")]);
        sh("cd p && \"$0\" manifest verify . ../../m").run().status(0).stderr_has("3 of 3 as recorded");
        let run = sh("cd / && \"$0\" manifest update \"$OLDPWD/p\" \"$OLDPWD/../m\" -o \"$OLDPWD/../m\"")
            .run()
            .status(0);
        run.stderr_lacks("matched nothing");
        assert!(!fs::read_to_string(dir.aside("m")).unwrap().contains("keep/a"));
    }
    // A path that fits twice stays one rule.
    dir.file("p/p/keep/b", b"");
    dir.ftk(["manifest", "create", "p", "-o", "../m", "--force", "-E", "p/keep"]).run().status(0);
    let manifest = fs::read_to_string(dir.aside("m")).unwrap();
    assert!(manifest.contains("--exclude=/{keep,p/keep}") && !manifest.contains("keep/"));
    // An update names a recorded rule that matches nothing any more, and goes on.
    fs::remove_dir_all(dir.path("p/keep")).unwrap();
    fs::remove_dir_all(dir.path("p/p")).unwrap();
    let run = dir.ftk(["manifest", "update", "p", "../m", "-o", "../m"]).run().status(0);
    run.stderr_has("  --exclude '/{keep,p/keep}' matched nothing\n");
    let where_rule = format!("path = \"{absolute}\" or name = b");
    dir.file("p/keep/a", b"");
    let run = dir.ftk(["manifest", "create", "p", "--exclude-where", &where_rule]).run().status(0);
    assert!(String::from_utf8_lossy(&run.out).contains(r#"--exclude-where=(path = \"/keep\") or name = b"#));
}

#[test]
fn an_explanation_knows_the_starting_points() {
    let dir = scene();
    dir.file("q/keep/a", b"");
    let explain =
        |path: &str| dir.ftk(["find", "p", "q", "-E", "./p/keep", "-E", "*.o", "--explain", path]).run();
    explain("p/keep/a").status(0).stdout("not selected: p/keep/a   (p/keep is skipped)\n  fail  p/keep  --exclude  ./p/keep\n  pass  p/keep  --exclude  *.o\n");
    let run = explain("q/keep/a").status(0);
    assert!(run.out.starts_with(b"selected: q/keep/a\n"));
}

#[test]
fn expressions_do_not_apply_to_manifests() {
    let dir = scene();
    dir.ftk(["manifest", "create", "p", "-o", "../m"]).run().status(0);
    let run = dir.ftk(["dup", "--exclude-where", "name = a", "--manifests", "../m"]).run().status(2);
    run.stderr_has("cannot be used with");
}
