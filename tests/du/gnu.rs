//! The same sums as GNU du, to the byte.

use std::collections::BTreeMap;

use super::tree;
use crate::harness::{Chain, Dir, Run, needs, records};

/// What GNU du prints.
fn du(dir: &Dir, args: &[&str]) -> Run {
    let run = dir.ftk([] as [&str; 0]).instead(dir, ["du", "-0", "--block-size=1"]);
    run.args(args).run().status(0)
}

/// The bytes of each path.
fn sizes(list: &[u8]) -> BTreeMap<Vec<u8>, u128> {
    let mut sizes = BTreeMap::new();
    for record in records(list, 0) {
        let tab = record.iter().position(|byte| *byte == b'\t').expect("a tab");
        let bytes = str::from_utf8(&record[..tab]).unwrap().parse().unwrap();
        assert_eq!(sizes.insert(record[tab + 1..].to_vec(), bytes), None, "a path twice");
    }
    sizes
}

/// Compares the lines, with several numbers of workers. The same options mean the same in both programs.
fn same(dir: &Dir, args: &[&str]) {
    for more in [&[][..], &["--apparent-size"]] {
        let args = [args, more].concat();
        let expected = sizes(&du(dir, &args).out);
        for threads in ["mono", "2", "8"] {
            let run = dir.ftk(["du", "-0", "-j", threads]).args(&args).run().status(0);
            run.check(sizes(&run.out) == expected, "not the sums of GNU du");
        }
    }
}

#[test]
fn of_one_tree() {
    needs!("du");
    let dir = tree();
    for args in
        [&["-s"][..], &["-s", "."], &["-s", "wide"], &["-s", "hole"], &["-s", "to_dir"], &["-s", "-x"]]
    {
        same(&dir, args);
    }
    for path in ["sizes", "odd", "wide", "d", "hole", "broken", "fifo", "socket", "empty"] {
        for args in [&["-d9"][..], &["-a"], &["-d", "0"], &["--max-depth=1"]] {
            same(&dir, &[args, &[path]].concat());
        }
    }
}

#[test]
fn units_and_totals() {
    needs!("du");
    let dir = tree();
    for args in
        [&["-sc", "wide", "odd"][..], &["-ck", "-d9"], &["-m", "-d1", "wide", "sizes"], &["-ka", "odd"]]
    {
        same(&dir, args);
    }
    let expected = sizes(&du(&dir, &["-sb", "wide", "sizes"]).out);
    for bytes in ["-b", "--bytes", "--apparent-size"] {
        let run = dir.ftk(["du", "-0", "-s", bytes, "wide", "sizes"]).run().status(0);
        run.check(sizes(&run.out) == expected, "not the sums of GNU du");
    }
}

/// `-b` asks for bytes, too: as in GNU du, the last unit counts.
#[test]
fn the_last_unit_counts() {
    needs!("du");
    let dir = tree();
    for args in
        [&["-kb"][..], &["-b", "-k"], &["-bm"], &["-m", "--bytes"], &["-hb"], &["--apparent-size", "-k"]]
    {
        let args = [args, &["-s", "wide"]].concat();
        let expected = sizes(&du(&dir, &args).out);
        let run = dir.ftk(["du", "-0"]).args(&args).run().status(0);
        run.check(sizes(&run.out) == expected, &format!("not the sum of GNU du: {args:?}"));
    }
}

#[test]
fn of_inodes() {
    needs!("du");
    let dir = tree();
    dir.file("wide/name", b"").hard_link("wide/name", "wide/name2");
    for args in [
        &["-s"][..],
        &["-a", "d-f"],
        &["-d1", "d"],
        &["-a", "-L", "d"],
        &["-s", "wide", "odd"],
        &["-a", "odd", "sizes"],
    ] {
        let args = [&["--inodes"], args].concat();
        let expected = sizes(&du(&dir, &args).out);
        for threads in ["mono", "2"] {
            let run = dir.ftk(["du", "-0", "-j", threads]).args(&args).run().status(0);
            run.check(sizes(&run.out) == expected, "not the numbers of GNU du");
        }
    }
    let dir = Dir::new();
    dir.file("a/1", b"").file("a/2", b"").file("b/1", &[7; 50_000]).hard_link("b/1", "b/2");
    let run =
        dir.ftk(["du", "--inodes", "-a", "--top", "3"]).run().status(0).stdout("6\t.\n3\t./a\n2\t./b\n");
    run.stderr_has("4 files, 3 directories, 6 inodes in ").stderr_has(" inodes free\n");
    let json = dir.ftk(["du", "--inodes", "--json", "-s"]).run().status(0);
    json.stdout(
        "{\"path\":\".\",\"type\":\"directory\",\"depth\":0,\"inodes\":6,\"files\":4,\"directories\":3}\n",
    );
    // A record without directories' sizes has their number too.
    dir.ftk(["manifest", "create", "-o", "../m", "."]).run().status(0);
    dir.ftk(["du", "--inodes", "--from", "../m", "-s"]).run().status(0).stdout("6\t.\n");
    dir.ftk(["du", "--inodes", "--apparent-size"]).run().status(2);
}

#[test]
fn of_several_paths() {
    needs!("du");
    let dir = tree();
    same(&dir, &["-s", "sizes", "odd", "wide", "hole"]);
    same(&dir, &["-d1", "sizes", "odd", "wide"]);
    same(&dir, &["-s", "d", "d", "./d"]);
}

/// GNU du gives an inode to the first path that it reads. All links are in one directory here, so that its sums do not
/// depend on the order.
#[test]
fn of_each_directory_and_file() {
    needs!("du");
    let dir = tree();
    for name in ["d/linked", "d-f/linked", "empty-not"] {
        std::fs::remove_file(dir.path(name)).unwrap();
    }
    dir.hard_link("sizes/100000", "sizes/linked");
    same(&dir, &["-d", "9"]);
    same(&dir, &["-d1"]);
    same(&dir, &["--max-depth", "2"]);
    same(&dir, &["-a", "odd", "wide", "d", "hole", "empty"]);
    same(&dir, &["-a", "-d1", "odd", "wide", "d"]);
}

#[test]
fn with_links_followed() {
    needs!("du");
    let dir = tree();
    std::fs::remove_file(dir.path("broken")).unwrap();
    dir.symlink("../d", "odd/to_d").symlink("d-e", "to_file").symlink("sizes/4096", "to_file_2");
    same(&dir, &["-s", "-L"]);
    same(&dir, &["-s", "-L", "to_dir"]);
}

#[test]
fn beyond_path_max() {
    needs!("du");
    let chain = Chain::new("a-directory-whose-name-is-not-short", 150, 10);
    same(chain.dir(), &["-s"]);
    same(chain.dir(), &["-d", "7"]);
}

/// GNU du counts in 64 bits and would not do here.
#[test]
fn ten_thousand_levels() {
    let chain = Chain::new("d", 10_000, 100);
    let run = chain.dir().ftk(["du", "-s", "--json", "."]).run().status(0);
    run.check(run.text().contains("\"files\":100,\"directories\":10001"), "all levels");
    let run = chain.dir().ftk(["du", "-d", "10000"]).run().status(0);
    run.check(run.text().lines().count() == 10_001, "a line for each level");
}

#[test]
fn human_readable_sizes() {
    needs!("du");
    let dir = tree();
    for path in ["sizes", "d-f", "d-e", "sizes/0", "wide"] {
        for more in [&["-sh"][..], &["-s", "-h", "--apparent-size"]] {
            let expected =
                dir.ftk([] as [&str; 0]).instead(&dir, ["du"]).args(more).arg(path).run().status(0);
            dir.ftk(["du"]).args(more).arg(path).run().status(0).stdout(&expected.out);
        }
    }
}

#[test]
fn unreadable_directories_are_counted_and_reported() {
    needs!("du");
    let dir = tree();
    dir.file("locked/x", b"x").lock("locked");
    let run = dir.ftk(["du", "-s"]).unprivileged(&dir).run().status(2);
    let run = run.stderr_has("cannot open './locked'").stderr_has("; 1 unreadable (status 2)");
    let theirs =
        dir.ftk([] as [&str; 0]).instead(&dir, ["du", "-s", "--block-size=1"]).unprivileged(&dir).run();
    run.stdout(&theirs.out);
}
