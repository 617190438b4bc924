//! Rules for Rust sources.

use super::tree::{Finding, Tree};

/// The maximum length of a file. Nine in ten model projects stay below it.
const MAX_LINES: usize = 1100;

/// The maximum width of a comment in a program.
const MAX_WIDTH: usize = 120;

/// Words that make a library print, exit or depend on its environment.
const LOUD: &[&str] = &[
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "dbg!",
    "process::exit",
    "env::var",
    "env::var_os",
    "clap",
];

/// Calls that change the names in a directory or the blocks of a file.
const TREE_CHANGES: &[&str] = &[
    "FICLONE",
    "FICLONERANGE",
    "FIDEDUPERANGE",
    "fs::rename",
    "fs::link",
    "fs::symlink",
    "fs::unlink",
    "ftruncate",
    "hard_link",
    "ioctl_ficlone",
    "linkat",
    "remove_dir",
    "remove_dir_all",
    "remove_file",
    "renameat",
    "renameat_with",
    "symlinkat",
    "unlinkat",
];

/// The only sources that may use them: complete-or-nothing output, the action engine, and the removal of ftk's own store.
const MAY_CHANGE_TREES: &[&str] =
    &["crates/record/src/temp.rs", "crates/apply/src/", "crates/cache/src/cache.rs"];

/// Crates that print, exit and have a command line.
const PROGRAMS: &[&str] = &["crates/cli/", "crates/query/"];

/// Calls that create directories.
const NEW_DIRECTORIES: &[&str] = &["create_dir", "create_dir_all", "mkdirat", "DirBuilder"];

/// More sources that may create directories: in a place that the user named, or that is meant for such files.
const MAY_MAKE_DIRECTORIES: &[&str] = &[
    "crates/cache/src/place.rs", // the cache directory
    "crates/cli/calibrate.rs",   // files to measure with
    "crates/cli/journal.rs",     // the state directory
    "crates/cli/man.rs",
    "crates/cli/manifest/generation.rs", // the history of a card
    "crates/query/src/convert/mod.rs",   // the directory of a set
    "crates/sched/src/store.rs",         // the cache directory
];

/// Every source begins with module documentation.
pub(crate) fn module_docs(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs")
        .filter(|(_, text)| !text.starts_with("//!"))
        .map(|(path, _)| Finding::line(path, 1, "the file does not begin with module documentation (//!)"))
        .collect()
}

/// Library crates do not print, exit, read the environment or parse a command line.
pub(crate) fn silent_libraries(tree: &Tree) -> Vec<Finding> {
    uses(tree, LOUD, is_library, "does not belong in a library crate")
}

/// Only listed sources rename, link or unlink, or create directories.
pub(crate) fn tree_changes(tree: &Tree) -> Vec<Finding> {
    let concerned = |path: &str| path.starts_with("crates/") && !is_in(path, MAY_CHANGE_TREES);
    let mut findings =
        uses(tree, TREE_CHANGES, concerned, "changes a tree; only the action engine may do so");
    let concerned = |path: &str| concerned(path) && !is_in(path, MAY_MAKE_DIRECTORIES);
    findings.extend(uses(
        tree,
        NEW_DIRECTORIES,
        concerned,
        "creates directories; only listed sources may do so",
    ));
    findings
}

/// No file exceeds the maximum length.
pub(crate) fn file_length(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs")
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|&(_, lines)| lines > MAX_LINES)
        .map(|(path, lines)| Finding::file(path, format!("{lines} lines, more than {MAX_LINES}")))
        .collect()
}

/// No comment of a program, which may be a text of its help, exceeds the maximum width. `rustfmt` formats only code.
pub(crate) fn comment_width(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| is_in(path, PROGRAMS)) {
        let comments = text.lines().zip(1..).filter(|(line, _)| line.trim_start().starts_with("//"));
        for (width, number) in comments.map(|(line, number)| (line.chars().count(), number)) {
            if width > MAX_WIDTH {
                let what = format!("the comment has {width} columns, more than {MAX_WIDTH}");
                findings.push(Finding::line(path, number, what));
            }
        }
    }
    findings
}

fn is_library(path: &str) -> bool {
    path.starts_with("crates/") && !is_in(path, PROGRAMS)
}

fn is_in(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// Finds uses of `words` in the code of concerned files, ignoring tests and comments.
fn uses(tree: &Tree, words: &[&str], concerned: impl Fn(&str) -> bool, why: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs").filter(|&(path, _)| concerned(path) && !is_test(path)) {
        for (number, line) in shipped_lines(text) {
            let code = line.split("//").next().unwrap_or_default();
            for word in words.iter().filter(|word| has_word(code, word)) {
                findings.push(Finding::line(path, number, format!("`{word}` {why}")));
            }
        }
    }
    findings
}

/// Whether the file contains only tests, benchmarks or examples.
pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || ["/tests/", "/benches/", "/examples/"].iter().any(|dir| path.contains(dir))
}

/// Returns the lines before the test module at the end of the file, with their numbers.
fn shipped_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("\n#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..tests].lines().zip(1..).map(|(line, number)| (number, line))
}

/// Whether the source uses `word` outside of comments.
pub(super) fn has_code(text: &str, word: &str) -> bool {
    text.contains(word)
        && text.lines().any(|line| has_word(line.split("//").next().unwrap_or_default(), word))
}

/// Whether `code` contains `word` other than as a part of a longer name.
fn has_word(code: &str, word: &str) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let after = &code[at + word.len()..];
        !code[..at].ends_with(in_name) && (word.ends_with('!') || !after.starts_with(in_name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_without_module_docs_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! Docs.\n"),
            ("crates/a/src/b.rs", "use std::fs;\n//! Too late.\n"),
            ("crates/a/src/c.rs", "// A comment only.\n"),
            ("README.md", "no source"),
        ]);
        let found = lines(&module_docs(&tree));
        assert_eq!(found.len(), 2);
        assert!(
            found[0].starts_with("crates/a/src/b.rs:1: ") && found[1].starts_with("crates/a/src/c.rs:1: ")
        );
    }

    #[test]
    fn a_loud_library_is_found() {
        for bad in [
            "println!(\"x\");",
            "std::eprint!(\"x\");",
            "std::process::exit(1);",
            "use clap::Parser;",
            "std::env::var(\"HOME\")",
            "env::var_os(\"HOME\")",
        ] {
            let tree = Tree::of(&[("crates/a/src/lib.rs", &format!("//! Docs.\nfn f() {{ {bad} }}\n"))]);
            let found = lines(&silent_libraries(&tree));
            assert_eq!(found.len(), 1, "{bad}: {found:?}");
            assert!(found[0].starts_with("crates/a/src/lib.rs:2: "), "{found:?}");
        }
    }

    #[test]
    fn tests_comments_and_the_binary_may_be_loud() {
        let loud = "fn f() { println!(\"x\") }\n";
        let tree = Tree::of(&[
            ("crates/cli/main.rs", loud),
            ("xtask/src/main.rs", loud),
            ("crates/a/tests/a.rs", loud),
            ("crates/a/examples/a.rs", loud),
            ("crates/a/src/b/tests.rs", loud),
            ("crates/a/src/b.rs", &format!("// println!\n#[cfg(test)]\nmod tests {{\n{loud}}}\n")),
            ("crates/a/src/c.rs", "fn my_println() {} // clap\nfn clapped() {}\n"),
        ]);
        assert_eq!(silent_libraries(&tree), []);
    }

    #[test]
    fn code_after_a_test_only_import_is_checked() {
        let text = "#[cfg(test)]\nuse std::fs;\nfn f() { dbg!(1); }\n";
        assert_eq!(silent_libraries(&Tree::of(&[("crates/a/src/b.rs", text)])).len(), 1);
    }

    #[test]
    fn a_change_to_a_tree_is_found_in_other_sources() {
        for word in TREE_CHANGES {
            let text = format!("fn f() {{ {word}(a, b); }}\n");
            let tree = Tree::of(&[
                ("crates/cli/find.rs", &text),
                ("crates/dedup/src/plan.rs", &text),
                ("crates/record/src/temp.rs", &text),
                ("crates/apply/src/act.rs", &text),
                ("crates/record/tests/output.rs", &text),
            ]);
            let found = lines(&tree_changes(&tree));
            assert_eq!(found.len(), 2, "{word}: {found:?}");
            assert!(found[0].starts_with("crates/cli/find.rs:1: ") && found[1].starts_with("crates/dedup/"));
        }
        let reading = "readlinkat(dir, name); Self::rename_field(x); std::fs::symlink_metadata(path);";
        assert_eq!(tree_changes(&Tree::of(&[("crates/a/src/lib.rs", reading)])), []);
    }

    #[test]
    fn a_created_directory_is_found_in_other_sources() {
        for word in NEW_DIRECTORIES {
            let text = format!("fn f() {{ {word}(a); }}\n");
            let mut files =
                vec![("crates/walk/src/walker.rs", &*text), ("crates/apply/src/destination.rs", &text)];
            files.extend(MAY_MAKE_DIRECTORIES.iter().map(|place| (*place, &*text)));
            let found = lines(&tree_changes(&Tree::of(&files)));
            assert_eq!(found.len(), 1, "{word}: {found:?}");
            assert!(found[0].starts_with("crates/walk/src/walker.rs:1: "), "{found:?}");
        }
    }

    #[test]
    fn sources_that_create_directories_may_not_change_names() {
        for place in MAY_MAKE_DIRECTORIES {
            let tree = Tree::of(&[(place, "fn f() { unlinkat(a, b, c); }\n")]);
            assert_eq!(tree_changes(&tree).len(), 1, "{place}");
        }
    }

    #[test]
    fn a_wide_comment_is_found() {
        let width = |start: &str, width: usize| format!("{start}{}\n", "ä".repeat(width - start.len()));
        let text = ["//! ", "/// ", "    /// ", "// "].map(|start| width(start, MAX_WIDTH)).concat();
        assert_eq!(comment_width(&Tree::of(&[("crates/cli/b.rs", &text)])), []);
        let wide = text + &width("    /// ", MAX_WIDTH + 1) + &width("let x = ", 200);
        let found =
            lines(&comment_width(&Tree::of(&[("crates/cli/b.rs", &wide), ("crates/a/src/b.rs", &wide)])));
        assert_eq!(found, ["crates/cli/b.rs:5: the comment has 121 columns, more than 120"]);
    }

    #[test]
    fn a_long_file_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/long.rs", &"//! x\n".repeat(MAX_LINES + 1)),
            ("crates/a/src/fits.rs", &"//! x\n".repeat(MAX_LINES)),
        ]);
        assert_eq!(lines(&file_length(&tree)), ["crates/a/src/long.rs: 1101 lines, more than 1100"]);
    }
}
