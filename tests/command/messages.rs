//! Messages that name a path, as a user sees them.

use std::fs;

use insta::assert_snapshot;

use crate::harness::Dir;

#[test]
fn of_arguments() {
    let dir = Dir::new();
    dir.file("there", b"").fifo("fifo").socket("socket").symlink("nowhere", "broken").symlink("loop", "loop");
    let args = [
        "missing",
        "",
        "there/x",
        "fifo",
        "socket",
        "/dev/null",
        "broken",
        "loop",
        "it's",
        "back\\slash",
        "\u{1b}[31m",
    ];
    let of = |command| dir.ftk([command, "-q", "-j", "mono"]).args(args).run().status(2).err.clone();
    assert_snapshot!("hash-arguments", of("hash"));
    // `find --status` would stop at the first entry.
    let find = dir.ftk(["find", "-c", "-j", "mono"]).args(args).run().status(2);
    assert_snapshot!("find-arguments", find.err);
}

#[test]
fn of_unreadable_entries() {
    let dir = Dir::new();
    dir.file("ok", b"").file("locked_file", b"").file("locked/x", b"").lock("locked_file").lock("locked");
    for command in ["find", "hash"] {
        for threads in ["mono", "8"] {
            let quiet = if command == "find" { "--status" } else { "-q" };
            let run = dir.ftk([command, quiet, "-j", threads, "locked", "."]);
            let run = run.args(if command == "find" { &["-n", "nothing"][..] } else { &[] });
            let run = run.unprivileged(&dir).run().status(2);
            let mut lines: Vec<_> = run.err.lines().collect();
            lines.sort();
            assert_snapshot!(format!("{command}-locked"), lines.join("\n"));
        }
    }
}

/// `calibrate --show` prints the figures in use even if they cannot be stored.
#[test]
fn of_figures_that_cannot_be_stored() {
    let dir = Dir::new();
    let ftk = |args: &[&str]| dir.ftk(args).under(&dir, ["env", "-u", "XDG_CACHE_HOME", "-u", "HOME"]).run();
    let why = "no cache directory: set XDG_CACHE_HOME or HOME to an absolute path";
    let shown = ftk(&["calibrate", "--show"]).status(0);
    shown.check(shown.err == format!("  built-in figures: {why}\n"), "the message is printed");
    shown.check(shown.text().contains("file_ns = "), "they are shown");
    ftk(&["calibrate"]).status(2).stdout("").stderr(&format!("ftk: {why}\n"));
}

#[test]
fn of_dup() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same").file("text", b"no journal\n").symlink("text", "link");
    let version = b"{\"ftk\":\"journal\",\"version\":3,\"cwd\":\"/\"}\n";
    let seen = |path: &str| {
        format!(
            r#"{{"path":"{path}","root_len":0,"dev":1,"ino":2,"size_bytes":3,"mtime_ns":4,"ctime_ns":5}}"#
        )
    };
    let gone = format!(
        r#"{{"ftk":"journal","version":1,"cwd":"/no such"}}
{{"step":0,"action":"hardlink","temp":".ftk-2b337a3b7b3da39c","victim":{},"keeper":{},"metadata":{{"mode":"0644","uid":0,"gid":0,"atime_ns":6}}}}
{{"step":0,"outcome":"done","freed_bytes":0}}
"#,
        seen("v"),
        seen("k")
    );
    let malformed = b"{\"ftk\":\"journal\",\"version\":1,\"cwd\":\"/\"}\n{}\n";
    dir.file("version", version).file("gone", gone.as_bytes()).file("malformed", malformed);
    let mut messages = String::new();
    for args in [
        &["undo", "missing"][..],
        &["undo", "text"],
        &["undo", "version"],
        &["undo", "gone"],
        &["undo", "malformed"],
        &["undo", "link"],
        &["undo", "t"],
        &["apply", "missing", "--action", "delete"],
        &["apply", "text", "--action", "delete"],
        &["prune", "t", "--action", "hardlink", "--quarantine", "away"],
        &["prune", "t", "--action", "hardlink", "--reference", "missing"],
        &["prune", "t", "--action", "hardlink", "--reference", "text"],
        &["prune", "t", "--action", "hardlink", "--yes", "--journal", "text"],
        &["prune", "t", "--action", "hardlink", "--yes", "--journal", "no/such"],
        &["prune", "t", "--action", "hardlink", "--min-size", "2", "--max-size", "1"],
        &["prune", "t", "-q", "--action", "move=text", "--yes", "--journal", "../journal"],
    ] {
        messages += &dir.ftk(["dup"]).args(args).run().status(2).stdout("").err;
    }
    let prune = dir.ftk(["dup", "prune", "t", "--action", "hardlink", "--yes"]);
    let homeless = prune.under(&dir, ["env", "-u", "XDG_STATE_HOME", "-u", "HOME"]);
    messages += &homeless.run().status(2).stdout("").err;
    assert_snapshot!(messages);
}

#[test]
fn of_outputs() {
    let dir = Dir::new();
    dir.file("there", b"").dir("d");
    let mut messages = String::new();
    for output in ["missing/x", "d", "d/", "there/x", "/dev/full"] {
        messages += &dir.ftk(["hash", "-q", "there", "-o", output]).run().status(2).stdout("").err;
    }
    assert_snapshot!(messages);
}

/// Standard output has the result of each file, standard error the reason of each failure and the totals.
#[test]
fn of_a_check() {
    let dir = Dir::new();
    let sum = crate::harness::sha256;
    dir.file("ok", b"1").file("bad", b"2").dir("d");
    let line = |name: &str| format!("{}  {name}\n", sum(b"1"));
    let list = ["ok", "bad", "gone", "lost/x", "d", "ok/x"].map(line).concat();
    dir.file("list", format!("{list}a comment\nSHA3-384 (y) = {}\n", "0".repeat(96)).as_bytes());
    let run = dir.ftk(["hash", "-c", "-q", "list"]).run().status(2);
    assert_snapshot!(format!("{}---\n{}", run.text(), run.err));
}

/// Colours are printed if requested, and by default not without a terminal.
#[test]
fn colours() {
    let dir = Dir::new();
    dir.ftk(["find", "missing"]).run().status(2).stderr_lacks("\u{1b}");
    dir.ftk(["find", "missing", "--color", "never"]).run().status(2).stderr_lacks("\u{1b}");
    dir.ftk(["find", "missing", "--color", "always"]).run().status(2).stderr_has("\u{1b}[");
}

/// Messages that new users had to read twice, as they are now.
#[test]
fn of_the_first_hour() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/longer", b"same");
    let masks = [
        (r"[0-9.]+ (ms|s)(?-u:\b)( \([0-9.]+ [kM]?B/s\))?", "TIME"),
        (r"[^ ']*/ftk/dup-[0-9A-Za-z-]+\.jsonl", "JOURNAL"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}", "DATE"),
        (r"deleted in '[^']*'", "deleted in 'DIR'"),
        (r"[0-9.]+ kB, in", "SIZE, in"),
    ]
    .map(|(pattern, mask)| (regex::Regex::new(pattern).unwrap(), mask));
    let mut all = String::new();
    let mut say = |command: &str| {
        let run = dir.ftk(command.split(' ')).run();
        // The figures are those of the machine.
        let lines = run.text().lines().filter(|line| !line.contains(" = ")).chain(run.err.lines());
        let text = format!("$ ftk {command}\n{}\n[{}]\n\n", lines.collect::<Vec<_>>().join("\n"), run.code());
        all += &masks.iter().fold(text, |text, (re, mask)| re.replace_all(&text, *mask).into_owned());
    };
    say("report t");
    say("report t");
    say("undo --usr");
    say("cmp --ignore owner t t");
    say("hash t/a -o md5.txt -a blake3 -q");
    say("hash -c md5.txt");
    say("hash t/a -o manifest-sha256.txt -q");
    say("hash -c manifest-sha256.txt");
    say("manifest import manifest-sha256.txt");
    say("calibrate --show");
    say("dup prune --action delete --keep shortest --yes t");
    say("undo --last");
    let journals = fs::read_dir(dir.aside("state/ftk")).unwrap();
    let journal = journals.map(|it| it.unwrap().path()).next().unwrap();
    say(&format!("undo {}", journal.display()));
    say("manifest create t -o ../t.jsonl -q");
    say("manifest scrub --bytes 1 t ../t.jsonl");
    let time = fs::metadata(dir.path("t/a")).unwrap().modified().unwrap();
    dir.file("t/a", b"SAME");
    let file = fs::File::options().write(true).open(dir.path("t/a")).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
    say("manifest update t ../t.jsonl -o ../t.jsonl -q");
    say("manifest scrub t ../t.jsonl");
    assert_snapshot!(all);
}
