//! The free space at the end of the summary.

use std::fs;

use crate::harness::{Dir, Mounted, bytes, needs};

/// `df` of GNU says what is free for users.
fn df(dir: &Dir, path: &std::path::Path) -> [u64; 2] {
    let run = dir.ftk([] as [&str; 0]).instead(dir, ["df", "-B1", "--output=avail,size"]).arg(path).run();
    let run = run.status(0);
    let mut numbers = run.text().lines().nth(1).unwrap().split_whitespace().map(|it| it.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

/// Formats like `du -h`, for sizes of whole mebibytes.
fn mebi(bytes: u64) -> String {
    assert_eq!(bytes % (1 << 20), 0);
    format!("{}M", bytes >> 20)
}

#[test]
fn one_file_system_ends_the_summary() {
    needs!("df");
    let dir = Dir::new();
    let point = dir.path("t");
    fs::create_dir(&point).unwrap();
    let Some(_disk) = Mounted::at(&point, ["-t", "tmpfs", "-o", "size=64M", "none"]) else { return };
    dir.file("t/a/x", &bytes(1, 5 << 20)).file("t/y", b"");
    // A directory is of a few bytes.
    let [free, total] = df(&dir, &point);
    assert_eq!((total, free), (64 << 20, 59 << 20));
    for args in
        [&["du", "-sh", "t"][..], &["du", "-h", "t/a/x"], &["du", "-h", "t", "t/y"], &["du", "-hL", "t/a"]]
    {
        let run = dir.ftk(args).run().status(0);
        run.stderr_has(&format!("; {} of {} free\n", mebi(free), mebi(total)));
    }
    let run = dir.ftk(["du", "t"]).run().status(0).stderr_has("; 62 MB of 67 MB free\n");
    run.check(!run.text().contains("free"), "not in the list");
    let json = dir.ftk(["du", "--json", "t"]).run().status(0).stderr_has("; 62 MB of 67 MB free\n");
    json.check(!json.text().contains("free"), "not in the list");
    dir.ftk(["du", "-q", "t"]).run().status(0).stderr("");
    let old = dir.aside("old");
    dir.ftk(["manifest", "create", "-q", "t", "-o"]).arg(&old).run().status(0);
    dir.ftk(["du", "--from"]).arg(&old).run().status(0).stderr_lacks("free");
    dir.ftk(["du", "--since"]).arg(&old).arg("t").run().status(0).stderr_has("; 62 MB of 67 MB free\n");
    dir.ftk(["du", "--since"]).arg(&old).arg(&old).run().status(0).stderr_lacks("free");
}

#[test]
fn each_of_several_file_systems_has_a_line() {
    let dir = Dir::new();
    dir.dir("t/disk/in").dir("t/same").file("x", b"1");
    let mount = |at: &str, size: &str| Mounted::at(&dir.path(at), ["-t", "tmpfs", "-o", size, "none"]);
    let Some(_outer) = mount("t", "size=32M") else { return };
    dir.dir("t/disk").dir("t/same").dir("t/bound").dir("t/proc");
    let Some(_inner) = mount("t/disk", "size=16M") else { return };
    let bind = ["--bind".into(), dir.path("t/same").into_os_string()];
    let Some(_bound) = Mounted::at(&dir.path("t/bound"), bind) else { return };
    let Some(_proc) = Mounted::at(&dir.path("t/proc"), ["-t", "proc", "none"]) else { return };
    let run = dir.ftk(["du", "-sh", "t"]).run().status(0);
    let lines =
        "\n  32M of 32M free on the file system of 't'\n  16M of 16M free on the file system of 't/disk'\n";
    run.check(run.err.ends_with(lines), "the outer and the inner one");
    dir.ftk(["du", "-shx", "t"]).run().status(0).stderr_has("; 32M of 32M free\n").stderr_lacks("16M");
    dir.ftk(["du", "-sh", "t/disk", "t/same"])
        .run()
        .status(0)
        .stderr_has(lines.replace("'t'", "'t/same'").lines().nth(1).unwrap());
    // A pseudo file system has no space.
    dir.ftk(["du", "-sh", "t/proc/self/fd"]).run().stderr_lacks("free");
}

/// Subvolumes have their own device numbers, and share the space.
#[test]
fn subvolumes_are_one_file_system() {
    let Some(disk) = Mounted::new("btrfs") else { return };
    let dir = Dir::new();
    let subvolume = dir.ftk([] as [&str; 0]).instead(&dir, ["btrfs", "-q", "subvolume", "create"]);
    subvolume.arg(disk.path("sub")).run().status(0);
    fs::write(disk.path("sub/x"), b"1").unwrap();
    let run = dir.ftk(["du", "-s"]).arg(disk.path("")).run().status(0).stderr_lacks("on the file system");
    run.stderr_has(" MB of 537 MB free\n");
}
