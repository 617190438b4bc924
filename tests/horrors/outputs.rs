//! Output that is written into its own input, or cannot be written.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::commands::{Scene, every};
use crate::harness::{Dir, has, needs, records, sha256, sorted};

/// The output file is skipped in the tree that is scanned, and counted in the summary.
#[test]
fn h17_output_inside_the_tree() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"an old list");
    let expected = format!("{}  ./x\n", sha256(b"abc"));
    for _ in 0..2 {
        for plan in [["-j", "mono"], ["-j", "8"]] {
            let run = dir.ftk(["hash", ".", "-o", "list"]).args(plan).run().status(0);
            run.stderr_has("skipped: 1 own output file");
            assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), expected);
        }
    }
    fs::remove_file(dir.path("list")).unwrap();
    dir.ftk(["hash", ".", "-o", "list"]).run().status(0);
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), expected);
}

#[test]
fn h17_standard_output_inside_the_tree() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let list = || File::create(dir.path("list")).unwrap();
    let run = dir.ftk(["hash", "."]).stdout(list()).run().status(0);
    run.stderr_has("skipped: 1 own output file");
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), format!("{}  ./x\n", sha256(b"abc")));
    for sorting in [&[][..], &["--sort"]] {
        let run = dir.ftk(["find", "-t", "f"]).args(sorting).stdout(list()).run().status(0);
        run.stderr_has("skipped: 1 own output file");
        assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), "./x\n");
    }
    // Hard links of the output file are skipped, too.
    dir.hard_link("list", "also");
    let appended = File::options().append(true).open(dir.path("list")).unwrap();
    let run = dir.ftk(["hash", "."]).stdout(appended).run().status(0);
    run.stderr_has("skipped: 2 own output files");
}

/// An input file that is also the output file is an error before anything is written.
#[test]
fn h17_an_input_that_is_also_the_output_is_an_error() {
    let dir = Dir::new();
    dir.file("disk.img", b"precious").symlink("disk.img", "link");
    for arguments in [["disk.img", "disk.img"], ["link", "disk.img"], ["disk.img", "link"]] {
        let run = dir.ftk(["hash", "-o", arguments[0], arguments[1]]).run().status(2).stdout("");
        run.stderr_has("is both input and output");
        assert_eq!(fs::read(dir.path("disk.img")).unwrap(), b"precious");
    }
}

/// A limit of file sizes (`ulimit -f`) is an error like a full disk, and not a signal that ends ftk. Commands of `--exec` are
/// ended by it as usual.
#[test]
fn h47_a_limit_of_file_sizes_is_an_error() {
    let dir = Dir::new();
    (0..100).for_each(|nth| _ = dir.file(format!("t/{nth}"), b"same"));
    let limited = ["sh", "-c", "ulimit -f 1; exec \"$@\" > out", "sh"];
    for (args, message) in [
        (&["hash", "t"][..], "ftk: cannot write to standard output: file too large\n"),
        (&["hash", "t", "-o", "list"], "ftk: cannot write 'list': file too large\n"),
        (&["manifest", "create", "t", "-o", "list"], "ftk: cannot write 'list': file too large\n"),
    ] {
        dir.ftk(args).under(&dir, limited).run().status(2).stderr_has(message);
        assert!(!dir.path("list").exists());
    }
    // The steps before the journal was full were carried out, and can be undone.
    let prune = ["dup", "prune", "t", "--action", "delete", "--yes", "--journal", "journal"];
    dir.ftk(prune).under(&dir, limited).run().status(2).stderr_has("file too large");
    dir.ftk(["undo", "journal"]).run().status(0);
    assert_eq!(fs::read_dir(dir.path("t")).unwrap().count(), 100);
    let exec = ["find", "t/1", "--exec", "sh", "-c", "yes > new; echo $?"];
    let run = dir.ftk(exec).under(&dir, ["sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"]).run().status(0);
    run.stdout(format!("{}\n", 128 + 25));
}

/// A full disk is an error for every command and output: standard output, files, pages and stats.
#[test]
fn h47_write_errors_of_every_command_are_reported() {
    let scene = Scene::new(|dir, tree| {
        (0..300).for_each(|nth| _ = dir.file(format!("{tree}/{nth}"), format!("{tree}{nth}").as_bytes()));
        dir.file(format!("{tree}/same"), b"of all");
    });
    let dir = &scene.dir;
    dir.ftk(["hash", "u", "-o", "../other"]).run().status(0);
    dir.ftk(["manifest", "create", "u", "-o", "../more"]).run().status(0);
    dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let more: [&[&str]; 42] = [
        &["dup", "-0"],
        &["dup", "--format", "csv"],
        &["dup", "--summary"],
        &["dup", "prune", ".", "--action", "hardlink", "--json"],
        &["dup", "prune", ".", "--action", "hardlink", "--script"],
        &["cmp", "-l", "t/1", "t/2"],
        &["cmp", "--ranges", "t/1", "t/2"],
        &["cmp", "--json", "t/1", "t/2"],
        &["cmp", "--max-mismatches", "0", "t/1", "t/2"],
        &["find", "-0"],
        &["find", "-c"],
        &["find", "-j", "8"],
        &["hash", "--json", "."],
        &["hash", "t/1"],
        &["hash", "-"],
        &["hash", "-j", "8", "-a", "md5", "."],
        &["manifest", "create", "--no-content", "-j", "4", "."],
        &["manifest", "verify", "u", "../manifest"],
        &["manifest", "verify", "u", "../manifest", "--json"],
        &["manifest", "diff", "../manifest", "../more", "--json"],
        &["manifest", "unique", "../manifest", "../more", "-0"],
        &["find", "--json"],
        &["find", "--format", "{size} {path}"],
        &["find", "--exec", "echo", "{}", ";"],
        &["hash", "-z", "t"],
        &["hash", "-a", "md5,sha1", "t"],
        &["hash", "--lines", "t/1"],
        &["hash", "-c", "--json", "../list"],
        &["hash", "--diff", "../list", "../other"],
        &["hash", "--diff", "--json", "../list", "../other"],
        &["dup", "--json"],
        &["dup", "apply", "--action", "delete", "../report"],
        &["dup", "apply", "--action", "delete", "--script", "../report"],
        &["manifest", "verify", "--all", "t", "../manifest"],
        &["manifest", "diff", "../manifest", "../more"],
        &["manifest", "unique", "--json", "../manifest", "../more"],
        &["cmp", "t", "u"],
        &["cmp", "t/1", "t/2"],
        &["calibrate", "--show"],
        &["completions", "bash"],
        &["hash", "--help"],
        &["--version"],
    ];
    for args in every().filter(|args| args[1] != "verify").chain(more) {
        let run = dir.ftk(args).stdout(full()).run();
        run.check(run.code() == 2, "it is an error");
        let is_page = ["--help", "--version", "completions"].iter().any(|page| args.contains(page));
        let message = match args.contains(&"--exec") {
            true => "no space left on device",
            false => "ftk: cannot write to standard output: no space left on device\n",
        };
        run.check(is_page || run.err.contains(message), "the error is printed");
        // The same for standard output that is closed.
        let run = dir.ftk(args).under(dir, ["sh", "-c", "exec \"$@\" >&-", "sh"]).run();
        run.check(run.code() == 2, "it is an error");
        run.check(run.err.contains("cannot write to standard output: it is closed"), "the error is printed");
    }
    for args in every().chain([&["cmp", "t", "u"][..], &["dup", "--summary"]]) {
        let run = dir.ftk(args).args(["--stats", "/dev/full"]).run().status(2);
        run.stderr_has("ftk: cannot write '/dev/full': no space left on device\n");
    }
    // Nothing is written with -q.
    dir.ftk(["cmp", "-s", "t/1", "t/2"]).stdout(full()).run().status(1);
    for args in [
        &["dup"][..],
        &["hash", "t"],
        &["hash", "--json", "t"],
        &["hash", "-"],
        &["manifest", "create", "t"],
        &["manifest", "update", "t", "../manifest"],
    ] {
        let run = dir.ftk(args).args(["-o", "/dev/full"]).run().status(2).stdout("");
        run.stderr_has("ftk: cannot write '/dev/full': no space left on device\n");
    }
    // If the journal cannot be written, nothing is changed.
    fs::create_dir(dir.path("full")).unwrap();
    let limited = dir.ftk(["dup", "prune", ".", "--action", "delete", "--yes", "--journal", "/dev/full"]);
    limited.run().status(2);
    assert!(dir.path("t/same").exists() && dir.path("u/same").exists());
    // What was done before the error is in the journal.
    let run = dir.ftk(["dup", "prune", ".", "--action", "hardlink", "--yes"]).stdout(full()).run().status(2);
    run.stderr_has("  linked ");
}

/// Output files can have names of the maximum length, although they are written under other names first.
#[test]
fn h07_output_names_of_maximum_length() {
    let dir = Dir::new();
    dir.file("t/a", b"abc").file("t/b", b"abc");
    let long = |letter: char| letter.to_string().repeat(255);
    for args in [
        &["hash", "t", "-o", &long('h')][..],
        &["dup", "t", "-o", &long('d')],
        &["manifest", "create", "t", "-o", &long('m')],
        &["manifest", "update", "t", &long('m'), "-o", &long('m')],
        &["find", "t", "--stats", &long('s')],
        &["dup", "prune", "t", "--action", "hardlink", "--yes", "--journal", &long('j')],
    ] {
        dir.ftk(args).run().status(0);
    }
    let names = fs::read_dir(dir.path("")).unwrap().map(|entry| entry.unwrap().file_name().len());
    let mut lengths: Vec<_> = names.collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 255, 255, 255, 255, 255]);
    dir.ftk(["manifest", "verify", "t", &long('m'), "--ignore", "mtime,links"]).run().status(0);
    dir.ftk(["hash", "-c", &long('h')]).run().status(0);
    dir.ftk(["dup", "undo", &long('j')]).run().status(0);
}

/// System calls that a reading command must not make. Opens are judged by their flags.
const CHANGES: &str = "trace=open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,\
    unlinkat,mkdir,mkdirat,rmdir,mknod,mknodat,truncate,ftruncate,fallocate,chmod,fchmod,fchmodat,chown,fchown,fchownat,\
    lchown,utimensat,setxattr,fsetxattr,lsetxattr,removexattr,ioctl,copy_file_range";

/// A command that only reads changes nothing and creates no files that the user did not ask for.
#[test]
fn h15_h16_reading_commands_change_nothing() {
    needs!("strace", "find");
    let scene = Scene::new(|dir, tree| {
        dir.file(format!("{tree}/a"), b"abc")
            .file(format!("{tree}/b"), b"abc")
            .symlink("a", &format!("{tree}/c"));
    });
    let dir = &scene.dir;
    dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
    let everything = || {
        let find = ["find", "..", "-printf", "%p %i %n %s %m %U %G %T@ %C@ %l\\0"];
        sorted(records(&dir.ftk([""; 0]).instead(dir, find).run().status(0).out, 0))
    };
    let log = dir.aside("log");
    fs::write(&log, "").unwrap();
    let is_log = |record: &Vec<u8>| record.starts_with(b"../log ") || record.starts_with(b".. ");
    let without_log = || everything().into_iter().filter(|record| !is_log(record)).collect::<Vec<_>>();
    let before = without_log();
    let more: [&[&str]; 9] = [
        &["dup", "--json", "--verify", "t"],
        &["dup", "prune", "--action", "hardlink", "t"],
        &["dup", "apply", "--action", "hardlink", "../report"],
        &["dup", "prune", ".", "--action", "delete", "--script"],
        &["hash", "--diff", "../list", "../list"],
        &["manifest", "diff", "../manifest", "../manifest"],
        &["manifest", "unique", "../manifest", "../manifest"],
        &["cmp", "--metadata", "t/a", "t/b"],
        &["calibrate", "--show"],
    ];
    for args in every().chain(more) {
        let strace = ["strace", "-f", "-qq", "-e", CHANGES, "-o", log.to_str().unwrap()];
        dir.ftk(args).under(dir, strace).run();
        let calls = fs::read_to_string(&log).unwrap();
        let is_harmless = |line: &&str| {
            let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
            let reads = has(&["O_RDONLY", "O_PATH"]) && !has(&["O_CREAT", "O_TMPFILE", "O_TRUNC"]);
            let whole_map = "FS_IOC_FIEMAP, {fm_start=0, fm_length=18446744073709551615, fm_flags=0,";
            let asks = line.contains(" ioctl(") && has(&["TCGETS", "TIOCGWINSZ", whole_map]);
            has(&["+++", "---", "<..."]) || (line.contains(" open") && reads) || asks
        };
        let (harmless, changes): (Vec<_>, Vec<_>) = calls.lines().partition(is_harmless);
        assert!(harmless.len() > 2, "strace saw the run");
        assert!(changes.is_empty(), "{args:?}: {changes:#?}");
        assert_eq!(without_log(), before, "{args:?}");
    }
}

/// A new output inherits the default access control list of its directory, and the permissions of the old one would make
/// that list effective.
#[test]
fn an_output_that_is_replaced_gets_no_access_list_of_another_user() {
    if !rustix::process::geteuid().is_root() || !has("setfacl") {
        return;
    }
    const USER: u32 = 65534;
    for dir in [Dir::new(), Dir::on_disk()] {
        dir.file("x", b"abc").dir("u");
        chown(dir.path("u"), Some(USER), Some(USER)).unwrap();
        let hash = || dir.ftk(["hash", "x", "-o", "u/list"]).run().status(0);
        hash();
        fs::set_permissions(dir.path("u/list"), Permissions::from_mode(0o660)).unwrap();
        let as_user = |script: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).current_dir(dir.path("")).uid(USER).gid(USER);
            shell.output().unwrap().status.success()
        };
        assert!(as_user("setfacl -d -m u:65534:rwx u") && !as_user("cat u/list"));
        hash();
        assert!(!as_user("cat u/list") && !as_user("echo >>u/list"));
        assert_eq!(fs::read_to_string(dir.path("u/list")).unwrap(), format!("{}  x\n", sha256(b"abc")));
    }
}
