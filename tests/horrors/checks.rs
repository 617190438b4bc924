//! Checks of tampered, unreadable or unlisted files, and hostile or unusual lists.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::{Dir, Paused, has_read, needs, sha256};

fn line(name: &str, content: &[u8]) -> String {
    format!("{}  {name}\n", sha256(content))
}

/// Lengths that would exhaust the memory of a careless parser.
#[test]
fn h23_hostile_lengths() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let huge = vec![b'a'; 40 << 20];
    let list = [&huge[..], b"  x\n", line("x", b"1").as_bytes()].concat();
    let run = dir.ftk(["hash", "-c", "--memory", "64M"]).stdin(&list).run().status(2).stdout("x: OK\n");
    run.stderr_has("line 1: cannot check it: the line is too long");
    let slashes = format!("{}  {}x\n", sha256(b"1"), "/".repeat(60_000));
    dir.ftk(["hash", "-c"]).stdin(slashes.as_bytes()).run().status(2);
}

/// With `--root`, no path of a list leads out of the root, by `..`, absolute paths or links, and nothing
/// about outside files is printed.
#[test]
fn h25_a_hostile_list_stays_below_the_root() {
    let dir = Dir::new();
    dir.file("secret", b"1").file("d/x", b"1").dir("d/e");
    symlink(dir.path("secret"), dir.path("d/link")).unwrap();
    symlink("../secret", dir.path("d/relative")).unwrap();
    symlink("..", dir.path("d/up")).unwrap();
    symlink("/", dir.path("d/top")).unwrap();
    symlink("e", dir.path("d/inside")).unwrap();
    let absolute = dir.path("secret");
    let absolute = absolute.to_str().unwrap();
    let by_top = format!("top{absolute}");
    let paths =
        ["../secret", "e/../../secret", absolute, "link", "relative", "up/secret", &by_top, "up/d/x", "e/.."];
    let mut list: String = paths.iter().map(|path| line(path, b"1")).collect();
    let mut shown: String = paths.iter().map(|path| format!("{path}: FAILED open or read\n")).collect();
    list += &line("x", b"1");
    shown += "x: OK\n";
    let run = dir.ftk(["hash", "-c", "--root", "d"]).stdin(list.as_bytes()).run().status(2).stdout(&shown);
    run.stderr_has("ftk: cannot open '../secret': the path leads out of the directory\n").stderr_has(
        "ftk: cannot open 'up/secret': the path contains a symbolic link, which --root does not follow\n",
    );
    let json = dir.ftk(["hash", "-c", "--root", "d", "--json"]).stdin(list.as_bytes()).run().status(2);
    let found = json.text().lines().filter(|line| line.contains("\"found\"")).count();
    json.check(found == 1, "only the file below the root was read");
}

/// The same without `openat2`, the call that confines a path.
#[test]
fn h25_root_confines_without_openat2() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("secret", b"1").file("d/e/x", b"1").dir("d");
    symlink("..", dir.path("d/up")).unwrap();
    let list = line("up/secret", b"1") + &line("e/x", b"1");
    let run = dir.ftk(["hash", "-c", "--root", "d", "-j", "1"]).stdin(list.as_bytes());
    let run =
        run.under(&dir, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=openat2:error=ENOSYS"]);
    run.stdin(list.as_bytes()).run().status(2).stdout("up/secret: FAILED open or read\ne/x: OK\n");
}

/// FIFOs and devices that a list names are never opened, since opening alone can have effects.
#[test]
fn h25_h35_a_list_opens_no_fifo_and_no_device() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("x", b"1").fifo("fifo").socket("socket").symlink("fifo", "link").symlink("/dev/zero", "zero");
    let names = ["fifo", "socket", "link", "zero", "/dev/tty", "/dev/zero", "x"];
    let list: String = names.iter().map(|name| line(name, b"1")).collect();
    dir.file("list", list.as_bytes());
    let shown: String = names[..6].iter().map(|name| format!("{name}: FAILED open or read\n")).collect();
    for io in ["sync", "auto"] {
        let log = dir.aside("log");
        let run = dir.ftk(["hash", "-c", "--io", io, "list"]);
        let wrapper = ["strace", "-f", "-qq", "-e", "trace=openat,open,openat2", "-o", log.to_str().unwrap()];
        let run = run.under(&dir, wrapper).run().status(2).stdout(format!("{shown}x: OK\n"));
        let log = fs::read_to_string(log).unwrap();
        run.check(log.contains("\"x\""), "opened files are in the log");
        for name in &names[..6] {
            let name = name.rsplit('/').next().unwrap();
            run.check(!log.contains(&format!("\"{name}\"")), name);
        }
    }
}

/// Checking garbage, an empty file or another kind of file fails.
#[test]
fn h26_files_that_are_not_checksum_lists_are_errors() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let good = line("x", b"1");
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xff\xfe", &utf16[..]].concat();
    for (list, why) in [
        (&b""[..], ": it is empty"),
        (b"\n\n", ""),
        (b"# only a comment\n", ""),
        (b"nonsense\n", " (line 1: neither "),
        (&utf16, ": it is a text in UTF-16"),
        (&marked, ": it is a text in UTF-16"),
        (b"\x1f\x8b\x08\0", ": it is compressed with gzip"),
        (b"\x28\xb5\x2f\xfd", ": it is compressed with zstd"),
        (b"{\"format\":\"ftk-manifest\"}\n", ": it is JSON, like a manifest or a report"),
    ] {
        for flags in [&[][..], &["--status"], &["--ignore-missing"], &["-q"]] {
            let run = dir.ftk(["hash", "-c"]).args(flags).stdin(list).run().status(2).stdout("");
            run.stderr_has(&format!("ftk: '-': no properly formatted checksum lines found{why}"));
        }
    }
    let program = &fs::read(env!("CARGO_BIN_EXE_ftk")).unwrap()[..5000];
    for (list, why) in [
        (&b"\0\0\0\0"[..], "a NUL in the line"),
        (program, "a NUL in the line"),
        (&good.as_bytes()[..40], "no file name"),
    ] {
        let run = dir.ftk(["hash", "-c", "--status"]).stdin(list).run().status(2).stdout("");
        run.stderr_has(&format!("ftk: '-', line 1: cannot check it: {why}"));
    }
    dir.ftk(["hash", "-c", "-a", "md5"]).stdin(good.as_bytes()).run().status(2).stdout("");
    // A byte order mark hides one line, even if other lines follow.
    let marked = format!("\u{feff}{good}{good}");
    let run = dir.ftk(["hash", "-c"]).stdin(marked.as_bytes()).run().status(2).stdout("x: OK\n");
    run.stderr_has("ftk: '-', line 1: cannot check it: byte order mark at the start of the line\n");
    // At least one of two different digests of one path fails.
    let twice = good.clone() + &line("x", b"2");
    dir.ftk(["hash", "-c"]).stdin(twice.as_bytes()).run().status(1).stdout("x: OK\nx: FAILED\n");
}

/// An unreadable file is named and sets the status; the other files are checked.
#[test]
fn h27_h53_an_unreadable_file_is_not_intact() {
    let dir = Dir::new();
    dir.file("a", b"1").file("locked", b"tampered").file("d/x", b"1").file("z", b"1");
    let list = line("a", b"1") + &line("locked", b"1") + &line("d/x", b"1") + &line("z", b"1");
    dir.file("list", list.as_bytes()).lock("locked").lock("d");
    for threads in ["1", "2"] {
        let run = dir.ftk(["hash", "-c", "-j", threads, "list"]).unprivileged(&dir).run().status(2);
        run.stdout("a: OK\nlocked: FAILED open or read\nd/x: FAILED open or read\nz: OK\n")
            .stderr_has("ftk: cannot open 'locked': permission denied\n")
            .stderr_has("ftk: cannot open 'd/x': permission denied\n")
            .stderr_has("  2 ok, 2 unreadable, ");
    }
    for flags in [&["--status"][..], &["-q"], &["--ignore-missing"], &["--json"], &["--root", "."]] {
        dir.ftk(["hash", "-c", "list"]).args(flags).unprivileged(&dir).run().status(2);
    }
}

/// A check detects every kind of change, except those that the documentation names.
#[test]
fn h28_a_check_detects_every_change_of_content() {
    for (change, status) in [
        ("true", 0),
        ("printf 'content of y' > d/x", 1),
        ("printf 'content of' > d/x", 1),
        (": > d/x", 1),
        ("rm d/x", 1),
        ("mv d/x d/z", 1),
        ("mv d/x d/z; mv d/y d/x; mv d/z d/y", 1),
        ("rm d/x; mkdir d/x", 2),
        ("rm d/x; mkfifo d/x", 2),
    ] {
        let dir = Dir::new();
        dir.file("d/x", b"content of x").file("d/y", b"content of Y");
        let list = dir.ftk(["hash", "."]).run().out;
        dir.ftk([""; 0]).instead(&dir, ["sh", "-c", change]).run().status(0);
        let code = dir.ftk(["hash", "-c"]).stdin(&list).run().code();
        assert_eq!(code, status, "{change}");
    }
    // Only --new reports added files.
    let dir = Dir::new();
    dir.file("x", b"1");
    let list = dir.ftk(["hash", "."]).run().out;
    dir.file("added", b"1");
    dir.ftk(["hash", "-c"]).stdin(&list).run().status(0);
    dir.ftk(["hash", "-c", "--new"]).stdin(&list).run().status(1).stdout("./x: OK\n./added: NEW\n");
}

/// Checking a truncated list fails, wherever in a line it was cut. (The coreutils only count a half line
/// among good ones as improperly formatted.)
#[test]
fn h29_checking_a_truncated_list_fails() {
    let dir = Dir::new();
    dir.file("one", b"1").file("two", b"2");
    for tag in [&[][..], &["--tag"]] {
        let list = dir.ftk(["hash", "one", "two"]).args(tag).run().out;
        let first = list.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for cut in first + 1..list.len() - 1 {
            let code = dir.ftk(["hash", "-c", "--status"]).stdin(&list[..cut]).run().code();
            assert_ne!(code, 0, "{}", list[..cut].escape_ascii());
        }
        // If only the last newline is missing, the list is complete.
        dir.ftk(["hash", "-c", "--status"]).stdin(&list[..list.len() - 1]).run().status(0);
    }
    let list = line("one", b"1") + "abc";
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2).stdout("one: OK\n");
    run.stderr_has("ftk: '-' is incomplete: its last line is cut off\n");
}

/// A file that is written to while it is checked is an error, neither OK nor FAILED for its content.
#[test]
fn h34_a_file_that_changes_is_an_error() {
    let dir = Dir::on_disk();
    dir.zeros("growing", 400 << 20).file("x", b"1");
    let list = format!("{}  growing\n{}", "0".repeat(64), line("x", b"1"));
    dir.file("list", list.as_bytes());
    let paused = Paused::when(dir.ftk(["hash", "-c", "-j", "1", "--io", "sync", "list"]), |child| {
        has_read(child) >= 20 << 20
    });
    fs::File::options().write(true).open(dir.path("growing")).unwrap().set_len(401 << 20).unwrap();
    let output = paused.go_on();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(output.stdout, b"growing: FAILED open or read\nx: OK\n", "{err}");
    assert!(err.contains("ftk: cannot check 'growing': it changed while being read\n"), "{err}");
    assert!(err.contains("  1 ok, 1 changed, "), "{err}");
}

/// Characters of patterns have no meaning in a list.
#[test]
fn h50_listed_names_are_not_patterns() {
    let dir = Dir::new();
    dir.file("brack", b"2");
    for name in ["br[a]ck", "*", "?", "{a,b}", "~", "$HOME"] {
        dir.ftk(["hash", "-c"]).stdin(line(name, b"1").as_bytes()).run().status(1);
        dir.file(name, b"1");
        let run = dir.ftk(["hash", "-c"]).stdin(line(name, b"1").as_bytes()).run().status(0);
        run.stdout(format!("{name}: OK\n"));
    }
    dir.file("br[a]ck.list", line("*", b"1").as_bytes());
    dir.ftk(["hash", "-c", "br[a]ck.list"]).run().status(0).stdout("*: OK\n");
}
