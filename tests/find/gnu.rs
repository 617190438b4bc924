//! The same entries as GNU find, for every filter and several numbers of workers.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, bytes, gnu_find, needs, records, sorted};

/// Creates a tree with cases for every test: types, sizes, names, depths, loops of links.
fn tree() -> Dir {
    let dir = Dir::new();
    for (nth, len) in [0, 1, 9, 10, 11, 1023, 1024, 1025, 2048, 3000].into_iter().enumerate() {
        dir.file(format!("sizes/{len}.bin"), &bytes(nth as u64, len));
    }
    for name in [
        "a",
        "a-b",
        "A.TXT",
        "b.txt",
        "c.tar.gz",
        ".hidden",
        ".h/x.txt",
        "no ext",
        ".txt",
        "txt",
        "d.txt/e.Txt",
    ] {
        dir.file(format!("names/{name}"), b"x");
    }
    dir.raw_file(b"names/\xff.txt", b"").raw_file(b"names/new\nline.txt", b"");
    for nth in 0..40 {
        dir.file(format!("wide/{}/{}/f{nth}.txt", nth % 5, nth % 3), b"y");
    }
    dir.file("deep/1/2/3/4/5/6/f", b"").dir("empty");
    dir.symlink("sizes", "to_dir").symlink("names/a", "to_file").symlink("nowhere", "broken");
    dir.fifo("fifo").socket("socket").hard_link("names/a", "names/z");
    dir
}

/// Compares the entries, sorted and unsorted, with one worker and with several.
fn same(dir: &Dir, ours: &[&str], theirs: &[&str]) {
    let expected = gnu_find(dir, theirs);
    for threads in ["mono", "2", "8"] {
        let run = dir.ftk(["find", "-0", "-j", threads]).args(ours).run().status(0);
        run.check(sorted(records(&run.out, 0)) == expected, "not what GNU find lists");
        let run = dir.ftk(["find", "-0", "--sort", "-j", threads]).args(ours).run().status(0);
        run.check(records(&run.out, 0) == expected, "not what GNU find lists, sorted");
        let count = format!("{}\n", expected.len());
        dir.ftk(["find", "-c", "-j", threads]).args(ours).run().status(0).stdout(count);
        dir.ftk(["find", "--status", "-j", threads])
            .args(ours)
            .run()
            .status(i32::from(expected.is_empty()))
            .stdout("");
    }
}

#[test]
fn everything() {
    needs!("find");
    let dir = tree();
    same(&dir, &[], &["."]);
    same(&dir, &["."], &["."]);
    same(
        &dir,
        &["names", "empty", "to_dir", "fifo", "broken"],
        &["names", "empty", "to_dir", "fifo", "broken"],
    );
}

#[test]
fn by_type() {
    needs!("find");
    let dir = tree();
    for types in ["f", "d", "l", "p", "s", "f,d", "l,p,s", "b", "c", "b,c,s"] {
        same(&dir, &["-t", types], &[".", "-type", types]);
    }
}

#[test]
fn by_name() {
    needs!("find");
    let dir = tree();
    for glob in ["*.txt", "*", "a*", "?", "[a-c]*", "[!a]", ".*", "*\n*", "no ext", "nothing", "d.txt", "."] {
        same(&dir, &["-n", glob], &[".", "-name", glob]);
        same(&dir, &["--iname", glob], &[".", "-iname", glob]);
    }
    same(&dir, &["-n", "a*", "-n", "b*"], &[".", "(", "-name", "a*", "-o", "-name", "b*", ")"]);
    same(&dir, &["-n", "a*", "-t", "f"], &[".", "-name", "a*", "-type", "f"]);
}

#[test]
fn by_extension() {
    needs!("find");
    let dir = tree();
    // A dot at the beginning of a name starts no extension.
    same(&dir, &["-e", "txt"], &[".", "-iname", "?*.txt"]);
    same(&dir, &["-e", "TXT", "-e", "gz"], &[".", "(", "-iname", "?*.txt", "-o", "-iname", "?*.gz", ")"]);
    same(&dir, &["-e", "tar"], &[".", "-name", "?*.tar"]);
    same(&dir, &["-e", "txt", "-t", "f"], &[".", "-iname", "?*.txt", "-type", "f"]);
}

#[test]
fn by_size() {
    needs!("find");
    let dir = tree();
    for (ours, theirs) in [
        ("10", "10c"),
        ("+10", "+10c"),
        ("-10", "-10c"),
        ("1K", "1024c"),
        ("+1K", "+1024c"),
        ("-1K", "-1024c"),
        ("+1M", "+1048576c"),
    ] {
        same(&dir, &["-t", "f", "-S", ours], &[".", "-type", "f", "-size", theirs]);
    }
    let (ours, theirs) =
        (["-t", "f", "-S", "+9", "-S", "-1K"], [".", "-type", "f", "-size", "+9c", "-size", "-1024c"]);
    same(&dir, &ours, &theirs);
}

#[test]
fn by_depth() {
    needs!("find");
    let dir = tree();
    for depth in ["0", "1", "2", "7", "8", "99"] {
        same(&dir, &["--min-depth", depth], &[".", "-mindepth", depth]);
        same(&dir, &["--max-depth", depth], &[".", "-maxdepth", depth]);
        same(&dir, &["--min-depth", "1", "--max-depth", depth], &[".", "-mindepth", "1", "-maxdepth", depth]);
    }
}

#[test]
fn excluded_entries_are_not_listed() {
    needs!("find");
    let dir = tree();
    same(&dir, &["-E", "names"], &[".", "-name", "names", "-prune", "-o"]);
    same(
        &dir,
        &["-E", "[0-2]", "-E", "*.txt"],
        &[".", "(", "-name", "[0-2]", "-o", "-name", "*.txt", ")", "-prune", "-o"],
    );
    same(&dir, &["--no-hidden"], &[".", "-name", ".?*", "-prune", "-o"]);
}

/// An entry that several starting points lead to is listed once, under the first of them.
#[test]
fn several_and_overlapping_starting_points() {
    needs!("find");
    let dir = tree();
    same(&dir, &["wide", "names", "sizes"], &["wide", "names", "sizes"]);
    same(&dir, &["wide", "wide"], &["wide"]);
    same(&dir, &["wide", "./wide", "wide/../wide"], &["wide"]);
    same(&dir, &["names/a", "names/b.txt"], &["names/a", "names/b.txt"]);
    for nested in [["wide", "wide/1"], ["wide/1", "wide"], ["wide", "wide/1/0"]] {
        let expected: Vec<_> = gnu_find(&dir, &["wide"]);
        for threads in ["mono", "8"] {
            let run = dir.ftk(["find", "-0", "--sort", "-j", threads]).args(nested).run().status(0);
            run.check(records(&run.out, 0) == expected, "each entry once");
            let run = dir.ftk(["find", "-0", "-j", threads]).args(nested).run().status(0);
            run.check(sorted(records(&run.out, 0)) == expected, "each entry once");
        }
    }
    // A link as an argument is a different entry from the directory it leads to.
    same(&dir, &["to_dir", "sizes"], &["to_dir", "sizes"]);
}

/// A directory inside another starting point has two names. A starting point that was given before has none.
#[test]
fn starting_points_with_different_spellings() {
    let dir = Dir::new();
    dir.file("a/f", b"").file("x/y", b"").file("z", b"");
    let covered = |n: u32| match n {
        0 => String::new(),
        1 => "  skipped: 1 path that another argument covers\n".into(),
        n => format!("  skipped: {n} paths that another argument covers\n"),
    };
    for (args, listed, n) in [
        (&[".", "x"][..], &[".", "./a", "./a/f", "./x", "./z", "x", "x/y"][..], 1),
        (&["x", "."], &[".", "./a", "./a/f", "./x", "./z", "x", "x/y"], 1),
        (&[".", "./x"], &[".", "./a", "./a/f", "./x", "./x/y", "./z"], 0),
        (&[".", "z"], &[".", "./a", "./a/f", "./x", "./x/y", "z"], 0),
        (&["a/.", "a"], &["a/.", "a/./f"], 1),
        (&["a", "a/.", "./a"], &["a", "a/f"], 2),
        (&["z", "./z"], &["z"], 1),
        (&[".", "x", "x"], &[".", "./a", "./a/f", "./x", "./z", "x", "x/y"], 2),
    ] {
        for threads in ["mono", "4"] {
            let run =
                dir.ftk(["find", "--sort", "-j", threads]).args(args).run().status(0).stderr(&covered(n));
            run.check(run.text().lines().eq(listed.iter().copied()), "the listed paths");
        }
    }
}

#[test]
fn with_links_followed() {
    needs!("find");
    let dir = tree();
    // The directory was entered under its first path.
    let once = ["!", "-path", "./to_dir/*"];
    same(&dir, &["-L"], &[&["-L", "."], &once[..]].concat());
    same(&dir, &["-L", "-t", "f"], &[&["-L", ".", "-type", "f"], &once[..]].concat());
    same(&dir, &["-L", "-t", "l"], &[&["-L", ".", "-type", "l"], &once[..]].concat());
    same(&dir, &["-L", "to_dir"], &["-L", "to_dir"]);
    same(&dir, &["to_dir"], &["to_dir"]);
    same(&dir, &["to_dir/"], &["to_dir/"]);
}

#[test]
fn on_one_file_system() {
    needs!("find");
    let dir = tree();
    same(&dir, &["-x"], &[".", "-xdev"]);
    // Other file systems are mounted below /dev: they are listed and not entered.
    same(&dir, &["-x", "--max-depth", "2", "/dev"], &["/dev", "-xdev", "-maxdepth", "2"]);
}

/// Pseudo file systems are not entered from outside, and a message says so; as starting points they are
/// walked.
#[test]
fn pseudo_file_systems() {
    let dir = Dir::new();
    let args = ["find", "/", "--max-depth", "2", "-n", "cpuinfo"];
    let run = dir.ftk(args).run().stdout("").stderr_has("pseudo file systems");
    run.check(run.code() != 1, "no match is no failure");
    let args = ["find", "-n", "cpuinfo", "--max-depth", "1", "/proc"];
    dir.ftk(args).run().status(0).stdout("/proc/cpuinfo\n");
    dir.ftk(["find", "/proc/cpuinfo"]).run().status(0).stdout("/proc/cpuinfo\n");
}

/// The line that a hint prints for one of GNU find selects the same entries, whatever it rounds.
#[test]
fn lines_of_gnu_find_are_rewritten_exactly() {
    needs!("find");
    let dir = tree();
    const DAY: u64 = 86_400;
    for (nth, age) in
        [60, DAY - 60, DAY + 60, 2 * DAY - 60, 2 * DAY + 60, 3 * DAY - 60, 3 * DAY + 60].iter().enumerate()
    {
        dir.file(format!("ages/{nth}"), b"");
        let time = SystemTime::now() - Duration::from_secs(*age);
        fs::File::open(dir.path(format!("ages/{nth}"))).unwrap().set_modified(time).unwrap();
    }
    for line in [
        "ages -type f -mtime +1",
        "ages -type f -mtime +0",
        "ages -type f -mtime 2",
        "ages -type f -mtime -2",
        "ages -type f -mmin +1450 -mmin -4300",
        "sizes -size +1k",
        "sizes -type f -size -2k",
        "sizes -type f -size 2k",
        "sizes -type f -size 2",
        "sizes -size 0",
        "sizes -size 10c -o -false",
        "sizes -type f -size -10c",
        ". -type l -maxdepth 1",
        ". -perm -0600 -empty -type f",
        "names -iname *.TXT -uid 0 -links 1",
        "names -newer sizes/0.bin -samefile names/a",
        ". -mindepth 2 -xdev -name [0-9]*",
        ". -path ./names/* -type f",
        ". -path *s/*b* -type f",
    ] {
        let words: Vec<_> = line.split(' ').collect();
        let run = dir.ftk(["find"]).args(&words).run().status(2).stdout("");
        let Some((_, rewritten)) = run.err.split_once("; in ftk: ftk ") else {
            run.check(line.contains("-o"), "only this line has no equivalent");
            continue;
        };
        let rewritten = rewritten.split("   (").next().unwrap();
        let rewritten = format!("'{}' {rewritten} -0", env!("CARGO_BIN_EXE_ftk"));
        let run = dir.ftk([""; 0]).instead(&dir, ["sh", "-c", &rewritten]).run().status(0);
        assert_eq!(sorted(records(&run.out, 0)), gnu_find(&dir, &words), "{line}: {rewritten}");
    }
}
