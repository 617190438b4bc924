//! Times in output for people.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use crate::harness::Dir;

/// People see times in their own zone; JSON has nanoseconds since 1970, which are the same everywhere.
#[test]
fn people_see_local_times() {
    let dir = Dir::new();
    let at = |path: &str, seconds| {
        let file = File::options().write(true).open(dir.path(path)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    dir.file("a/x", b"same").file("b/x", b"same");
    at("a/x", 1_000_000_000);
    at("b/x", 1_000_003_600);
    for tree in ["a", "b"] {
        dir.ftk(["manifest", "create", tree, "-o", &format!("{tree}.jsonl")]).run().status(0);
    }
    for (args, status, local) in [
        ("cmp --metadata a b", 1, "2001-09-09T08:46:40+07:00, 2001-09-09T09:46:40+07:00"),
        ("manifest diff a.jsonl b.jsonl", 1, "2001-09-09T08:46:40+07:00"),
        ("manifest verify b a.jsonl", 1, "2001-09-09T08:46:40+07:00"),
        ("find a -t f --format {mtime}", 0, "2001-09-09T08:46:40.000000000+07:00"),
        ("dup prune --action delete --keep oldest a b", 0, "(2001-09-09 08:46)"),
    ] {
        let run = |more: &[&str]| {
            let ftk = dir.ftk(args.split(' ')).args(more);
            ftk.under(&dir, ["env", "TZ=XXX-7"]).run().status(status)
        };
        let text = run(&[]);
        text.check(text.text().contains(local), local);
        if !args.contains("--format") && !args.contains("prune") {
            let json = run(&["--json"]);
            json.check(json.text().contains("1000000000000000000"), "nanoseconds since 1970");
        }
    }
}
