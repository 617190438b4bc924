//! One test for each recipe.

use crate::harness::{Dir, bytes, headings, needs};

use super::page::{README, RECIPES};
use super::scene::Scene;
use super::session::run;

/// Defines the tests, and the headings of the recipes that have one.
macro_rules! recipes {
    ($($name:ident: $heading:literal, needs [$($tool:literal),*], with $scene:expr;)+) => {
        const TESTED: &[&str] = &[$($heading),+];
        $(
            #[test]
            fn $name() {
                needs!("script" $(, $tool)*);
                let scene = Scene::with_archive();
                let prepare: fn(&Scene) = $scene;
                prepare(&scene);
                run(&scene, RECIPES, $heading);
            }
        )+
    };
}

recipes! {
    recipe_aide: "Check a system every night, coming from AIDE", needs [], with |scene| {
        for (path, text) in [
            ("etc/hosts", "127.0.0.1 localhost\n"),
            ("etc/sshd.conf", "Port 22\n"),
            ("log/web.log", "GET /index\n"),
            ("log/auth.log", "session opened for ann\nsession closed\n"),
            ("cache/1", "cached\n"),
            ("run/web.pid", "112\n"),
        ] {
            scene.file(&format!("server/{path}"), text.as_bytes());
        }
    };
    recipe_append_only: "Guard an archive where nothing may change", needs [], with |_| {};
    recipe_restore: "Restore a damaged file", needs [], with |scene| {
        record(scene);
        scene.files("backup").damage("archive");
    };
    recipe_heal: "Heal without a copy", needs [], with record;
    recipe_restore_others: "Restore deleted, truncated or overwritten files", needs [], with |scene| {
        record(scene);
        scene.files("backup");
    };
    recipe_folder_in_archive: "Check whether a folder is already in the archive", needs ["rsync"], with |scene| {
        scene.file("card/DCIM/100.jpg", &bytes(40_000, 40_000)).file("card/DCIM/101.jpg", b"not yet copied\n");
    };
    recipe_disks: "Find duplicates across disks that are not mounted together", needs [], with |scene| {
        scene.file("disk1/DCIM/100.jpg", &bytes(40_000, 40_000)).file("disk1/DCIM/101.jpg", &bytes(50_000, 50_000));
        scene.file("disk2/old/100.jpg", &bytes(40_000, 40_000));
    };
    recipe_albums: "Find and remove duplicated albums", needs [], with |scene| {
        for album in ["music/Blue Train", "inbox/blue train"] {
            scene.file(&format!("{album}/01.flac"), &bytes(1, 40_000));
            scene.file(&format!("{album}/02.flac"), &bytes(2, 50_000));
        }
        scene.file("music/Kind of Blue/01.flac", &bytes(3, 30_000)).file("inbox/more/01.flac", &bytes(3, 30_000));
        scene.file("inbox/more/notes.txt", b"liner notes\n");
    };
    recipe_inbox: "Clean an inbox against an archive", needs [], with |scene| {
        scene.file("inbox/copy.jpg", &bytes(40_000, 40_000)).file("inbox/new/103.jpg", b"not yet copied\n");
        scene.file("inbox/new/102.jpg", &bytes(50_000, 50_000));
    };
    recipe_backup: "Verify a backup with different owners and times", needs ["rsync"], with |scene| {
        record(scene);
        let copy = ["rsync", "-r", "--chmod=F600", "archive/", "backup"];
        scene.with(&["PATH=/usr/bin:/bin"], &copy).run().status(0);
    };
    recipe_two_machines: "Hash on one machine, verify on another", needs ["rsync", "sha256sum"], with |scene| {
        scene.file("laptop/photos/IMG_0001.jpg", &bytes(1, 40_000)).file("laptop/photos/trip/IMG_0002.jpg", b"2");
        scene.folder("server");
    };
    recipe_several_nights: "Hash a large disk in several nights", needs [], with |_| {};
    recipe_changes: "Update a manifest from a list of changes", needs [], with |_| {};
    recipe_ssh: "Compare a folder with one on another machine", needs [], with |scene| {
        record(scene);
        for folder in ["nas/photos", "photos"] {
            scene.file(&format!("{folder}/DCIM/101.jpg"), &bytes(40_000, 40_000));
            scene.file(&format!("{folder}/DCIM/102.jpg"), &bytes(50_000, 50_000));
        }
        scene.file("nas/photos/DCIM/103.jpg", b"not yet copied\n");
        let create = ["ftk", "manifest", "create", "-q", "photos", "-o", "copy.jsonl"];
        scene.with(&[&format!("PATH={}/.cargo/bin:/usr/bin:/bin", scene.home())], &create).run().status(0);
    };
    recipe_bag: "Turn a folder into a BagIt bag", needs [], with |scene| {
        scene.file("inbox/DCIM/100.jpg", &bytes(1, 40_000)).file("inbox/notes.txt", b"from Ann\n");
        scene.file("card/101.jpg", &bytes(2, 50_000));
    };
    recipe_film: "Offload a card with a film hash list", needs ["rsync"], with |scene| {
        scene.file("A001/Clips/A001C001.mov", &bytes(1, 400_000)).file("A001/Clips/A001C002.mov", &bytes(2, 500_000));
        scene.file("A001/card.xml", b"<card/>\n").folder("raid");
    };
    recipe_ci: "Add a checksum step to CI", needs [], with |scene| {
        scene.file("project/testdata/a.bin", b"a").file("project/testdata/b.bin", b"b");
    };
    recipe_full_disk: "Find what filled the disk", needs [], with |scene| {
        scene.hole("logs/app/debug.log", 5 << 30).hole("logs/app/debug.log.1", 2 << 30);
        scene.file("inbox/copy.jpg", &bytes(40_000, 40_000));
    };
    recipe_tape: "Check a tape without extracting it", needs ["tar", "gzip"], with |scene| {
        scene.file("card/DCIM/100.jpg", &bytes(40_000, 40_000)).file("card/DCIM/101.jpg", b"not yet copied\n");
    };
    recipe_duckdb: "Ask DuckDB about a manifest", needs ["duckdb"], with |scene| {
        scene.file("inbox/copy.jpg", &bytes(40_000, 40_000));
    };
    recipe_sign: "Sign a manifest", needs ["ssh-keygen"], with |_| {};
}

/// Makes `archive.jsonl`.
fn record(scene: &Scene) {
    let create = ["ftk", "manifest", "create", "-q", "archive", "-o", "archive.jsonl"];
    scene.with(&[&format!("PATH={}/.cargo/bin:/usr/bin:/bin", scene.home())], &create).run().status(0);
}

#[test]
fn every_recipe_has_a_test() {
    let page = RECIPES.text();
    let tested: Vec<_> = [super::nightly::HEADING].iter().chain(TESTED).copied().collect();
    assert_eq!(headings(&page), tested);
}

/// The front page says how to make the files that it is about.
#[test]
fn the_tour_of_the_front_page() {
    needs!("script");
    run(&Scene::new(Dir::new()), README, "First steps");
}
