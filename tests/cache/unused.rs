//! Commands that never use the cache, and how it is turned on and off.

use std::fs;

use super::{counted, place, settle, stored, with_env};
use crate::harness::{Dir, Ftk};

/// Returns two equal files whose digests are stored.
fn known() -> Option<Dir> {
    let dir = place()?;
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]);
    settle();
    for command in [&["hash", "t"][..], &["dup", "t"], &["manifest", "create", "t"]] {
        dir.ftk(command).arg("--cache").run();
    }
    assert_eq!(stored(&dir), 2);
    Some(dir)
}

fn reused(dir: &Dir, ftk: Ftk, variables: &[&str]) -> Option<u64> {
    // `--stats` must follow the command, which `env` only starts.
    let (run, reused) = counted(dir, with_env(dir, ftk, variables));
    run.check(run.code() != 2, "no error");
    reused
}

#[test]
fn checks_and_comparisons_and_actions_read_every_file() {
    let Some(dir) = known() else { return };
    let save = |args: &[&str], name: &str| {
        dir.ftk(args).arg("-o").arg(dir.aside(name)).run().check(dir.aside(name).exists(), "a list");
    };
    save(&["hash", "t"], "sums");
    save(&["manifest", "create", "t"], "manifest");
    save(&["dup", "--json", "t"], "report");
    let with = |args: &[&str], name: &str| dir.ftk(args).arg(dir.aside(name));
    let on = ["FTK_CACHE=1"];
    assert_eq!(reused(&dir, dir.ftk(["hash", "t"]), &on), Some(2), "the variable counts");
    assert_eq!(reused(&dir, dir.ftk(["dup", "t"]), &on), Some(2), "the variable counts");
    assert_eq!(reused(&dir, dir.ftk(["manifest", "create", "t"]), &on), Some(2), "the variable counts");
    assert_eq!(reused(&dir, with(&["hash", "--check"], "sums"), &on), None);
    assert_eq!(reused(&dir, with(&["manifest", "verify", "t"], "manifest"), &on), None);
    assert_eq!(reused(&dir, dir.ftk(["cmp", "t/a", "t/b"]), &on), None);
    fs::create_dir(dir.path("u")).unwrap();
    assert_eq!(reused(&dir, dir.ftk(["cmp", "-r", "t", "t"]), &on), None);
    assert_eq!(reused(&dir, with(&["dup", "apply", "--action", "hardlink", "--yes"], "report"), &on), None);
}

#[test]
fn the_last_option_wins_over_the_variable() {
    let Some(dir) = known() else { return };
    let cases: [(&[&str], &[&str], bool); 12] = [
        (&[], &[], false),
        (&[], &["FTK_CACHE="], false),
        (&[], &["FTK_CACHE=0"], false),
        (&[], &["FTK_CACHE=1"], true),
        (&["--cache"], &[], true),
        (&["--cache"], &["FTK_CACHE=0"], true),
        (&["--cache"], &["FTK_CACHE=2"], true),
        (&["--no-cache"], &[], false),
        (&["--no-cache"], &["FTK_CACHE=1"], false),
        (&["--no-cache"], &["FTK_CACHE=2"], false),
        (&["--no-cache", "--cache"], &[], true),
        (&["--cache", "--no-cache"], &["FTK_CACHE=1"], false),
    ];
    for command in [&["hash", "t"][..], &["dup", "t"], &["manifest", "create", "t"]] {
        for (options, variables, is_used) in cases {
            let found = reused(&dir, dir.ftk(command).args(options), variables);
            assert_eq!(found, is_used.then_some(2), "{command:?} {options:?} {variables:?}");
        }
    }
}

#[test]
fn other_values_of_the_variable_are_errors() {
    let Some(dir) = known() else { return };
    for value in ["2", "yes", "true", " 1"] {
        for command in [&["hash", "t"][..], &["dup", "t"], &["manifest", "create", "t"]] {
            let run = with_env(&dir, dir.ftk(command), &[&format!("FTK_CACHE={value}")]).run();
            run.status(2).stdout("").stderr_has("FTK_CACHE is").stderr_has("it must be 0 or 1");
        }
    }
}

#[test]
fn no_store_is_made_without_the_option() {
    let Some(dir) = place() else { return };
    dir.file("t/a", b"a").file("t/b", b"b");
    settle();
    for command in [
        &["hash", "t"][..],
        &["manifest", "create", "t"],
        &["cache", "stats"],
        &["cache", "forget", "t"],
        &["cache", "clear"],
    ] {
        dir.ftk(command).run().status(0);
        assert!(!dir.aside("cache").join("ftk/digests").exists(), "{command:?}");
    }
    dir.ftk(["manifest", "create", "--no-content", "--cache", "t"]).run().status(0);
    assert!(!dir.aside("cache").join("ftk/digests").exists(), "there are no digests");
}

#[test]
fn without_a_store_nothing_is_stored() {
    let dir = Dir::on_disk();
    let store = dir.aside("cache").join("ftk/digests");
    let said =
        format!("nothing is stored: there is no '{}' (a run with --cache makes it)\n", store.display());
    dir.ftk(["cache", "stats"]).run().status(0).stdout(said).stderr("");
    let run = dir.ftk(["cache", "stats", "--json"]).run().status(0);
    let found: serde_json::Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!((&found["files"], &found["max_size_bytes"]), (&0.into(), &serde_json::Value::Null));
    dir.file("file", b"content")
        .ftk(["cache", "forget", "file"])
        .run()
        .status(0)
        .stderr("  forgot 0 files\n");
}
