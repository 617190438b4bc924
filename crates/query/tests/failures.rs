//! Inputs that cannot be read, outputs that are full, and few file descriptors.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Output, Stdio};

use crate::harness::Dir;

/// Runs a line of bash, in which `$FTK` is ftk-query.
fn bash(dir: &Dir, line: &str) -> Output {
    let mut bash = Command::new("bash");
    bash.args(["-c", line]).current_dir(dir.path("")).env("FTK", env!("CARGO_BIN_EXE_ftk-query"));
    bash.output().unwrap()
}

#[test]
fn an_input_that_cannot_be_read_is_an_error() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    dir.set("t", &[]);
    // Reading address 0 of this process fails.
    let error = dir.refused(&["convert", "t.jsonl", "/proc/self/mem", "-o", "x"]);
    assert!(error.contains("'/proc/self/mem': cannot read: input/output error"), "{error}");
    assert!(!dir.path("x").exists());
}

#[test]
fn a_full_output_is_an_error() {
    let dir = Dir::new();
    dir.file("t/a", b"1").file("t/b", b"1");
    dir.set("t", &[]);
    for command in [
        "largest t.set --format table",
        "largest t.set --format csv",
        "largest t.set --format json",
        "largest t.set --format parquet",
        "largest --show t.set",
        "list",
        "duplicates t.set -o /dev/full",
    ] {
        let full = bash(&dir, &format!("exec \"$FTK\" {command} > /dev/full"));
        let error = String::from_utf8(full.stderr).unwrap();
        assert_eq!(full.status.code(), Some(2), "{command}: {error}");
        assert!(error.contains("no space left on device"), "{command}: {error}");
    }
}

/// A limit for the size of files is like a full disk.
#[test]
fn a_set_that_does_not_fit_is_no_set() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    dir.set("t", &[]);
    let full = bash(&dir, "trap '' XFSZ; ulimit -f 1; exec \"$FTK\" convert t.jsonl -o x");
    let error = String::from_utf8(full.stderr).unwrap();
    assert_eq!(full.status.code(), Some(2), "{error}");
    assert_eq!(error, "ftk query: cannot write to x: file too large\n");
    assert_eq!(fs::read_dir(dir.path("x")).unwrap().count(), 0);
}

#[test]
fn few_file_descriptors_suffice() {
    let dir = Dir::new();
    dir.file("t/a", b"1").file("t/b", b"1");
    dir.set("t", &[]);
    for command in ["convert t.jsonl -o x", "duplicates x", "sql 'SELECT * FROM entries ORDER BY name' x"] {
        let few = bash(&dir, &format!("ulimit -n 16; exec \"$FTK\" {command}"));
        assert_eq!(few.status.code(), Some(0), "{command}: {few:?}");
    }
}

/// Temporary files have no names, so a process that is killed leaves none.
#[test]
fn temporary_files_have_no_names() {
    let dir = Dir::new();
    for nth in 0..32 {
        dir.file(format!("t/{nth}"), nth.to_string().as_bytes());
    }
    dir.set("t", &[]);
    fs::create_dir(dir.path("temp")).unwrap();
    let sql = "SELECT concat(a.path, b.path, c.path, d.path, a.digest) AS text
        FROM entries a, entries b, entries c, entries d ORDER BY text";
    let mut query = Command::new(env!("CARGO_BIN_EXE_ftk-query"));
    query.args(["sql", sql, "t.set", "--memory", "128M", "--temp-dir", "temp", "--format", "csv"]);
    let mut query = query.current_dir(dir.path("")).stdout(Stdio::piped()).spawn().unwrap();
    // The first row is printed when all rows have been sorted, while temporary files are merged.
    let mut begin = [0; 1000];
    query.stdout.as_mut().unwrap().read_exact(&mut begin).unwrap();
    let open = fs::read_dir(format!("/proc/{}/fd", query.id())).unwrap();
    let open = open.map(|fd| fs::read_link(fd.unwrap().path()).unwrap());
    let temp = dir.path("temp").canonicalize().unwrap();
    assert!(open.filter(|file| file.starts_with(&temp)).count() > 0);
    assert_eq!(fs::read_dir(temp).unwrap().count(), 0);
    query.kill().unwrap();
    query.wait().unwrap();
}
