//! Runs the examples of `docs/where.md` with ftk and with GNU find, and compares what they print.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::harness::{Dir, needs};

/// The commands of each example: that of ftk, and that of find.
fn examples(page: &str) -> Vec<(String, String)> {
    let (_, part) = page.split_once("\n## Ten examples").expect("the heading");
    let blocks = part.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let command = |block: &str, tool: &str| {
        let mut lines = block.lines().filter(|line| line.split(' ').any(|word| word == tool));
        let line = lines.next().unwrap_or_else(|| panic!("no {tool} in {block}"));
        assert!(!line.ends_with('\\') && (tool == "ftk" || !line.starts_with("ftk")), "{line}");
        line.to_owned()
    };
    let others = |block: &str| {
        let others = block.lines().filter(|line| !line.starts_with("ftk ")).collect::<Vec<_>>().join("\n");
        command(&others, "find")
    };
    blocks.map(|block| (command(block, "ftk"), others(block))).collect()
}

fn age(dir: &Dir, path: &str, age: Duration) {
    let file = File::open(dir.path(path)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

/// A tree in which every example finds something, and none finds everything.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("src/a.c", b"1").file("src/a.h", b"").file("src/a.o", b"2").file("README.md", b"text");
    dir.file("old/b.o", b"3").file(".git/c.o", b"").file("deep/er/still/d.bin", &[0; 20_000]);
    dir.file("big.bin", &[0; 10_241]).file("two words", b"").raw_file(b"x\xff\n", b"").dir("void");
    dir.hard_link("src/a.c", "src/again");
    let day = Duration::from_secs(86_400);
    for (path, days) in
        [("big.bin", 2), ("src/a.h", 3), ("void", 5), ("two words", 1), ("README.md", 20 * 365)]
    {
        age(&dir, path, day * days + Duration::from_secs(600));
    }
    fs::set_permissions(dir.path("src/a.o"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(dir.path("old/b.o"), fs::Permissions::from_mode(0o4755)).unwrap();
    dir
}

#[test]
fn examples_of_expressions_list_what_find_lists() {
    needs!("find");
    let dir = scene();
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/where.md")).unwrap();
    let examples = examples(&page);
    assert_eq!(examples.len(), 10);
    let is_root = crate::harness::is_root();
    let entries = dir.ftk(["find", "--count"]).run().text().trim().parse::<usize>().unwrap();
    for (ours, theirs) in examples {
        let ours = ours.strip_prefix("ftk ").unwrap();
        let ftk = env!("CARGO_BIN_EXE_ftk");
        let lines = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(dir.path("")).env("XDG_CONFIG_HOME", dir.aside("config"));
            let output = shell.output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
            let mut lines: Vec<_> = output.stdout.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            lines.sort();
            lines
        };
        let found = lines(&format!("'{ftk}' {ours}"));
        assert_eq!(found, lines(&theirs), "{ours}");
        // The owner of a file decides less for a user who owns everything.
        let is_telling = found.len() > 1 && found.len() < entries;
        assert!(is_telling || !is_root, "{ours}: {} of {entries}", found.len() - 1);
    }
}
