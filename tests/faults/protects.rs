//! `ftk manifest protect`, killed before each system call that changes anything, and with calls that fail. The parity file
//! is complete or absent.

use super::kills::changes;
use super::prunes::problem;
use super::scene::{Extent, faults};
use super::trace::{Fault, calls, can_inject, failing};
use crate::harness::{Dir, Ftk};
use crate::manifest::repair::keep;

fn stage() -> Dir {
    let dir = Dir::new();
    dir.file("small", b"small").file("large", &vec![7; 100_000]);
    keep(&dir);
    dir
}

fn protect(dir: &Dir) -> Ftk {
    let ftk = dir.ftk(["manifest", "protect", "."]).arg(dir.aside("manifest"));
    ftk.arg("-o").arg(dir.aside("parity"))
}

/// Checks that the parity file is complete or absent, and that it can be made if it is absent.
fn check(dir: &Dir) -> Result<(), String> {
    if !dir.aside("parity").exists() {
        let run = protect(dir).run();
        if run.code() != 0 {
            return Err(format!("not repeated: {}", run.err));
        }
    }
    let verified = dir.ftk(["manifest", "verify", "--parity"]).arg(dir.aside("parity")).run();
    if verified.code() == 0 {
        Ok(())
    } else {
        Err(format!("incomplete: {}{}", verified.text(), verified.err))
    }
}

#[test]
fn h06_killed_while_protecting() {
    if !can_inject() {
        return;
    }
    let dir = stage();
    let (_, calls) = calls(protect(&dir), &dir);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 5, "{calls:?}");
    let mut problems = Vec::new();
    for call in calls {
        let dir = stage();
        let run = failing(protect(&dir), &dir, call, Fault::Kill).run();
        let checked = if run.code() == 128 + 9 { check(&dir) } else { Err("it was not killed".into()) };
        if let Err(why) = checked {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn some_calls_of_protect_fail() {
    if !can_inject() {
        return;
    }
    let dir = stage();
    let (_, calls) = calls(protect(&dir), &dir);
    let faults = faults(&calls, Extent::Some);
    let (mut reported, mut problems) = (0, Vec::new());
    for &(call, error) in &faults {
        let dir = stage();
        let run = failing(protect(&dir), &dir, call, Fault::Error(error)).run();
        let is_complete = dir.aside("parity").exists();
        let checked = match run.code() {
            // What cannot be read is skipped and named.
            0 | 1 if !is_complete => Err("it reports success".into()),
            1 if !run.text().contains("skipped") => Err("it does not say what is skipped".into()),
            _ if run.err.contains("panicked") => Err("it panics".into()),
            _ => check(&dir),
        };
        reported += usize::from(run.code() != 0);
        if let Err(why) = checked {
            problems.push(problem(call, error, &run, &why));
        }
    }
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), faults.len(), problems.join("\n"));
    assert!(reported > 0);
}
