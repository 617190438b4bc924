//! Manifests of file systems that were mounted again.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::thread::sleep;
use std::time::Duration;

use super::records::Manifest;
use crate::harness::{Dir, Image, bytes};

/// A device number changes when a file system is mounted again; its identity does not.
#[test]
fn files_are_recognised_after_the_file_system_was_mounted_again() {
    let dir = Dir::new();
    for (kind, len) in [("ext4", 16 << 20), ("xfs", 512 << 20), ("btrfs", 512 << 20)] {
        let (Some(image), Some(other)) = (Image::new(&dir, kind, len), Image::new(&dir, "ext2", 1 << 20))
        else {
            return;
        };
        let dev = || fs::metadata(dir.path("point")).unwrap().dev();
        let first = {
            let Some(_mounted) = image.mount(&dir, "point") else { return };
            dir.file("point/d/a", &bytes(1, 5000)).file("point/b", &bytes(2, 100_000));
            // Files that are as young as the manifest are read again.
            sleep(Duration::from_millis(60));
            dir.ftk(["manifest", "create", "point", "-o", "m"]).run().status(0);
            dev()
        };
        // This takes the device number of the first mount; btrfs has a number of its own.
        let _taken = other.mount(&dir, "other").unwrap();
        let _mounted = image.mount(&dir, "point").unwrap();
        assert!(dev() != first || kind == "btrfs", "{kind}");
        let run = dir.ftk(["manifest", "update", "point", "m", "-o", "m"]).run().status(0);
        run.stderr_lacks("read");
        assert_eq!(Manifest::read(&dir.path("m")).entry("b")["dev"], dev());
        dir.ftk(["manifest", "scrub", "point", "m"]).run().status(0);
        // Another file system with another root.
        let run = dir.ftk(["manifest", "update", "other", "m", "-o", "n", "--max-missing", "100%"]).run();
        if fs::metadata(dir.path("other")).unwrap().ino() != fs::metadata(dir.path("point")).unwrap().ino() {
            run.status(2).stderr_has("ftk: 'other' is not the recorded directory");
        }
        fs::remove_file(dir.path("m")).unwrap();
        _ = fs::remove_file(dir.path("n"));
    }
}
