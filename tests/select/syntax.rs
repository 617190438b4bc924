//! Expressions: their errors, what they cost, how they combine with options, and `find --explain`.

use std::fs;

use crate::harness::{Dir, needs};

/// Returns the sorted paths without a leading `./`.
fn found(dir: &Dir, args: &[&str]) -> String {
    let run = dir.ftk(["find", "--sort"]).args(args).run().status(0);
    run.text().replace("./", "").replace('\n', " ").trim_end().to_owned()
}

#[test]
fn errors_show_the_place_and_what_was_expected() {
    let dir = Dir::new();
    for (expression, message) in [
        (
            "size > 10X",
            "`X` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB\n       size > 10X\n                ^\n",
        ),
        (
            "size ~ 3",
            "`~` does not fit here\n       size ~ 3\n            ^ = != < <= > >= or in after size\n",
        ),
        ("nam = a", "`nam` is not a term\n       nam = a\n       ^^^ one of name iname path"),
        ("name", "the expression is incomplete\n       name\n           ^ = != ~ or in after name\n"),
        ("", "the expression is incomplete\n       \n       ^ a term, such as name or size, or not, or (\n"),
        ("empty and", "the expression is incomplete"),
        ("(empty", "the expression is incomplete\n       (empty\n             ^ ) and, or\n"),
        ("empty)", "`)` does not fit here\n       empty)\n            ^ and, or, or the end\n"),
        ("empty empty", "`empty` does not fit here"),
        ("empty = 1", "`=` does not fit here"),
        ("name in a", "`a` does not fit here\n       name in a\n               ^ ( and a list of values\n"),
        ("name in (a b)", "`b` does not fit here\n       name in (a b)\n                  ^ a comma or )\n"),
        ("name in ()", "`)` does not fit here"),
        (
            "name = \"a[b\"",
            "this `[` has no `]`: write `\\[` for the character\n       name = \"a[b\"\n                ^^^\n",
        ),
        ("name = a/b", "a name cannot contain `/`, so nothing would match: use path\n"),
        ("name = \"\\x2a\"", "`\\x2a` is `*`, which globs use: write \\*\n"),
        ("path ~ \"a(b\"", "unclosed group\n"),
        ("size > 99999999999999999999", "is more than 2^64 - 1 bytes\n"),
        ("links = 18446744073709551616", "`18446744073709551616` is more than 2^64 - 1\n"),
        ("depth < -1", "`-1` is not a whole number\n"),
        ("mtime < soon", "`soon` is not a date, time or duration: write 3d, 2024-01-31 or yesterday\n"),
        ("mtime = 3d", "no age is equal to a duration: use < or >\n"),
        ("mtime = 2024-01-31", "a day is a range of times"),
        ("mtime in (2024-01-31)", "a day is a range of times"),
        ("type = x", "`x` is not a type"),
        ("user = \"no one\"", "there is no user `no one`\n"),
        ("group = \"no one\"", "there is no group `no one`\n       group = \"no one\"\n                ^"),
        ("user = a:b", "a user has no `:`"),
        ("perm = 888", "`8` is not an octal digit\n"),
        ("samefile = missing", "cannot stat `missing`: no such file or directory\n"),
        ("name = 'a'", "single quotes have no meaning\n       name = 'a'\n              ^ double quotes\n"),
        ("not", "the expression is incomplete"),
        ("name = \u{1b}[31m", "`\\u{1b}[31m` does not"),
    ] {
        if expression.contains('\u{1b}') {
            // A control character is part of the name, and must not reach the terminal from an error.
            let run = dir.ftk(["find", "--where", &format!("{expression} x")]).run().status(2).stdout("");
            run.check(!run.err.contains('\u{1b}'), "no escape sequence");
            continue;
        }
        for option in ["--where", "--exclude-where"] {
            let run = dir.ftk(["find", option, expression]).run().status(2).stdout("");
            run.stderr_has(&format!("ftk: {option}: ")).stderr_has(message);
        }
    }
}

#[test]
fn deep_and_long_expressions_are_errors_or_work() {
    let dir = Dir::new();
    dir.file("a", b"");
    let deep = format!("{}empty{}", "(".repeat(10_000), ")".repeat(10_000));
    dir.ftk(["find", "--where", &deep])
        .run()
        .status(2)
        .stderr_has("parentheses are nested more than 100 deep");
    let most = format!("{}empty{}", "(".repeat(100), ")".repeat(100));
    assert_eq!(found(&dir, &["--where", &most]), "a");
    assert_eq!(found(&dir, &["--where", &format!("{}empty", "not ".repeat(20_000))]), "a");
    // The longest argument that Linux accepts has 128 KiB.
    let long = format!("name = a{}", " or name = \"b*c\" or size = 7".repeat(4_000));
    assert_eq!(found(&dir, &["--where", &long]), "a");
}

#[test]
fn expressions_and_options_must_all_match() {
    let dir = Dir::new();
    dir.file("a.c", b"1").file("b.c", b"").file("c.h", b"1").file("d/e.c", b"123");
    assert_eq!(found(&dir, &["-e", "c", "--where", "size > 0"]), "a.c d/e.c");
    assert_eq!(found(&dir, &["--where", "extension = c", "--where", "SIZE > 0 AND depth = 1"]), "a.c");
    assert_eq!(found(&dir, &["-e", "c", "--exclude-where", "name = d", "--exclude-where", "empty"]), "a.c");
    // `and` binds more tightly than `or`, and `not` more tightly than both.
    assert_eq!(found(&dir, &["--where", "name = a.c or name = b.c and empty"]), "a.c b.c");
    assert_eq!(found(&dir, &["--where", "not name = a.c and extension = c"]), "b.c d/e.c");
    // A directory that is excluded is not entered, and starting points are never excluded.
    assert_eq!(found(&dir, &["d", ".", "-t", "f", "--exclude-where", "type = d"]), "a.c b.c c.h d/e.c");
    dir.ftk(["hash", "-q", "--where", "name = nothing", "."]).run().status(0).stdout("");
    dir.ftk(["cmp", "a.c", "c.h", "--where", "empty"])
        .run()
        .status(2)
        .stderr_has("--where selects entries of two trees");
    let run = dir.ftk(["dup", "--where", "size > 0 and size < 3"]).run().status(0);
    run.stdout("./a.c\n./c.h\n\n");
}

#[test]
fn ignored_and_hidden_entries_can_be_listed() {
    let dir = Dir::new();
    dir.file(".gitignore", b"target/\n*.o\n!keep.o\n").file("target/deep/x", b"").file("a.o", b"");
    dir.file("keep.o", b"").file("d/.ignore", b"y\n").file("d/y", b"").file("d/z", b"");
    assert_eq!(found(&dir, &["--where", "ignored"]), "a.o d/y target target/deep target/deep/x");
    assert_eq!(found(&dir, &["-t", "f", "--exclude-where", "ignored or hidden"]), "d/z keep.o");
    assert_eq!(found(&dir, &["-t", "f", "--ignore-files", "--no-hidden"]), "d/z keep.o");
    assert_eq!(found(&dir, &["--where", "hidden"]), ".gitignore d/.ignore");
}

/// Names decide without a system call for the file, and `statx` asks only for what is left to decide.
#[test]
fn only_what_names_let_through_is_examined() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("a.c", &[0; 20_000]).file("b.c", b"").file("c.h", &[0; 20_000]).file("d.o", b"");
    let examined_by = |options: &[&str]| {
        let log = dir.aside("log");
        let strace =
            ["strace", "-f", "-qq", "-e", "trace=%%stat,%file,faccessat2", "-o", log.to_str().unwrap()];
        dir.ftk(["find"]).args(options).under(&dir, strace).run().status(0);
        let log = fs::read_to_string(log).unwrap();
        let mut calls = Vec::new();
        for call in log.lines().filter(|call| call.contains("stat") || call.contains("access")) {
            let Some(name) =
                ["a.c", "b.c", "c.h", "d.o"].into_iter().find(|name| call.contains(&format!("\"{name}\"")))
            else {
                continue;
            };
            // The mask is the argument before the result.
            let mask = call.split(", ").find(|part| part.starts_with("STATX_")).unwrap_or("access");
            calls.push(format!("{name} {}", mask.replace("STATX_", "").replace("TYPE|", "")));
        }
        calls.sort();
        calls.join(", ")
    };
    let examined = |expression: &str| examined_by(&["--where", expression]);
    assert_eq!(examined("name = \"*.c\" and size > 10k"), "a.c SIZE, b.c SIZE");
    assert_eq!(examined("size > 10k and name = \"*.c\""), "a.c SIZE, b.c SIZE");
    assert_eq!(examined("not (not name = b.c or size > 10k)"), "b.c SIZE");
    assert_eq!(
        examined("name = *.c and size > 10k or name = *.h and mtime < 1d or name = *.o"),
        "a.c SIZE, b.c SIZE, c.h MTIME"
    );
    assert_eq!(examined("type = d or name = a.c and user = 0 and links = 1"), "a.c NLINK|UID");
    assert_eq!(examined("name = a.c or name = *.h and readable and size > 0"), "c.h SIZE, c.h access");
    assert_eq!(examined("type = f and depth < 3 and not hidden"), "");
    // What the output needs is read by the same call.
    for output in [&["--json"][..], &["--json", "--sort"], &["--format", "{path} {mtime}"]] {
        let calls = examined_by(&[&["--where", "name = b.c and size = 0"], output].concat());
        assert_eq!(calls.matches("b.c").count(), 1, "{calls}");
    }
    assert_eq!(examined_by(&["-n", "b.c", "-S", "0"]), "b.c SIZE");
}

#[test]
fn entries_that_cannot_be_examined_are_errors() {
    let dir = Dir::new();
    dir.file("closed/a.c", b"").file("closed/b.h", b"").file("open", b"");
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(dir.path("closed"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o744); // Others can list the directory, but not examine what is in it.
    let find = |args: &[&str]| dir.ftk(["find", "--sort"]).args(args).unprivileged(&dir).run();
    let run = find(&["--where", "name = *.c and size >= 0 or name = open"]);
    run.status(2)
        .stdout("./open\n")
        .stderr_has("ftk: cannot stat './closed/a.c': permission denied")
        .stderr_lacks("b.h");
    find(&["--where", "name = *.c or depth < 2 and size = 9"]).status(0).stdout("./closed/a.c\n");
    find(&["--exclude-where", "name = *.c and empty", "-t", "f"])
        .status(2)
        .stdout("./closed/b.h\n./open\n")
        .stderr_has("ftk: cannot stat './closed/a.c': permission denied");
    find(&["--where", "name = b.h and readable"]).status(0).stdout("");
    mode(0o755);
    find(&["--where", "name = b.h and readable"]).status(0).stdout("./closed/b.h\n");
}

#[test]
fn an_unknown_time_of_birth_is_an_error() {
    let dir = Dir::new();
    dir.file("a", b"");
    let run = dir.ftk(["find", "a", "--where", "birth < 1h and birth > @0"]).run();
    let is_recorded = fs::metadata(dir.path("a")).unwrap().created().is_ok();
    if is_recorded {
        run.status(0).stdout("a\n");
    } else {
        run.status(2).stdout("").stderr_has("the file system does not record the time of birth");
    }
    // proc never records it.
    let birth = ["find", "/proc/self/status", "--where", "birth > @0"];
    dir.ftk(birth).run().status(2).stdout("").stderr_has("the file system does not record the time of birth");
    dir.ftk(birth).arg("--exclude-where").arg("birth > @0").run().status(2);
    dir.ftk(["find", "/proc/self/status", "--where", "birth > @0 or fstype = proc"]).run().status(0);
}

#[test]
fn names_that_are_not_utf_8_can_be_written() {
    let dir = Dir::new();
    dir.raw_file(b"\xe9t\xe9", b"")
        .raw_file(b"a\nb", b"")
        .raw_file("ét".as_bytes(), b"")
        .raw_file(b"a\"b\\", b"");
    let listed = |expression: &str| {
        let run = dir.ftk(["find", "-0", "-t", "f", "--where", expression]).run().status(0);
        run.out
    };
    assert_eq!(listed("name = \"\\xe9*\""), b"./\xe9t\xe9\0");
    assert_eq!(listed("name ~ \"^\\xe9\""), b"./\xe9t\xe9\0");
    assert_eq!(listed("name = \"a\\x0ab\""), b"./a\nb\0");
    assert_eq!(listed("name = ét"), "./ét\0".as_bytes());
    assert_eq!(listed(r#"name = "a\"b\\\\""#), b"./a\"b\\\0");
}

#[test]
fn explanations_name_the_rule_that_decides() {
    let dir = Dir::new();
    dir.file(".gitignore", b"# built\n\ntarget/\n!x\n")
        .file("target/app", b"")
        .file("src/a.c", b"1")
        .file("src/x", b"");
    dir.symlink("src", "link");
    let explain = |args: &[&str]| dir.ftk(["find"]).args(args).run();
    explain(&["--ignore-files", "--explain", "./target/app"]).status(0).stdout(
        "not selected: ./target/app   (./target is skipped)\n  fail  ./target  --ignore-files  ./.gitignore:3: target/\n",
    );
    explain(&["-e", "c", "--where", "size > 10 or depth = 2", "--explain", "src/a.c", "-E", "*.o"]).status(0).stdout(
        "selected: src/a.c\n  pass  ./src  --exclude  *.o\n  pass  ./src/a.c  --exclude  *.o\n  \
         pass  ./src/a.c  --extension  extension = \"c\"\n  pass  ./src/a.c  --where  size > 10 or depth = 2\n     \
         false size > 10\n     true  depth = 2\n",
    );
    let run = explain(&["--ignore-files", "--explain", "src/x", "--explain", "src/a.c", "--max-depth", "1"]);
    run.status(0).stdout(
        "not selected: src/x   (./src is not entered: --max-depth)\n  pass  ./src  --ignore-files  no line matches\n\
         not selected: src/a.c   (./src is not entered: --max-depth)\n  pass  ./src  --ignore-files  no line matches\n",
    );
    let run = explain(&["--ignore-files", "src", "--explain", "src/x"]).status(0);
    run.check(run.text().contains("--ignore-files"), "rules are shown");
    explain(&["--explain", "link/x"]).status(0).stdout(
        "not selected: link/x   (./link is not entered: a symbolic link, followed only with --follow)\n",
    );
    explain(&["-L", "--explain", "link/x"]).status(0).stdout("selected: link/x\n");
    explain(&["--explain", "src/gone"])
        .status(2)
        .stderr_has("cannot stat 'src/gone': no such file or directory");
    explain(&["src", "--explain", "target"]).status(2).stderr_has("it is not below a starting point");
    explain(&["--status", "--explain", "src"])
        .status(2)
        .stderr_has("'--status' cannot be used with '--explain");
    let run = explain(&["--json", "--ignore-files", "--explain", "target/app"]).status(0);
    run.stdout(
        "{\"path\":\"target/app\",\"result\":\"skipped\",\"directory\":\"./target\",\"rules\":[{\"path\":\"./target\",\
         \"rule\":\"--ignore-files\",\"text\":\"target/\",\"file\":\"./.gitignore\",\"line\":3,\"is_term\":false,\
         \"passes\":false}]}\n",
    );
}

/// The explanation says `selected` for exactly the entries that a search lists.
#[test]
fn explanations_agree_with_searches() {
    let dir = Dir::new();
    dir.file(".gitignore", b"target/\n*.o\n")
        .file("target/app", b"1")
        .file("src/a.c", b"12")
        .file("src/b.o", b"");
    dir.file("src/.h", b"")
        .file("e/.ignore", b"!*.o\n")
        .file("e/c.o", b"")
        .raw_file(b"e/\xff\n", b"")
        .dir("e/f");
    let all = dir.ftk(["find", "-0"]).run().status(0).out;
    for options in [
        &[][..],
        &["--ignore-files", "--no-hidden"],
        &["-E", "src", "--where", "not empty"],
        &["--exclude-where", "ignored and type = f", "-t", "f", "-S", "-3"],
        &["--min-depth", "1", "--max-depth", "1", "--perm", "-111", "-n", "*"],
        &["--where", "name in (a.c, app, e) and (size > 1 or ignored)"],
    ] {
        let listed = dir.ftk(["find", "-0"]).args(options).run().status(0).out;
        let listed: Vec<_> = listed.split(|&byte| byte == 0).collect();
        for path in all.split(|&byte| byte == 0).filter(|path| !path.is_empty()) {
            use std::os::unix::ffi::OsStrExt as _;
            let run =
                dir.ftk(["find"]).args(options).arg("--explain").arg(std::ffi::OsStr::from_bytes(path)).run();
            let selected = run.text().starts_with("selected: ");
            run.check(selected == listed.contains(&path), &format!("{options:?}"));
        }
    }
}

#[test]
fn a_manifest_records_expressions_about_names() {
    let dir = Dir::new();
    dir.file("t/a.c", b"1").file("t/b.o", b"1").file("t/x/c.c", b"1");
    let create = |args: &[&str]| dir.ftk(["manifest", "create", "t", "-o", "../m"]).args(args).run();
    create(&["--where", "type = d or name = \"*.c\"", "--exclude-where", "path = x"]).status(0);
    let manifest = fs::read_to_string(dir.aside("m")).unwrap();
    assert!(
        manifest.contains(
            r#"{"option":"--where=type = d or name = \"*.c\""},{"option":"--exclude-where=path = x"}"#
        ),
        "{manifest}"
    );
    assert_eq!(manifest.lines().filter(|line| line.starts_with("{\"path\"")).count(), 2, "{manifest}");
    // What the expressions skip is not reported as new.
    dir.file("t/new.o", b"").file("t/x/new.c", b"");
    dir.ftk(["manifest", "verify", "t", "../m"]).run().status(0);
    dir.file("t/new.c", b"");
    let run = dir.ftk(["manifest", "verify", "t", "../m"]).run().status(1);
    run.check(run.text().contains("new.c") && !run.text().contains("new.o"), "only what is selected is new");
    for term in ["size > 0", "name = a or empty", "mtime < 1d", "readable", "not user = 0", "fstype = x"] {
        fs::remove_file(dir.aside("m")).ok();
        let run = create(&["--where", term]).status(2);
        run.stderr_has("--where: a manifest selects only by name and place")
            .stderr_has("^ a term about name");
        let run = create(&["--exclude-where", term]).status(2);
        run.check(!dir.aside("m").exists(), "nothing is written");
    }
}

#[test]
fn find_explains_why_it_does_not_delete() {
    let dir = Dir::new();
    dir.file("a", b"");
    for option in ["--delete", "-delete"] {
        let run = dir.ftk(["find", ".", option]).run().status(2).stdout("");
        run.check(dir.path("a").exists(), "nothing is deleted");
        run.stderr_has("ftk find never deletes, because a wrong filter would delete the wrong files at once")
            .stderr_has("--exec-batch rm --")
            .stderr_has("ftk dup prune");
    }
}
