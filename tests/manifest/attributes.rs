//! Extended attributes: capabilities, access control lists, and those of users and of root.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::harness::{Dir, has, is_root, set_mode, skip};
use crate::manifest::create::getfattr;
use crate::manifest::records::{Manifest, json as records, name};

/// Directories in memory and on a disk with the tree `t` and its manifest `m`, if this is root with the tools.
fn recorded() -> Vec<Dir> {
    if !is_root() || !has("setfacl") || !has("setcap") || !has("getfattr") {
        skip("capabilities, which only root can set");
        return Vec::new();
    }
    let dirs = [Dir::new(), Dir::on_disk()];
    for dir in &dirs {
        dir.file("t/list", b"a").file("t/note", b"b").file("t/same", b"c").file("t/tool", b"d");
        dir.dir("t/sub").symlink("note", "t/link").fifo("t/pipe");
        dir.ftk(["manifest", "create", "t", "-o", "m"]).run().status(0);
        for path in ["", "t"] {
            set_mode(&dir.path(path), 0o755);
        }
        dir.ftk(["manifest", "update", "t", "m", "-o", "m"]).run().status(0);
    }
    dirs.into()
}

#[track_caller]
fn shell(at: &Path, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(at).status();
    assert!(status.unwrap().success(), "{script}");
}

/// Changes attributes and nothing else that is compared: an access control list changes the permissions of the group, unless
/// its mask is equal to them.
const CHANGES: &str = "setcap cap_setuid+ep tool; setfacl -m u:1234:r list; setfacl -d -m u:1234:r sub; \
     setfattr -n user.note -v hi note";

/// Attributes that only root sees.
const TRUSTED: &str = "setfattr -h -n trusted.l -v 1 link; setfattr -n trusted.p -v 1 pipe tool";

/// What `verify` prints after these changes.
const LINES: &str = "metadata\tlist\taccess control list added\nmetadata\tnote\tuser.note added\n\
     metadata\tsub\tdefault access control list added\nmetadata\ttool\tcapabilities added\n";

#[test]
fn changed_attributes_are_named() {
    for dir in recorded() {
        let t = dir.path("t");
        let verify = |manifest: &str| dir.ftk(["manifest", "verify", "t", manifest]).run();
        let record = |manifest: &str| dir.ftk(["manifest", "create", "t", "-o", manifest]).run().status(0);
        verify("m").status(0).stdout("");
        shell(&t, CHANGES);
        verify("m").status(1).stdout(LINES).stderr_has("  4 of 8 as recorded; 4 metadata ");
        dir.ftk(["manifest", "verify", "t", "m", "--mode", "metadata"]).run().status(1).stdout(LINES);
        for options in [["--mode", "content"], ["--ignore", "xattrs"]] {
            dir.ftk(["manifest", "verify", "t", "m"]).args(options).run().status(0).stdout("");
        }
        record("n");
        dir.ftk(["manifest", "diff", "m", "n"]).run().status(1).stdout(LINES);
        let manifest = Manifest::read(&dir.path("n"));
        for path in ["list", "note", "same", "sub", "tool", "link", "pipe"] {
            let found = manifest.entry(path)["xattrs"].as_array().unwrap().iter();
            let found = found.map(|it| (String::from_utf8(name(it, "name")).unwrap(), name(it, "value")));
            assert_eq!(found.collect::<Vec<_>>(), Vec::from_iter(getfattr(&t.join(path))), "{path}");
        }
        // An update records them.
        dir.ftk(["manifest", "update", "t", "m", "-o", "u"]).run().status(0);
        verify("u").status(0).stdout("");
        dir.ftk(["manifest", "diff", "n", "u"]).run().status(0).stdout("");
        shell(&t, "setcap -r tool; setfacl -b list; setfattr -n user.note -v ho note");
        let lines = "metadata\tlist\taccess control list removed\nmetadata\tnote\tuser.note changed\n\
             metadata\ttool\tcapabilities removed\n";
        verify("n").status(1).stdout(lines);
        let run = dir.ftk(["manifest", "update", "--append-only", "t", "n", "-o", "p"]).run().status(1);
        run.stderr_has("'list' is not as recorded: access control list removed")
            .stderr_has("'tool' is not as recorded: capabilities removed");
        verify("p").status(1).stdout(lines);
    }
}

/// A copy has other attributes if its program or its system does not keep them.
#[test]
fn copies_without_attributes_differ_in_metadata() {
    for dir in recorded() {
        shell(&dir.path("t"), CHANGES);
        dir.ftk(["manifest", "create", "t", "-o", "n"]).run().status(0);
        shell(
            &dir.path(""),
            "cp -a t all; cp -r --preserve=mode,ownership,timestamps t none; setfacl -Rb none",
        );
        dir.ftk(["manifest", "verify", "all", "n"]).run().status(0).stdout("");
        dir.ftk(["manifest", "verify", "none", "n"])
            .run()
            .status(1)
            .stdout(LINES.replace("added", "removed"));
        dir.ftk(["manifest", "verify", "none", "n", "--ignore", "xattrs"]).run().status(0).stdout("");
    }
}

#[test]
fn attributes_that_were_not_recorded_are_mentioned() {
    let dir = Dir::new();
    dir.file("t/a", b"a");
    dir.ftk(["manifest", "create", "t", "-o", "with"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "same", "--no-xattrs", "--xattrs"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "without", "--xattrs", "--no-xattrs"]).run().status(0);
    dir.ftk(["manifest", "update", "t", "without", "-o", "updated"]).run().status(0);
    assert!(Manifest::read(&dir.path("without")).entries.values().all(|entry| entry.get("xattrs").is_none()));
    let said = "  2 of 2 as recorded\n  attributes were not recorded\n";
    let line = |verdict: &str| json!({ verdict: "not_compared", "path": ".", "field": "xattrs", "reason": "not_recorded" });
    for manifest in ["without", "updated"] {
        dir.ftk(["manifest", "verify", "t", manifest]).run().status(0).stdout("").stderr_has(said);
        let run = dir.ftk(["manifest", "verify", "t", manifest, "--json"]).run().status(0);
        assert_eq!(records(&run), [line("verdict")]);
        for options in [["--mode", "content"], ["--ignore", "xattrs"]] {
            let run = dir.ftk(["manifest", "verify", "t", manifest, "--json"]).args(options).run();
            run.status(0).stdout("").stderr_lacks("attributes");
        }
    }
    for manifest in ["with", "same"] {
        dir.ftk(["manifest", "verify", "t", manifest]).run().status(0).stderr_lacks("attributes");
    }
    for (old, new, said) in [
        ("with", "same", None),
        ("with", "without", Some("  attributes were not recorded in NEW\n")),
        ("without", "with", Some("  attributes were not recorded in OLD\n")),
        ("without", "updated", Some("  attributes were not recorded\n")),
    ] {
        let run = dir.ftk(["manifest", "diff", old, new, "--json"]).run().status(0);
        assert_eq!(records(&run), Vec::from_iter(said.map(|_| line("change"))));
        match said {
            Some(said) => run.stderr_has(said),
            None => run.stderr_lacks("attributes"),
        };
    }
}

#[test]
fn attributes_that_only_root_sees_are_no_false_changes() {
    const SAID: &str =
        "  3 entries with attributes that only root sees (trusted.*): these were not compared\n";
    for dir in recorded() {
        let t = dir.path("t");
        shell(&t, &format!("{CHANGES}; {TRUSTED}"));
        dir.ftk(["manifest", "create", "t", "-o", "root"]).run().status(0);
        assert_eq!(Manifest::read(&dir.path("root")).header.get("trusted_xattrs"), None);
        let user = |args: &[&str]| dir.ftk(args).unprivileged(&dir).run();
        fs::write(dir.path("user"), user(&["manifest", "create", "t"]).status(0).out).unwrap();
        assert_eq!(Manifest::read(&dir.path("user")).header["trusted_xattrs"], false);
        let verify = |manifest: &str| dir.ftk(["manifest", "verify", "t", manifest]).run();
        verify("root").status(0).stdout("").stderr_lacks("trusted");
        verify("user").status(0).stdout("").stderr_has(SAID);
        user(&["manifest", "verify", "t", "root"]).status(0).stdout("").stderr_has(SAID);
        user(&["manifest", "verify", "t", "user"]).status(0).stdout("").stderr_lacks("trusted");
        let run = user(&["manifest", "verify", "t", "root", "--json"]).status(0);
        let hidden = json!({
            "verdict": "not_compared", "path": ".", "field": "xattrs", "reason": "hidden", "entries": 3
        });
        assert_eq!(records(&run), [hidden]);
        for pair in [["root", "user"], ["user", "root"]] {
            dir.ftk(["manifest", "diff"]).args(pair).run().status(0).stdout("").stderr_has(SAID);
        }
        user(&["manifest", "update", "--append-only", "t", "root"]).status(0);
        let run = user(&["manifest", "update", "t", "root"]).status(0);
        let lost = "attributes that only root sees (trusted.*) are no longer recorded";
        fs::write(dir.path("updated"), run.stderr_has(lost).out).unwrap();
        verify("updated").status(0).stdout("").stderr_has(SAID);
        // All other changes are still found, and named without those.
        shell(&t, "setcap -r tool; setfattr -n trusted.p -v 2 tool");
        let line = "metadata\ttool\tcapabilities removed\n";
        for manifest in ["user", "updated"] {
            verify(manifest).status(1).stdout(line);
        }
        user(&["manifest", "verify", "t", "root"]).status(1).stdout(line);
        verify("root").status(1).stdout("metadata\ttool\tcapabilities removed, trusted.p changed\n");
        // A record by a user says nothing of them, so a repair by it keeps them.
        set_mode(&dir.path("t/pipe"), 0o600);
        dir.ftk(["manifest", "repair", "t", "user", "--metadata", "--yes", "--other-root"]).run();
        shell(&t, "test $(stat -c %a pipe) != 600; getfattr -n trusted.p pipe tool");
    }
}

/// A user may not read the attributes of users of a file whose content he may not read.
#[test]
fn attributes_that_cannot_be_read_are_errors() {
    for dir in recorded() {
        shell(&dir.path("t"), "setfattr -n user.note -v hi note; chmod 0600 note");
        dir.ftk(["manifest", "create", "t", "-o", "n"]).run().status(0);
        let user = |args: &[&str]| dir.ftk(args).unprivileged(&dir).run();
        let run = user(&["manifest", "create", "--no-content", "t"]).status(2);
        assert!(!Manifest::parse(&run.out).paths.contains(&b"note".to_vec()));
        let message = "cannot read the attributes of 't/note': permission denied";
        run.stderr_has(message).stderr_has("--no-xattrs records entries without their attributes");
        let run = user(&["manifest", "create", "--no-content", "--no-xattrs", "t"]).status(0);
        assert!(Manifest::parse(&run.out).paths.contains(&b"note".to_vec()));
        let run = user(&["manifest", "verify", "--mode", "metadata", "t", "n"]).status(2);
        run.stdout("unreadable\tnote\tpermission denied\n").stderr_has(message);
        user(&["manifest", "verify", "--mode", "metadata", "--ignore", "xattrs", "t", "n"]).status(0);
    }
}
