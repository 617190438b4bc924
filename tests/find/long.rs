//! `--long`, `--hyperlink` and `--group-by`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{Dir, Run, bytes, needs};

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a.jpg", &bytes(1, 6000)).file("d/b.JPG", &bytes(2, 2000)).file("d/c.txt", &bytes(3, 1000));
    dir.file("d/none", &bytes(4, 1000)).symlink("a.jpg", "link").hard_link("d/c.txt", "d/d.txt");
    fs::set_permissions(dir.path("a.jpg"), Permissions::from_mode(0o4751)).unwrap();
    for (nth, name) in ["a.jpg", "d/b.JPG", "d/c.txt", "d/none"].into_iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(31_622_400 * nth as u64 + 3_600);
        File::open(dir.path(name)).unwrap().set_modified(time).unwrap();
    }
    dir
}

fn on_a_terminal(dir: &Dir, args: &str) -> Run {
    let shell = format!("{} {args}", env!("CARGO_BIN_EXE_ftk"));
    dir.ftk([] as [&str; 0]).instead(dir, ["script", "-qec", &shell, "/dev/null"]).run()
}

#[test]
fn long_lines_say_what_ls_says() {
    needs!("stat");
    let dir = tree();
    let names = dir.ftk([] as [&str; 0]).instead(&dir, ["stat", "-c", "%U %G", "a.jpg"]).run().status(0);
    let (user, group) = names.text().trim().split_once(' ').unwrap();
    let owner = format!("{user:<8} {group:<8}");
    let run = dir.ftk(["find", "-l", "-t", "f,l", "--sort", "a.jpg", "d"]).run().status(0);
    run.stdout(format!(
        "-rwsr-x--x   1 {owner}         6000 1970-01-01 01:00 a.jpg\n\
         -rw-r--r--   1 {owner}         2000 1971-01-02 01:00 d/b.JPG\n\
         -rw-r--r--   2 {owner}         1000 1972-01-03 01:00 d/c.txt\n\
         -rw-r--r--   2 {owner}         1000 1972-01-03 01:00 d/d.txt\n\
         -rw-r--r--   1 {owner}         1000 1973-01-03 01:00 d/none\n"
    ));
    let run = dir.ftk(["find", "-l", "--human-readable", "a.jpg"]).run().status(0);
    run.stdout(format!("-rwsr-x--x   1 {owner}  5.9K 1970-01-01 01:00 a.jpg\n"));
    let run = dir.ftk(["find", "--long", "-0", "link"]).run().status(0);
    run.check(
        run.text().starts_with("lrwxrwxrwx   1 ") && run.text().ends_with(" link -> a.jpg\0"),
        "the target",
    );
}

#[test]
fn names_and_targets_cannot_act_on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    dir.raw_file(b"\x1b[31mred\n", b"").symlink("\x1b]0;title\x07", "link");
    let run = on_a_terminal(&dir, "find -l --color never --sort").status(0);
    run.check(!run.out.contains(&0x1b) && !run.out.contains(&7), "escaped");
    let run = on_a_terminal(&dir, "find --color never --hyperlink --sort").status(0);
    let sequences = run.text().matches('\x1b').count();
    run.check(sequences == 4 * 3 && run.text().matches("\x1b]8;;").count() == 2 * 3, "only links");
    run.check(run.text().contains("/%1B%5B31mred%0A\x1b\\"), "encoded");
}

#[test]
fn links_lead_to_absolute_paths() {
    needs!("script");
    let dir = tree();
    let root = dir.path("").canonicalize().unwrap();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let run = dir.ftk(["find", "--hyperlink=always", "d/none"]).run().status(0);
    run.stdout(format!("\x1b]8;;file://{host}{}/d/none\x1b\\d/none\x1b]8;;\x1b\\\n", root.display()));
    let path = root.join("d/none");
    let run = dir.ftk(["find", "--hyperlink=always"]).arg(&path).run().status(0);
    run.stdout(format!("\x1b]8;;file://{host}{0}\x1b\\{0}\x1b]8;;\x1b\\\n", path.display()));
    for args in
        [&["--hyperlink"][..], &["--hyperlink=auto"], &["--hyperlink=never"], &["--hyperlink=always", "-0"]]
    {
        let run = dir.ftk(["find", "d/none"]).args(args).run().status(0);
        run.check(!run.out.contains(&0x1b), "no link");
    }
    let run = on_a_terminal(&dir, "find d/none --hyperlink=never --color never").status(0);
    run.check(!run.out.contains(&0x1b), "no link");
}

#[test]
fn groups() {
    let dir = tree();
    let run = |args: &[&str]| dir.ftk(["find", "-t", "f"]).args(args).run().status(0);
    let extensions = "8000\t2\t72.73\tjpg\n2000\t2\t18.18\ttxt\n1000\t1\t9.09\t\n";
    for threads in ["mono", "8"] {
        run(&["-j", threads, "--group-by", "extension"]).stdout(extensions);
    }
    run(&["--group-by", "extension", "--max-results", "1"]).stdout("8000\t2\t72.73\tjpg\n");
    run(&["--group-by=type"]).stdout("11000\t5\t100.00\tfile\n");
    run(&["--group-by=depth"]).stdout("6000\t1\t54.55\t1\n5000\t4\t45.45\t2\n");
    run(&["--group-by=directory"]).stdout("6000\t1\t54.55\t.\n5000\t4\t45.45\t./d\n");
    run(&["--group-by=directory", "a.jpg", "d/none"]).stdout("6000\t1\t85.71\t.\n1000\t1\t14.29\td\n");
    run(&["--group-by=year"])
        .stdout("6000\t1\t54.55\t1970\n2000\t2\t18.18\t1972\n2000\t1\t18.18\t1971\n1000\t1\t9.09\t1973\n");
    run(&["--group-by=year", "-0", "--human-readable", "d/none"]).stdout("1000\t1\t100.00\t1973\0");
    let by = |more: &[&str]| run(&[&["--group-by", "depth"], more].concat());
    let (one, two) = ("6000\t1\t54.55\t1\n", "5000\t4\t45.45\t2\n");
    for (sort, first, last) in [
        ("--sort", one, two),
        ("--sort=name", one, two),
        ("--sort=size", two, one),
        ("--sort=count", one, two),
    ] {
        by(&[sort]).stdout([first, last].concat());
        by(&[sort, "--reverse"]).stdout([last, first].concat());
        by(&[sort, "--max-results", "1"]).stdout(first);
    }
    dir.ftk(["find", "--group-by=depth", "--sort=mtime"]).run().status(2).stderr_has("--sort=count");
    dir.ftk(["find", "--sort=count"]).run().status(2).stderr_has("--sort=count needs --group-by");
    let owner = run(&["--group-by=owner", "--json"]);
    let owner: Value = serde_json::from_str(owner.text()).unwrap();
    assert_eq!(
        (&owner["by"], &owner["count"], &owner["size_bytes"]),
        (&"owner".into(), &5.into(), &11_000.into())
    );
    let json = run(&["--group-by=extension", "--json"]);
    let last: Value = serde_json::from_str(json.text().lines().last().unwrap()).unwrap();
    assert!(
        last["key"].is_null()
            && last["count"] == 1
            && (last["share"].as_f64().unwrap() - 1.0 / 11.0).abs() < 1e-9
    );
    dir.ftk(["find", "--group-by", "color"])
        .run()
        .status(2)
        .stderr_has("extension, type, owner, year, depth, directory");
    dir.ftk(["find", "--human-readable"]).run().status(2).stderr_has("needs --long or --group-by");
}

#[test]
fn groups_on_a_terminal_have_bars() {
    needs!("script");
    let dir = tree();
    let run = on_a_terminal(&dir, "find -t f --group-by extension").status(0);
    let expected = "
   8.0 kB   73 %  ━━━━━━━━━━━━━━━━━━━━            2  jpg
   2.0 kB   18 %  ━━━━━                           2  txt
   1.0 kB    9 %  ━━                              1  (no extension)
";
    assert_eq!(format!("\n{}", run.text().replace('\r', "")), expected);
    dir.raw_file(b"x.\x1b[31m", b"");
    let run = on_a_terminal(&dir, "find --group-by extension").status(0);
    run.check(!run.out.contains(&0x1b), "escaped");
}
