//! Every help page, as a user sees it in 80 columns.

use insta::assert_snapshot;

use crate::harness::Dir;

fn page(args: &[&str]) -> String {
    let run = Dir::new().ftk(args).run().status(0).stderr("");
    run.text().to_owned()
}

/// Every command; its words as `ftk help` accepts them.
const COMMANDS: [&str; 32] = [
    "find",
    "du",
    "hash",
    "dup",
    "dup prune",
    "dup apply",
    "dup undo",
    "manifest",
    "manifest create",
    "manifest verify",
    "manifest diff",
    "manifest update",
    "manifest scrub",
    "manifest protect",
    "manifest repair",
    "manifest unique",
    "manifest export",
    "manifest import",
    "manifest plan",
    "manifest merge",
    "cmp",
    "report",
    "undo",
    "cache",
    "cache stats",
    "cache clear",
    "cache forget",
    "cache trim",
    "calibrate",
    "completions",
    "man",
    "help",
];

/// The pages of `ftk help` besides those of the commands, apart from `coming-from`, which is Markdown.
const TOPICS: [&str; 2] = ["selection", "global"];

/// Every help page with its command line.
fn pages() -> impl Iterator<Item = (String, String)> {
    // -h of du is that of GNU du.
    let short = |command: &&&str| **command != "du";
    let of_commands = COMMANDS.iter().filter(short).map(|it| format!("{it} -h"));
    let of_commands = of_commands.chain(COMMANDS.iter().map(|it| format!("{it} --help")));
    let of_topics = TOPICS.iter().map(|it| format!("help {it}"));
    let lines = ["-h".to_owned(), "--help".to_owned()].into_iter().chain(of_commands).chain(of_topics);
    lines.map(|line| {
        let text = page(&line.split(' ').collect::<Vec<_>>());
        (line, text)
    })
}

#[test]
fn help_fits_80_columns() {
    for (line, text) in pages() {
        for row in text.lines() {
            assert!(row.chars().count() <= 80, "ftk {line}: {row}");
        }
    }
}

/// Whether `row` is the end of the paragraph that `above` belongs to, and only one word.
fn is_orphan(above: &str, row: &str) -> bool {
    let indent = row.len() - row.trim_start().len();
    // The rest of a paragraph stands in the column where the paragraph begins, after the name of an option perhaps.
    let continues = above.get(..indent).is_some_and(|start| indent == 0 || start.ends_with(' '))
        && above[indent..].starts_with(|c: char| c != ' ');
    let is_argument = indent < 8 && row.trim_start().starts_with(['-', '<', '[']);
    // The last value of a list of values.
    let is_value = above.ends_with(',') && row.ends_with(']');
    continues && row.split_whitespace().count() == 1 && !is_argument && !is_value
}

#[test]
fn no_paragraph_ends_in_a_line_of_one_word() {
    for (line, text) in pages() {
        for (above, row) in text.lines().zip(text.lines().skip(1)) {
            assert!(!is_orphan(above, row), "ftk {line}: {above}\n{row}");
        }
    }
    assert!(is_orphan("  -a  Print all of the", "      entries"));
    assert!(
        is_orphan("the first line and", "more")
            && is_orphan("  -a          Print [default:", "              -]")
    );
    assert!(!is_orphan("Options:", "  -h") && !is_orphan("  -a  Print", "  <PATH>"));
}

#[test]
fn short_help_is_short() {
    for (line, text) in pages().filter(|(line, _)| line.ends_with("-h")) {
        let n = text.lines().count();
        assert!(n <= 80, "ftk {line}: {n} lines");
    }
}

#[test]
fn topics() {
    assert_snapshot!("topic-selection", page(&["help", "selection"]));
    assert_snapshot!("topic-global", page(&["help", "global"]));
    assert!(page(&["help", "help"]).contains("ftk help selection"));
}

#[test]
fn ftk() {
    assert_snapshot!("ftk-short", page(&["-h"]));
    assert_snapshot!("ftk-long", page(&["--help"]));
}

#[test]
fn find() {
    assert_snapshot!("find-short", page(&["find", "-h"]));
    assert_snapshot!("find-long", page(&["find", "--help"]));
}

#[test]
fn du() {
    let dir = Dir::new();
    dir.ftk(["du", "-h", "-s", "-t", "f"]).run().status(0).stdout("0\t.\n");
    assert_snapshot!("du-long", page(&["du", "--help"]));
}

#[test]
fn hash() {
    assert_snapshot!("hash-short", page(&["hash", "-h"]));
    assert_snapshot!("hash-long", page(&["hash", "--help"]));
}

#[test]
fn dup() {
    assert_snapshot!("dup-short", page(&["dup", "-h"]));
    assert_snapshot!("dup-long", page(&["dup", "--help"]));
    for command in ["prune", "apply", "undo"] {
        assert_snapshot!(format!("dup-{command}-short"), page(&["dup", command, "-h"]));
        assert_snapshot!(format!("dup-{command}"), page(&["dup", command, "--help"]));
    }
}

#[test]
fn manifest() {
    assert_snapshot!("manifest-short", page(&["manifest", "-h"]));
    assert_snapshot!("manifest", page(&["manifest", "--help"]));
    for command in [
        "create", "verify", "diff", "update", "scrub", "protect", "repair", "unique", "export", "import",
        "plan", "merge",
    ] {
        assert_snapshot!(format!("manifest-{command}-short"), page(&["manifest", command, "-h"]));
        assert_snapshot!(format!("manifest-{command}"), page(&["manifest", command, "--help"]));
    }
}

#[test]
fn undo() {
    assert_snapshot!("undo-short", page(&["undo", "-h"]));
    assert_snapshot!("undo-long", page(&["undo", "--help"]));
}

#[test]
fn cmp() {
    assert_snapshot!("cmp-short", page(&["cmp", "-h"]));
    assert_snapshot!("cmp-long", page(&["cmp", "--help"]));
}

#[test]
fn cache() {
    for command in ["cache", "cache stats", "cache clear", "cache forget", "cache trim"] {
        let words: Vec<_> = command.split(' ').collect();
        let name = command.replace(' ', "-");
        assert_snapshot!(format!("{name}-short"), page(&[&words[..], &["-h"]].concat()));
        assert_snapshot!(format!("{name}-long"), page(&[&words[..], &["--help"]].concat()));
    }
}

#[test]
fn calibrate() {
    assert_snapshot!("calibrate-short", page(&["calibrate", "-h"]));
    assert_snapshot!("calibrate-long", page(&["calibrate", "--help"]));
}

#[test]
fn completions() {
    assert_snapshot!("completions-short", page(&["completions", "-h"]));
    assert_snapshot!("completions-long", page(&["completions", "--help"]));
}

#[test]
fn man() {
    assert_snapshot!("man-short", page(&["man", "-h"]));
    assert_snapshot!("man-long", page(&["man", "--help"]));
}

#[test]
fn help() {
    assert_snapshot!("help-short", page(&["help", "-h"]));
    for (words, same) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "dup"], &["dup", "--help"]),
        (&["help", "dup", "prune"], &["dup", "prune", "--help"]),
        (&["help", "manifest", "create"], &["manifest", "create", "--help"]),
        (&["help", "help"], &["help", "--help"]),
    ] {
        assert_eq!(page(words), page(same));
    }
    for (tool, of) in [
        ("md5deep", "hashdeep"),
        ("md5sum", "sha256sum"),
        ("B2SUM", "sha256sum"),
        ("bagit", "BagIt"),
        ("bagit.py", "BagIt"),
        ("par2", "par2"),
        ("ripgrep", "rg"),
    ] {
        assert!(page(&["help", "coming-from", tool]).starts_with(&format!("## {of}\n")), "{tool}");
    }
    let dir = Dir::new();
    for words in
        [&["help", "nonsense"][..], &["help", "dup", "nonsense"], &["help", "coming-from", "nonsense"]]
    {
        dir.ftk(words).run().status(2).stdout("").stderr_has("nonsense");
    }
}

/// Commands, examples and exit statuses fit on one screen.
#[test]
fn the_first_page_fits_one_screen() {
    let run = Dir::new().ftk(["--help"]).run();
    run.check(run.text().lines().count() <= 30, "30 lines");
    run.check(run.text().lines().all(|line| line.chars().count() <= 80), "80 columns");
}

#[test]
fn version() {
    assert_eq!(page(&["--version"]), format!("ftk {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(page(&["-V"]), page(&["--version"]));
}

#[test]
fn help_touches_no_argument() {
    let dir = Dir::new();
    dir.ftk(["hash", "--help", "missing"]).run().status(0).stderr("");
    dir.ftk(["hash", "-o", "made", "--help"]).run().status(0);
    assert!(!dir.path("made").exists());
}
