//! Names of two trees that differ only in their Unicode normal form, as after a copy to HFS+.

use serde_json::{Value, json};

use crate::harness::Dir;

const NFC: &str = "caf\u{e9}";
const NFD: &str = "cafe\u{301}";

#[test]
fn names_in_another_normal_form_are_reported_as_such() {
    let dir = Dir::new();
    for (tree, name) in [("a", NFC), ("b", NFD)] {
        dir.file(format!("{tree}/{name}/{name}"), b"same").file(format!("{tree}/{name}/x"), tree.as_bytes());
        dir.file(format!("{tree}/{name}/only {tree}"), b"").file(format!("{tree}/z"), b"z");
    }
    let below = format!(
        "only in a\t{NFC}/only a\nonly in b\t{NFD}/only b\ncontent differs\t{NFC}/x\tfirst at byte 1\n"
    );
    let names =
        format!("name differs\t{NFC}\tNFC in A, NFD in B\nname differs\t{NFC}/{NFC}\tNFC in A, NFD in B\n");
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1).stdout(&(names + &below));
    run.stderr_has("  1 only in 'a', 1 only in 'b', 2 name, 1 content; 3 pairs of files compared")
        .stderr_has("  2 names differ only in the Unicode normal form: --normalize-names accepts this\n");
    let run = dir.ftk(["cmp", "a", "b", "--normalize-names"]).run().status(1).stdout(&below);
    run.stderr_lacks("normal form");
    let run = dir.ftk(["cmp", "a", "b", "--json"]).run().status(1);
    let found: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let name = json!({"difference": "name", "path": NFC, "path_b": NFD, "form_a": "NFC", "form_b": "NFD"});
    let (path, path_b) = (format!("{NFC}/x"), format!("{NFD}/x"));
    assert_eq!(found[0], name);
    assert_eq!(found[4], json!({"difference": "content", "path": path, "path_b": path_b, "first_byte": 1}));
    dir.ftk(["cmp", "a/z", "b/z", "--normalize-names"]).run().status(2).stderr_has("is for two trees");
}

/// Names that are the same are pairs. The rest are pairs in byte order, and what is left is only in one tree. Names that are
/// not UTF-8 are never changed.
#[test]
fn several_names_with_one_normal_form() {
    use std::os::unix::ffi::OsStrExt as _;

    let dir = Dir::new();
    let [nfc, mixed, other_mixed, nfd] =
        ["\u{e9}\u{e9}", "\u{e9}e\u{301}", "e\u{301}\u{e9}", "e\u{301}e\u{301}"];
    for name in [nfc, mixed, nfd] {
        dir.file(format!("a/{name}"), name.as_bytes());
    }
    dir.file(format!("b/{nfc}"), nfc.as_bytes()).file(format!("b/{other_mixed}"), b"");
    let latin = |bytes: &[u8]| std::path::Path::new("a").join(std::ffi::OsStr::from_bytes(bytes));
    dir.file(latin(b"\xe9"), b"");
    let run = dir.ftk(["cmp", "a", "b"]).run().status(1);
    // In byte order `nfd` is before `mixed`, so it is the partner.
    run.stdout(format!(
        "name differs\t{nfd}\tNFD in A, mixed in B\nsize differs\t{nfd}\t6 and 0 bytes\n\
         only in a\t{mixed}\nonly in a\t'\\xe9'\n"
    ));
    // The other way round, the first of two names is the partner.
    let run = dir.ftk(["cmp", "--normalize-names", "b", "a"]).run().status(1);
    run.stdout(format!(
        "size differs\t{other_mixed}\t0 and 6 bytes\nonly in a\t{mixed}\nonly in a\t'\\xe9'\n"
    ));
}

/// Times agree whatever the names are.
#[test]
fn rounded_times_are_found_below_other_names() {
    use std::fs::{File, FileTimes};
    use std::time::{Duration, SystemTime};

    let dir = Dir::new();
    for (tree, name) in [("a", NFC), ("b", NFD)] {
        for nth in 0..40_u64 {
            let path = format!("{tree}/{name}/{nth}");
            dir.file(&path, b"x");
            let nanos = if tree == "a" { 1_000_003 * (nth + 1) } else { 0 };
            let time = SystemTime::UNIX_EPOCH
                + Duration::from_secs(1_000_000 + 61 * nth)
                + Duration::from_nanos(nanos);
            File::open(dir.path(&path)).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        }
    }
    let args = ["cmp", "--quick", "--modify-window", "--normalize-names", "a", "b"];
    dir.ftk(args).run().status(0).stdout("").stderr_has("rounded to 1 s");
}
