//! Mounts inside a tree.

use crate::harness::{Dir, Mounted, bytes, needs};

/// A directory that is mounted below itself counts once, as in GNU du. It is not an error in either.
#[test]
fn a_directory_that_contains_itself_counts_once() {
    needs!("du");
    let dir = Dir::new();
    dir.file("a/b/covered", &bytes(1, 9000)).file("a/f", &bytes(2, 5000)).dir("a/b/c");
    let bind = ["--bind".into(), dir.path("a").into_os_string()];
    let Some(_bound) = Mounted::at(&dir.path("a/b"), bind) else { return };
    for more in [&["-d9"][..], &["-aL"], &["-s"], &["-h", "-d2"]] {
        let args = [&["--apparent-size", "a"], more].concat();
        let theirs =
            dir.ftk([] as [&str; 0]).instead(&dir, ["du", "--block-size=1"]).args(&args).run().status(0);
        let ours = dir.ftk(["du"]).args(&args).run().status(0);
        let sorted = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        ours.check(sorted(ours.text()) == sorted(theirs.text()), "not what GNU du counts");
        ours.stderr_has("skipped: 1 repeated directory path\n").stderr_lacks("ftk: ");
    }
    let run = dir.ftk(["du", "--format", "ncdu", "a"]).run().status(0).stderr_lacks("ftk: ");
    run.check(!run.text().contains("\"b\""), "the directory is not written again");
}

/// An overlay shows files with other devices than their directories. `-x` counts them: nothing is mounted there.
#[test]
fn files_of_overlays_count_with_their_directories() {
    let Some(disk) = Mounted::new("tmpfs") else { return };
    let Some(upper) = Mounted::new("tmpfs") else { return };
    let dir = Dir::new();
    for name in ["lower/d", "view"] {
        std::fs::create_dir_all(disk.path(name)).unwrap();
    }
    for name in ["up", "work"] {
        std::fs::create_dir(upper.path(name)).unwrap();
    }
    std::fs::write(disk.path("lower/f"), bytes(1, 100)).unwrap();
    std::fs::write(disk.path("lower/d/g"), bytes(2, 9000)).unwrap();
    let path = |disk: &Mounted, name: &str| disk.path(name).into_os_string().into_string().unwrap();
    let (lower, up, work) = (path(&disk, "lower"), path(&upper, "up"), path(&upper, "work"));
    let options = format!("lowerdir={lower},upperdir={up},workdir={work},xino=off");
    let view = disk.path("view");
    let Some(_overlay) = Mounted::at(&view, ["-t", "overlay", "-o", &options, "none"]) else { return };
    dir.file("elsewhere", &bytes(3, 5000));
    let du = |more: &[&str]| {
        let run = dir
            .ftk(["du", "-s", "--apparent-size", "-t", "f", "--json"])
            .args(more)
            .arg(&view)
            .run()
            .status(0);
        serde_json::from_str::<serde_json::Value>(run.text()).unwrap()["apparent_bytes"].as_u64().unwrap()
    };
    assert_eq!(du(&[]), 9100);
    assert_eq!(du(&["-x"]), 9100);
    // A file on which another one is mounted does not count.
    let bind = ["--bind".into(), dir.path("elsewhere").into_os_string()];
    let Some(_bound) = Mounted::at(&view.join("f"), bind) else { return };
    assert_eq!(du(&[]), 14_000);
    assert_eq!(du(&["-x"]), 9000);
}
