//! How often files and directories are opened.

use std::fs;

use crate::harness::{Dir, needs};

/// Returns how often `dup` opens a directory, and a file, and what it prints.
fn opens(dir: &Dir, args: &[&str]) -> (usize, usize, String) {
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-qq", "-o", log.to_str().unwrap(), "-e", "trace=openat"];
    let run = dir.ftk(["dup", "--io", "sync", "-j2", "t"]).args(args).under(dir, strace).run().status(0);
    let log = fs::read_to_string(log).unwrap();
    let is_dir = |line: &&str| line.contains("O_DIRECTORY") && line.contains("t/");
    let is_file = |line: &&str| line.contains("\"of-");
    (log.lines().filter(is_dir).count(), log.lines().filter(is_file).count(), run.text().to_owned())
}

#[test]
fn copies_are_examined_directory_by_directory() {
    needs!("strace");
    // Eight directories with fifty files each, of which those with one name are equal.
    let dir = Dir::new();
    let mut expected = String::new();
    for file in 0..50_u8 {
        for in_dir in 0..8 {
            let path = format!("t/{in_dir}/of-{file:02}");
            dir.file(&path, &[file; 600]);
            expected += &(path + "\n");
        }
        expected += "\n";
    }
    let (dirs, files, text) = opens(&dir, &[]);
    assert!(text == expected);
    // By each of two workers when files are read, once or twice when their metadata are read again, and in the walk.
    assert!(dirs <= 8 * 6, "{dirs}");
    // Some are opened to examine their file system.
    assert!((400..410).contains(&files), "{files}");
    // Both files of each comparison are opened anew: the path of a file that stays open may lead to another one.
    let (_, files, text) = opens(&dir, &["--verify"]);
    assert!(text == expected);
    assert!((1100..1110).contains(&files), "{files}");
}
