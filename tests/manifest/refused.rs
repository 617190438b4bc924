//! Invalid and incomplete manifests are refused.

use std::fs;

use super::records::{create, lines, seal, verify};
use crate::harness::{Dir, Paused, bytes, has_read, sha256};

/// Creates a small tree with a manifest, and returns the lines of the manifest without the footer.
fn recorded() -> (Dir, Vec<String>) {
    let dir = Dir::new();
    dir.file("a", b"abc").file("b", b"def").symlink("a", "link");
    let lines = lines(&create(&dir, &[]));
    (dir, lines)
}

/// Replaces the manifest by these lines with a matching footer.
fn replace<L: AsRef<str>>(dir: &Dir, lines: &[L]) {
    fs::write(dir.aside("manifest"), seal(lines)).unwrap();
}

/// Checks that every command refuses the manifest with this reason.
#[track_caller]
fn assert_refused(dir: &Dir, why: &str) {
    let run = verify(dir, &[]).status(2).stdout("");
    run.stderr_has("manifest'").stderr_has(why);
    let path = dir.aside("manifest");
    let run = dir.ftk(["manifest", "update", ".", "-o", "new"]).arg(&path).run().status(2).stdout("");
    run.stderr_has("manifest'").stderr_has(why);
    assert!(!dir.path("new").exists());
    for command in ["diff", "unique"] {
        let run = dir.ftk(["manifest", command]).args([&path, &path]).run().status(2).stdout("");
        run.stderr_has("manifest'").stderr_has(why);
    }
}

#[test]
fn a_valid_manifest_with_a_new_footer_is_accepted() {
    let (dir, lines) = recorded();
    replace(&dir, &lines);
    verify(&dir, &[]).status(0).stdout("");
    // Unknown members, of a later version, are ignored.
    let more =
        lines.iter().map(|line| line.replace("\"type\"", "\"later\":[{}],\"type\"")).collect::<Vec<_>>();
    replace(&dir, &more);
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn another_version_and_another_kind() {
    let (dir, lines) = recorded();
    for (from, to, why) in [
        ("\"version\":2", "\"version\":4", "version 4 needs a newer ftk"),
        ("\"version\":2", "\"version\":\"2\"", "not a manifest"),
        ("\"ftk\":\"manifest\"", "\"ftk\":\"dup-report\"", "dup-report"),
        ("\"sha256\"", "\"sha257\"", "unknown algorithm"),
    ] {
        let mut lines = lines.clone();
        lines[0] = lines[0].replace(from, to);
        replace(&dir, &lines);
        assert_refused(&dir, why);
    }
    fs::write(dir.aside("manifest"), format!("{}  a\n", sha256(b"abc"))).unwrap();
    verify(&dir, &[]).status(2).stdout("").stderr_has("manifest'");
}

#[test]
fn order_and_number_of_entries() {
    let (dir, lines) = recorded();
    let [header, root, a, b, link] = <[String; 5]>::try_from(lines).unwrap();
    for (lines, why) in [
        ([&header, &root, &b, &a, &link], "order"),
        ([&header, &a, &root, &b, &link], "order"),
        ([&header, &root, &a, &a, &b], "twice"),
        ([&header, &root, &a, &b, &b], "twice"),
        ([&header, &header, &root, &a, &b], "line 2"),
    ] {
        replace(&dir, &lines);
        assert_refused(&dir, why);
    }
}

/// Entries with impossible values are refused.
#[test]
fn entries_with_impossible_values_are_refused() {
    let (dir, lines) = recorded();
    for (nth, from, to) in [
        (2, "\"path\":\"a\"", "\"path\":\"../a\""),
        (2, "\"path\":\"a\"", "\"path\":\"/a\""),
        (2, "\"path\":\"a\"", "\"path\":\"a\\u0000\""),
        (2, "\"path\":\"a\"", "\"path\":\"a\",\"path_b64\":\"YQ==\""),
        (2, "\"path\":\"a\"", "\"path_b64\":\"YQ\""),
        (2, "\"path\":\"a\",", ""),
        (2, "\"type\":\"file\"", "\"type\":\"symlink\""),
        (2, "\"type\":\"file\"", "\"type\":\"folder\""),
        (2, "\"size_bytes\":3", "\"size_bytes\":-3"),
        (2, "\"size_bytes\":3", "\"size_bytes\":\"3\""),
        (2, "\"size_bytes\":3", "\"size_bytes\":3,\"size_bytes\":4"),
        (2, "\"size_bytes\":3", "\"size_bytes\":99999999999999999999999"),
        (2, "\"mode\":\"0", "\"mode\":\"9"),
        (2, "\"digests\"", "\"digest\""),
        (2, "\"sha256\":\"b", "\"sha256\":\""),
        (2, "\"sha256\":\"b", "\"sha256\":\"x"),
        (2, "\"sha256\"", "\"md5\""),
        (2, "\"uid\"", "\"xattrs\":[],\"uid\""),
        (4, "\"target\":\"a\"", "\"target\":1"),
        (2, "{", "["),
        (2, "{", "{{"),
        (2, "]}", "]"),
    ] {
        let mut lines = lines.clone();
        let changed = lines[nth].replacen(from, to, 1);
        assert_ne!(lines[nth], changed, "{from}");
        lines[nth] = changed;
        replace(&dir, &lines);
        let run = verify(&dir, &[]).status(2);
        run.stderr_has(&format!("line {}: ", nth + 1));
    }
}

/// The manifest is read again after the files, and must be the one that was complete.
#[test]
fn changed_while_files_are_read() {
    const LONG: u64 = 32 << 20;
    let dir = Dir::on_disk();
    dir.zeros("long", LONG).file("a", b"abc");
    let path = create(&dir, &["-a", "xxh64"]);
    let good = lines(&path);
    let other: Vec<_> = good.iter().map(|line| line.replace("\"path\":\"a\"", "\"path\":\"b\"")).collect();
    assert_ne!(good, other);
    for changed in [String::new(), seal(&good[..2]), seal(&other), seal(&good).replace("}\n", "}\n\n")] {
        replace(&dir, &good);
        let ftk = dir.ftk(["manifest", "verify", ".", "-j", "mono", "--limit-rate", "16M"]).arg(&path);
        let verifying = Paused::when(ftk, |child| has_read(child) > LONG / 16);
        fs::write(&path, &changed).unwrap();
        let output = verifying.go_on();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{err}");
        assert!(err.ends_with("manifest': changed while being read\n"), "{err}");
    }
}

/// Random bytes are refused.
#[test]
fn random_bytes_are_refused() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    for seed in 0..20 {
        let random_bytes_are_refused = bytes(seed, 50 * seed as usize);
        fs::write(dir.aside("manifest"), random_bytes_are_refused).unwrap();
        verify(&dir, &[]).status(2).stdout("");
    }
    fs::write(dir.aside("manifest"), vec![b'['; 1 << 20]).unwrap();
    verify(&dir, &[]).status(2).stdout("");
}
