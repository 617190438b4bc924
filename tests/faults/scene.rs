//! A command in a small tree, and the checks of its runs with faults.

use std::collections::BTreeSet;
use std::fs;

use super::snapshot::{Snapshot, difference, snapshot};
use super::trace::{Call, Fault, calls, errors, failing, has_failed};
use crate::harness::{Dir, Run, bytes, sha256};

/// A command that changes nothing except its output file.
pub(super) struct Scene {
    pub(super) args: &'static [&'static str],
    /// Adds what the command needs to the [tree](tree).
    pub(super) plant: fn(&Dir),
    /// The beginnings of output lines that report a failure.
    pub(super) says: &'static [&'static str],
    /// Whether the files are created anew for each run. Files younger than two seconds get another check for
    /// changes; otherwise they are older and the same for all runs.
    pub(super) is_young: bool,
}

/// The name of the output file.
const OUT: &str = "out";

/// The old content of the output file.
const OLD: &[u8] = b"old\n";

/// Creates three files of one content, two of a content that takes several reads, and others.
pub(super) fn tree() -> Dir {
    let dir = Dir::new();
    for name in ["a/x1", "a/x2", "b/x3"] {
        dir.file(name, &bytes(1, 5000));
    }
    for name in ["b/y1", "y2"] {
        dir.file(name, &bytes(2, 300_000));
    }
    dir.file("z", b"one\ntwo\n").file("b/empty", b"").symlink("z", "link").fifo("fifo");
    dir
}

/// How many of the possible faults are injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The first or the last call of each [kind], with one of its errors.
    Some,
    All,
}

/// Returns the calls with their faults, all or a choice of them.
pub(super) fn faults(calls: &[Call], extent: Extent) -> Vec<(&Call, &'static str)> {
    let mut kinds = std::collections::BTreeMap::<_, Vec<&Call>>::new();
    for call in calls {
        kinds.entry((&call.name, kind(&call.line))).or_default().push(call);
    }
    let mut faults = Vec::new();
    for (turn, calls) in kinds.into_values().enumerate() {
        let errors = errors(&calls[0].name);
        let last = calls.len() - 1;
        for (nth, &call) in calls.iter().enumerate() {
            for (kind, &error) in errors.iter().enumerate() {
                let is_chosen = nth == [0, last][turn % 2] && kind == turn % errors.len();
                if extent == Extent::All || is_chosen {
                    faults.push((call, error));
                }
            }
        }
    }
    faults
}

/// Returns what a call refers to, so far as the handling of its failure may depend on it: in which part of the test's
/// directory it acts, and whether on a directory, on a temporary file or another one.
fn kind(line: &str) -> (&str, &str) {
    let path =
        line.split(['<', '"']).nth(1).and_then(|rest| rest.split(['>', '"']).next()).unwrap_or_default();
    // In the directory of the test: `tree`, a copy of it, a journal, a list, an output.
    let place = path
        .split_once("/.tmp")
        .map_or("elsewhere", |(_, below)| below.split('/').nth(1).unwrap_or_default());
    let signs = [".ftk-", "O_CREAT", "O_TMPFILE", "O_DIRECTORY", "S_IFDIR", "O_PATH", "AT_SYMLINK_NOFOLLOW"];
    (place, signs.into_iter().find(|sign| line.contains(sign)).unwrap_or_default())
}

/// The result of a run without faults.
struct Clean {
    code: i32,
    out: Vec<u8>,
    lines: BTreeSet<Vec<u8>>,
}

impl Scene {
    fn plant(&self) -> Dir {
        let dir = tree();
        (self.plant)(&dir);
        fs::write(dir.aside(OUT), OLD).unwrap();
        if !self.is_young {
            std::thread::sleep(std::time::Duration::from_millis(2100));
        }
        dir
    }

    /// Runs the command once for each fault.
    pub(super) fn play(&self, extent: Extent) {
        let mut dir = self.plant();
        let before = snapshot(&dir.aside(""));
        let args = ["--io", "sync", "-j", "mono"];
        let (run, calls) = calls(dir.ftk(self.args).args(args), &dir);
        run.check(!run.err.contains("ftk: "), "a run without a fault has no error");
        let clean = Clean { code: run.code(), lines: self.lines(&dir, &run), out: run.out };
        let faults = faults(&calls, extent);
        let (mut reported, mut problems) = (0, Vec::new());
        for &(call, error) in &faults {
            if self.is_young {
                dir = self.plant();
            } else {
                fs::write(dir.aside(OUT), OLD).unwrap();
            }
            let run = failing(dir.ftk(self.args).args(args), &dir, call, Fault::Error(error)).run();
            match self.check(&dir, &run, (call, error), &before, &clean) {
                Ok(is_reported) => reported += usize::from(is_reported),
                Err(why) => problems.push(format!(
                    "{error} of {} number {}: {why}\n  {}\n  status {}, stderr: {}",
                    call.name,
                    call.nth,
                    call.line,
                    run.code(),
                    run.err
                )),
            }
        }
        let n = problems.len();
        problems.truncate(30);
        assert!(n == 0, "{:?}: {n} of {}:\n{}", self.args, faults.len(), problems.join("\n"));
        assert!(reported > 0 || faults.len() < 10);
    }

    /// Returns the lines of standard output and of the output file, except those that differ from run to run.
    fn lines(&self, dir: &Dir, run: &Run) -> BTreeSet<Vec<u8>> {
        let file = fs::read(dir.aside(OUT)).unwrap_or_default();
        let all = run.out.split(|&byte| byte == b'\n').chain(file.split(|&byte| byte == b'\n'));
        let changing = |line: &&[u8]| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
        let verified = regex::bytes::Regex::new(",\"verified_ns\":[0-9]+").expect("a valid expression");
        all.filter(|line| !changing(line)).map(|line| verified.replace(line, b"").into_owned()).collect()
    }

    /// Returns whether a failure of the call must be reported: calls that read the tree. Two kinds need not
    /// be: `dup` also opens files to estimate what pruning would free, and a directory that cannot be opened for
    /// the sample is opened again.
    fn is_essential(&self, call: &Call) -> bool {
        let looks = ["read", "pread64", "getdents64", "openat", "fstat"];
        let looks = if self.args[0] == "dup" { &looks[..3] } else { &looks };
        let is_tried_again = ["O_PATH", "S_IFDIR"].iter().any(|what| call.line.contains(what));
        call.line.contains("/tree/") && looks.contains(&&*call.name) && !is_tried_again
    }

    /// Checks a run. Returns whether it reported the fault, or what is wrong with it.
    fn check(
        &self,
        dir: &Dir,
        run: &Run,
        (call, error): (&Call, &str),
        before: &Snapshot,
        clean: &Clean,
    ) -> Result<bool, String> {
        let after = snapshot(&dir.aside(""));
        let mut others = difference(before, &after);
        others.retain(|what| !what.starts_with("out: "));
        if !others.is_empty() && !self.is_young {
            return Err(format!("the tree has changed: {others:?}"));
        }
        if run.err.contains("panicked") {
            return Err("it panics".into());
        }
        let lines = self.lines(dir, run);
        if run.code() == clean.code && lines == clean.lines && run.out.len() == clean.out.len() {
            let is_noticed = !self.is_essential(call)
                || !has_failed(dir, call)
                || ["EINTR", "EMFILE", "ENFILE"].contains(&error);
            return if is_noticed { Ok(false) } else { Err("the failure goes unnoticed".into()) };
        }
        // Without `statx`, the time of birth is absent.
        if (&*call.name, error) == ("statx", "ENOSYS")
            && run.code() == clean.code
            && without(BIRTH, &lines) == without(BIRTH, &clean.lines)
        {
            return Ok(false);
        }
        if is_out_of_memory(call) && run.code() == 134 && run.err.contains("memory allocation of ") {
            return Ok(true);
        }
        if run.code() != 2 {
            return Err(format!("the status is {} and the output another", run.code()));
        }
        let mut is_reported = run.err.contains("ftk: ") || is_stderr(call);
        // An update check_contents the records of what it cannot read.
        let is_update = self.args.starts_with(&["manifest", "update"]);
        let recorded = if is_update { fs::read(dir.aside("other")).unwrap() } else { Vec::new() };
        let recorded: BTreeSet<_> = recorded.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        let expected: BTreeSet<_> = clean.lines.union(&recorded).cloned().collect();
        // A directory has no tree digest if something below it could not be read.
        let without_trees = without(TREE, &expected);
        for line in lines.difference(&clean.lines) {
            let is_said = self.says.iter().any(|says| line.starts_with(says.as_bytes()));
            let is_right = expected.contains(line) || without_trees.contains(line);
            if !is_said && line != b"old" && !is_right {
                return Err(format!("false report: {}", String::from_utf8_lossy(line)));
            }
            is_reported |= is_said;
        }
        if !is_reported {
            return Err("the failure is not reported".into());
        }
        let file = fs::read(dir.aside(OUT)).map_err(|error| format!("the old output: {error}"))?;
        if !is_whole(&file) {
            return Err(format!("half an output: {}", String::from_utf8_lossy(&file)));
        }
        Ok(true)
    }
}

fn is_out_of_memory(call: &Call) -> bool {
    ["brk", "mmap", "mremap", "mprotect"].contains(&&*call.name)
}

fn is_stderr(call: &Call) -> bool {
    call.name == "write" && call.line.starts_with("write(2")
}

/// Returns whether an output file is complete: it ends with a newline, and with a matching footer if it has a
/// header.
fn is_whole(file: &[u8]) -> bool {
    if !file.ends_with(b"\n") {
        return file.is_empty();
    }
    if !file.starts_with(b"{\"ftk\":") {
        return true;
    }
    let at = file[..file.len() - 1].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let digest = sha256(&file[..at]);
    String::from_utf8_lossy(&file[at..]).starts_with("{\"footer\":")
        && String::from_utf8_lossy(&file[at..]).contains(&digest)
}

/// Members of a manifest, as regular expressions.
const BIRTH: &str = ",\"birth_ns\":-?[0-9]+";
const TREE: &str = ",\"tree\":\\{[^}]*\\}";

/// Returns the lines without what the regular expression matches.
fn without(member: &str, lines: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let member = regex::bytes::Regex::new(member).expect("a valid expression");
    lines.iter().map(|line| member.replace_all(line, b"").into_owned()).collect()
}
