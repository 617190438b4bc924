//! Expected results, from established tools.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use super::Dir;

/// The output of GNU find with these arguments and `-print0`, sorted as bytes.
pub fn gnu_find(dir: &Dir, args: &[&str]) -> Vec<Vec<u8>> {
    let mut command = Command::new("find");
    command.args(args).arg("-print0").current_dir(dir.path("")).env("LC_ALL", "C");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    sorted(records(&output.stdout, 0))
}

/// The records of a list. Each must have its terminator.
pub fn records(list: &[u8], end: u8) -> Vec<Vec<u8>> {
    let Some(list) = list.strip_suffix(&[end]) else {
        assert!(list.is_empty(), "the last record is not ended");
        return Vec::new();
    };
    list.split(|&byte| byte == end).map(<[u8]>::to_vec).collect()
}

pub fn sorted(mut records: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    records.sort();
    records
}

/// The lines that `tool` (such as `sha256sum`) prints for every regular file in `roots`, in the order of
/// their whole paths as bytes.
pub fn sum(dir: &Dir, tool: &[&str], roots: &[&str]) -> Vec<u8> {
    let mut args = roots.to_vec();
    args.extend(["-type", "f"]);
    let mut list = Vec::new();
    for path in gnu_find(dir, &args) {
        list.extend_from_slice(&path);
        list.push(0);
    }
    let mut command = Command::new("xargs");
    command.args(["-0", "-r"]).args(tool).current_dir(dir.path("")).env("LC_ALL", "C");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&list).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{command:?}");
    output.stdout
}

/// The lines of a list, without escapes, by path.
pub fn hash_lines(list: &[u8]) -> BTreeMap<Vec<u8>, String> {
    let line = |line: Vec<u8>| {
        let gap = line.windows(2).position(|two| two == b"  ").expect("two blanks before the name");
        let digest = String::from_utf8(line[..gap].to_vec()).expect("a digest is ASCII");
        (line[gap + 2..].to_vec(), digest)
    };
    records(list, b'\n').into_iter().map(line).collect()
}
