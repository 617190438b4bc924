//! What audits ask for: the commands of the page about other tools, and terms that GNU find lacks.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;

use crate::harness::{Dir, is_root, needs, records, set_mode, skip, sorted};

/// Every command of the section about CIS prints the same as the one that it replaces.
#[test]
fn commands_for_cis_print_what_find_and_getcap_print() {
    needs!("find");
    needs!("setcap");
    if !is_root() {
        return skip("only root can give files away");
    }
    let dir = Dir::new();
    for (name, mode) in [
        ("ww", 0o666),
        ("suid", 0o4755),
        ("sgid", 0o2755),
        ("both", 0o6755),
        ("plain", 0o644),
        ("cap", 0o755),
    ] {
        dir.file(format!("t/{name}"), b"");
        set_mode(&dir.path(format!("t/{name}")), mode);
    }
    for (name, mode) in [("tmp", 0o1777), ("open", 0o777), ("closed", 0o755)] {
        set_mode(dir.dir(format!("t/{name}")).path(format!("t/{name}")).as_path(), mode);
    }
    std::os::unix::fs::lchown(dir.file("t/nouser", b"").path("t/nouser"), Some(54_321), None).unwrap();
    std::os::unix::fs::lchown(dir.file("t/nogroup", b"").path("t/nogroup"), None, Some(54_321)).unwrap();
    dir.symlink("/tmp/x", "t/to_tmp").symlink("tmp", "t/to_other");
    let set = Command::new("setcap").args(["cap_net_raw+ep"]).arg(dir.path("t/cap")).status().unwrap();
    assert!(set.success());
    let page = include_str!("../../docs/coming-from.md");
    let section =
        page.split("\n## CIS\n").nth(1).expect("a section about CIS").split("\n## ").next().unwrap();
    let rows: Vec<_> = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), 9);
    for row in rows {
        let mut commands = row.split('`').skip(1).step_by(2).map(|command| {
            let command = format!("{command} ").replace(" / ", " t ");
            // The shell splits the words.
            let words = format!("printf '%s\\0' {command}");
            let words = Command::new("sh").args(["-c", &words]).output().unwrap().stdout;
            let words: Vec<_> = records(&words, 0).into_iter().map(OsString::from_vec).collect();
            let run = match words[0].to_str() {
                Some("ftk") => dir.ftk(&words[1..]),
                _ => dir.ftk([] as [&str; 0]).instead(&dir, &words),
            };
            let paths = records(&run.run().status(0).out, b'\n').into_iter().map(|line| {
                // getcap prints capabilities after the path.
                line.split(|byte| *byte == b' ').next().unwrap().to_vec()
            });
            sorted(paths.collect())
        });
        let (theirs, ours) = (commands.next().unwrap(), commands.next().unwrap());
        assert!(!theirs.is_empty(), "{row}");
        assert_eq!(theirs, ours, "{row}");
    }
}

#[test]
fn names_of_attributes() {
    needs!("setfacl");
    let dir = Dir::new();
    for name in ["acl", "user", "none"] {
        dir.file(format!("t/{name}"), b"");
    }
    dir.symlink("user", "t/link");
    let set =
        Command::new("setfacl").args(["-m", "u:7:r", "acl"]).current_dir(dir.path("t")).status().unwrap();
    let python = "import os; os.setxattr('user', 'user.origin', b'x')";
    let named = Command::new("python3").args(["-c", python]).current_dir(dir.path("t")).status().unwrap();
    if !set.success() || !named.success() {
        return skip("the file system has no attributes");
    }
    let find = |expression: &str| {
        let run = dir.ftk(["find", "--sort", "--where", expression, "t"]).run().status(0);
        run.text().to_owned()
    };
    assert_eq!(find("xattr = user.*"), "t/user\n");
    assert_eq!(find("xattr = \"system.posix_acl_*\""), "t/acl\n");
    assert_eq!(find("xattr in (user.origin, system.posix_acl_access)"), "t/acl\nt/user\n");
    assert_eq!(find("xattr != \"*\" and type = f"), "t/none\n");
    let followed = dir.ftk(["find", "-L", "--sort", "--where", "xattr = user.origin", "t"]).run().status(0);
    followed.stdout("t/link\nt/user\n");
    // A starting point is no name in a directory.
    dir.ftk(["find", "--where", "xattr = user.origin", "t/user", "t/acl"]).run().status(0).stdout("t/user\n");
}

#[test]
fn directories_that_contain_a_name() {
    let dir = Dir::new();
    dir.file("t/a/.git/config", b"").file("t/b/.git", b"").file("t/c/d/x", b"").symlink("a", "t/link");
    let find = |args: &[&str]| dir.ftk(["find", "--sort", "t"]).args(args).run().status(0);
    find(&["--where", "has = .git"]).stdout("t/a\nt/b\n");
    find(&["-L", "--where", "has = .git"]).stdout("t/a\nt/b\nt/link\n");
    find(&["--where", "type = d and not has in (.git, d)"]).stdout("t\nt/a/.git\nt/c/d\n");
    find(&["-t", "f", "--exclude-where", "has = .git"]).stdout("t/c/d/x\n");
    dir.ftk(["find", "--where", "has = c", "t"]).run().status(0).stdout("t\n");
    dir.ftk(["find", "--where", "has = a/b", "t"]).run().status(2).stderr_has("a name cannot contain `/`");
    dir.ftk(["manifest", "create", "--where", "has = x", "t"])
        .run()
        .status(2)
        .stderr_has("only by name and place");
}
