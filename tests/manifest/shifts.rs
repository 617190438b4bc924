//! Times that shifted as a whole.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::damage::flip;
use super::records::{Manifest, create, json as objects, verify};
use super::repair::{copy, repair, repair_from};
use crate::harness::{Dir, Run, bytes, sha256};

const HOUR: Duration = Duration::from_secs(3600);

/// Creates twelve files whose mtimes are days apart, and their manifest.
fn recorded() -> Dir {
    let dir = Dir::new();
    for nth in 0..12_u32 {
        dir.file(format!("d/{nth:02}"), &bytes(nth.into(), 1000));
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000 + 86_400 * u64::from(nth), nth + 7);
        set(&dir.path(format!("d/{nth:02}")), time);
    }
    create(&dir, &[]);
    dir
}

fn set(path: &Path, time: SystemTime) {
    File::open(path).unwrap().set_modified(time).unwrap();
}

/// Changes the mtimes of all files.
fn shift(dir: &Dir, to: impl Fn(SystemTime) -> SystemTime) {
    for entry in fs::read_dir(dir.path("d")).unwrap() {
        let path = entry.unwrap().path();
        set(&path, to(fs::metadata(&path).unwrap().modified().unwrap()));
    }
}

fn update(dir: &Dir) -> Run {
    let path = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&path).arg("-o").arg(&path).run()
}

fn digest(dir: &Dir, path: &str) -> String {
    Manifest::read(&dir.aside("manifest")).entry(path)["digests"]["sha256"].as_str().unwrap().to_owned()
}

#[test]
fn h63_a_shift_of_all_times_hides_no_damage() {
    // Daylight saving time, a change of the time zone, and FAT, which rounds to two seconds.
    let rounded = |time: SystemTime| {
        let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.div_ceil(2) * 2)
    };
    let shifts: [&dyn Fn(SystemTime) -> SystemTime; 5] = [
        &|time| time + HOUR,
        &|time| time - HOUR,
        &|time| time + 5 * HOUR + HOUR / 2,
        &|time| rounded(time) + HOUR,
        &|time| rounded(time),
    ];
    for by in shifts {
        let dir = recorded();
        flip(&dir.path("d/05"));
        dir.file("d/07", &bytes(99, 1000));
        shift(&dir, by);
        set(&dir.path("d/07"), SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000));
        let run = verify(&dir, &[]).status(1);
        let lines: Vec<_> = run.text().lines().collect();
        run.check(lines.len() == 3, "the shift is one line");
        run.check(
            lines[0].starts_with("corrupted\td/05\tcontent changed, size did not, and mtime shifted, "),
            "damage",
        );
        run.check(lines[1].starts_with("modified\td/07\tmtime "), "an edit");
        run.check(lines[2].starts_with("shifted\t.\tmtimes of 11 files: "), "the shift");
        let records = objects(&verify(&dir, &["--json"]));
        assert_eq!((&records[2]["verdict"], &records[2]["files"]), (&"shifted".into(), &11.into()));
        assert!(records[2]["shift_ns"].is_i64());
        // Times that are ignored are not reported, and no evidence of damage.
        let run = verify(&dir, &["--ignore", "mtime"]).status(1);
        run.check(run.text().starts_with("modified\td/05\t") && run.text().lines().count() == 2, "no shift");

        // The shift is reported once. The damage is reported until it is repaired, and never recorded.
        let run = update(&dir).status(1);
        let run = run.stderr_has(
            "ftk: 'd/05' is corrupted: content changed, size did not, and mtime shifted, sha256 ",
        );
        run.stderr_has("ftk: all times have shifted (mtimes of 11 files: ");
        for _ in 0..2 {
            let run = update(&dir).status(1).stderr_has("'d/05' is corrupted").stderr_lacks("shifted");
            run.stderr_lacks("d/07");
            assert_eq!(digest(&dir, "d/05"), sha256(&bytes(5, 1000)));
            let run = verify(&dir, &[]).status(1);
            run.check(
                run.text().starts_with("corrupted\td/05\tcontent changed, size and mtime did not, "),
                "damage",
            );
        }
        assert_eq!(digest(&dir, "d/07"), sha256(&bytes(99, 1000)));
    }
}

#[test]
fn h63_a_shift_of_files_with_one_time_hides_no_damage() {
    let dir = Dir::new();
    for name in ["a", "b", "sub/c"] {
        dir.file(name, name.as_bytes());
        set(&dir.path(name), SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_923_200));
    }
    create(&dir, &[]);
    flip(&dir.path("a"));
    for name in ["a", "b", "sub/c"] {
        set(&dir.path(name), SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_923_200) + HOUR);
    }
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("corrupted\ta\t") && !run.text().contains("sub/c"), "damage");
    run.check(run.text().ends_with("shifted\t.\tmtimes of 3 files: +1 h 0 min\n"), "the shift");
}

/// A copy without times: every file has a new one.
#[test]
fn h63_a_copy_without_times_hides_no_damage() {
    let dir = recorded();
    // In this order, the damaged file is neither the first nor the last one, whose times no other file confirms.
    for nth in 0..12 {
        // The clock of a file system advances in steps of up to 10 ms, and the copy has to be later than the manifest.
        std::thread::sleep(Duration::from_millis(11));
        let path = dir.path(format!("d/{nth:02}"));
        let content = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(path, content).unwrap();
    }
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("shifted\t.\tmtimes of 12 files: all from 20"), "the copy");
    run.check(run.text().lines().count() == 1, "nothing else");
    flip(&dir.path("d/05"));
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("corrupted\td/05\t") && run.text().lines().count() == 2, "damage");
    // The same file, edited after the copy.
    set(&dir.path("d/05"), SystemTime::now() + HOUR);
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("modified\td/05\t"), "an edit");
    update(&dir).status(0).stderr_has("all times have shifted (mtimes of 11 files: all from ");
    verify(&dir, &[]).status(0);
}

#[test]
fn a_shift_does_not_keep_scrub_from_reading() {
    let dir = recorded();
    shift(&dir, |time| time + HOUR);
    flip(&dir.path("d/05"));
    let scrub = || dir.ftk(["manifest", "scrub", "."]).arg(dir.aside("manifest")).run();
    let run = scrub().status(1).stderr_has("ftk: all times have shifted (mtimes of 12 files: +1 h 0 min): ");
    run.check(run.text().starts_with("corrupted\td/05\t"), "damage");
    run.stderr_has("  11 files verified, ").stderr_lacks("changed");
    update(&dir).status(1).stderr_has("'d/05' is corrupted");
    scrub().status(1).stderr_lacks("shifted");
    update(&dir).status(1).stderr_has("'d/05' is corrupted");
}

/// A shifted time agrees with the record, so repair tells damage from edits.
#[test]
fn a_shift_keeps_repair_from_overlooking_damage() {
    let dir = recorded();
    copy(&dir, "copy");
    flip(&dir.path("d/05"));
    dir.file("d/07", &bytes(99, 1000));
    shift(&dir, |time| time + HOUR);
    set(&dir.path("d/07"), SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000));
    let shifted = "ftk: all times have shifted (mtimes of 11 files: +1 h 0 min): update records them";
    repair(&dir, &["--yes"]).status(1).stderr_has(shifted).stderr_has("  repaired 1 file, ");
    assert_eq!(fs::read(dir.path("d/05")).unwrap(), bytes(5, 1000));
    assert_eq!(fs::read(dir.path("d/07")).unwrap(), bytes(99, 1000), "an edit");
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("modified\td/07\t") && run.text().lines().count() == 2, "no damage");
}

/// The recorded times of a copy without times tell damage from edits only after an update.
#[test]
fn a_copy_without_times_is_not_repaired_before_an_update() {
    let dir = recorded();
    copy(&dir, "copy");
    flip(&dir.path("d/05"));
    let now = SystemTime::now() + HOUR;
    shift(&dir, |time| now + Duration::from_nanos(time.elapsed().unwrap().as_secs() % 1000));
    for args in [&[][..], &["--yes"]] {
        let run = repair(&dir, args).status(2).stdout("");
        run.stderr_has("as after a copy without times): run `ftk manifest update` first, which marks");
    }
    update(&dir).status(1).stderr_has("'d/05' is corrupted");
    repair(&dir, &["--yes"]).status(0).stderr_has("  repaired 1 file, ");
    verify(&dir, &[]).status(0);
}

/// The times of a copy by `Files.copy` of Java, and by `os.utime` of Python with floats. Then the original is verified
/// against the manifest of such a copy.
#[test]
fn h98_rounding_hides_no_damage_in_either_direction() {
    let unix = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let micros = |time| SystemTime::UNIX_EPOCH + Duration::from_micros(unix(time).as_micros() as u64);
    let float = |time| SystemTime::UNIX_EPOCH + Duration::from_secs_f64(unix(time).as_secs_f64());
    let ways: [&dyn Fn(SystemTime) -> SystemTime; 2] = [&micros, &float];
    let names = [
        ("1 \u{b5}s", "\"step_ns\":1000"),
        ("a floating-point number of seconds", "\"double_unit_ns\":1000000000"),
    ];
    for (round, (to, member)) in ways.into_iter().zip(names) {
        for is_reverse in [false, true] {
            let dir = recorded();
            for nth in 0..12_u32 {
                let time =
                    Duration::new(1_700_000_000 + 86_400 * u64::from(nth), 123_456_789 + 7_654_321 * nth);
                set(&dir.path(format!("d/{nth:02}")), SystemTime::UNIX_EPOCH + time);
            }
            copy(&dir, "exact");
            if is_reverse {
                shift(&dir, round);
            }
            fs::remove_file(dir.aside("manifest")).unwrap();
            create(&dir, &[]);
            fs::copy(dir.aside("manifest"), dir.aside("old")).unwrap();
            flip(&dir.path("d/05"));
            for nth in 0..12_u32 {
                let exact =
                    fs::metadata(dir.aside(&format!("exact/d/{nth:02}"))).unwrap().modified().unwrap();
                set(&dir.path(format!("d/{nth:02}")), if is_reverse { exact } else { round(exact) });
            }
            let (what, side) =
                if is_reverse { ("recorded times", "old") } else { ("times of the copy", "new") };
            let said = format!("mtimes of 12 files: {what} are rounded to {to}");
            let run = verify(&dir, &[]).status(1);
            let lines: Vec<_> = run.text().lines().collect();
            run.check(lines.len() == 2 && lines[0].starts_with("corrupted\td/05\t"), "damage");
            run.check(lines[1] == format!("shifted\t.\t{said}"), "the rounding");
            let run = verify(&dir, &["--json"]).status(1);
            let shifted = format!("\"files\":12,\"shift_ns\":0,\"rounded\":\"{side}\",{member}}}\n");
            run.check(run.text().ends_with(&shifted), "JSON");

            let run = dir.ftk(["manifest", "scrub", "."]).arg(dir.aside("old")).run().status(1);
            let run = run.stderr_has(&format!("ftk: all times have shifted ({said}): update records them\n"));
            run.stderr_has("  11 files verified, ");
            repair_from(&dir, &["exact"], &[]).status(0).stderr_has("  would repair 1 file, ");
            let run = dir.ftk(["manifest", "scrub", ".", "--json"]).arg(dir.aside("old")).run().status(1);
            let line = format!("{{\"verdict\":\"shifted\",\"path\":\".\",{shifted}");
            run.check(run.text().contains(&line), "JSON");
            let run = repair_from(&dir, &["exact"], &["--json"]).status(0);
            run.check(run.text().starts_with(&line.replace("verdict", "action")), "JSON");
            let run = update(&dir).status(1).stderr_has("'d/05' is corrupted");
            run.stderr_has(&format!("ftk: all times have shifted ({said}); they are recorded now\n"));
            let run = verify(&dir, &[]).status(1);
            run.check(
                run.text().starts_with("corrupted\td/05\t") && run.text().lines().count() == 1,
                "damage",
            );

            fs::remove_file(dir.aside("manifest")).unwrap();
            create(&dir, &[]);
            let diff = dir.ftk(["manifest", "diff"]).arg(dir.aside("old")).arg(dir.aside("manifest")).run();
            let side = if is_reverse { "OLD" } else { "NEW" };
            let run = diff.status(1);
            let lines: Vec<_> = run.text().lines().collect();
            run.check(lines.len() == 2 && lines[0].starts_with("corrupted\td/05\t"), "damage");
            run.check(
                lines[1] == format!("shifted\t.\tmtimes of 12 files: times of {side} are rounded to {to}"),
                "diff",
            );
        }
    }
}

/// A scrub reads no content before it chooses files, so it cannot recognise a copy without times.
#[test]
fn a_scrub_that_verified_nothing_is_no_success() {
    let dir = recorded();
    let now = SystemTime::now();
    shift(&dir, |time| now + Duration::from_nanos(time.elapsed().unwrap().as_secs() % 1000));
    let scrub =
        |args: &[&str]| dir.ftk(["manifest", "scrub", "."]).arg(dir.aside("manifest")).args(args).run();
    let run = scrub(&[]).status(1).stdout("").stderr_has("  0 files verified, ");
    run.stderr_has(
        "  nothing was verified: 12 recorded files, and none has its size and mtime: \
         `ftk manifest verify` reads all of them   (status 1)\n",
    );
    let run = scrub(&["--json"]).status(1);
    run.check(run.text().contains("\"recorded_files\":12,\"files\":0,"), "the number");
    // All files are missing.
    for nth in 0..12 {
        let _ = fs::remove_file(dir.path(format!("d/{nth:02}")));
    }
    scrub(&["--max-missing", "100%"])
        .status(1)
        .stderr_has("  nothing was verified: 12 recorded files, and all of them are missing   (status 1)\n");
    // A tree without files has nothing to verify.
    let empty = Dir::new();
    create(&empty, &[]);
    empty.ftk(["manifest", "scrub", "."]).arg(empty.aside("manifest")).run().status(0);
}

/// Fewer changes are changes of their files.
#[test]
fn some_files_with_other_times_are_no_shift() {
    let dir = recorded();
    for nth in 0..6 {
        let path = dir.path(format!("d/{nth:02}"));
        set(&path, fs::metadata(&path).unwrap().modified().unwrap() + HOUR);
    }
    let run = verify(&dir, &[]).status(1);
    run.check(
        run.text().lines().count() == 6 && run.text().starts_with("metadata\td/00\tmtime "),
        "six files",
    );
}

/// Returns a directory with a tree `t` of hard links, recorded in `m`, and their copies in `copy`, which are separate files
/// without times. `name` gives the nth file its kth name.
fn split(files: usize, names: usize, name: impl Fn(usize, usize) -> String) -> Dir {
    let dir = Dir::new();
    let paths: Vec<_> = (0..names).flat_map(|k| (0..files).map(move |nth| (k, nth))).collect();
    for &(k, nth) in &paths {
        let [path, first] = [k, 0].map(|k| format!("t/{}", name(nth, k)));
        if k == 0 {
            dir.file(&path, &bytes(nth as u64, 100));
            let seconds = 1_600_000_000 + 86_400 * nth as u64;
            set(
                &dir.path(&path),
                SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789 + 7001 * nth as u32),
            );
        } else {
            fs::create_dir_all(dir.path(&path).parent().unwrap()).unwrap();
            dir.hard_link(&first, &path);
        }
    }
    dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
    // The copy begins after the manifest, also for a clock with coarse steps.
    std::thread::sleep(Duration::from_millis(20));
    let mut names: Vec<_> = paths.iter().map(|&(k, nth)| (name(nth, k), nth)).collect();
    names.sort();
    for (name, nth) in names {
        dir.file(format!("copy/{name}"), &bytes(nth as u64, 100));
        std::thread::sleep(Duration::from_millis(1));
    }
    dir
}

/// Checks that each command reports exactly these files in the copy as damaged, and that none is recorded.
fn check_damage(dir: &Dir, damaged: &[&str]) {
    let check = |manifest: &str| {
        let run = dir.ftk(["manifest", "verify", "copy", manifest]).run().status(1);
        let lines = run
            .text()
            .lines()
            .filter(|line| !line.starts_with("shifted\t") && !line.starts_with("unlinked\t"));
        let paths: Vec<_> = lines.map(|line| line.strip_prefix("corrupted\t").unwrap_or(line)).collect();
        let paths: Vec<_> = paths.iter().map(|line| line.split('\t').next().unwrap()).collect();
        run.check(paths == damaged, "the damaged files");
    };
    check("m");
    dir.ftk(["manifest", "update", "--other-root", "copy", "m", "-o", "u"]).run().status(1);
    check("u");
}

/// All hard links are separate files in the copy, so each of them shows how the times have changed.
#[test]
fn every_file_of_a_copy_without_links_is_a_witness() {
    let snapshots = |nth, k| format!("daily.{k}/{nth:02}");
    let alphabet = |nth: usize, k| format!("{}{k:02}", char::from(b'a' + nth as u8));
    for damaged in [&["daily.2/03"][..], &["daily.0/03"], &["daily.0/02", "daily.3/01"]] {
        let dir = split(6, 4, snapshots);
        damaged.iter().for_each(|path| flip(&dir.path(format!("copy/{path}"))));
        check_damage(&dir, damaged);
    }
    for damaged in [&["c00"][..], &["c03"], &["b00", "d00"], &["b02", "d02"]] {
        let dir = split(5, 8, alphabet);
        damaged.iter().for_each(|path| flip(&dir.path(format!("copy/{path}"))));
        check_damage(&dir, damaged);
    }
    // Two files with rounded times.
    let dir = split(2, 10, alphabet);
    flip(&dir.path("copy/a05"));
    for path in (0..2).flat_map(|nth| (0..10).map(move |k| alphabet(nth, k))) {
        let time = fs::metadata(dir.path(format!("t/{path}"))).unwrap().modified().unwrap();
        let ns = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
        set(
            &dir.path(format!("copy/{path}")),
            SystemTime::UNIX_EPOCH + Duration::from_nanos(ns / 1000 * 1000),
        );
    }
    check_damage(&dir, &["a05"]);
    let run = dir.ftk(["manifest", "verify", "copy", "m"]).run().status(1);
    run.check(run.text().contains("shifted\t.\tmtimes of 20 files: "), "the rounding");
}

/// One inode is one file, whatever its number of names.
#[test]
fn names_of_one_file_show_no_shift() {
    let dir = Dir::new();
    dir.file("k", b"k").file("x00", b"x");
    (1..12).for_each(|nth| _ = dir.hard_link("x00", &format!("x{nth:02}")));
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_700);
    ["k", "x00"].iter().for_each(|name| set(&dir.path(name), time));
    fs::copy(create(&dir, &[]), dir.aside("old")).unwrap();
    // Merged manifests have no groups of links.
    let merged = |name: &str| {
        let parts = ["1", "2"].map(|number| dir.aside(&format!("part {number}")));
        for (nth, part) in (1..).zip(&parts) {
            let shard = format!("{nth}/2");
            let create =
                dir.ftk(["manifest", "create", ".", "--force", "--shard", &shard, "-o"]).arg(part).run();
            create.status(0);
        }
        let path = dir.aside(name);
        dir.ftk(["manifest", "merge", "--force"]).args(parts).arg("-o").arg(&path).run().status(0);
        path
    };
    let old_merged = merged("old merged");
    // A new time, as after a copy without times; one hour; and one that is not a multiple of 100 ns.
    for new in [SystemTime::now(), time + HOUR, time + Duration::from_nanos(1)] {
        set(&dir.path("x00"), new);
        let run = verify(&dir, &[]).status(1).stderr_has("2 of 14 as recorded; 12 metadata");
        run.check(!run.text().contains("shifted"), "no shift");
        // An edit in the same moment is an edit.
        dir.file("k", b"K");
        set(&dir.path("k"), new);
        let run = verify(&dir, &["--status-corrupted", "9"]).status(1);
        run.check(run.text().contains("modified\tk\t"), "an edit");
        let now = dir.aside("now");
        dir.ftk(["manifest", "create", ".", "--force", "-o"]).arg(&now).run().status(0);
        for [old, new] in [[dir.aside("old"), now], [old_merged.clone(), merged("now merged")]] {
            let diff = dir.ftk(["manifest", "diff"]).args([old, new]).run().status(1);
            diff.check(diff.text().contains("modified\tk\t") && !diff.text().contains("shifted"), "an edit");
        }
        let run = dir.ftk(["manifest", "verify", "."]).arg(&old_merged).run().status(1);
        run.check(run.text().contains("modified\tk\t") && !run.text().contains("shifted"), "an edit");
        dir.file("k", b"k");
        set(&dir.path("k"), time);
    }
}
