//! `ftk hash --tree`, compared with the vectors of its specification, and `--tree=git`, compared with git.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::harness::{Chain, Dir, bytes, needs};
use crate::manifest::tree_digests::{example, vectors};
use crate::manifest::trees::{everything, random};

/// Returns the id that `git write-tree` prints for everything in the tree, without the user's settings.
fn write_tree(dir: &Dir, object_format: &str) -> String {
    let store = dir.aside(&format!("{object_format}.git"));
    _ = fs::remove_dir_all(&store);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(dir.path(""))
            .env("GIT_DIR", &store)
            .env("GIT_WORK_TREE", dir.path(""));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    git(&["init", "-q", &format!("--object-format={object_format}")]);
    let fast = ["-c", "core.fsync=none", "-c", "core.looseCompression=0"];
    git(&[&fast[..], &["add", "--all", "--force", "."]].concat());
    git(&["write-tree"])
}

/// Checks that ftk prints the ids of git.
#[track_caller]
fn same_as_git(dir: &Dir) {
    for (algorithm, object_format) in [("sha1", "sha1"), ("sha256", "sha256")] {
        let id = write_tree(dir, object_format);
        for threads in ["mono", "4"] {
            let run = dir.ftk(["hash", "--tree=git", ".", "-a", algorithm, "-j", threads]).run().status(0);
            run.stdout(format!("{id}  .\n"));
        }
    }
}

#[test]
fn directories_have_the_digests_of_the_page() {
    let dir = example();
    for [algorithm, path, digest] in vectors() {
        let run = dir.ftk(["hash", "--tree", "-a", algorithm, path]).run().status(0);
        run.stdout(format!("{digest}  {path}\n"));
    }
    let of = |wanted: [&str; 2]| vectors().into_iter().find(|it| it[..2] == wanted).unwrap()[2];
    let [bin, empty, md5] = [of(["sha256", "bin"]), of(["sha256", "empty"]), of(["md5", "."])];
    let run = dir.ftk(["hash", "--tree", "empty", "bin", "./bin/"]).run().status(0);
    run.stdout(format!("{empty}  empty\n{bin}  bin\n{bin}  ./bin/\n"));
    dir.ftk(["hash", "--tree", "--json", "bin"])
        .run()
        .status(0)
        .stdout(format!("{{\"path\":\"bin\",\"tree\":{{\"sha256\":\"{bin}\"}}}}\n"));
    dir.ftk(["hash", "--tree", "--tag", "bin"]).run().stdout(format!("TREE-SHA256 (bin) = {bin}\n"));
    let run = dir.ftk(["hash", "--tree", "-a", "md5,sha256", "."]).run().status(0);
    run.stdout(format!("TREE-MD5 (.) = {md5}\nTREE-SHA256 (.) = {}\n", of(["sha256", "."])));
    dir.ftk(["hash", "--tree", "-z", "bin"]).run().stdout(format!("{bin}  bin\0"));
    // A starting point that is a link is followed, links below it are not.
    dir.symlink("bin", "link");
    dir.ftk(["hash", "--tree", "link"]).run().status(0).stdout(format!("{bin}  link\n"));
    dir.file("list", b"bin\nempty\n");
    let run = dir.ftk(["hash", "--tree", "--files-from", "list", "-o", "../sums"]).run().status(0).stdout("");
    assert_eq!(fs::read_to_string(dir.aside("sums")).unwrap(), format!("{bin}  bin\n{empty}  empty\n"));
    drop(run);
}

/// The lines look like those of files, but no tool takes them for digests of files.
#[test]
fn checking_such_a_line_fails() {
    let dir = Dir::new();
    dir.file("d/x", b"abc").file("d\nd/x", b"abc");
    dir.ftk(["hash", "--tree", "d", "d\nd", "-o", "plain"]).run().status(0);
    dir.ftk(["hash", "--tree", "--tag", "d", "-o", "tagged"]).run().status(0);
    assert!(fs::read_to_string(dir.path("plain")).unwrap().contains("\n\\"));
    for list in ["plain", "tagged"] {
        let run = dir.ftk(["hash", "--check", list]).run().status(2);
        assert!(!run.text().contains("OK"), "{}", run.text());
    }
}

#[test]
fn the_digest_is_that_of_a_manifest() {
    let dir = everything();
    let run = dir.ftk(["manifest", "create", "."]).run().status(0);
    let root = run.text().lines().nth(1).unwrap();
    for threads in ["mono", "4"] {
        let line = dir.ftk(["hash", "--tree", ".", "-j", threads]).run().status(0);
        let (digest, _) = line.text().split_once("  ").unwrap();
        assert!(root.contains(&format!("\"tree\":{{\"sha256\":\"{digest}\"}}")), "{root}");
    }
    // Digests of an earlier run give the same result.
    let with_cache = || dir.ftk(["hash", "--tree", ".", "--cache"]).run().status(0).text().to_owned();
    assert_eq!(with_cache(), with_cache());
    dir.ftk(["hash", "--tree", "."]).run().stdout(with_cache());
}

#[test]
fn a_directory_that_is_not_completely_known_is_an_error() {
    let dir = Dir::new();
    dir.file("d/e/x.o", b"1").file("d/f/y", b"2").file("good/z", b"3").file("file", b"4");
    let good = dir.ftk(["hash", "--tree", "good"]).run().text().to_owned();
    for (args, why) in [
        (
            &["-E", "*.o"][..],
            "'d': --exclude skips entries of 'd/e', and the digest covers all: omit the option, ",
        ),
        (&["--max-depth", "1"], "--max-depth skips entries of 'd/e'"),
        (&["--size", "+10"], "--size skips entries of"),
    ] {
        for form in ["--tree", "--tree=git"] {
            let run = dir.ftk(["hash", form, "d"]).args(args).run().status(2).stdout("");
            run.stderr_has("ftk: cannot compute the tree digest of 'd': ").stderr_has(why);
        }
    }
    dir.ftk(["hash", "--tree", "-E", "*.o", "good"]).run().status(0).stdout(&good);
    for (path, why) in [
        ("file", "cannot compute the tree digest of 'file': it is not a directory"),
        ("missing", "cannot open 'missing': no such file or directory"),
    ] {
        let run = dir.ftk(["hash", "--tree", path, "good"]).run().status(2).stdout(&good);
        run.stderr_has(why);
    }
    dir.lock("d/e/x.o");
    let run = dir.ftk(["hash", "--tree", "d", "good"]).unprivileged(&dir).run().status(2).stdout(&good);
    run.stderr_has("cannot open 'd/e/x.o': permission denied").stderr_has("'d/e/x.o' could not be read");
    dir.lock("d/f");
    let run = dir.ftk(["hash", "--tree=git", "d"]).unprivileged(&dir).run().status(2).stdout("");
    run.stderr_has("cannot open 'd/f': permission denied")
        .stderr_has("cannot compute the tree digest of 'd': ");
}

#[test]
fn options_that_do_not_combine_are_refused() {
    let dir = Dir::new();
    dir.file("d/x", b"1");
    for (args, why) in [
        (&["--tree"][..], "--tree needs directories"),
        (&["--tree", "-"], "--tree needs directories"),
        (&["--tree", "--check", "d"], "--check"),
        (&["--tree", "--lines", "d"], "--lines"),
        (&["--tree", "--special", "d"], "--special"),
        (&["--tree", "--follow", "d"], "drop --follow"),
        (&["--tree", "--zero", "--json", "d"], "--zero cannot be used with --json"),
        (&["--tree=sha1", "d"], "invalid value 'sha1'"),
        (&["--tree=git", "-a", "md5", "d"], "--tree=git accepts one algorithm: sha1 or sha256"),
        (&["--tree=git", "-a", "sha1,sha256", "d"], "--tree=git accepts one algorithm: sha1 or sha256"),
        (&["--tree=git", "--tag", "d"], "--tag"),
        (&["--tree=git", "--cache", "d"], "--cache"),
    ] {
        dir.ftk(["hash"]).args(args).run().status(2).stdout("").stderr_has(why);
    }
}

#[test]
fn ids_of_git() {
    needs!("git");
    let dir = everything();
    same_as_git(&dir);
    // Sizes around the blocks of the digests and the buffers of the readers.
    for size in [0, 1, 54, 55, 56, 63, 64, 65, 119, 4095, 65_536, 131_072, 1_048_575, 1_048_576, 3_000_001] {
        dir.file(format!("sizes/{size}"), &bytes(size as u64, size));
    }
    dir.hole("sizes/hole", 5_000_000).file("order/a", b"1").file("order/a-b", b"2").file("order/a0", b"3");
    dir.file("order/b/x", b"4").file("order/b-c", b"5").file("order/b.d", b"6").file("order/b0/y", b"7");
    // Directories with nothing but empty directories, FIFOs, and what git keeps for itself.
    dir.dir("bare/empty/er")
        .dir("fifos")
        .fifo("fifos/f")
        .file("sub/.git/config", b"x")
        .file("file/.git", b"y");
    fs::set_permissions(dir.path("order/a"), Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(dir.path("order/a0"), Permissions::from_mode(0o611)).unwrap();
    same_as_git(&dir);

    let dir = Dir::new();
    same_as_git(&dir);
    dir.ftk(["hash", "--tree=git", "--json", "."])
        .run()
        .stdout("{\"path\":\".\",\"git_tree\":{\"sha1\":\"4b825dc642cb6eb9a060e54bf8d69288fbee4904\"}}\n");
}

#[test]
fn ids_of_git_of_random_trees() {
    needs!("git");
    (0..4).for_each(|seed| same_as_git(&random(seed)));
}

#[test]
#[ignore = "takes half a minute, most of it in git: the nightly run tries these trees too"]
fn ids_of_git_of_more_random_trees() {
    needs!("git");
    (4..40).for_each(|seed| same_as_git(&random(seed)));
}

/// The sources of this program are a real tree.
#[test]
fn ids_of_git_of_this_repository() {
    needs!("git");
    let dir = Dir::new();
    for part in ["crates", "docs", "tests"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(part);
        let copied = Command::new("cp").arg("-a").arg(from).arg(dir.path("")).status().unwrap();
        assert!(copied.success());
    }
    same_as_git(&dir);
}

/// A file whose size is not the number of its bytes has no id, since the size is a part of it.
#[test]
fn files_without_a_size_have_no_git_id() {
    let dir = Dir::new();
    let run = dir.ftk(["hash", "--tree=git", "/proc/self/attr"]).run().status(2).stdout("");
    run.stderr_has("cannot compute the tree digest of '/proc/self/attr'");
}

#[test]
fn ten_thousand_levels() {
    let chain = Chain::new("d", 10_000, 1_000);
    for form in ["--tree", "--tree=git"] {
        let run = chain.dir().ftk(["hash", form, "."]).run().status(0);
        assert_eq!(run.text().lines().count(), 1);
    }
}
