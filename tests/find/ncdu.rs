//! `find --from` with the JSON of ncdu, gdu and ftk.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, bytes, needs, records, set_mode, sorted};

/// A tree `t`. Times are in whole seconds, as in files of ncdu.
fn tree(seed: u64) -> Dir {
    let (dir, random) = (Dir::new(), bytes(seed, 400));
    let mut random = random.iter().copied();
    let mut next = |n: u8| random.next().unwrap() % n;
    dir.file("t/always", b"abc").symlink("always", "t/link").fifo("t/a-fifo").dir("t/none");
    for place in ["", "a/", "a/b/", "a-/", "a-/b c/", ".h/"] {
        dir.dir(format!("t/{place}"));
        for name in ["x", "a.c", "b.C", "new\nline", "\u{e9}\""] {
            let path = format!("t/{place}{name}");
            match next(6) {
                0 => {}
                1 => _ = dir.hard_link("t/always", &path),
                2 => _ = dir.symlink("nowhere", &path),
                size => {
                    dir.file(&path, &vec![7; usize::from(size - 3) * 5000]);
                    set_mode(&dir.path(&path), [0o644, 0o600, 0o4755, 0o666][usize::from(next(4))]);
                    let years = 45 + u64::from(next(10));
                    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(years * 31_557_600);
                    let file = File::options().append(true).open(dir.path(&path)).unwrap();
                    file.set_times(FileTimes::new().set_modified(time)).unwrap();
                }
            }
        }
    }
    dir
}

/// Makes `t.json`, and returns the path of the tree.
fn record(dir: &Dir, words: &[&str]) -> String {
    let root = dir.path("t").canonicalize().unwrap().into_os_string().into_string().unwrap();
    let made = match words {
        ["ftk", words @ ..] => dir.ftk(words).arg(&root).run(),
        _ => dir.ftk([] as [&str; 0]).instead(dir, words.iter().copied().chain([&*root])).run(),
    };
    dir.file("t.json", &made.status(0).out);
    root
}

/// Checks that the record gives what the tree gives.
fn is_like_the_tree(dir: &Dir, root: &str, args: &[&str]) {
    let args: Vec<_> = args.iter().map(|arg| arg.replace("ROOT", root)).collect();
    let of_tree = dir.ftk(["find", root]).args(&args).run();
    let of_record = dir.ftk(["find", "--from", "t.json"]).args(&args).run();
    of_record.check(of_record.code() == of_tree.code() && of_record.err == of_tree.err, &of_tree.err);
    assert_eq!(sorted(records(&of_record.out, 10)), sorted(records(&of_tree.out, 10)), "{args:?}");
}

/// What every file says.
const SPACE: &[&[&str]] = &[
    &[],
    &["-t", "f", "-c"],
    &["-t", "d"],
    &["-t", "l,p,s,b,c"],
    &["-n", "a*", "--max-depth", "2"],
    &["-e", "c", "--exclude", "a-"],
    &["-E", "ROOT/a/b", "-E", "./a-/x"],
    &["--path", "ROOT/a*/*"],
    &["--regex", "(?i)/.*c$", "--min-depth", "2"],
    &["-t", "f", "-S", "+4999"],
    &["-t", "f", "-S", "0"],
    &["-t", "f", "--empty"],
    &["--no-hidden", "--where", "type = d or size > 5k and depth < 3"],
    &["-t", "f", "--sort=size", "--reverse"],
    &["--sort", "--format", "{path} {relative} {root} {depth} {ext}"],
    &["-t", "f", "--format", "{type} {path} {size} {blocks}"],
    &["--group-by", "extension"],
];

/// What files of ncdu and ftk say, too.
const LINKS: &[&[&str]] = &[
    &["-x"],
    &["--empty"],
    &["--where", "not type = d and links > 1"],
    &["-t", "f", "--links", "+1", "--format", "{inode} {device} {links} {path}"],
    &["-t", "d", "--format", "{size} {blocks} {path}"],
];

/// What files of `ncdu -e` say, too, and exports of manifests.
const EXTENDED: &[&[&str]] = &[
    &["-t", "l"],
    &["--where", "type = p or user = root and perm = -600"],
    &["--perm", "/6000"],
    &["--owner", "0:0"],
    &["-t", "f", "--changed-before", "2020-01-01"],
    &["-t", "f", "--where", "mtime > 8y", "--format", "{mtime} {type} {permissions} {user} {group} {path}"],
    &["--group-by", "type"],
];

#[test]
fn records_of_each_program_are_like_the_tree() {
    needs!("ncdu", "gdu");
    for seed in 0..4 {
        let dir = tree(seed);
        let root = record(&dir, &["ncdu", "-0", "-e", "-o", "-"]);
        SPACE.iter().chain(LINKS).chain(EXTENDED).for_each(|args| is_like_the_tree(&dir, &root, args));
        record(&dir, &["ncdu", "-0", "-o", "-"]);
        SPACE.iter().chain(LINKS).for_each(|args| is_like_the_tree(&dir, &root, args));
        record(&dir, &["ftk", "du", "--format", "ncdu"]);
        SPACE.iter().chain(LINKS).for_each(|args| is_like_the_tree(&dir, &root, args));
        record(&dir, &["gdu", "-n", "-o", "-"]);
        // It does not mark FIFOs and devices, so an empty file may be one.
        let asks_for_files = |args: &[&str]| args.contains(&"f") || args.contains(&"l,p,s,b,c");
        SPACE
            .iter()
            .filter(|args| !asks_for_files(args))
            .for_each(|args| is_like_the_tree(&dir, &root, args));
        is_like_the_tree(&dir, &root, &["-S", "+0", "--where", "type = f"]);
        dir.ftk(["manifest", "create", "--force", &root, "-o", "t.jsonl"]).run().status(0);
        dir.ftk(["manifest", "export", "--format", "ncdu", "t.jsonl", "-o", "t.json"]).run().status(0);
        SPACE.iter().chain(LINKS).chain(EXTENDED).for_each(|args| is_like_the_tree(&dir, &root, args));
    }
}

#[test]
fn what_the_file_does_not_say_is_an_error() {
    needs!("ncdu", "gdu", "zstd");
    let dir = tree(0);
    let find = |args: &[&str]| dir.ftk(["find", "--from", "t.json"]).args(args).run();
    let root = record(&dir, &["ncdu", "-0", "-o", "-"]);
    for (args, member) in [
        (&["-t", "l"][..], "mode"),
        (&["--format", "{type}"], "mode"),
        (&["--group-by", "type"], "mode"),
        (&["--perm", "600"], "mode"),
        (&["--owner", "0"], "uid"),
        (&["--nogroup"], "gid"),
        (&["--changed-within", "1d"], "mtime_ns"),
        (&["--where", "ctime < 1d"], "ctime_ns"),
        (&["--where", "inode = 1"], "ino"),
        (&["--links", "2"], "nlink"),
        (&["--where", "target = x"], "target"),
        (&["--where", "xattr = x"], "xattrs"),
        (&["--where", "capable"], "xattrs"),
        (&["-l"], "mode"),
        (&["--json"], "mode"),
    ] {
        find(args)
            .status(2)
            .stderr_has(&format!("cannot stat '{root}"))
            .stderr_has(&format!("': the record has no {member}\n"));
    }
    find(&["--where", "readable"]).status(2).stdout("").stderr_has("readable cannot be used with --from");
    record(&dir, &["gdu", "-n", "-o", "-"]);
    find(&["-x"]).status(2).stdout("").stderr_has("'t.json' has no dev, which --one-file-system needs");
    find(&["-t", "d", "--empty"]).status(2).stderr_has("the record has no list of all entries in it");
    find(&["-t", "f"]).status(2).stderr_has("': the record has no mode\n");
    find(&["-t", "f,l,p,s,b,c", "-n", "a-fifo"]).status(0).stdout(format!("{root}/a-fifo\n"));
    find(&["--empty", "-n", "a-fifo"]).status(2).stderr_has("/a-fifo': the record has no mode\n");
    find(&["-t", "d", "-S", "+0"]).status(2).stderr_has("the record has no size_bytes");
    // A directory that looks empty may only have what was not selected.
    record(&dir, &["ftk", "du", "--format", "ncdu", "-t", "f"]);
    is_like_the_tree(&dir, &root, &["-t", "f", "--empty"]);
    let files = dir.ftk(["find", "-t", "f", "-0", &root]).run().out;
    assert_eq!(sorted(records(&find(&["-0"]).status(0).out, 0)), sorted(records(&files, 0)));
}

#[test]
fn what_was_not_counted_is_said() {
    let dir = Dir::new();
    let file =
        br#"[1,2,{"progname":"ncdu"},[{"name":"/r","asize":9,"dev":5},{"name":"pat","excluded":"pattern"},
        {"name":"fs","excluded":"otherfs"},{"name":"fs2","excluded":"otherfs","mode":16877},
        [{"name":"no","read_error":true}],
        {"name":"gone","read_error":true},[{"name":"m","dev":6},{"name":"f","mtime":12.75}]]]"#;
    dir.file("t.json", file);
    let find = |args: &[&str]| dir.ftk(["find", "--from", "t.json"]).args(args).run();
    let run = find(&[]).status(2).stdout("/r\n/r/fs2\n/r/no\n/r/m\n/r/m/f\n");
    run.stderr_has("cannot list '/r/no': it could not be read when the record was made\n")
        .stderr_has("cannot list '/r/gone': it could not be read when the record was made\n")
        .stderr_has("  not listed, since 't.json' does not say what they are: 2 entries\n");
    find(&["-x", "-n", "f"]).status(2).stdout("");
    find(&["-t", "f", "--format", "{mtime_ns} {size} {links} {device}"]).status(2).stderr_has("no ino");
    find(&["-t", "f", "--format", "{mtime_ns} {size} {links}"]).status(2).stdout("12000000000 0 1\n");
    // From a pipe, and compressed.
    dir.ftk(["find", "-c", "--from", "-"]).stdin(file).run().status(2).stdout("5\n");
    if crate::harness::has("zstd") {
        let small = dir.ftk([] as [&str; 0]).instead(&dir, ["zstd", "-c", "t.json"]).run().status(0).out;
        dir.file("t.json.zst", &small);
        dir.ftk(["find", "-c", "--from", "t.json.zst", "t.json"]).run().status(2).stdout("10\n");
    }
    dir.file("t.json", &file[..200]);
    find(&[]).status(2).stderr_has("'t.json': not the JSON of ncdu: the file ends early");
    dir.file("t.json", b"[1,2]");
    find(&[]).status(2).stdout("").stderr_has("'t.json': not the JSON of ncdu: expected ");
    dir.file("t.json", b"words");
    find(&[]).status(2).stdout("").stderr_has("'t.json': not a manifest of ftk, and not the JSON of ncdu");
}
