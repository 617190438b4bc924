//! `ftk hash --update`: lists are kept current, and the tools that made them accept the result.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, Run, has, is_root, needs, set_mode};

fn update(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["hash", "--update"]).args(args).run()
}

fn text(dir: &Dir, path: &str) -> String {
    fs::read_to_string(dir.path(path)).unwrap()
}

fn set_age(dir: &Dir, path: &str, age: u64) {
    let file = File::options().write(true).open(dir.path(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
}

/// A program, run in the directory. Returns its output.
fn tool(dir: &Dir, words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(dir.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

/// The files `a` and `c d/e`, two hours old, and a list of them by a tool, one hour old.
fn listed(list: &str, words: &[&str]) -> Dir {
    let dir = Dir::new();
    dir.file("a", b"1").file("c d/e", b"22");
    ["a", "c d/e"].iter().for_each(|path| set_age(&dir, path, 7200));
    let output = tool(&dir, words);
    dir.file(list, output.as_bytes());
    set_age(&dir, list, 3600);
    dir
}

const SUMS: &[&str] = &["sha256sum", "a", "c d/e"];

#[test]
fn each_tool_accepts_its_list_afterwards() {
    for (list, make, check) in [
        ("SHA256SUMS", SUMS, &["sha256sum", "-c", "--strict"][..]),
        ("B2SUMS", &["b2sum", "a", "c d/e"], &["b2sum", "-c", "--strict"]),
        ("x.md5", &["md5sum", "-b", "a", "c d/e"], &["md5sum", "-c", "--strict"]),
        ("list", &["sha512sum", "a", "c d/e"], &["sha512sum", "-c", "--strict"]),
        ("list", &["cksum", "-a", "sha1", "a", "c d/e"], &["cksum", "-c", "--strict"]),
        ("x.b3", &["b3sum", "a", "c d/e"], &["b3sum", "-c"]),
        ("list", &["rhash", "--bsd", "--md5", "--sha1", "a", "c d/e"], &["rhash", "-c"]),
        ("x.sfv", &["rhash", "--sfv", "a", "c d/e"], &["rhash", "-c"]),
        (
            "hashes",
            &["hashdeep", "-l", "-c", "md5,sha256", "-r", "a", "c d"],
            &["hashdeep", "-l", "-r", "-a", "-v", "a", "b", "c d", "z", "-k"],
        ),
    ] {
        if !has(make[0]) {
            continue;
        }
        let dir = listed(list, make);
        let before = text(&dir, list);
        dir.file("b", b"333").file("z/b", b"4");
        update(&dir, &[list]).status(0).stdout("added    b\nadded    z/b\n").stderr_has("2 added");
        tool(&dir, &[check, &[list]].concat());
        let after = text(&dir, list);
        let new: Vec<_> = after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
        let kept: Vec<_> = after.lines().filter(|line| !new.contains(line)).collect();
        assert_eq!(kept, before.lines().collect::<Vec<_>>(), "{make:?}");
        assert!(new.len() >= 2, "{after}");
        update(&dir, &[list]).status(0).stdout("").stderr_has("  nothing to add\n");
        assert_eq!(text(&dir, list), after);
    }
}

/// The order and the bytes are those of a new list by the same tool.
#[test]
fn a_sorted_list_stays_sorted() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("b", b"333");
    update(&dir, &["SHA256SUMS"]).status(0);
    assert_eq!(text(&dir, "SHA256SUMS"), tool(&dir, &["sha256sum", "a", "b", "c d/e"]));
}

#[test]
fn listed_files_are_not_read() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("a", b"other");
    set_age(&dir, "a", 7200);
    dir.file("b", b"333");
    update(&dir, &["SHA256SUMS"]).status(0).stdout("added    b\n");
    assert!(
        text(&dir, "SHA256SUMS")
            .contains("6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a\n")
    );
}

#[test]
fn missing_files_are_kept_unless_pruned() {
    let dir = listed("SHA256SUMS", SUMS);
    let before = text(&dir, "SHA256SUMS");
    fs::remove_file(dir.path("a")).unwrap();
    let run = update(&dir, &["SHA256SUMS"]).status(1).stdout("missing  a\n");
    run.stderr_has("1 missing   (status 1)");
    assert_eq!(text(&dir, "SHA256SUMS"), before);
    update(&dir, &["SHA256SUMS", "--prune"]).status(0).stdout("removed  a\n");
    assert_eq!(text(&dir, "SHA256SUMS"), tool(&dir, &["sha256sum", "c d/e"]));
    // As on an empty mount point.
    fs::remove_dir_all(dir.path("c d")).unwrap();
    dir.file("new", b"");
    update(&dir, &["SHA256SUMS", "--prune"]).status(2).stderr_has("1 of 1 listed files are missing");
    update(&dir, &["SHA256SUMS"]).status(2).stderr_has("no file that 'SHA256SUMS' names exists in '.'");
    let run = update(&dir, &["SHA256SUMS", "--prune", "--max-missing", "100%"]).status(0);
    run.stdout("removed  c d/e\nadded    new\n");
}

/// Otherwise a list that is written again would be newer than the file, and no later run would find it.
#[test]
fn a_newer_file_is_reported_until_it_is_read_again() {
    let dir = listed("SHA256SUMS", SUMS);
    let before = text(&dir, "SHA256SUMS");
    dir.file("a", b"edited").file("b", b"333");
    set_age(&dir, "b", 1000);
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\nadded    b\n");
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\n");
    assert!(text(&dir, "SHA256SUMS").starts_with(before.lines().next().unwrap()));
    update(&dir, &["SHA256SUMS", "--rehash"]).status(0).stdout("rehashed a\n");
    assert_eq!(text(&dir, "SHA256SUMS"), tool(&dir, &["sha256sum", "a", "b", "c d/e"]));
    update(&dir, &["SHA256SUMS"]).status(0).stdout("");
    // A file that was only touched is read once.
    set_age(&dir, "SHA256SUMS", 3600);
    set_age(&dir, "a", 1800);
    set_age(&dir, "b", 7200);
    update(&dir, &["SHA256SUMS"]).status(0).stdout("").stderr_has("1 file read");
    update(&dir, &["SHA256SUMS"]).status(0).stdout("").stderr_lacks("read");
}

/// While a changed file keeps the list old, files that were added in an earlier run are newer than it. They are as listed.
#[test]
fn files_that_were_added_are_not_reported_in_the_next_run() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("a", b"edited").file("b", b"333");
    set_age(&dir, "a", 1000);
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\nadded    b\n");
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\n").stderr_has("2 files read");
    dir.file("c", b"4444");
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\nadded    c\n");
    // A change of one that was added is found.
    dir.file("b", b"334");
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\nchanged  b\n");
    update(&dir, &["SHA256SUMS", "--rehash"]).status(0).stdout("rehashed a\nrehashed b\n");
    update(&dir, &["SHA256SUMS"]).status(0).stdout("").stderr_lacks("read");
    tool(&dir, &["sha256sum", "-c", "--strict", "SHA256SUMS"]);
}

/// A file that may have changed and cannot be read is named so, until it can be read.
#[test]
fn a_newer_file_that_cannot_be_read_is_not_said_to_be_changed() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("a", b"edited").file("b", b"333");
    set_mode(&dir.path("a"), 0);
    set_mode(&dir.path(""), 0o777);
    if is_root() {
        chown(dir.path("SHA256SUMS"), Some(65534), Some(65534)).unwrap();
    }
    let args = ["hash", "--update", "SHA256SUMS", "--json"];
    for added in ["{\"change\":\"added\",\"path\":\"b\"}\n", ""] {
        let run = dir.ftk(args).unprivileged(&dir).run().status(2);
        run.stdout(format!("{{\"change\":\"newer\",\"path\":\"a\"}}\n{added}"))
            .stderr_has("permission denied");
    }
    set_mode(&dir.path("a"), 0o644);
    update(&dir, &["SHA256SUMS"]).status(1).stdout("changed  a\n");
}

#[test]
fn the_sizes_in_a_list_find_changes() {
    needs!("hashdeep");
    let dir = listed("hashes", &["hashdeep", "-l", "-c", "md5", "a", "c d/e"]);
    dir.file("a", b"longer");
    set_age(&dir, "a", 7200);
    update(&dir, &["hashes"]).status(1).stdout("changed  a\n");
    update(&dir, &["hashes", "--rehash"]).status(0).stdout("rehashed a\n");
    tool(&dir, &["hashdeep", "-l", "-a", "-k", "hashes", "a", "c d/e"]);
}

#[test]
fn the_list_is_never_added_and_a_link_to_it_stays() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.hard_link("SHA256SUMS", "other name");
    symlink("SHA256SUMS", dir.path("link")).unwrap();
    dir.file("b", b"333");
    update(&dir, &["link", "a", "b", "c d", "SHA256SUMS", "link"]).status(0).stdout("added    b\n");
    assert!(dir.path("link").is_symlink());
    assert_eq!(text(&dir, "SHA256SUMS"), tool(&dir, &["sha256sum", "a", "b", "c d/e"]));
}

#[test]
fn mode_and_owner_of_the_list_stay() {
    let dir = listed("SHA256SUMS", SUMS);
    set_mode(&dir.path("SHA256SUMS"), 0o640);
    if is_root() {
        chown(dir.path("SHA256SUMS"), Some(77), Some(78)).unwrap();
    }
    let owner = |dir: &Dir| {
        let metadata = fs::metadata(dir.path("SHA256SUMS")).unwrap();
        (metadata.uid(), metadata.gid(), metadata.permissions().mode())
    };
    let before = owner(&dir);
    dir.file("b", b"333");
    update(&dir, &["SHA256SUMS"]).status(0);
    assert_eq!(owner(&dir), before);
    if is_root() {
        // Only root can give the file to its owner.
        set_mode(&dir.path("SHA256SUMS"), 0o666);
        set_mode(&dir.path(""), 0o777);
        dir.file("d", b"4");
        let before = text(&dir, "SHA256SUMS");
        let run = dir.ftk(["hash", "--update", "SHA256SUMS"]).unprivileged(&dir).run();
        run.status(2).stderr_has("cannot replace 'SHA256SUMS'");
        assert_eq!(text(&dir, "SHA256SUMS"), before);
    }
}

#[test]
fn names_begin_as_in_the_list() {
    for (start, list) in [("./", "SHA256SUMS"), ("/", "SHA256SUMS")] {
        let dir = listed(list, SUMS);
        let prefix = if start == "/" {
            format!("{}/", dir.path("").display()).replace("//", "/")
        } else {
            start.into()
        };
        let names = ["a", "c d/e"].map(|name| format!("{prefix}{name}"));
        let sums = tool(&dir, &["sha256sum", &names[0], &names[1]]);
        dir.file(list, sums.as_bytes());
        dir.file("c d/f", b"333").file("g", b"4");
        // The summary names what is new in the form of the list.
        let run = dir.ftk(["hash", "--update", list, "c d", "g"]).run().status(0);
        run.stdout(format!("added    {prefix}c d/f\nadded    {prefix}g\n"));
        tool(&dir, &["sha256sum", "-c", "--strict", list]);
    }
}

#[test]
fn paths_are_relative_to_the_working_directory_and_names_to_the_list() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("b", b"333").file("c d/f", b"4").file("x.jpg", b"5");
    let up = dir.ftk(["hash", "--update"]).arg(dir.path("SHA256SUMS")).arg(dir.path("c d")).run();
    up.status(0).stdout("added    c d/f\n");
    update(&dir, &["SHA256SUMS", "-e", "jpg"]).status(0).stdout("added    x.jpg\n");
    update(&dir, &["SHA256SUMS", "c d/../b"]).status(0).stdout("added    b\n");
    let outside = dir.aside("outside");
    fs::write(&outside, b"").unwrap();
    let run = dir.ftk(["hash", "--update", "SHA256SUMS"]).arg(&outside).run();
    run.status(2).stderr_has("is not below the directory of the list");
    tool(&dir, &["sha256sum", "-c", "--strict", "SHA256SUMS"]);
}

#[test]
fn an_algorithm_that_nothing_says_is_checked_before_it_is_used() {
    needs!("b3sum");
    let dir = listed("list", &["b3sum", "a", "c d/e"]);
    let before = text(&dir, "list");
    dir.file("b", b"333");
    let run = update(&dir, &["list"]).status(2);
    run.stderr_has("its digests are not by sha256 but by blake3: add -a blake3");
    assert_eq!(text(&dir, "list"), before);
    update(&dir, &["list", "-a", "blake3"]).status(0);
    tool(&dir, &["b3sum", "-c", "list"]);
    dir.file("list", before.replace(|c: char| c.is_ascii_digit(), "0").as_bytes());
    update(&dir, &["list"]).status(2).stderr_has("name the algorithm with -a");
}

#[test]
fn what_is_not_understood_changes_nothing() {
    let dir = listed("SHA256SUMS", SUMS);
    let good = text(&dir, "SHA256SUMS");
    dir.file("b", b"333");
    for (list, why) in [
        (good.replacen("  a", " ", 1), "line 1: "),
        (format!("-----BEGIN PGP SIGNED MESSAGE-----\n{good}"), "line 1: "),
        (good.trim_end().to_owned(), "the last line has no line end"),
        (String::new(), "is no checksum list: it is empty"),
        ("# nothing yet\n".into(), "contains no digest"),
        ("{\"a\":1}\n".into(), "is no checksum list: it is JSON"),
    ] {
        dir.file("SHA256SUMS", list.as_bytes());
        update(&dir, &["SHA256SUMS"]).status(2).stdout("").stderr_has(why);
        assert_eq!(text(&dir, "SHA256SUMS"), list);
    }
    fs::remove_file(dir.path("SHA256SUMS")).unwrap();
    update(&dir, &["SHA256SUMS"]).status(2).stderr_has("cannot open 'SHA256SUMS'");
    update(&dir, &["-"]).status(2);
    update(&dir, &["c d"]).status(2).stderr_has("is not a regular file");
}

#[test]
fn files_that_cannot_be_added_are_errors_and_the_others_are_added() {
    let dir = listed("x.sfv", &["printf", "a 83DCEFB7\r\nc d/e 647E170E\r\n"]);
    dir.file(";b", b"").file("d", b"333");
    let run = update(&dir, &["x.sfv"]).status(2).stdout("added    d\n");
    run.stderr_has("cannot list ';b': the name begins with a semicolon");
    assert_eq!(text(&dir, "x.sfv"), "a 83DCEFB7\r\nc d/e 647E170E\r\nd 92D786FD\r\n");
}

#[test]
fn as_json() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("b", b"333").file("a", b"edited");
    let run = update(&dir, &["SHA256SUMS", "--json"]).status(1);
    run.stdout("{\"change\":\"changed\",\"path\":\"a\"}\n{\"change\":\"added\",\"path\":\"b\"}\n");
}

#[test]
fn a_locked_list_is_not_changed() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("b", b"333");
    let file = File::open(dir.path("SHA256SUMS")).unwrap();
    file.lock().unwrap();
    update(&dir, &["SHA256SUMS"]).status(2).stderr_has("is in use: another command rewrites it");
}

/// Returns whether bagit-python finds the bag valid.
fn is_valid(dir: &Dir) -> bool {
    let script = "import bagit, logging, sys; logging.disable(50); bagit.Bag('bag').validate()";
    let python = Command::new("python3").args(["-c", script]).current_dir(dir.path("")).output().unwrap();
    python.status.success()
}

#[test]
fn a_bag_stays_valid() {
    let dir = Dir::new();
    dir.file("bag/a", b"1").file("bag/d/b c", b"22");
    dir.ftk(["hash", "--bag", "--create", "bag"]).run().status(0);
    let manifest = "bag/manifest-sha512.txt";
    dir.file("bag/data/new", b"333").file("bag/data/d/c", b"4444");
    let run = update(&dir, &[manifest]).status(0);
    run.stdout("added    data/d/c\nadded    data/new\n");
    let check = |files: u64, bytes: u64| {
        dir.ftk(["hash", "--bag", "bag"]).run().status(0);
        assert!(text(&dir, "bag/bag-info.txt").contains(&format!("Payload-Oxum: {bytes}.{files}\n")));
        assert!(!has("bagit") || is_valid(&dir));
    };
    check(4, 10);
    fs::remove_file(dir.path("bag/data/a")).unwrap();
    update(&dir, &[manifest]).status(1).stdout("missing  data/a\n");
    update(&dir, &[manifest, "--prune"]).status(0).stdout("removed  data/a\n");
    check(3, 9);
    for path in ["manifest-sha256.txt", "manifest-sha512.txt"] {
        set_age(&dir, &format!("bag/{path}"), 3600);
    }
    for path in ["data/d/b c", "data/new"] {
        set_age(&dir, &format!("bag/{path}"), 7200);
    }
    dir.file("bag/data/d/c", b"55555");
    update(&dir, &[manifest, "--rehash"]).status(0).stdout("rehashed data/d/c\n");
    check(3, 10);
}

#[test]
fn a_bag_that_is_not_as_its_tag_manifests_say_is_refused() {
    let dir = Dir::new();
    dir.file("bag/a", b"1");
    dir.ftk(["hash", "--bag", "--create", "bag"]).run().status(0);
    dir.file("bag/data/b", b"2");
    let info = text(&dir, "bag/bag-info.txt") + "Contact-Name: Ann\n";
    dir.file("bag/bag-info.txt", info.as_bytes());
    let before = text(&dir, "bag/manifest-sha256.txt");
    let run = update(&dir, &["bag/manifest-sha256.txt"]).status(2);
    run.stderr_has("has another digest of 'bag-info.txt'");
    assert_eq!(text(&dir, "bag/manifest-sha256.txt"), before);
    update(&dir, &["bag/tagmanifest-sha256.txt"]).status(2).stderr_has("is a tag manifest");
    update(&dir, &["bag/manifest-sha256.txt", "bag/bagit.txt"]).status(2).stderr_has("is not in data/");
    let run = update(&dir, &["bag/manifest-sha256.txt", "--rehash"]).status(0).stdout("added    data/b\n");
    run.stderr_has("had another digest of 'bag-info.txt', which is accepted as it is");
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    // A run was killed before it replaced the tag manifests.
    let old = text(&dir, "bag/tagmanifest-sha256.txt");
    dir.file("bag/data/c", b"3");
    update(&dir, &["bag/manifest-sha256.txt"]).status(0);
    dir.file("bag/tagmanifest-sha256.txt", old.as_bytes());
    update(&dir, &["bag/manifest-sha256.txt", "--rehash"]).status(0).stdout("");
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    dir.file("bag/fetch.txt", b"");
    update(&dir, &["bag/manifest-sha256.txt"]).status(2).stderr_has("has a fetch.txt");
}

/// A name that is not in the directory of the list is reported, and the others are added.
#[test]
fn a_bad_path_does_not_stop_the_others() {
    let dir = listed("SHA256SUMS", SUMS);
    let outside = dir.aside("outside");
    fs::write(&outside, b"").unwrap();
    dir.file("b", b"333").file("z", b"4444");
    let run = dir.ftk(["hash", "--update", "SHA256SUMS", "b", "missing"]).arg(&outside).arg("z").run();
    let run = run.status(2).stdout("added    b\nadded    z\n");
    run.stderr_has("is not below the directory of the list")
        .stderr_has("'missing'")
        .stderr_has("  2 added   (status 2)");
    let run = dir.ftk(["hash", "--update", "SHA256SUMS"]).arg(&outside).run().status(2).stdout("");
    run.stderr_has("is not below the directory of the list");
    tool(&dir, &["sha256sum", "-c", "--strict", "SHA256SUMS"]);
}

#[test]
fn a_name_that_is_no_file_now_can_be_pruned() {
    let dir = listed("SHA256SUMS", SUMS);
    dir.file("b", b"333").file("c", b"4").file("z", b"55");
    update(&dir, &["SHA256SUMS", "--rehash"]).status(0);
    for name in ["a", "b"] {
        fs::remove_file(dir.path(name)).unwrap();
    }
    dir.dir("a").fifo("b").file("new", b"1");
    let before = text(&dir, "SHA256SUMS");
    let why = "it is not a regular file (--prune removes it from the list)\n";
    let run = update(&dir, &["SHA256SUMS"]).status(2).stdout("added    new\n");
    run.stderr_has(&format!("ftk: cannot examine 'a': {why}"))
        .stderr_has(&format!("ftk: cannot examine 'b': {why}"));
    let run = update(&dir, &["SHA256SUMS", "--prune"]).status(0);
    run.stdout("removed  a\nremoved  b\n");
    let after = text(&dir, "SHA256SUMS");
    assert!(after.lines().count() == before.lines().count() - 1 && !after.contains("  a\n"), "{after}");
    tool(&dir, &["sha256sum", "-c", "--strict", "SHA256SUMS"]);
}

/// Files that are newer than a list show its algorithm too, as long as they have their listed contents.
#[test]
fn all_files_may_be_newer_than_the_list() {
    let dir = listed("list", SUMS);
    set_age(&dir, "list", 9000);
    dir.file("b", b"333");
    update(&dir, &["list"]).status(0).stdout("added    b\n").stderr_has("3 files read");
    for name in ["a", "b", "c d/e"] {
        dir.file(name, b"edited");
    }
    set_age(&dir, "list", 9000);
    dir.file("new", b"1");
    let run = update(&dir, &["list"]).status(2).stdout("");
    run.stderr_has(
        "it does not say its algorithm, all files that it names are newer than the list, and those that were read have \
         other digests by sha256: name the algorithm with -a\n",
    );
    update(&dir, &["list", "-a", "sha256"]).status(1);
}
