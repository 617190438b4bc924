//! `ftk manifest update --since SNAPSHOT`, compared with updates of the whole tree.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use regex::Regex;

use super::records::Manifest;
use super::snapshots::Scene;
use crate::harness::{Image, Mounted, Paused, Run, has_open, needs};

/// What a run says that examines everything.
const ALL: &str = "all of ROOT is examined: ";

impl Scene {
    /// A tree of some hundred files, recorded in the snapshot `s0`.
    fn of_many() -> Option<Self> {
        let scene = Self::new()?;
        for nth in 0..400 {
            scene.write(&format!("tree/many/m{}/f{nth}", nth % 20), nth);
        }
        Some(scene)
    }

    fn shell(&self, place: &str, script: &str) {
        let mut shell = Command::new("bash");
        let shell = shell.args(["-euc", script]).current_dir(self.dir.path(place));
        let run = shell.output().unwrap();
        assert!(run.status.success(), "{script}: {run:?}");
    }

    /// Updates the manifest of a snapshot to one of `root`, in two ways that must agree.
    #[track_caller]
    fn since(&self, root: &str, snapshot: &str, old: &str, args: &[&str]) -> Run {
        let names =
            [format!("point/{root}"), format!("m-{old}"), "since".into(), format!("point/{snapshot}")];
        let mut both = Vec::new();
        for (output, since) in [("full", false), (&*names[2], true)] {
            let command = ["manifest", "update", &names[0], &names[1], "--force", "-o", output];
            let run = self.dir.ftk(command).args(args);
            both.push(if since { run.args(["--since", &names[3]]).run() } else { run.run() });
        }
        let [full, since] = ["full", "since"].map(|name| self.lines(name, &names[1]));
        for (full, since) in full.iter().zip(&since) {
            assert_eq!(full, since, "{root} since {snapshot}");
        }
        assert_eq!((full.len(), both[0].code()), (since.len(), both[1].code()));
        both.pop().unwrap()
    }

    /// Returns the lines of a manifest without what two runs set, and the times of stubs, which are those of the mount.
    fn lines(&self, name: &str, old: &str) -> Vec<String> {
        let start_ns = Manifest::read(&self.dir.path(old)).header["start_ns"].as_i64().unwrap();
        let times = Regex::new(r#""(start_ns|verified_ns|damaged_ns)":(\d+)"#).unwrap();
        let of_stubs = Regex::new(r#""(dev|fs|mtime_ns|ctime_ns|birth_ns)":("\w*"|\d+),?"#).unwrap();
        let text = fs::read_to_string(self.dir.path(name)).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with("{\"footer\"")).map(|line| {
            let time = |found: &regex::Captures<'_>| match found[2].parse::<i64>().unwrap() > start_ns {
                true => format!("\"{}\":now", &found[1]),
                false => found[0].to_owned(),
            };
            let line = times.replace_all(line, time).into_owned();
            if line.contains("\"ino\":2,") { of_stubs.replace_all(&line, "").into_owned() } else { line }
        });
        lines.collect()
    }

    /// Makes the snapshot `to`, updates the manifest of the snapshot before, and replaces it. Nothing else is examined.
    #[track_caller]
    fn next(&self, from: &str, to: &str) -> Run {
        self.snapshot("tree", to);
        let run = self.since(to, from, from, &[]).stderr_lacks(ALL).stderr_has("kept as recorded");
        fs::rename(self.dir.path("since"), self.dir.path(format!("m-{to}"))).unwrap();
        self.age(to);
        run
    }
}

/// Changes of many kinds, each of which is one step of a history, made in the tree. Each begins with a comment.
const CHANGES: &str = include_str!("changes.sh");

#[test]
fn every_kind_of_change_is_found() {
    needs!("python3", "getfattr");
    let Some(scene) = Scene::of_many() else { return };
    scene.snapshot("tree", "s0");
    scene.create("s0");
    let changes: Vec<_> = CHANGES.split("\n\n").collect();
    for (nth, script) in changes.iter().enumerate() {
        scene.shell("point/tree", script);
        scene.next(&format!("s{nth}"), &format!("s{}", nth + 1));
    }
    // Several steps at once, and a manifest that was scrubbed.
    let [from, last] = [changes.len() - 12, changes.len()].map(|nth| format!("s{nth}"));
    scene.dir.ftk(["manifest", "scrub", &format!("point/{from}"), &format!("m-{from}")]).run();
    scene.since(&last, &from, &from, &[]).stderr_lacks(ALL);
    // A part of the unchanged files is read, too.
    scene.since(&last, &from, &from, &["--check", "100%"]).stderr_lacks(ALL);
}

/// Makes the snapshots `one` and `two` of a tree in which one file changed.
fn pair() -> Option<Scene> {
    let scene = Scene::of_many()?;
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.write("tree/d1/f1", 99);
    scene.snapshot("tree", "two");
    Some(scene)
}

#[test]
fn without_a_proof_everything_is_examined() {
    let Some(scene) = pair() else { return };
    let all = |root: &str, snapshot: &str, old: &str, why: &str| {
        scene.since(root, snapshot, old, &[]).stderr_has(&format!("{ALL}{why}"));
    };
    scene.since("two", "one", "one", &[]).status(0).stderr_lacks(ALL).stderr_has("1 modified");
    all("two", "nowhere", "one", "cannot open 'point/nowhere': No such file or directory");
    all("two", "two", "one", "SNAPSHOT is not the snapshot that OLD records");
    all("two", "../", "one", "ROOT and SNAPSHOT are not both on Btrfs");
    all("tree", "one", "one", "ROOT is not in a read-only snapshot");
    scene.dir.file("list", b"d1/f1\n");
    let update = ["manifest", "update", "point/two", "m-one", "-o", "m-listed", "--changed", "list"];
    scene.dir.ftk(update).run().status(0);
    all("two", "one", "listed", "OLD is not from a full update");
    scene.create("tree");
    all("two", "one", "tree", "OLD does not say that it records all of a read-only snapshot");
    scene.create("two");
    all("one", "two", "two", "the snapshot that contains ROOT is not newer than SNAPSHOT");
    // Of another subvolume, as after a rollback.
    scene.btrfs(&["subvolume", "snapshot", "point/one", "point/back"]);
    scene.snapshot("back", "back-1");
    all("back-1", "one", "one", "ROOT and SNAPSHOT are not snapshots of one subvolume");
    // The options of OLD.
    scene.dir.ftk(["manifest", "create", "point/one", "--ignore-files", "-o", "m-ignoring"]).run().status(0);
    all("two", "one", "ignoring", "OLD has --ignore-files, and files above ROOT may have changed");
    // A writable snapshot, one that was writable, and one that does not exist any more.
    let set_ro = |path: &str, value: &str| scene.btrfs(&["property", "set", path, "ro", value]);
    scene.snapshot("tree", "three");
    set_ro("point/three", "false");
    all("three", "one", "one", "ROOT is not in a read-only snapshot");
    scene.write("three/d0/f0", 5);
    set_ro("point/three", "true");
    all("three", "one", "one", "the snapshot that contains ROOT was changed after it was made");
    set_ro("point/one", "false");
    all("two", "one", "one", "SNAPSHOT is not read-only");
    // Nothing was written, so the proof holds again.
    set_ro("point/one", "true");
    scene.since("two", "one", "one", &[]).stderr_lacks(ALL);
    set_ro("point/one", "false");
    scene.write("one/d0/f0", 5);
    set_ro("point/one", "true");
    all("two", "one", "one", "SNAPSHOT was changed after it was made, or was received");
    scene.btrfs(&["subvolume", "delete", "point/one"]);
    all("two", "one", "one", "cannot open 'point/one'");
    // Another snapshot with its name.
    scene.snapshot("tree", "one");
    all("two", "one", "one", "SNAPSHOT is not the snapshot that OLD records");
}

#[test]
fn a_directory_in_a_snapshot_can_be_the_root() {
    let Some(scene) = Scene::of_many() else { return };
    scene.snapshot("tree", "one");
    scene.dir.dir("m-one");
    scene.create("one/many");
    scene.write("tree/d1/f1", 99);
    scene.write("tree/many/m1/f1", 99);
    scene.shell("point/tree", "mv d0/f0 many/m2/; mv many/m3/f3 d0/; mv many/m4 d0/; touch d0 many");
    scene.snapshot("tree", "two");
    let update = |root: &str| scene.since(root, "one", "one/many", &[]);
    update("two/many").status(0).stderr_lacks(ALL).stderr_has("kept as recorded");
    // The directory was replaced.
    scene.shell("point/tree", "cp -a many copy; rm -r many; mv copy many");
    scene.snapshot("tree", "three");
    scene
        .since("three/many", "one", "one/many", &["--other-root"])
        .stderr_has(&format!("{ALL}ROOT is another directory than OLD records"));
    let command = ["manifest", "update", "point/two/d0", "m-one/many", "-o", "n", "--since", "point/one"];
    scene.dir.ftk(command).run().status(2).stderr_has("is not the recorded directory");
}

/// Half of the tree is not a small part.
#[test]
fn after_many_changes_everything_is_examined() {
    let Some(scene) = Scene::of_many() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.shell("point/tree", "find many -name 'f1*' -exec chmod 600 {} +");
    scene.snapshot("tree", "two");
    scene.since("two", "one", "one", &[]).stderr_has(&format!("{ALL}more than a twentieth changed"));
}

#[test]
fn received_snapshots_are_examined_in_full() {
    let Some(scene) = pair() else { return };
    scene.btrfs(&["subvolume", "create", "point/server"]);
    scene.shell("", "btrfs -q send point/one | btrfs -q receive point/server");
    scene.shell("", "btrfs -q send -p point/one point/two | btrfs -q receive point/server");
    // What is not on the disk yet changes the subvolume when it is written.
    scene.shell("", "btrfs filesystem sync point");
    std::thread::sleep(std::time::Duration::from_millis(60));
    scene.dir.dir("m-server");
    scene.create("server/one");
    let run = scene.since("server/two", "server/one", "server/one", &[]);
    run.stderr_has(&format!("{ALL}SNAPSHOT was changed after it was made, or was received"));
}

/// The search needs a privilege that reading the tree does not need.
#[test]
fn without_the_privilege_everything_is_examined() {
    let Some(scene) = pair() else { return };
    let ftk = ["manifest", "update", "point/two", "m-one", "--force", "-o"];
    scene.dir.ftk(ftk).args(["full"]).run().status(0);
    let bounds = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"];
    let run =
        scene.dir.ftk(ftk).args(["since", "--since", "point/one"]).under(&scene.dir, bounds).run().status(0);
    let run = run.stderr_has("trusted.*");
    run.stderr_has(&format!("{ALL}the search for changes needs CAP_SYS_ADMIN"));
}

/// What is mounted in a tree is examined as a whole.
#[test]
fn mounts_below_the_root_are_examined() {
    let Some(scene) = pair() else { return };
    let mount = |args: &[&str]| Mounted::at(&scene.dir.path("point/two/many/m3"), args);
    let Some(mounted) = mount(&["-t", "tmpfs", "none"]) else { return };
    scene.dir.file("point/two/many/m3/inside", b"x");
    let run = scene.since("two", "one", "one", &[]);
    run.status(0).stderr_lacks(ALL).stderr_has("kept as recorded");
    drop(mounted);
    // The same files, under another path.
    let other = scene.dir.path("point/two/many/m4");
    let mounted = mount(&["--bind", other.to_str().unwrap()]).unwrap();
    scene.since("two", "one", "one", &[]).stderr_lacks(ALL).stderr_has("kept as recorded");
    assert!(Manifest::read(&scene.dir.path("full")).header["subvolume"].is_null());
    drop(mounted);
    // OLD has something that was mounted.
    let mounted = Mounted::at(&scene.dir.path("point/one/many/m5"), ["-t", "tmpfs", "none"]);
    scene.dir.file("point/one/many/m5/was", b"x");
    std::thread::sleep(std::time::Duration::from_millis(60));
    scene.dir.ftk(["manifest", "create", "point/one", "-o", "m-mounted"]).run().status(0);
    scene.age("mounted");
    drop(mounted);
    let run = scene.since("two", "one", "mounted", &["--other-root"]);
    run.stderr_lacks(ALL).stderr_has("kept as recorded");
}

/// A manifest with less than the tree has is no basis.
#[test]
fn old_manifests_that_lack_something_are_no_basis() {
    let Some(scene) = pair() else { return };
    let header = |name: &str| Manifest::read(&scene.dir.path(name)).header;
    // An append-only update keeps old records.
    let append = ["manifest", "update", "point/two", "m-one", "--append-only", "-o", "m-kept"];
    scene.dir.ftk(append).run().status(1);
    assert!(header("m-one")["subvolume"].is_object() && header("m-kept")["subvolume"].is_null());
}

/// A copy of an image has the same UUIDs.
#[test]
fn next_to_a_copy_of_the_file_system_everything_is_examined() {
    let Some(mut scene) = pair() else { return };
    scene.mounted = None;
    let copy = Image { path: scene.dir.aside("copy") };
    fs::copy(&scene.image.path, &copy.path).unwrap();
    scene.mounted = scene.image.mount(&scene.dir, "point");
    let both = copy.mount(&scene.dir, "copy").unwrap();
    let run = scene.since("two", "one", "one", &["--other-root"]);
    run.stderr_has(&format!("{ALL}a copy of the file system is mounted, too"));
    drop(both);
    scene.since("two", "one", "one", &[]).stderr_lacks(ALL);
}

/// The image of a virtual machine is set back. What happens then may get the same numbers.
#[test]
fn a_file_system_that_was_set_back_has_another_history() {
    let Some(mut scene) = Scene::of_many() else { return };
    scene.mounted = None;
    let copy = scene.dir.aside("copy");
    fs::copy(&scene.image.path, &copy).unwrap();
    let begin = |scene: &mut Scene, content: u64| {
        scene.mounted = scene.image.mount(&scene.dir, "point");
        scene.write("tree/d0/f0", content);
        scene.snapshot("tree", "one");
    };
    begin(&mut scene, 70);
    scene.create("one");
    scene.mounted = None;
    fs::copy(&copy, &scene.image.path).unwrap();
    begin(&mut scene, 71);
    scene.write("tree/d1/f1", 99);
    scene.snapshot("tree", "two");
    let run = scene.since("two", "one", "one", &[]);
    run.stderr_has(&format!("{ALL}SNAPSHOT is not the snapshot that OLD records"));
}

/// Both snapshots never change, so the older one is needed only at the beginning.
#[test]
fn the_older_snapshot_can_be_deleted_during_the_run() {
    let Some(scene) = Scene::of_many() else { return };
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.dir.file("point/tree/d1/large", &[7; 200_000]);
    scene.snapshot("tree", "two");
    scene.dir.ftk(["manifest", "update", "point/two", "m-one", "-o", "full"]).run().status(0);
    let update = ["manifest", "update", "point/two", "m-one", "-o", "since", "--since", "point/one"];
    let slow = scene.dir.ftk(update).args(["--limit-rate", "100K", "--io", "sync", "-j", "mono"]);
    let paused = Paused::when(slow, |child| has_open(child, "large"));
    scene.btrfs(&["subvolume", "delete", "point/one"]);
    let output = paused.go_on();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !err.contains(ALL), "{err}");
    assert_eq!(scene.lines("since", "m-one"), scene.lines("full", "m-one"));
}

/// Files that say what is excluded.
#[test]
fn what_is_excluded_by_other_files_is_decided_anew() {
    let Some(scene) = Scene::of_many() else { return };
    scene.shell("point/tree", "touch many/m1/.nobackup; echo x > many/m2/CACHEDIR.TAG");
    scene.snapshot("tree", "one");
    let create = ["manifest", "create", "point/one", "-o", "m-one", "--exclude-caches", "--max-depth=3"];
    scene.dir.ftk(create).args(["--exclude-if-present", ".nobackup", "-E", "*9"]).run().status(0);
    scene.age("one");
    scene.shell(
        "point/tree",
        "rm many/m1/.nobackup; touch many/m3/.nobackup; mv many/m4/f4 many/m4/f9999; \
         echo 'Signature: 8a477f597d28d172789f06886806bc55' > many/m2/CACHEDIR.TAG; mkdir d0/a; mv many/m5 d0/a/b9; \
         mkdir -p d0/a/c/d; mv many/m6 d0/a/c/d/",
    );
    scene.snapshot("tree", "two");
    scene.since("two", "one", "one", &[]).stderr_lacks(ALL).stderr_has("kept as recorded");
    let new = Manifest::read(&scene.dir.path("since"));
    assert!(new.entries.contains_key(&b"many/m1/f1"[..]) && !new.entries.contains_key(&b"many/m2/f2"[..]));
}

/// A hundred changes in a tree of 20,000 files: what is looked at does not depend on the size of the tree.
#[test]
fn few_paths_are_examined() {
    needs!("strace");
    let Some(scene) = Scene::new() else { return };
    scene.shell(
        "point/tree",
        "python3 -c \"\nimport os\nfor d in range(200):\n  os.makedirs(f'big/{d}')\n  for f in range(100): open(f'big/{d}/{f}', 'w').write(f'{d} {f}')\"",
    );
    scene.snapshot("tree", "one");
    scene.create("one");
    scene.shell(
        "point/tree",
        "for n in $(seq 40); do echo x >> big/$n/7; done; for n in $(seq 20); do rm big/$n/8; touch big/$n/new; done; \
         for n in $(seq 20); do mv big/$n/9 big/$((n + 100))/moved; done",
    );
    scene.snapshot("tree", "two");
    scene.since("two", "one", "one", &[]).stderr_lacks(ALL);
    let trace = scene.dir.aside("trace");
    let names = "-etrace=openat,statx,newfstatat,fstat,getdents64,ioctl";
    let strace = ["strace", "-f", "-y", "-o", trace.to_str().unwrap(), names];
    let update = ["manifest", "update", "point/two", "m-one", "-o", "n", "--since", "point/one"];
    scene.dir.ftk(update).under(&scene.dir, strace).run().status(0);
    let calls = fs::read_to_string(&trace).unwrap();
    let call = Regex::new(r#"\(\d+<([^>]*/point/two[^>]*)>(?:, "([^"]*)")?"#).unwrap();
    let path =
        |found: regex::Captures<'_>| format!("{}/{}", &found[1], found.get(2).map_or("", |it| it.as_str()));
    let paths: BTreeSet<_> = calls.lines().filter_map(|line| call.captures(line).map(path)).collect();
    assert!((100..=500).contains(&paths.len()), "{}", paths.len());
}
