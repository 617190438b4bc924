//! The options recorded in a manifest select the entries of its verification.

use std::fs;

use serde_json::json;

use super::records::{Manifest, create, lines, seal, verdicts, verify};
use crate::harness::Dir;

/// Returns the paths in a manifest made with these options.
fn paths(dir: &Dir, args: &[&str]) -> String {
    let manifest = Manifest::read(&create(dir, args));
    let paths: Vec<_> =
        manifest.paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    paths.join(" ")
}

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a.c", b"a")
        .file("b.h", b"b")
        .file("src/c.c", b"c")
        .file("src/d.o", b"d")
        .file(".hidden/e.c", b"e");
    dir.file(".gitignore", b"*.o\n").file("build/x.c", b"x").symlink("a.c", "link.c");
    dir
}

#[test]
fn verify_looks_at_the_same_entries() {
    let dir = tree();
    for (args, expected) in [
        (&["-e", "c"][..], ".hidden/e.c a.c build/x.c link.c src/c.c"),
        (&["-e", "c", "-t", "f", "--no-hidden"], "a.c build/x.c src/c.c"),
        (&["-E", "build", "-E", "*.o", "--no-hidden"], ". a.c b.h link.c src src/c.c"),
        (&["--ignore-files", "-E", "build"], ". .gitignore .hidden .hidden/e.c a.c b.h link.c src src/c.c"),
        (&["--max-depth", "1", "-t", "d"], ". .hidden build src"),
        (&["--min-depth", "2", "--path", "src/*"], "src/c.c src/d.o"),
        (&["--regex", "^src/.\\.c$", "-x"], "src/c.c"),
        (&["-n", "?.h", "--iname", "A.*"], "a.c b.h"),
    ] {
        assert_eq!(paths(&dir, args), expected, "{args:?}");
        verify(&dir, &[]).status(0).stdout("").stderr_has(" as recorded\n");
    }
}

#[test]
fn excluded_entries_are_not_verified() {
    let dir = tree();
    paths(&dir, &["-e", "c", "-E", "build"]);
    dir.file("new.h", b"").file("build/new.c", b"").file("new.c", b"");
    fs::remove_file(dir.path("b.h")).unwrap();
    fs::remove_file(dir.path("build/x.c")).unwrap();
    fs::remove_file(dir.path("a.c")).unwrap();
    assert_eq!(verdicts(&dir, &[]), ["missing a.c", "new new.c"]);
}

#[test]
fn skipped_entries_are_counted() {
    let dir = tree();
    let run = dir.ftk(["manifest", "create", ".", "--no-hidden", "--ignore-files"]).run().status(0);
    run.stderr_has("skipped: 2 hidden names, 1 ignored path\n");
    create(&dir, &["--no-hidden", "--ignore-files"]);
    verify(&dir, &[]).status(0).stderr_has("skipped: 2 hidden names, 1 ignored path\n");
}

#[test]
fn the_header_has_the_options() {
    let dir = tree();
    create(&dir, &["-E", "*.o", "--no-hidden", "-n", "a b"]);
    let header = Manifest::read(&dir.aside("manifest")).header;
    let options = json!([{"option": "--name=a b"}, {"option": "--exclude=*.o"}, {"option": "--no-hidden"}]);
    assert_eq!(header["options"], options);
    assert_eq!(header["root"], ".");
}

/// Options that depend on recorded properties are refused.
#[test]
fn options_that_select_by_metadata_are_refused() {
    let dir = tree();
    for args in
        [&["-S", "+1K"][..], &["--changed-within", "1d"], &["--empty"], &["--files-from", "list"], &["-L"]]
    {
        dir.ftk(["manifest", "create", "."]).args(args).run().status(2).stdout("");
    }
    create(&dir, &[]);
    verify(&dir, &["-S", "+1K"]).status(2).stdout("").stderr_has("unexpected argument '-S'");
}

/// Options of a later version, or of a hostile manifest.
#[test]
fn unknown_options_in_a_manifest_are_refused() {
    let dir = tree();
    let path = create(&dir, &["-E", "zzz"]);
    let good = lines(&path);
    for word in ["--no-such-option", "--follow", "--files-from=/etc/passwd", "--size=+1", "file", "--regex=("]
    {
        let bad: Vec<_> = good.iter().map(|line| line.replace("--exclude=zzz", word)).collect();
        fs::write(&path, seal(&bad)).unwrap();
        verify(&dir, &[]).status(2).stdout("").stderr_has("ftk: ");
        dir.ftk(["manifest", "update", "."]).arg(&path).run().status(2).stdout("");
    }
}
