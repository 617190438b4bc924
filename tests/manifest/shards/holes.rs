//! Parts that lack what they should have are refused, or say what they lack.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::edit;
use crate::harness::{Dir, Mounted, Run};
use crate::manifest::records::Manifest;

fn run(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest"]).args(args).run()
}

/// A tree `real` of three directories, its manifest and a plan with three shards.
fn planned() -> Dir {
    let dir = Dir::on_disk();
    for name in ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "film/1", "film/2", "film/3"] {
        dir.file(format!("real/{name}"), format!("content of {name}").repeat(8).as_bytes());
    }
    dir.dir("parts");
    plan(&dir);
    dir
}

fn plan(dir: &Dir) {
    run(dir, &["create", "real", "-o", "whole.jsonl", "--force"]).status(0);
    run(dir, &["plan", "--shards", "3", "whole.jsonl", "-o", "plan", "--force"]).status(0);
}

/// Records a shard, with the plan or by hash.
fn create(dir: &Dir, number: u32, has_plan: bool) -> Run {
    let (shard, part) = (format!("{number}/3"), format!("parts/{number}.jsonl"));
    let plan = if has_plan { &["--plan", "plan"][..] } else { &[] };
    run(dir, &[&["create", "--shard", &shard, "real", "-o", &part, "--force"], plan].concat())
}

fn merge(dir: &Dir, options: &[&str]) -> Run {
    let parts = ["parts/1.jsonl", "parts/2.jsonl", "parts/3.jsonl"];
    run(dir, &[&["merge", "-o", "merged.jsonl", "--force"], &parts[..], options].concat())
}

/// Every reader of a directory of parts follows the rule.
fn refused_everywhere(dir: &Dir, why: &str) {
    for args in [
        &["diff", "whole.jsonl", "parts"][..],
        &["unique", "whole.jsonl", "parts"],
        &["verify", "real", "parts"],
        &["update", "real", "parts", "-o", "new.jsonl"],
        &["plan", "--shards", "2", "--from-parts", "parts"],
    ] {
        run(dir, args).status(2).stderr_has(why);
    }
    dir.ftk(["report", "--json", "--parts", "parts"]).run().status(2).stderr_has(why);
    merge(dir, &[]).status(2).stderr_has(why);
}

#[test]
fn another_directory_in_place_of_the_root_is_refused() {
    for has_plan in [true, false] {
        let dir = planned();
        (1..=2).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        fs::rename(dir.path("real"), dir.path("gone")).unwrap();
        dir.dir("real");
        let third = create(&dir, 3, has_plan);
        if has_plan {
            third
                .status(2)
                .stderr_has("'plan' is a plan for ")
                .stderr_has("which is another directory than 'real'");
            assert!(!dir.path("parts/3.jsonl").exists());
            // On its own, this does not lift the other guard.
            let shard = ["create", "--shard", "3/3", "--plan", "plan", "real", "-o", "parts/3.jsonl"];
            let forced = |option| run(&dir, &[&shard[..], option].concat());
            forced(&["--other-root"]).status(2).stderr_has("planned entries of shard 3 are there");
            forced(&["--other-root", "--allow-empty"]).status(0);
        } else {
            third.status(0);
        }
        refused_everywhere(&dir, "they have different roots");
        fs::remove_dir(dir.path("real")).unwrap();
        fs::rename(dir.path("gone"), dir.path("real")).unwrap();
        create(&dir, 3, has_plan).status(0);
        merge(&dir, &[]).status(0);
        run(&dir, &["diff", "whole.jsonl", "merged.jsonl"]).status(0);
    }
}

#[test]
fn h103_a_root_that_is_not_mounted_is_refused() {
    let dir = planned();
    fs::rename(dir.path("real"), dir.path("model")).unwrap();
    dir.dir("real");
    for has_plan in [true, false] {
        let Some(mounted) = Mounted::at(&dir.path("real"), ["-t", "tmpfs", "none"]) else { return };
        for name in ["1", "2", "3", "4", "5"] {
            dir.file(format!("real/a/{name}"), name.as_bytes())
                .file(format!("real/b/{name}"), name.as_bytes());
        }
        plan(&dir);
        (1..=2).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        drop(mounted);
        let third = create(&dir, 3, has_plan);
        if has_plan {
            third.status(2).stderr_has("which is another directory than 'real': its file system differs");
        } else {
            third.status(0);
            merge(&dir, &[]).status(2).stderr_has("they have different roots");
        }
    }
}

/// With a plan, the shard is refused. By hash, the others show that something was mounted.
#[test]
fn a_mount_that_is_missing_below_the_root_is_refused() {
    for has_plan in [true, false] {
        let dir = planned();
        dir.dir("real/disk/deep");
        for point in ["real/disk", "real/disk/deep"] {
            let other = dir.dir(point).path(point);
            let Some(mounted) = Mounted::at(&other, ["-t", "tmpfs", "none"]) else { return };
            (0..9).for_each(|nth| _ = dir.file(format!("{point}/{nth}"), b"mounted"));
            plan(&dir);
            (1..=3).for_each(|number| _ = create(&dir, number, has_plan).status(0));
            merge(&dir, &[]).status(0);
            run(&dir, &["diff", "whole.jsonl", "merged.jsonl"]).status(0);
            drop(mounted);
            let runs: Vec<_> = (1..=3).map(|number| create(&dir, number, has_plan)).collect();
            if has_plan {
                let refused: Vec<_> = runs.into_iter().filter(|run| run.code() == 2).collect();
                assert!(!refused.is_empty());
                refused.into_iter().for_each(|run| {
                    _ = run.stderr_has("none is mounted now (mount it, or add --other-root)")
                });
            } else {
                // All hosts lack it, which no part can show. One of them has it:
                runs.into_iter().for_each(|run| _ = run.status(0));
                merge(&dir, &[]).status(0);
                let Some(_mounted) = Mounted::at(&other, ["-t", "tmpfs", "none"]) else { return };
                create(&dir, 2, false).status(0);
                refused_everywhere(&dir, "a file system was mounted at");
            }
        }
    }
}

/// Mounts another file system than before at `real/disk`.
fn mount(dir: &Dir, kind: &str, names: [&str; 4]) -> Option<Mounted> {
    let mounted = Mounted::at(&dir.dir("real/disk").path("real/disk"), ["-t", kind, "none"])?;
    names.iter().for_each(|name| _ = dir.file(format!("real/disk/{name}"), name.as_bytes()));
    Some(mounted)
}

/// Both have no lasting identity, so their types count. Unit tests compare identities.
#[test]
fn another_file_system_at_a_mount_point_is_refused() {
    for has_plan in [true, false] {
        let dir = planned();
        let Some(mounted) = mount(&dir, "tmpfs", ["1", "2", "3", "4"]) else { return };
        plan(&dir);
        (1..=3).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        merge(&dir, &[]).status(0);
        let merged = Manifest::read(&dir.path("merged.jsonl")).header["mounts"].clone();
        assert_eq!((&merged[0]["path"], &merged[0]["type"]), (&"disk".into(), &"directory".into()));
        assert_eq!(merged[0]["fs_type"], 0x0102_1994);
        drop(mounted);
        let Some(other) = mount(&dir, "ramfs", ["5", "6", "7", "8"]) else { return };
        let runs: Vec<_> = (1..=3).map(|number| (number, create(&dir, number, has_plan))).collect();
        let why = "'real/disk': another file system is mounted there than the recorded one: its file system differs";
        let refused: Vec<_> =
            runs.iter().filter(|(_, run)| run.code() == 2).map(|(number, _)| *number).collect();
        assert_eq!(refused.is_empty(), !has_plan);
        for number in refused {
            create(&dir, number, has_plan)
                .stderr_has(why)
                .stderr_has("mount the right one, or add --other-root");
            let shard = format!("{number}/3");
            let args =
                ["create", "--plan", "plan", "--other-root", "--allow-empty", "--shard", &shard, "real"];
            run(&dir, &args).status(0);
        }
        for command in
            [&["update", "real", "whole.jsonl", "-o", "new.jsonl"][..], &["scrub", "real", "whole.jsonl"]]
        {
            run(&dir, command).status(2).stderr_has(why);
        }
        run(&dir, &["update", "--other-root", "real", "whole.jsonl", "-o", "new.jsonl"]).status(0);
        if !has_plan {
            merge(&dir, &[]).status(0);
            dir.file("real/a/back", b"");
            drop(other);
            let Some(_mounted) = mount(&dir, "tmpfs", ["1", "2", "3", "4"]) else { return };
            create(&dir, 2, false).status(0);
            refused_everywhere(
                &dir,
                "different file systems were mounted at 'disk': its file system differs",
            );
            // Parts of an older version do not say which file system it was.
            for number in 1..=3 {
                let text = fs::read_to_string(dir.path(format!("parts/{number}.jsonl"))).unwrap();
                let member = text.split_once("\"mounts\":[").unwrap().1.split_once(']').unwrap().0.to_owned();
                edit_part(&dir, number, &member, "{\"path\":\"disk\"}");
            }
            merge(&dir, &[]).status(0);
            let merged = Manifest::read(&dir.path("merged.jsonl")).header["mounts"].clone();
            assert_eq!(merged.to_string(), "[{\"path\":\"disk\"}]");
        }
    }
}

/// To open it would block.
#[test]
fn only_regular_files_are_parts() {
    let dir = planned();
    (1..=3).for_each(|number| _ = create(&dir, number, true).status(0));
    let part = |name: &str| dir.path(format!("parts/{name}"));
    let remove = |name: &str| fs::remove_file(part(name)).unwrap();
    dir.fifo("parts/z.jsonl");
    let readers = || {
        for args in [
            &["diff", "whole.jsonl", "parts"][..],
            &["verify", "real", "parts"],
            &["export", "--format", "mtree", "parts"],
        ] {
            run(&dir, args)
                .status(2)
                .stderr_has("cannot list 'parts': 'z.jsonl' in it is not a regular file");
        }
        run(&dir, &["plan", "--shards", "2", "--from-parts", "parts"]).status(2).stderr_has("'z.jsonl'");
        dir.ftk(["report", "--json", "--parts", "parts"]).run().status(2).stderr_has("'z.jsonl'");
        dir.ftk(["du", "--from", "parts"]).run().status(2).stderr_has("'z.jsonl'");
        dir.ftk(["dup", "--manifests", "parts"]).run().status(2).stderr_has("'z.jsonl'");
    };
    readers();
    remove("z.jsonl");
    dir.socket("parts/z.jsonl");
    readers();
    remove("z.jsonl");
    dir.dir("parts/z.jsonl");
    readers();
    fs::remove_dir(part("z.jsonl")).unwrap();
    dir.symlink("nowhere", "parts/z.jsonl");
    run(&dir, &["verify", "real", "parts"]).status(2);
    remove("z.jsonl");
    // A link to a part is one, and other names do not count.
    fs::rename(part("2.jsonl"), dir.path("second")).unwrap();
    dir.symlink("../second", "parts/2.jsonl").fifo("parts/fifo").fifo("parts/.z.jsonl");
    run(&dir, &["verify", "real", "parts"]).status(0);
}

/// The rules of an ignore file that cannot be read select what is in its directory, so that is unknown.
#[test]
fn below_an_unreadable_ignore_file_everything_is_unknown() {
    let dir = planned();
    dir.file("real/.gitignore", b"*.o\n").file("real/b/.gitignore", b"!*.o\n");
    dir.file("real/b/kept.o", b"1").file("real/b/deep/kept.o", b"2").file("real/a/ignored.o", b"3");
    let create = ["create", "--ignore-files", "real", "-o"];
    run(&dir, &[&create[..], &["old.jsonl"]].concat()).status(0);
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    dir.lock("real/b/.gitignore");
    unprivileged(&dir, &[&create[..], &["new.jsonl"]].concat()).status(2);
    let failed = &Manifest::read(&dir.path("new.jsonl")).header["failed"];
    assert_eq!(failed.to_string(), "[{\"path\":\"b\"},{\"path\":\"b/.gitignore\"}]");
    let unknown = "unknown\tb\nunknown\tb/.gitignore\nunknown\tb/deep/kept.o\nunknown\tb/kept.o\n";
    let content = ["--mode", "content"];
    let diff = run(&dir, &[&["diff", "old.jsonl", "new.jsonl"], &content[..]].concat()).status(2);
    assert_eq!(diff.text(), unknown);
    let verify = unprivileged(&dir, &[&["verify", "real", "old.jsonl"], &content[..]].concat()).status(2);
    let unreadable = "unreadable\tb/deep/kept.o\nunreadable\tb/kept.o\n";
    assert_eq!(verify.text(), format!("unreadable\tb/.gitignore\tpermission denied\n{unreadable}"));
    unprivileged(&dir, &["update", "real", "old.jsonl", "-o", "kept.jsonl"]).status(2);
    let kept = Manifest::read(&dir.path("kept.jsonl"));
    assert!(kept.entries.contains_key(&b"b/kept.o"[..]) && kept.entries.contains_key(&b"b/deep/kept.o"[..]));
    // One above the root selects everything in it.
    dir.dir(".git").file(".gitignore", b"*.o\n").lock(".gitignore");
    unprivileged(&dir, &["create", "--ignore-files", "real/a", "-o", "above.jsonl"]).status(2);
    let failed = &Manifest::read(&dir.path("above.jsonl")).header["failed"];
    assert_eq!(failed.to_string(), "[{\"path\":\".\"}]");
}

#[test]
fn a_shard_with_less_than_half_of_its_plan_is_refused() {
    let dir = planned();
    for name in ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"] {
        fs::remove_file(dir.path(format!("real/{name}"))).unwrap();
    }
    let runs: Vec<_> = (1..=3).map(|number| create(&dir, number, true)).collect();
    let refused = runs.into_iter().filter(|run| run.code() == 2);
    let refused: Vec<_> = refused.map(|run| run.stderr_has("planned entries of shard")).collect();
    assert!(!refused.is_empty() && refused.len() < 3);
    // Where nothing was planned, nothing has to be there.
    run(&dir, &["create", "real/a", "-o", "small.jsonl"]).status(0);
    run(&dir, &["plan", "--shards", "4", "small.jsonl", "-o", "small"]).status(0);
    for number in 1..=4 {
        run(&dir, &["create", "-q", "--shard", &format!("{number}/4"), "--plan", "small", "real/a"])
            .status(0);
    }
}

/// As after `mount` of a copy: without a lasting identity of the file system, the path counts.
#[test]
fn parts_are_updated_and_scrubbed_only_on_their_root() {
    let dir = planned();
    dir.dir("tmp");
    let Some(_mounted) = Mounted::at(&dir.path("tmp"), ["-t", "tmpfs", "none"]) else { return };
    for name in ["one/a/1", "one/b/2", "two/a/1", "two/b/2"] {
        dir.file(format!("tmp/{name}"), b"same");
    }
    run(&dir, &["create", "--shard", "1/1", "tmp/one", "-o", "part.jsonl"]).status(0);
    let before = fs::read(dir.path("part.jsonl")).unwrap();
    for command in
        [&["update", "tmp/two", "part.jsonl", "-o", "part.jsonl"][..], &["scrub", "tmp/two", "part.jsonl"]]
    {
        run(&dir, command).status(2).stderr_has("is not the recorded directory: its path differs");
        assert_eq!(fs::read(dir.path("part.jsonl")).unwrap(), before);
    }
    run(&dir, &["update", "--other-root", "tmp/two", "part.jsonl", "-o", "part.jsonl"]).status(0);
}

#[test]
fn a_root_without_entries_has_its_file_system() {
    let dir = planned();
    let of = |options: &[&str]| {
        run(&dir, &[&["create", "--no-content", "real", "-o", "one.jsonl", "--force"], options].concat())
            .status(0);
        Manifest::read(&dir.path("one.jsonl"))
    };
    let (whole, root) = (of(&[]), of(&["--max-depth", "0"]));
    assert_eq!(root.paths, [b"."]);
    assert_eq!(root.entry(".").get("fs"), whole.entry(".").get("fs"));
}

/// Its entries were not deleted, so an update must not drop them.
#[test]
fn a_tree_that_lacks_a_mount_is_not_updated_or_scrubbed() {
    let dir = Dir::new();
    (0..9).for_each(|nth| _ = dir.file(format!("real/{nth}"), b"here"));
    let disk = dir.dir("real/disk").path("real/disk");
    let Some(mounted) = Mounted::at(&disk, ["-t", "tmpfs", "none"]) else { return };
    dir.file("real/disk/one", b"mounted");
    run(&dir, &["create", "real", "-o", "m.jsonl"]).status(0);
    let update = ["update", "real", "m.jsonl", "-o", "new.jsonl", "--force"];
    run(&dir, &update).status(0);
    drop(mounted);
    let why = "'real/disk': another file system is recorded there, and none is mounted now";
    run(&dir, &update).status(2).stderr_has(why);
    run(&dir, &["scrub", "real", "m.jsonl"]).status(2).stderr_has(why);
    run(&dir, &[&update[..], &["--other-root"]].concat()).status(0);
    run(&dir, &["update", "real", "new.jsonl", "-o", "-"]).status(0);
}

/// Runs a command as a user who may not read everything.
fn unprivileged(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest"]).args(args).unprivileged(dir).run()
}

#[test]
fn h104_what_a_shard_could_not_read_is_unknown() {
    let dir = planned();
    let mode =
        |path: &str, mode| fs::set_permissions(dir.path(path), fs::Permissions::from_mode(mode)).unwrap();
    mode("parts", 0o777);
    mode("real/film", 0);
    mode("real/b/2", 0);
    for has_plan in [true, false] {
        for number in 1..=3 {
            let (shard, part) = (format!("{number}/3"), format!("parts/{number}.jsonl"));
            let plan = if has_plan { &["--plan", "plan"][..] } else { &[] };
            let create = ["create", "--shard", &shard, "real", "-o", &part, "--force"];
            unprivileged(&dir, &[&create, plan].concat());
        }
        let merged = merge(&dir, &[]).status(2);
        merged.stderr_has("'b/2' could not be read").stderr_has("'film' could not be read");
        let text = fs::read_to_string(dir.path("merged.jsonl")).unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.contains("\"version\":3,"), "{header}");
        assert!(header.contains("\"failed\":[{\"path\":\"b/2\"},{\"path\":\"film\"}]"), "{header}");
        for record in ["merged.jsonl", "parts"] {
            let unknown = "unknown\tb/2\nunknown\tfilm\nunknown\tfilm/1\nunknown\tfilm/2\nunknown\tfilm/3\n";
            let mode = ["--mode", "content"];
            let diff = run(&dir, &[&["diff", "whole.jsonl", record], &mode[..]].concat()).status(2);
            assert_eq!(diff.text(), unknown);
            let diff = run(&dir, &[&["diff", record, "whole.jsonl"], &mode[..]].concat()).status(2);
            assert_eq!(diff.text(), unknown);
            let verify = run(&dir, &[&["verify", "real", record], &mode[..]].concat()).status(2);
            assert_eq!(verify.text(), unknown);
            // A has failures; B has.
            let unique = run(&dir, &["unique", record, "whole.jsonl"]).status(2);
            unique.stderr_lacks("all content").stdout("");
            let unique = run(&dir, &["unique", "whole.jsonl", record]).status(2);
            assert_eq!(unique.text(), "b/2\nfilm/1\nfilm/2\nfilm/3\n");
            run(&dir, &["export", "--format", "mtree", record])
                .status(0)
                .stderr_has("2 paths that could not be read");
            dir.ftk(["report", "--json"])
                .args(if record == "parts" { &["--parts"][..] } else { &[] })
                .arg(record)
                .run()
                .status(2);
        }
        run(&dir, &["unique", "--json", "whole.jsonl", "merged.jsonl"]).status(2);
    }
    // A single run and an update say it too, and an update that can read everything removes it.
    mode("real", 0o755);
    let created = unprivileged(&dir, &["create", "real"]).status(2);
    let header = created.text().lines().next().unwrap();
    assert!(header.contains("\"failed\":[{\"path\":\"b/2\"},{\"path\":\"film\"}]"), "{header}");
    let update = unprivileged(&dir, &["update", "real", "whole.jsonl", "-o", "-"]).status(2);
    assert!(update.text().lines().next().unwrap().contains("\"version\":3,"));
    fs::write(dir.path("kept.jsonl"), update.out.clone()).unwrap();
    // The records that it kept do not show that the content is still there.
    let unique = run(&dir, &["unique", "whole.jsonl", "kept.jsonl"]).status(2);
    assert_eq!(unique.text(), "b/2\nfilm/1\nfilm/2\nfilm/3\n");
    let again = run(&dir, &["update", "real", "kept.jsonl", "-o", "-"]).status(0);
    assert!(!again.text().lines().next().unwrap().contains("failed"));
}

/// Parts that an older version made have it in another place.
#[test]
fn failures_of_older_parts_are_read() {
    let dir = planned();
    (1..=3).for_each(|number| _ = create(&dir, number, false).status(0));
    let failed = "\"shard\":{\"number\":2,\"of\":3,\"failed\":[{\"path\":\"film\"}]";
    edit_part(&dir, 2, "\"shard\":{\"number\":2,\"of\":3", failed);
    let merged = merge(&dir, &[]).status(2);
    merged.stderr_has("'film' could not be read when its shard was recorded");
}

/// Replaces text in a part of `parts`, and seals it again.
#[track_caller]
fn edit_part(dir: &Dir, number: u32, old: &str, new: &str) {
    let (part, aside) = (dir.path(format!("parts/{number}.jsonl")), dir.aside("part"));
    fs::rename(&part, &aside).unwrap();
    edit(dir, "part", old, new);
    fs::rename(&aside, &part).unwrap();
}

#[test]
fn a_part_of_another_day_is_refused() {
    let dir = planned();
    for has_plan in [true, false] {
        (1..=3).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        merge(&dir, &[]).status(0);
        let header = Manifest::read(&dir.path("parts/3.jsonl")).header;
        let start = header["start_ns"].as_i64().unwrap();
        let earlier = |hours: i64| format!("\"start_ns\":{}", start - hours * 3600 * 1_000_000_000);
        edit_part(&dir, 3, &earlier(0), &earlier(11));
        merge(&dir, &[]).status(0);
        edit_part(&dir, 3, &earlier(11), &earlier(13));
        refused_everywhere(&dir, "not parts of one run: the second began 1");
        merge(&dir, &["--max-span", "14h"]).status(0);
        edit_part(&dir, 3, &earlier(13), &earlier(24 * 31));
        merge(&dir, &["--max-span", "14h"]).status(2).stderr_has("not parts of one run: the second began 74");
    }
}

/// `merge` says it if a file was renamed from a range that was not recorded yet to one that was, or the other way round.
#[test]
fn renames_between_shards_are_said() {
    for has_plan in [true, false] {
        for order in [[1, 2, 3], [3, 2, 1]] {
            let dir = planned();
            std::thread::sleep(std::time::Duration::from_millis(30)); // ticks of the clock of files
            create(&dir, order[0], has_plan).status(0);
            fs::rename(dir.path("real/a/1"), dir.path("real/film/new")).unwrap();
            order[1..].iter().for_each(|number| _ = create(&dir, *number, has_plan).status(0));
            let merged = merge(&dir, &[]).status(0).stderr_has("changed while the shards were recorded");
            let found = Manifest::read(&dir.path("merged.jsonl"));
            let times =
                ["a/1", "film/new"].into_iter().filter(|path| found.entries.contains_key(path.as_bytes()));
            if times.count() == 2 {
                merged
                    .stderr_has("2 paths recorded although the entry has another path too")
                    .stderr_has("'a/1', 'film/new'");
            } else {
                merged.stderr_lacks("another path too");
            }
        }
    }
}

/// By hash, a shard may see only by the mtime of a directory whose entries belong to another shard that a directory in it has
/// another name now. Readers of a directory of parts say it too.
#[test]
fn renamed_directories_are_said() {
    for has_plan in [true, false] {
        for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
            let dir = planned();
            std::thread::sleep(std::time::Duration::from_millis(30)); // ticks of the clock of files
            create(&dir, order[0], has_plan).status(0);
            fs::rename(dir.path("real/film"), dir.path("real/blue")).unwrap();
            for number in &order[1..] {
                let (shard, part) = (format!("{number}/3"), format!("parts/{number}.jsonl"));
                let plan = if has_plan { &["--plan", "plan", "--allow-empty"][..] } else { &[] };
                run(&dir, &[&["create", "--shard", &shard, "real", "-o", &part], plan].concat()).status(0);
            }
            let why = "1 directory changed while the shards were recorded, so a renamed file may be missing or \
                       appear twice: '.'";
            merge(&dir, &[]).status(0).stderr_has(why);
            let verify = run(&dir, &["verify", "real", "parts"]).stderr_has(&format!("ftk: 'parts': {why}"));
            assert_eq!(verify.err.matches("changed while").count(), 1, "{}", verify.err);
            run(&dir, &["diff", "whole.jsonl", "parts"]).stderr_has(why);
            run(&dir, &["unique", "whole.jsonl", "parts"]).stderr_has(why);
            dir.ftk(["du", "--from", "parts"]).run().status(0).stderr_has(why);
        }
    }
}

/// Changes the mtime of an entry of the tree.
fn touch(dir: &Dir, name: &str, when: &str) {
    let mut touch = std::process::Command::new("touch");
    assert!(touch.args(["-d", when]).arg(dir.path("real").join(name)).status().unwrap().success());
}

/// Whatever the time between the runs, parts list what changed in it.
#[test]
fn renames_within_a_month_are_said() {
    const DAY: i64 = 24 * 3600 * 1_000_000_000;
    for has_plan in [true, false] {
        let dir = planned();
        for name in [".", "a", "b", "film"] {
            touch(&dir, name, "40 days ago");
        }
        (1..=3).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        let header = Manifest::read(&dir.path("parts/1.jsonl")).header;
        let start = header["start_ns"].as_i64().unwrap();
        edit_part(&dir, 1, &format!("\"start_ns\":{start}"), &format!("\"start_ns\":{}", start - 30 * DAY));
        merge(&dir, &["--max-span", "31d"]).status(0).stderr_lacks("changed");
        touch(&dir, "b", "9 days ago");
        (2..=3).for_each(|number| _ = create(&dir, number, has_plan).status(0));
        let merged = merge(&dir, &["--max-span", "31d"]).status(0);
        merged.stderr_has("1 directory changed while the shards were recorded").stderr_has(": 'b'");
        // Older versions listed the changes of a week.
        for number in 2..=3 {
            edit_part(&dir, number, ",\"listed_since_ns\":0", "");
        }
        let merged = merge(&dir, &["--max-span", "31d"]).status(0);
        merged.stderr_has("at least 1 directory changed while the shards were recorded");
    }
}

#[test]
fn old_plans_are_named_and_made_again_from_parts() {
    let dir = planned();
    create(&dir, 1, true).status(0).stderr_lacks("makes a new plan");
    (0..1200).for_each(|nth| _ = dir.file(format!("real/a/new{nth}"), b""));
    let grown: Vec<_> = (1..=3).map(|number| create(&dir, number, true).status(0)).collect();
    let says = |run: &Run| run.err.contains("`ftk manifest plan --from-parts` makes a new plan");
    assert_eq!(grown.iter().filter(|run| says(run)).count(), 1);
    run(&dir, &["plan", "--shards", "4", "parts"]).status(2).stderr_has("add --from-parts");
    run(&dir, &["plan", "--shards", "4", "--from-parts", "parts", "-o", "from-dir"]).status(0);
    let files = ["parts/3.jsonl", "parts/1.jsonl", "parts/2.jsonl"];
    run(&dir, &[&["plan", "--shards", "4", "--from-parts", "-o", "from-files"][..], &files].concat())
        .status(0);
    merge(&dir, &[]).status(0);
    run(&dir, &["plan", "--shards", "4", "merged.jsonl", "-o", "from-merged"]).status(0);
    let [a, b, c] =
        ["from-dir", "from-files", "from-merged"].map(|name| fs::read_to_string(dir.path(name)).unwrap());
    assert!(a == b && a == c, "{a}{b}{c}");
    run(&dir, &["plan", "--shards", "4", files[0], files[1]]).status(2).stderr_has("add --from-parts");
    // A tree that has parts in it, and something else, is a tree.
    dir.file("parts/notes", b"");
    run(&dir, &["plan", "--shards", "4", "parts"]).status(0);
}

#[test]
fn more_parts_are_merged_than_files_can_be_open() {
    let dir = planned();
    for has_plan in [true, false] {
        run(&dir, &["plan", "--shards", "300", "whole.jsonl", "-o", "many", "--force"]).status(0);
        let mut merge =
            vec!["manifest".to_owned(), "merge".into(), "-o".into(), "merged.jsonl".into(), "--force".into()];
        for number in 1..=300 {
            let (shard, part) = (format!("{number}/300"), format!("parts/{number}.jsonl"));
            let plan = if has_plan { &["--plan", "many"][..] } else { &[] };
            run(&dir, &[&["create", "--shard", &shard, "real", "-o", &part, "--force"], plan].concat())
                .status(0);
            merge.push(part);
        }
        dir.ftk(&merge).limit(&dir, "-n 64").run().status(0);
        run(&dir, &["diff", "whole.jsonl", "merged.jsonl"]).status(0);
        dir.ftk(["manifest", "verify", "real", "parts"]).limit(&dir, "-n 64").run().status(0);
        let small = dir.ftk(&merge).args(["--memory", "1K"]).run();
        if has_plan {
            small.status(0);
        } else {
            small.status(2).stderr_has("300 parts without a plan need ");
        }
    }
}
