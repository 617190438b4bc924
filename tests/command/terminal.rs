//! Output to a terminal, which `script` provides.

use crate::harness::{Dir, Run, needs};

/// Creates files whose names would colour a terminal, move its cursor, be shown backwards, or look like another name.
fn dangerous() -> Dir {
    let dir = Dir::new();
    for name in [
        &b"\x1b[31mred"[..],
        b"bell\x07",
        b"over\rwrite",
        b"two\nlines",
        "rev\u{202e}gpj.exe".as_bytes(),
        b"c1\xc2\x9b0m",
        "zero\u{200b}width\u{e0041}".as_bytes(),
        "heart\u{2764}\u{fe0f}".as_bytes(),
        b"\xff",
    ] {
        dir.raw_file(name, b"");
    }
    dir
}

/// Runs `ftk` on a terminal, with arguments in the syntax of the shell.
fn on_a_terminal(dir: &Dir, args: &str) -> Run {
    on_a_terminal_with(dir, "", args)
}

/// The same with environment variables.
fn on_a_terminal_with(dir: &Dir, variables: &str, args: &str) -> Run {
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let line = format!("{variables} '{ftk}' {args}");
    dir.ftk([] as [&str; 0]).instead(dir, ["script", "-qec", &line, "/dev/null"]).run()
}

/// Returns whether `text` has no control characters apart from line ends, and no characters without width. (Callers turn
/// off the colours.)
fn is_safe(text: &str) -> bool {
    let text = text.replace("\r\n", "\n");
    let acts = |c: char| c.is_control() || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{e0041}');
    text.chars().all(|c| c == '\n' || !acts(c))
}

#[test]
fn find_shows_names_escaped() {
    needs!("script");
    let dir = dangerous();
    let run = on_a_terminal(&dir, "find --sort --color never").status(0);
    run.check(is_safe(run.text()), "no control characters");
    let expected = [
        ".",
        "./\\x1b[31mred",
        "./bell\\x07",
        "./c1\\u{9b}0m",
        "./heart\u{2764}\u{fe0f}",
        "./over\\rwrite",
        "./rev\\u{202e}gpj.exe",
        "./two\\nlines",
        "./zero\\u{200b}width\\u{e0041}",
        "./\\xff",
    ];
    assert_eq!(run.text().lines().collect::<Vec<_>>(), expected);
    // With -0 the names are printed as they are.
    let run = on_a_terminal(&dir, "find --sort -0");
    run.check(run.out.windows(5).any(|part| part == b"\x1b[31m"), "-0 is raw");
}

/// The lines of `hash` escape only what their format needs, and with `-z` nothing; on a terminal all control characters
/// are escaped.
#[test]
fn hash_shows_names_escaped() {
    needs!("script");
    let dir = dangerous();
    for args in ["hash -q .", "hash -qz .", "hash -q --tag -z .", "hash -q --json ."] {
        let run = on_a_terminal(&dir, args).status(0);
        run.check(is_safe(&run.text().replace('\0', "\n")), "no control characters");
        run.check(run.text().contains("two\\nlines"), "the name is there, escaped");
    }
    let run = dir.ftk(["hash", "-z", "."]).run().status(0);
    run.check(run.out.windows(9).any(|part| part == b"two\nlines"), "not escaped");
}

#[test]
fn wrong_arguments_are_escaped() {
    needs!("script");
    let dir = Dir::new();
    for option in ["--no", "--owner="] {
        let args = format!("--color always find \"$(printf -- '{option}x\\033[31m\\007\\342\\200\\256')\"");
        let run = on_a_terminal(&dir, &args).status(2);
        run.check(is_safe(run.text()), "no control characters");
        run.check(run.text().contains("x\\x1b[31m\\x07\\u{202e}"), "the argument is there, escaped");
    }
}

#[test]
fn messages_are_escaped() {
    needs!("script");
    let dir = Dir::new();
    let run = on_a_terminal(&dir, "hash --color never \"$(printf 'no\\033[31m\\r\\007')\"").status(2);
    run.check(is_safe(run.text()), "no control characters");
    run.check(run.text().contains("'no\\x1b[31m\\r\\x07'"), "the name is there, escaped");
}

/// Messages are coloured on a terminal, unless colours are turned off.
#[test]
fn colours() {
    needs!("script");
    let dir = Dir::new();
    let run = on_a_terminal_with(&dir, "TERM=xterm", "find missing").status(2);
    run.check(run.text().contains("\u{1b}["), "in colour");
    for (variables, args) in
        [("", "find missing --color never"), ("NO_COLOR=1", "find missing"), ("TERM=dumb", "find missing")]
    {
        let run = on_a_terminal_with(&dir, variables, args).status(2);
        run.check(!run.text().contains("\u{1b}["), "without colour");
    }
}

/// Help and usage errors are coloured on a terminal, and elsewhere only if requested.
#[test]
fn colours_of_help() {
    needs!("script");
    let dir = Dir::new();
    let is_coloured = |run: &Run| run.text().contains("\u{1b}[") || run.err.contains("\u{1b}[");
    for args in ["-h", "hash --help", "hash --nonsense"] {
        let run = on_a_terminal_with(&dir, "TERM=xterm", args);
        run.check(is_coloured(&run), "in colour");
        for variables in ["NO_COLOR=1", "CLICOLOR=0", "TERM=dumb"] {
            let run = on_a_terminal_with(&dir, variables, args);
            run.check(!is_coloured(&run), "without colour");
        }
        let run = on_a_terminal_with(&dir, "TERM=xterm", &format!("{args} --color never"));
        run.check(!is_coloured(&run), "without colour, as asked");

        let args: Vec<_> = args.split(' ').collect();
        let run = dir.ftk(&args).run();
        run.check(!is_coloured(&run), "a pipe gets no colours");
        let run = dir.ftk(&args).args(["--color=always"]).run();
        run.check(is_coloured(&run), "a pipe gets colours if requested");
        let forced = dir.ftk(&args).under(&dir, ["env", "CLICOLOR_FORCE=1"]).run();
        forced.check(is_coloured(&forced), "a pipe gets colours if forced");
    }
}

/// A run that ends at once draws no progress.
#[test]
fn a_short_run_draws_no_progress() {
    needs!("script");
    let dir = Dir::new();
    dir.file("x", b"abc");
    let run = on_a_terminal(&dir, "hash x").status(0);
    run.check(is_safe(run.text()), "nothing moves");
    assert_eq!(run.text().lines().count(), 2);
}

#[test]
fn cmp_shows_differences_in_columns() {
    needs!("script");
    let dir = Dir::new();
    dir.file("a/b/x", b"1")
        .file("b/b/x", b"2")
        .dir("a/only")
        .file("a/long/name/of/a/file", b"abc")
        .file("b/long/name/of/a/file", &[b'x'; 1234]);
    let run = on_a_terminal(&dir, "cmp -s a b").status(1);
    run.check(run.out.is_empty(), "silent on a terminal, too");
    let run = on_a_terminal(&dir, "cmp a b --color never").status(1);
    let expected = [
        "  content differs    b/x                first at byte 1",
        "  size differs       long/name/of/a/file   3 and 1,234 bytes",
        "  only in a          only",
    ];
    assert_eq!(run.text().lines().take(3).collect::<Vec<_>>(), expected);
    let run = on_a_terminal(&dir, "cmp a b --color always").status(1);
    run.check(run.text().contains("\u{1b}[33monly in a       \u{1b}[0m   only"), "in colours");
}

#[test]
fn cmp_shows_names_escaped() {
    needs!("script");
    let dir = dangerous();
    dir.dir("../empty").file("../x", b"abc");
    let run = on_a_terminal(&dir, "cmp --color never . ../empty").status(1);
    run.check(is_safe(run.text()), "no control characters");
    run.check(run.text().contains("only in .          '\\x1b[31mred'"), "the names are printed, escaped");
    dir.raw_file(b"\x1b[31mred", b"abd");
    let run = on_a_terminal(&dir, "cmp --color never ../x \"$(printf '\\033[31mred')\"").status(1);
    run.check(is_safe(run.text()), "no control characters");
    run.check(run.text().contains("../x \\x1b[31mred differ: byte 3, line 1"), "the message of cmp");
}

/// Verdicts, differences and groups are coloured on a terminal, unless colours are turned off.
#[test]
fn colours_of_verdicts_and_groups() {
    needs!("script");
    let dir = Dir::new();
    dir.file("a/x", b"one").file("a/y", b"one").file("b/x", b"two");
    dir.ftk(["hash", "a", "-o", "list"]).run().status(0);
    dir.ftk(["manifest", "create", "a", "-o", "record"]).run().status(0);
    dir.file("a/x", b"ten");
    for (args, status, word) in [
        ("cmp -E y a b", 1, "\u{1b}[31mcontent differs"),
        ("hash --check list", 1, "a/x: \u{1b}[31mFAILED\u{1b}[0m"),
        ("hash --check list", 1, "a/y: \u{1b}[32mOK\u{1b}[0m"),
        ("manifest verify a record", 1, "\u{1b}[31mmodified"),
        ("dup . -E x", 0, ""),
    ] {
        let run = on_a_terminal_with(&dir, "TERM=xterm", args).status(status);
        run.check(run.text().contains(word), word);
        for (variables, more) in [("NO_COLOR=1", ""), ("TERM=dumb", ""), ("TERM=xterm", " --color never")] {
            let run = on_a_terminal_with(&dir, variables, &format!("{args}{more}")).status(status);
            run.check(!run.text().contains('\u{1b}'), "without colour");
        }
        let piped = dir.ftk(args.split(' ')).run().status(status);
        run.check(!piped.text().contains('\u{1b}'), "a pipe gets no colours");
    }
    dir.file("a/x", b"one");
    let run = on_a_terminal_with(&dir, "TERM=xterm", "dup a").status(0);
    run.check(run.text().contains("\u{1b}[33m2 \u{d7} 3 B   wastes 3 B\u{1b}[0m"), "the head of a group");
    let run = on_a_terminal_with(&dir, "TERM=xterm", "dup prune --action delete a").status(0);
    run.check(run.text().contains("\u{1b}[33mdelete"), "what would be done");
}

/// `--color` means the same in every command that prints coloured words, and so do the variables that it overrides.
#[test]
fn a_pipe_gets_colours_only_on_request() {
    let dir = Dir::new();
    dir.file("a/x", b"one").file("a/y", b"one").file("b/x", b"two").file("b/y", b"one");
    for tree in ["a", "b"] {
        dir.ftk(["manifest", "create", tree, "-o", &format!("{tree}.jsonl")]).run().status(0);
    }
    let sum = crate::harness::sha256;
    dir.file("old", format!("{}  a/x\n", sum(b"one")).as_bytes());
    dir.file("new", format!("{}  a/x\n", sum(b"two")).as_bytes());
    let (red, yellow) = ("\u{1b}[31m", "\u{1b}[33m");
    for (args, status, colour) in [
        ("find a", 0, "\u{1b}["),
        ("cmp a b", 1, red),
        ("hash --check new", 1, red),
        ("hash --diff old new", 1, red),
        ("manifest verify a b.jsonl", 1, red),
        ("manifest diff a.jsonl b.jsonl", 1, red),
        ("dup --format screen .", 0, yellow),
        ("dup prune --action delete .", 0, yellow),
    ] {
        let run = |variable: (&str, &str), color: &[&str]| {
            let variable = format!("{}={}", variable.0, variable.1);
            let ftk = dir.ftk(args.split(' ')).args(color);
            ftk.under(&dir, ["env", &variable]).run().status(status).out.clone()
        };
        let text = |out: &[u8]| String::from_utf8(out.to_vec()).unwrap();
        let plain = run(("LANG", "C"), &[]);
        assert!(!text(&plain).contains('\u{1b}'), "{args}");
        for color in [&["--color", "auto"][..], &["--color", "never"]] {
            assert_eq!(run(("LANG", "C"), color), plain, "{args}");
        }
        assert_eq!(run(("CLICOLOR_FORCE", "1"), &["--color", "never"]), plain, "{args}");
        assert_eq!(run(("NO_COLOR", "1"), &[]), plain, "{args}");
        let coloured = run(("LANG", "C"), &["--color", "always"]);
        assert!(text(&coloured).contains(colour), "{args}");
        assert_eq!(run(("NO_COLOR", "1"), &["--color", "always"]), coloured, "{args}");
        assert_eq!(run(("CLICOLOR_FORCE", "1"), &[]), coloured, "{args}");
        if !args.contains("--format") {
            let json = run(("LANG", "C"), &["--color", "always", "--json"]);
            assert!(!text(&json).contains('\u{1b}'), "{args}");
        }
    }
}
