//! The arguments: files, directories, links, standard input, repeated paths.

use crate::harness::{Dir, needs, sum};

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn standard_input_is_the_default() {
    let dir = Dir::new();
    dir.ftk(["hash"]).stdin(b"abc").run().status(0).stdout(format!("{ABC}  -\n")).stderr("");
    dir.ftk(["hash", "-"]).stdin(b"abc").run().status(0).stdout(format!("{ABC}  -\n"));
    dir.ftk(["hash"]).run().status(0).stdout(format!("{EMPTY}  -\n"));
}

/// Each `-` reads on, as in sha256sum. Its line is sorted by the name `-`: after `+` and before `.x`.
#[test]
fn standard_input_twice_and_among_files() {
    let dir = Dir::new();
    dir.file("+", b"").file(".x", b"").file("x", b"abc");
    dir.ftk(["hash", "-", "-"]).stdin(b"abc").run().status(0).stdout(format!("{ABC}  -\n{EMPTY}  -\n"));
    let expected = format!("{EMPTY}  +\n{ABC}  -\n{EMPTY}  .x\n{ABC}  x\n");
    dir.ftk(["hash", "x", "-", ".x", "+"]).stdin(b"abc").run().status(0).stdout(expected);
}

/// With --special, FIFOs and devices that are arguments are read; those in trees are not.
#[test]
fn special_files_with_the_option_special() {
    let dir = Dir::new();
    dir.file("+", b"").dir("t").fifo("fifo").fifo("t/fifo").file("x", b"abc").symlink("fifo", "link");
    let write = |name: &'static str| {
        let path = dir.path(name);
        std::thread::spawn(move || std::fs::write(path, b"abc").unwrap())
    };
    let writer = write("fifo");
    let expected = format!("{EMPTY}  +\n{EMPTY}  /dev/null\n{ABC}  fifo\n{ABC}  x\n");
    let run =
        dir.ftk(["hash", "--special", "x", "fifo", "t", "/dev/null", "+"]).run().status(0).stdout(expected);
    run.stderr_has("  skipped: 1 FIFO\n").stderr_lacks("ftk: ");
    writer.join().unwrap();
    let writer = write("fifo");
    let run = dir.ftk(["hash", "--special", "--json", "-a", "md5,sha1", "link"]).run().status(0);
    run.check(
        run.text().starts_with(
            "{\"path\":\"link\",\"name\":\"link\",\"extension\":null,\"digests\":{\"md5\":\"900150983cd24fb0",
        ),
        "both digests",
    );
    writer.join().unwrap();
    let run = dir.ftk(["hash", "--special", "/dev/fd/0", "-a", "md5"]).stdin(b"abc").run().status(0);
    run.stdout("900150983cd24fb0d6963f7d28e17f72  /dev/fd/0\n");
    // A socket cannot be read, and a missing path is an error.
    dir.socket("socket");
    let run =
        dir.ftk(["hash", "--special", "socket", "none", "x"]).run().status(2).stdout(format!("{ABC}  x\n"));
    run.stderr_has("ftk: cannot read 'socket': it is a socket\n").stderr_has("ftk: cannot stat 'none': ");
    // The message names the option where it helps. Other modes refuse it.
    let run = dir.ftk(["hash", "fifo", "/dev/null"]).run().status(2).stdout("");
    run.stderr_has("ftk: cannot read 'fifo': it is a FIFO (add --special to read it)\n")
        .stderr_has("ftk: cannot read '/dev/null': it is a device (add --special to read it)\n");
    for mode in ["--check", "--diff", "--lines"] {
        dir.ftk(["hash", "--special", mode, "x"]).run().status(2).stderr_has("cannot be used with");
    }
}

/// What a shell makes of `<(command)`.
#[test]
fn pipes_of_the_shell_are_read_without_special() {
    needs!("bash");
    let dir = Dir::new();
    dir.file("x", b"abc").fifo("fifo");
    let bash = |args: &[&str], pipes: &str| {
        dir.ftk(args).under(&dir, ["bash", "-c", &format!("exec \"$@\" {pipes}"), "bash"]).stdin(b"abc").run()
    };
    let run = bash(&["hash", "x"], "<(printf abc)").status(0);
    let lines: Vec<_> = run.text().lines().map(|line| line.split_once("  ").unwrap()).collect();
    assert!(lines[0].0 == ABC && lines[0].1.starts_with("/dev/fd/") && lines[1] == (ABC, "x"), "{lines:?}");
    bash(&["cmp"], "<(printf abc) <(printf abc)").status(0);
    bash(&["cmp"], "<(printf abc) <(printf abd)").status(1);
    bash(&["cmp", "/dev/stdin", "x"], "").status(0);
    bash(&["hash", "/proc/self/fd/0"], "").status(0).stdout(format!("{ABC}  /proc/self/fd/0\n"));
    // Others need the option.
    dir.ftk(["hash", "fifo"]).run().status(2).stderr_has("add --special");
    dir.ftk(["cmp", "fifo", "x"]).run().status(2).stderr_has("add --special");
    dir.ftk(["hash", "/dev/fd/9"]).run().status(2).stderr_has("no such file");
}

#[test]
fn a_large_standard_input() {
    needs!("sha256sum");
    let dir = Dir::new();
    let content = crate::harness::bytes(1, (3 << 20) + 17);
    dir.file("-", &content);
    let expected = sum(&dir, &["sha256sum", "--"], &["-H", "."]);
    let expected = String::from_utf8(expected).unwrap().replace("  ./-", "  -");
    dir.ftk(["hash", "-"]).stdin(&content).run().status(0).stdout(expected);
}

/// Paths that another argument covers are read once, and the skipped ones are counted.
#[test]
fn paths_covered_by_another_argument_are_counted() {
    let dir = Dir::new();
    dir.file("real/x", b"1").file("real/sub/y", b"1").file("a", b"1").file("other/x", b"2");
    dir.symlink("real", "ln").symlink(".", "b").symlink("../real", "other/ln");
    let covered = |n: &str| format!("  skipped: {n} that another argument covers\n");
    for (args, lines, said) in [
        (&["real", "ln"][..], &["real/sub/y", "real/x"][..], covered("1 path")),
        (&["ln", "real"], &["ln/sub/y", "ln/x"], covered("1 path")),
        (&["./a", "b//a"], &["./a"], covered("1 path")),
        (&["a", "a", "./a"], &["a"], covered("2 paths")),
        (&["real/sub", "ln/sub", "real/../real/sub"], &["real/sub/y"], covered("2 paths")),
        (&["-L", "other", "real"], &["other/x", "real/sub/y", "real/x"], covered("1 path")),
        (&["real", "real/sub"], &["real/sub/y", "real/x"], String::new()),
        (&["real", "real/x"], &["real/sub/y", "real/x"], String::new()),
        (&["real", "a"], &["a", "real/sub/y", "real/x"], String::new()),
    ] {
        let run = dir.ftk(["hash"]).args(args).run().status(0);
        let names: Vec<_> = run.text().lines().map(|line| &line[66..]).collect();
        run.check(names == lines, "each file once");
        let skipped = run.err.split_inclusive('\n').find(|line| line.contains("skipped: "));
        run.check(skipped.unwrap_or_default() == said, "the skipped paths");
        let run = dir.ftk(["dup"]).args(args).run().status(0);
        run.check(run.err.contains(" that another argument covers") != said.is_empty(), "dup says the same");
    }
    dir.ftk(["hash", "real", "ln", "--stats", "../stats"]).run().status(0);
    let stats = std::fs::read_to_string(dir.aside("stats")).unwrap();
    assert!(stats.contains("\"covered paths\": 1"), "{stats}");
}

/// The first path counts. Hard links have a line each.
#[test]
fn a_file_reached_several_times_is_hashed_once() {
    let dir = Dir::new();
    dir.file("d/x", b"abc").hard_link("d/x", "d/y").symlink("d", "link");
    let two = format!("{ABC}  d/x\n{ABC}  d/y\n");
    for args in [&["d"][..], &["d", "d"], &["d", "d/."], &["d", "link"], &["d", "./d", "d/../d"]] {
        dir.ftk(["hash"]).args(args).run().status(0).stdout(&two);
    }
    // A file that is a starting point has its own line, even if a directory covers it.
    for args in [["d", "d/x"], ["d/x", "d"]] {
        dir.ftk(["hash"]).args(args).run().status(0).stdout(&two);
    }
    dir.ftk(["hash", "link", "d"]).run().status(0).stdout(two.replace("  d/", "  link/"));
}

#[test]
fn links_are_followed_as_arguments_and_not_below_them() {
    let dir = Dir::new();
    dir.file("d/x", b"abc")
        .file("f", b"abc")
        .symlink("../f", "d/to_file")
        .symlink(".", "d/up")
        .symlink("d", "e");
    dir.ftk(["hash", "e"])
        .run()
        .status(0)
        .stdout(format!("{ABC}  e/x\n"))
        .stderr_has("skipped: 2 symbolic links");
    dir.ftk(["hash", "d/to_file"]).run().status(0).stdout(format!("{ABC}  d/to_file\n"));
    // With -L a link is what it leads to; a link back to its own path is an error.
    let run = dir.ftk(["hash", "-L", "d"]).run().status(2);
    run.stdout(format!("{ABC}  d/to_file\n{ABC}  d/x\n")).stderr_has("ftk: cannot follow 'd/up'");
}

#[test]
fn paths_are_printed_as_they_were_given() {
    let dir = Dir::new();
    dir.file("d/e/x", b"abc");
    for (arg, shown) in [
        (".", "./d/e/x"),
        ("./", "./d/e/x"),
        ("d", "d/e/x"),
        ("d/", "d/e/x"),
        ("d//", "d//e/x"),
        ("./d/.", "./d/./e/x"),
        ("d/../d/e", "d/../d/e/x"),
        ("d/e/x", "d/e/x"),
    ] {
        dir.ftk(["hash", arg]).run().status(0).stdout(format!("{ABC}  {shown}\n"));
    }
}

#[test]
fn missing_arguments_are_errors_and_the_rest_is_hashed() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    for missing in ["missing", "x/y", "", "missing/"] {
        let run = dir.ftk(["hash", missing, "x"]).run().status(2);
        run.stdout(format!("{ABC}  x\n")).stderr_has(&format!("ftk: cannot stat '{missing}': "));
    }
    dir.symlink("nowhere", "broken");
    dir.ftk(["hash", "broken"]).run().status(2).stdout("").stderr_has("'broken'");
}

#[test]
fn the_selection_applies() {
    needs!("find", "xargs", "sha256sum");
    let dir = Dir::new();
    dir.file("a.txt", b"1")
        .file("b.TXT", b"22")
        .file("c.md", b"333")
        .file(".h/d.txt", b"4")
        .file("sub/e.txt", b"55555");
    for (ours, theirs) in [
        (&["-e", "txt"][..], &["-iname", "*.txt"][..]),
        (&["-n", "*.txt"], &["-name", "*.txt"]),
        (&["-S", "+2"], &["-size", "+2c"]),
        (&["-E", "sub"], &["-not", "-path", "./sub/*"]),
        (&["--no-hidden"], &["-not", "-path", "./.h/*"]),
        (&["--max-depth", "1"], &["-maxdepth", "1"]),
    ] {
        let expected = sum(&dir, &["sha256sum", "--"], &[&["."][..], theirs].concat());
        dir.ftk(["hash", "."]).args(ours).run().status(0).stdout(expected);
    }
}

#[test]
fn an_empty_tree_is_no_error() {
    let dir = Dir::new();
    dir.dir("empty");
    let run = dir.ftk(["hash", "empty"]).run().status(0).stdout("");
    run.stderr_has("  0 files, 0 B in ");
    dir.ftk(["hash", "-q", "empty"]).run().status(0).stdout("").stderr("");
}

#[test]
fn standard_input_that_cannot_be_read() {
    let dir = Dir::new();
    dir.file("x", b"abc").dir("d");
    let directory = std::fs::File::open(dir.path("d")).unwrap();
    let run = dir.ftk(["hash", "-", "x"]).stdin_from(directory).run().status(2);
    run.stdout(format!("{ABC}  x\n")).stderr_has("ftk: cannot read '-': is a directory\n");
}

/// Other messages go to standard error.
#[test]
fn messages_do_not_change_the_list() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let line = format!("{ABC}  x\n");
    dir.ftk(["hash", "x", "-q"]).run().status(0).stdout(&line).stderr("");
    dir.ftk(["hash", "x", "--progress", "always"]).run().status(0).stdout(&line);
    dir.ftk(["hash", "x", "-v"]).run().status(0).stdout(&line).stderr_has("ftk: plan ");
    dir.ftk(["-v", "hash", "x"]).run().status(0).stdout(&line).stderr_has("ftk: plan ");
}

/// Small runs store no figures, and stored figures are never needed.
#[test]
fn no_figures_are_stored_or_needed() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let line = format!("{ABC}  x\n");
    dir.ftk(["hash", "x"]).run().status(0).stdout(&line);
    dir.ftk(["find"]).run().status(0);
    assert!(!dir.aside("cache").exists());
    std::fs::create_dir_all(dir.aside("cache/ftk")).unwrap();
    for nonsense in [&b""[..], b"\xff\0nonsense", b"version 99999999999999999999\n"] {
        std::fs::write(dir.aside("cache/ftk/constants"), nonsense).unwrap();
        dir.ftk(["hash", "x"]).run().status(0).stdout(&line);
        assert_eq!(std::fs::read(dir.aside("cache/ftk/constants")).unwrap(), nonsense);
    }
}

/// A good list stays if the new one lacks files or is empty. A file that is new or empty is written as always.
#[test]
fn an_incomplete_list_does_not_replace_a_good_one() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("s\nfv", b"").dir("empty").file("t/x", b"x").file("../list", b"an old list\n");
    let read = |name: &str| std::fs::read_to_string(dir.aside(name)).unwrap_or_default();
    let forget = || std::fs::remove_file(dir.aside("list.incomplete")).unwrap();
    let line = format!("{ABC}  a\n");
    let kept =
        "ftk: '../list' was not replaced, since the new list lacks files: it is '../list.incomplete'\n";
    let run = dir.ftk(["hash", "-o", "../list", "a", "missing"]).run().status(2);
    run.stderr_has("ftk: cannot stat 'missing'").stderr_has(kept);
    assert_eq!((&*read("list"), &*read("list.incomplete")), ("an old list\n", &*line));
    forget();
    dir.ftk(["hash", "--sfv", "-q", "-o", "../list", "a", "s\nfv"]).run().status(2).stderr_has(kept);
    assert!(read("list.incomplete").ends_with("a 352441C2\n"), "{}", read("list.incomplete"));
    for args in [&["-a", "s3-etag"][..], &["--json"], &["--tree"]] {
        forget();
        let run = dir.ftk(["hash", "-o", "../list", "t", "missing"]).args(args).run().status(2);
        run.stderr_has(kept);
        assert!(read("list.incomplete").contains("t") && read("list") == "an old list\n", "{args:?}");
    }
    // The list of the next run does not have it, and it does not go away.
    dir.ftk(["hash", "-a", "md5", "..", "-n", "list*", "--max-depth", "1", "-o", "../list"]).run().status(2);
    assert!(read("list") == "an old list\n" && read("list.incomplete").contains("t"));
    let empty = "ftk: '../list' was not replaced, since no file was hashed (is something not mounted?)\n";
    for args in [
        &["empty"][..],
        &["a", "-n", "b"],
        &["missing"],
        &["empty", "-a", "s3-etag"],
        &["missing", "--tree"],
        &["--files0-from=/dev/null"],
    ] {
        dir.ftk(["hash", "-o", "../list"]).args(args).run().status(2).stderr_has(empty);
        assert!(read("list") == "an old list\n" && read("list.incomplete").contains("t"), "{args:?}");
    }
    forget();
    dir.symlink("../../list", "t/link");
    let run = dir.ftk(["hash", "-o", "t/link", "a", "missing"]).run().status(2);
    run.stderr_has("/list.incomplete'\n");
    assert_eq!((&*read("list"), &*read("list.incomplete")), ("an old list\n", &*line));
    // Nothing is lost.
    for name in ["../new", "../void"] {
        dir.file("../void", b"").ftk(["hash", "-o", name, "a", "missing"]).run().status(2);
        assert_eq!(std::fs::read_to_string(dir.path(name)).unwrap(), line);
    }
    dir.ftk(["hash", "-o", "../none", "empty"]).run().status(0);
    assert!(dir.aside("none").exists() && !dir.aside("new.incomplete").exists());
    let to_pipe = dir.ftk(["hash", "-o", "/dev/stdout", "a", "missing"]).run().status(2);
    to_pipe.stdout(&line).stderr_lacks("replaced");
}

/// A file of the user, or the incomplete list of an earlier run, keeps its name and content. The next list has none.
#[test]
fn an_incomplete_list_gets_a_free_name() {
    let dir = Dir::new();
    dir.file("a", b"abc").file("list", b"old").file("list.incomplete", b"my notes");
    for nth in 2..4 {
        let run = dir.ftk(["hash", "-o", "list", ".", "missing"]).run().status(2);
        run.stderr_has(&format!("the new list lacks files: it is 'list.incomplete.{nth}'\n"));
        let list = std::fs::read_to_string(dir.path(format!("list.incomplete.{nth}"))).unwrap();
        assert_eq!(list, format!("{ABC}  ./a\n"));
    }
    dir.symlink("nowhere", "list.incomplete.4");
    dir.ftk(["hash", "-o", "list", "a", "missing"]).run().status(2).stderr_has("'list.incomplete.5'\n");
    (6..100).for_each(|nth| _ = dir.file(format!("list.incomplete.{nth}"), b""));
    let run = dir.ftk(["hash", "-o", "list", "a", "missing"]).run().status(2);
    let kept = "ftk: 'list' was not replaced, and the new list lacks files: remove the incomplete lists next to it\n";
    run.stderr_has(kept);
    for (name, content) in [("list", "old"), ("list.incomplete", "my notes"), ("list.incomplete.99", "")] {
        assert_eq!(std::fs::read_to_string(dir.path(name)).unwrap(), content);
    }
}

#[test]
fn options_that_select_need_a_path() {
    let dir = Dir::new();
    let wrong = [
        (&["-n", "*1.jpg"][..], "--name"),
        (&["-re", "arch"], "--extension"),
        (&["-r"], "--recursive"),
        (&["-L"], "--follow"),
        (&["-E", "x", "-a", "md5"], "--exclude"),
        (&["--max-depth", "1", "--json"], "--max-depth"),
    ];
    for (args, option) in wrong {
        let run = dir.ftk(["hash"]).args(args).stdin(b"abc").run().status(2).stdout("");
        run.stderr_has(&format!("ftk: {option} needs a PATH"))
            .stderr_has(&format!(": ftk hash {option} ... .\n"));
    }
    let run = dir.file("l", b"").ftk(["hash", "-n", "x", "--files-from", "l"]).run();
    run.status(0).stdout("");
    // Defaults are not refused: they do not apply.
    dir.file("../config/ftk/config.toml", b"[hash]\noptions = [\"--exclude=x\", \"--size=+1\"]\n");
    let run = dir.ftk(["hash"]).stdin(b"abc").run();
    run.status(0).stdout(format!("{ABC}  -\n"));
}
