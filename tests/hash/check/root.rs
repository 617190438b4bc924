//! `--root`: the directory that the paths of a list are relative to and confined to.

use crate::harness::{Dir, sha256};

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("{}  {name}\n", sha256(b"1"))).collect()
}

#[test]
fn paths_are_relative_to_root() {
    let dir = Dir::new();
    dir.file("d/x", b"1").file("d/e/y", b"1").file("x", b"2");
    let names = ["x", "./x", "e/y", "e//y", "./e/./y"];
    let shown: String = names.iter().map(|name| format!("{name}: OK\n")).collect();
    for root in ["d", "d/", "./d", "d/e/.."] {
        let run = dir.ftk(["hash", "-c", "--root", root]).stdin(list(&names).as_bytes()).run();
        run.status(0).stdout(&shown);
    }
    let absolute = dir.path("d");
    dir.ftk(["hash", "-c", "--root"]).arg(absolute).stdin(list(&names).as_bytes()).run().status(0);
    dir.symlink("d", "link");
    dir.ftk(["hash", "-c", "--root", "link"]).stdin(list(&["x"]).as_bytes()).run().status(0);
}

#[test]
fn an_invalid_root_is_an_error() {
    let dir = Dir::new();
    dir.file("x", b"1");
    for root in ["missing", "x", "x/y"] {
        let run = dir.ftk(["hash", "-c", "--root", root]).stdin(list(&["x"]).as_bytes()).run().status(2);
        run.stdout("").stderr_has(&format!("ftk: cannot open '{root}': "));
    }
}

/// Without it, paths are resolved as by the coreutils.
#[test]
fn without_root_paths_and_links_lead_anywhere() {
    let dir = Dir::new();
    dir.file("d/x", b"1").dir("d/e").symlink("../x", "d/e/link").symlink("d/e", "e");
    let absolute = dir.path("d/x");
    let names = ["d/e/../x", "d/e/link", "e/link", "e/../x", absolute.to_str().unwrap()];
    let shown: String = names.iter().map(|name| format!("{name}: OK\n")).collect();
    dir.ftk(["hash", "-c"]).stdin(list(&names).as_bytes()).run().status(0).stdout(shown);
}
