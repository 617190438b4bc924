//! `ftk manifest verify FILE`: the manifest says which tree is read.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::records::{create, lines, seal};
use crate::harness::{Dir, Run};

/// Verifies from a directory that is not the one in which the manifest was made.
fn verify(dir: &Dir, args: &[&str]) -> Run {
    let command = ["sh", "-c", "cd / && exec \"$@\"", "sh"];
    dir.ftk(["manifest", "verify"]).args(args).under(dir, command).run()
}

fn recorded() -> (Dir, String) {
    let dir = Dir::new();
    dir.file("a", b"abc").file("sub/b", b"def");
    let manifest = create(&dir, &[]).display().to_string();
    (dir, manifest)
}

fn first_line(root: &Path) -> String {
    format!("  verifying '{}', the recorded root\n", fs::canonicalize(root).unwrap().display())
}

/// Gives the manifest another header.
fn with_header(manifest: &str, change: impl Fn(&str) -> String) {
    let mut lines = lines(Path::new(manifest));
    let header = change(&lines[0]);
    assert_ne!(header, lines[0]);
    lines[0] = header;
    fs::write(manifest, seal(&lines)).unwrap();
}

#[test]
fn a_single_argument_is_the_manifest() {
    let (dir, manifest) = recorded();
    let said = first_line(&dir.path("."));
    let run = verify(&dir, &[&manifest]).status(0).stdout("");
    run.check(run.err.starts_with(&said), "the first line names the tree");
    dir.file("sub/new", b"new");
    for args in
        [&[&*manifest, "--mode", "content"][..], &["--mode", "content", &manifest], &["--", &manifest]]
    {
        verify(&dir, args).status(1).stdout("new\tsub/new\n").stderr_has(&said);
    }
    verify(&dir, &[&manifest, "-q"]).status(1).stderr("");
    let stdin = dir.ftk(["manifest", "verify", "-"]).stdin(&fs::read(&manifest).unwrap());
    stdin.run().status(1).stdout("new\tsub/new\n").stderr_has(&said);
    // Two arguments are ROOT and FILE, wherever the options are.
    let root = dir.path(".").display().to_string();
    for args in [&[&*root, &manifest][..], &[&root, "--sample", "100%", &manifest], &["--", &root, &manifest]]
    {
        verify(&dir, args).status(1).stdout("new\tsub/new\n").stderr_lacks("recorded root");
    }
}

#[test]
fn parts_and_compressed_manifests_name_their_root() {
    let (dir, _) = recorded();
    fs::create_dir(dir.aside("parts")).unwrap();
    for nth in ["1", "2"] {
        let part = dir.aside("parts").join(format!("{nth}.jsonl.zst"));
        dir.ftk(["manifest", "create", ".", "--shard", &format!("{nth}/2"), "-o"]).arg(part).run().status(0);
    }
    for parts in ["parts", "parts/1.jsonl.zst"] {
        let run = verify(&dir, &[&dir.aside(parts).display().to_string()]).status(0);
        run.stderr_has(&first_line(&dir.path(".")));
    }
    dir.ftk(["manifest", "merge", "../parts/1.jsonl.zst", "../parts/2.jsonl.zst", "-o", "../whole"])
        .run()
        .status(0);
    verify(&dir, &[&dir.aside("whole").display().to_string()]).status(0);
}

#[test]
fn a_root_may_have_any_name() {
    let dir = Dir::new();
    let name = OsStr::from_bytes(b"not utf-8 \xff\xfe \n");
    dir.file(Path::new(name).join("a"), b"abc");
    // Links are resolved when the root is recorded.
    std::os::unix::fs::symlink(name, dir.path("link")).unwrap();
    dir.ftk(["manifest", "create", "link", "-o", "../m"]).run().status(0);
    fs::remove_file(dir.path("link")).unwrap();
    let manifest = dir.aside("m").display().to_string();
    let run = verify(&dir, &[&manifest]).status(0).stdout("");
    run.check(run.err.starts_with("  verifying "), "the tree is named");
    dir.raw_file(&[name.as_bytes(), b"/a"].concat(), b"xyz");
    verify(&dir, &[&manifest]).status(1);
}

#[test]
fn another_directory_at_the_path_is_refused() {
    let dir = Dir::new();
    dir.file("tree/a", b"abc").file("other/a", b"abc");
    dir.ftk(["manifest", "create", "tree", "-o", "../m"]).run().status(0);
    let manifest = dir.aside("m").display().to_string();
    fs::rename(dir.path("tree"), dir.path("moved")).unwrap();
    let tree = dir.path("tree").display().to_string();
    let gone = format!("ftk: '{manifest}': cannot open '{tree}': no such file or directory\n");
    verify(&dir, &[&manifest]).status(2).stdout("").stderr(&gone);
    // A link to another directory, and one to the recorded directory under its new name.
    dir.symlink("other", "tree");
    verify(&dir, &[&manifest]).status(2).stdout("").stderr_has("is not the recorded directory: its ");
    fs::remove_file(dir.path("tree")).unwrap();
    dir.file("tree", b"");
    verify(&dir, &[&manifest]).status(2).stdout("").stderr_has("is not a directory");
    let run = dir.ftk(["manifest", "verify", "moved"]).arg(&manifest).run().status(0);
    run.stderr_lacks("recorded root");
}

/// The identity decides, not the path: a new directory is another one, also if nothing else can tell them apart.
#[test]
fn an_identity_that_differs_is_refused() {
    let fs = regex::Regex::new(r#","fs":"[^"]*""#).unwrap();
    for (from, to) in [(r#""fs_type":[0-9]+"#, r#""fs_type":1"#), (r#""path":"[^"]*""#, r#""path":"/""#)] {
        let (dir, manifest) = recorded();
        with_header(&manifest, |line| {
            let start = line.find("root_identity").unwrap();
            let changed = regex::Regex::new(from).unwrap().replace(&line[start..], to).into_owned();
            // Without an identity of the file system, as on tmpfs.
            format!("{}{}", &line[..start], fs.replace(&changed, ""))
        });
        let run = verify(&dir, &[&manifest]).status(2).stdout("");
        run.stderr_has("is not the recorded directory: its ").stderr_has("give ROOT and FILE");
        dir.ftk(["manifest", "verify", "."]).arg(&manifest).run().status(0);
    }
}

#[test]
fn a_manifest_without_an_absolute_root_needs_root() {
    let said = "it does not record the absolute path of its root: give ROOT and FILE\n";
    let (dir, manifest) = recorded();
    for path in ["", ".", "tree", "../tree"] {
        let good = fs::read(&manifest).unwrap();
        with_header(&manifest, |line| {
            let (before, identity) = line.split_once(r#""root_identity":{"path":""#).unwrap();
            let (_, rest) = identity.split_once('"').unwrap();
            format!("{before}\"root_identity\":{{\"path\":\"{path}\"{rest}")
        });
        verify(&dir, &[&manifest]).status(2).stdout("").stderr_has(said);
        fs::write(&manifest, good).unwrap();
    }
    // An older version has no identity, and neither has another program.
    let identity = regex::Regex::new(",\"root_identity\":[{][^}]*[}]").unwrap();
    with_header(&manifest, |line| identity.replace(line, "").into_owned());
    verify(&dir, &[&manifest]).status(2).stdout("").stderr(&format!("ftk: '{manifest}': {said}"));
    dir.ftk(["manifest", "verify", "."]).arg(&manifest).run().status(0);
    let list = dir.ftk(["hash", "a"]).run().status(0).out;
    let import = dir.ftk(["manifest", "import", "--format", "sha256", "-"]).stdin(&list).run().status(0);
    dir.ftk(["manifest", "verify", "-"]).stdin(&import.out).run().status(2).stderr_has(said);
}

#[test]
fn without_arguments_only_the_manifest_is_asked_for() {
    let said = "ftk: missing: <FILE>; see `ftk manifest verify -h`\n";
    Dir::new().ftk(["manifest", "verify"]).run().status(2).stderr(said);
}

#[test]
fn commands_that_write_need_root() {
    let (dir, manifest) = recorded();
    let before = fs::read(&manifest).unwrap();
    for command in [&["update"][..], &["scrub"], &["repair", "--from", "/"]] {
        dir.ftk(["manifest"]).args(command).arg(&manifest).run().status(2).stderr_has("ftk: missing: <");
    }
    assert_eq!(fs::read(&manifest).unwrap(), before);
    dir.ftk(["manifest", "verify"]).run().status(2).stderr_has("<FILE>");
    let said = "ftk: a single argument is FILE, not ROOT: '.' is a directory without parts";
    dir.ftk(["manifest", "verify", "."]).run().status(2).stderr_has(said);
    // An output must not replace the manifest.
    let stats = dir.ftk(["manifest", "verify", &manifest, "--stats", &manifest]).run();
    stats.status(2).stderr_has("is both input and output");
    assert_eq!(fs::read(&manifest).unwrap(), before);
}
