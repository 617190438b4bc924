//! Snapshots of one tree: files that a snapshot shares with the recorded one are not read again.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, UNIX_EPOCH};

use regex::Regex;
use serde_json::Value;

use super::records::{Manifest, lines, lines_with_trees, seal};
use crate::harness::{Dir, Image, Mounted, bytes};

/// A Btrfs file system, mounted at `point`, with the subvolume `point/tree` and ten files in it.
pub(crate) struct Scene {
    pub(crate) dir: Dir,
    pub(crate) image: Image,
    pub(crate) mounted: Option<Mounted>,
}

impl Scene {
    pub(crate) fn new() -> Option<Self> {
        let dir = Dir::new();
        let image = Image::new(&dir, "btrfs", 512 << 20)?;
        let mounted = Some(image.mount(&dir, "point")?);
        let scene = Self { dir, image, mounted };
        scene.btrfs(&["subvolume", "create", "point/tree"]);
        for nth in 0..10 {
            scene.write(&format!("tree/d{}/f{nth}", nth % 3), nth);
        }
        Some(scene)
    }

    #[track_caller]
    pub(crate) fn btrfs(&self, args: &[&str]) {
        let run = Command::new("btrfs").arg("-q").args(args).current_dir(self.dir.path("")).output().unwrap();
        assert!(run.status.success(), "{args:?}: {run:?}");
    }

    pub(crate) fn write(&self, path: &str, seed: u64) {
        self.dir.file(format!("point/{path}"), &bytes(seed, 5000));
    }

    /// Makes a read-only snapshot. What was written before is older than the manifests that are made afterwards.
    pub(crate) fn snapshot(&self, of: &str, to: &str) {
        self.btrfs(&["subvolume", "snapshot", "-r", &format!("point/{of}"), &format!("point/{to}")]);
        sleep(Duration::from_millis(60));
    }

    pub(crate) fn create(&self, root: &str) {
        let output = format!("m-{root}");
        self.dir.ftk(["manifest", "create", &format!("point/{root}"), "-o", &output]).run().status(0);
        self.age(root);
    }

    /// Makes a manifest one of a snapshot that was made more than an hour after the last change of its files.
    pub(crate) fn age(&self, name: &str) {
        let path = self.dir.path(format!("m-{name}"));
        let mut lines = lines_with_trees(&path);
        lines[0] = Regex::new(",\"settled_ns\":[0-9]+").unwrap().replace(&lines[0], "").into_owned();
        fs::write(path, seal(&lines)).unwrap();
    }

    /// Updates the manifest of `old` to one of `root`, and returns how many files were read.
    #[track_caller]
    fn update(&self, root: &str, old: &str, args: &[&str]) -> u64 {
        let names = [format!("point/{root}"), format!("m-{old}"), format!("m-{root}")];
        let stats = self.dir.aside("stats");
        let command = ["manifest", "update", &names[0], &names[1], "-o", &names[2], "--force", "--stats"];
        self.dir.ftk(command).arg(&stats).args(args).run().status(0);
        let stats: Value = serde_json::from_slice(&fs::read(stats).unwrap()).unwrap();
        let phases = stats["phases"].as_array().unwrap();
        // Every update of a subvolume gives what a new manifest of it gives.
        self.dir.ftk(["manifest", "create", &names[0], "-o", "full", "--force"]).run().status(0);
        let [new, full] = [&names[2], "full"].map(|name| Manifest::read(&self.dir.path(name)).untimed());
        assert_eq!(new.entries, full.entries, "{root}");
        assert_eq!(new.header["lineage"], full.header["lineage"]);
        assert_eq!(new.header["settled_ns"], full.header["settled_ns"]);
        self.age(root);
        phases.iter().filter(|it| it["phase"] != "walk").filter_map(|it| it["files"].as_u64()).sum()
    }

    pub(crate) fn header(&self, name: &str) -> Value {
        Manifest::read(&self.dir.path(format!("m-{name}"))).header
    }
}

#[test]
fn only_what_changed_between_two_snapshots_is_read() {
    let Some(scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.write("tree/d1/f1", 99);
    scene.write("tree/d1/new", 98);
    fs::remove_file(scene.dir.path("point/tree/d2/f2")).unwrap();
    scene.snapshot("tree", "two");
    assert_eq!(scene.update("two", "one", &[]), 2);
    // From and to the tree itself. It was recorded after the snapshot was made, which may lack what is as young.
    scene.create("tree");
    assert_eq!(scene.update("two", "tree", &[]), 10);
    assert_eq!(scene.update("tree", "two", &[]), 0);
    let [one, two, tree] = ["one", "two", "tree"].map(|name| scene.header(name));
    assert_eq!((&one["lineage"], &two["lineage"]), (&tree["lineage"], &tree["lineage"]));
    assert!(one["subvolume"]["uuid"] != two["subvolume"]["uuid"] && tree["subvolume"].is_null());
    // scrub keeps them.
    scene.dir.ftk(["manifest", "scrub", "point/two", "m-two"]).run().status(0);
    let after = scene.header("two");
    assert_eq!((&after["lineage"], &after["subvolume"]), (&two["lineage"], &two["subvolume"]));
}

/// A file of which a snapshot has the new times without the last bytes, as if a program had written to it meanwhile: here,
/// OLD has the digest of other content.
#[test]
fn what_a_snapshot_lacked_of_a_file_is_in_the_next_record() {
    let Some(scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    let update = |args: &[&str]| {
        let command = ["manifest", "update", "point/two", "m-one", "--force", "-o", "m-two"];
        scene.dir.ftk(command).args(args).run().status(0)
    };
    let verify = |name: &str| scene.dir.ftk(["manifest", "verify", "point/two", name]).run();
    scene.dir.ftk(["manifest", "create", "point/one", "-o", "m-one"]).run().status(0);
    let path = scene.dir.path("m-one");
    let digest =
        |name: &str| Manifest::read(&path).entry(name)["digests"]["sha256"].as_str().unwrap().to_owned();
    let (right, other) = (digest("d1/f1"), digest("d2/f2"));
    let forged: Vec<_> = lines(&path).iter().map(|line| line.replace(&right, &other)).collect();
    fs::write(&path, seal(&forged)).unwrap();
    scene.snapshot("tree", "two");
    scene.dir.file("list", b"");
    for args in [&[][..], &["--since", "point/one"], &["--append-only"], &["--changed", "list"]] {
        let run = update(args);
        run.stderr_has(
            "'d1/f1': it was written while a snapshot was made, which lacked a part: recorded as it is now",
        );
        assert_eq!(
            Manifest::read(&scene.dir.path("m-two")).entry("d1/f1")["digests"]["sha256"],
            right,
            "{args:?}"
        );
        verify("m-two").status(0);
    }
    // It is no damage, but it may be.
    let run = verify("m-one").status(1).stdout_has("modified\td1/f1");
    run.stderr_has("1 modified file perhaps corrupted");
    let run = scene.dir.ftk(["manifest", "scrub", "point/tree", "m-one", "--other-root"]).run().status(1);
    run.stderr_has("1 file with other content, perhaps damaged: ");
    // If the file was older than the snapshot, its record would have been right.
    scene.age("one");
    assert_eq!(update(&[]).stderr_lacks("d1/f1").code(), 0);
    verify("m-two").status(1).stdout_has("corrupted\td1/f1");
}

/// Files that had not changed for an hour when the snapshot was made are not read again, others are, once for each snapshot.
#[test]
fn only_young_files_of_a_snapshot_are_read_again() {
    let dir = Dir::new();
    let Some(image) = Image::of_old_files(&dir, &[("a", b"a"), ("b", b"b"), ("c", b"c")]) else { return };
    let Some(mounted) = image.mount(&dir, "point") else { return };
    let scene = Scene { dir, image, mounted: Some(mounted) };
    let update = |root: &str, old: &str| {
        let names = [format!("point/{root}"), format!("m-{old}"), format!("m-{root}")];
        let run =
            scene.dir.ftk(["manifest", "update", &names[0], &names[1], "-o", &names[2], "--force"]).run();
        run.status(0)
    };
    let create = |root: &str| {
        let (root, output) = (format!("point/{root}"), format!("m-{root}"));
        scene.dir.ftk(["manifest", "create", &root, "-o", &output]).run().status(0);
    };
    scene.btrfs(&["subvolume", "snapshot", "point", "point/origin"]);
    scene.write("origin/young", 1);
    scene.snapshot("origin", "one");
    scene.snapshot("origin", "two");
    scene.snapshot("origin", "three");
    create("one");
    update("two", "one").stderr_has("1 file read");
    update("three", "two").stderr_has("1 file read");
    // The same snapshot does not change.
    update("three", "three").stderr_lacks("read");
    // Neither does one before, but it may lack what the later one has.
    update("one", "three").stderr_has("1 file read");
    create("origin");
    update("two", "origin").stderr_has("1 file read");
    update("origin", "two").stderr_has("1 file read");
    update("origin", "origin").stderr_lacks("read");
    let settled = |name: &str| scene.header(name)["settled_ns"].as_i64();
    assert!(settled("one") < settled("two") && settled("two") < settled("three"));
    assert_eq!(settled("origin"), None);
    // An hour before the snapshot was made, after the file was written.
    let written = fs::metadata(scene.dir.path("point/origin/young")).unwrap().modified().unwrap();
    let written_ns = written.duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    assert!((written_ns - 3_600_000_000_000..written_ns).contains(&settled("one").unwrap()));
}

/// Records of the snapshot before become records of this one.
#[test]
fn a_list_of_changes_updates_the_manifest_of_a_snapshot() {
    let Some(scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.write("tree/d1/f1", 99);
    scene.snapshot("tree", "two");
    scene.dir.file("list", b"d1/f1\n");
    assert_eq!(scene.update("two", "one", &["--changed", "list"]), 1);
    assert!(scene.header("two")["subvolume"].is_null());
    let header = scene.header("two");
    let fs = &header["root_identity"]["fs"];
    assert!(Manifest::read(&scene.dir.path("m-two")).entries.values().all(|entry| entry["fs"] == *fs));
}

/// The snapshot is mounted alone, on another host perhaps.
#[test]
fn a_nested_subvolume_does_not_take_the_identity_away() {
    let Some(mut scene) = Scene::new() else { return };
    scene.btrfs(&["subvolume", "create", "point/tree/nested"]);
    scene.write("tree/nested/file", 50);
    scene.snapshot("tree", "one");
    assert_eq!(fs::metadata(scene.dir.path("point/one/nested")).unwrap().ino(), 2);
    scene.create("one");
    let header = scene.header("one");
    assert!(header["mounts"].is_null() && header["lineage"].is_string(), "{header}");
    assert!(Manifest::read(&scene.dir.path("m-one")).entry("d1/f1")["fs"].is_string());
    scene.mounted = None;
    let _other = scene.dir.dir("other");
    scene.mounted = scene.image.mount(&scene.dir, "point");
    let update = |root: &str| {
        let (root, new) = (format!("point/{root}"), "new");
        let run = scene.dir.ftk(["manifest", "update", &root, "m-one", "-o", new, "--force"]).run();
        run.status(0).stderr_lacks("read");
    };
    update("one");
    scene.snapshot("tree", "two");
    update("two");
}

#[test]
fn a_writable_snapshot_has_a_history_of_its_own() {
    let Some(scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    // A rollback. Only the snapshot from which it was made has the same history.
    scene.btrfs(&["subvolume", "snapshot", "point/one", "point/back"]);
    assert_eq!(scene.update("back", "one", &[]), 0);
    scene.create("tree");
    let command = ["manifest", "update", "point/back", "m-tree", "-o", "m-back", "--force"];
    let run = scene.dir.ftk(command).run().status(0);
    run.stderr_has("is in another subvolume than the recorded directory").stderr_has("10 files read");
    scene.write("back/d0/f0", 70);
    scene.snapshot("back", "back-1");
    // All files are too young for a record of the tree itself to vouch for a snapshot of it.
    assert_eq!(scene.update("back-1", "back", &[]), 10);
    // A snapshot that was writable for a while.
    for (flag, path) in [("false", "one"), ("true", "one")] {
        scene.btrfs(&["property", "set", &format!("point/{path}"), "ro", flag]);
        if flag == "false" {
            scene.write("one/d0/f0", 71);
        }
    }
    sleep(Duration::from_millis(60));
    assert_eq!(scene.update("one", "tree", &[]), 10);
    // A directory in the tree is another root.
    let run = scene.dir.ftk(["manifest", "update", "point/tree/d0", "m-one", "-o", "n"]).run();
    run.status(2).stderr_has("is not the recorded directory: its inode differs");
}

/// A server makes each snapshot that it receives from the one before.
#[test]
fn received_snapshots_are_recognised_one_after_the_other() {
    let Some(scene) = Scene::new() else { return };
    scene.btrfs(&["subvolume", "create", "point/server"]);
    let send = |args: &str| {
        let command = format!("btrfs -q send {args} | btrfs -q receive point/server");
        let run = Command::new("sh").args(["-c", &command]).current_dir(scene.dir.path("")).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        sleep(Duration::from_millis(60));
    };
    scene.snapshot("tree", "one");
    send("point/one");
    scene.write("tree/d1/f1", 99);
    scene.snapshot("tree", "two");
    send("-p point/one point/two");
    scene.write("tree/d2/f2", 98);
    scene.snapshot("tree", "three");
    send("-p point/two point/three");
    let create = |name: &str| {
        let (root, output) = (format!("point/server/{name}"), format!("m-{name}"));
        scene.dir.ftk(["manifest", "create", &root, "-o", &output]).run().status(0);
    };
    create("one");
    for (root, old) in [("two", "one"), ("three", "two")] {
        let (root, old, new) = (format!("point/server/{root}"), format!("m-{old}"), format!("m-{root}"));
        let run = scene.dir.ftk(["manifest", "update", &root, &old, "-o", &new]).run().status(0);
        run.stderr_has("1 file read");
    }
    // Two steps at once are too far.
    let run = scene.dir.ftk(["manifest", "update", "point/server/three", "m-one", "-o", "n"]).run();
    run.status(0).stderr_has("10 files read");
}

/// A copy of an image has the same UUIDs, inode numbers and times.
#[test]
fn nothing_is_shared_while_a_copy_of_the_file_system_is_mounted() {
    let Some(mut scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.snapshot("tree", "two");
    scene.mounted = None;
    let copy = Image { path: scene.dir.aside("copy") };
    fs::copy(&scene.image.path, &copy.path).unwrap();
    scene.mounted = scene.image.mount(&scene.dir, "point");
    let both = copy.mount(&scene.dir, "copy").unwrap();
    for root in ["point/two", "copy/one", "copy/two"] {
        let command = ["manifest", "update", root, "m-one", "-o", "n", "--force", "--other-root"];
        let run = scene.dir.ftk(command).run().status(0);
        run.stderr_has("10 files read");
        assert!(Manifest::read(&scene.dir.path("n")).header["lineage"].is_null(), "{root}");
    }
    drop(both);
    assert_eq!(scene.update("two", "one", &[]), 0);
}

/// A writable snapshot stands for those of file systems that do not say where they come from, or when they were made.
#[test]
fn the_user_can_say_that_a_root_is_a_snapshot() {
    let Some(scene) = Scene::new() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.write("tree/d1/f1", 99);
    scene.btrfs(&["subvolume", "snapshot", "point/tree", "point/two"]);
    sleep(Duration::from_millis(60));
    // As if nothing was known about the file system of OLD.
    let text = fs::read_to_string(scene.dir.path("m-one")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let (header, entries) = (lines[0].split(",\"lineage\"").next().unwrap(), &lines[1..lines.len() - 1]);
    let old: Vec<_> =
        [format!("{header}}}")].into_iter().chain(entries.iter().map(|it| (*it).to_owned())).collect();
    fs::write(scene.dir.path("m-one"), seal(&old)).unwrap();
    let command = ["manifest", "update", "point/two", "m-one", "-o", "m-two"];
    let run = scene.dir.ftk(command).run().status(2);
    run.stderr_has("'point/two' is not the recorded directory: its file system differs");
    assert_eq!(scene.update("two", "one", &["--snapshot-of"]), 1);
    let run = scene.dir.ftk(command).args(["--snapshot-of", "--force"]).run().status(0);
    run.stderr_has("unchanged files kept their digests because ROOT is a snapshot (--snapshot-of)");
    assert_eq!(scene.header("two")["snapshot_of"], true);
    let run =
        scene.dir.ftk(["manifest", "update", "point/two/d1", "m-one", "-o", "n", "--snapshot-of"]).run();
    run.status(2).stderr_has("its inode differs");
    // NEW of a later run says it, too.
    assert_eq!(scene.update("two", "two", &[]), 0);
    assert_eq!(scene.header("two")["snapshot_of"], true);
}
