//! `ftk manifest protect`, killed before each system call that changes anything, and with calls that fail. The parity file
//! is complete or absent.

use std::fs;
use std::time::SystemTime;

use super::kills::changes;
use super::prunes::problem;
use super::scene::{Extent, faults};
use super::trace::{Fault, calls, can_inject, failing};
use crate::harness::{Dir, Ftk};
use crate::manifest::repair::reprotect::reprotecting;
use crate::manifest::repair::{damage, keep};

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

/// A tree that was protected and then edited: what is left of the only batch is encoded again.
fn edited() -> Dir {
    let dir = stage();
    dir.file("old", b"old");
    keep_again(&dir);
    protect(&dir).run().status(0);
    fs::remove_file(dir.path("old")).unwrap();
    dir.file("new", &[8; 5_000]);
    dir
}

fn keep_again(dir: &Dir) {
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest).run().status(0);
}

/// Loses a file, and computes it with whatever manifest and parity file there are.
fn heal(dir: &Dir, name: &str, content: &[u8]) -> Result<(), String> {
    fs::remove_file(dir.path(name)).unwrap();
    let repair = dir.ftk(["manifest", "repair", ".", "--missing", "--max-missing", "100%", "--yes"]);
    let repair = repair.args(["--path", name]);
    let run = repair.arg(dir.aside("manifest")).arg("--from").arg(dir.aside("parity")).run();
    if run.code() == 0 && fs::read(dir.path(name)).is_ok_and(|found| found == content) {
        Ok(())
    } else {
        Err(format!("{name} does not heal: {}{}", run.text(), run.err))
    }
}

/// Checks that the parity file is of use after an update that did not end, and that the next update completes it.
fn check_updated(dir: &Dir) -> Result<(), String> {
    heal(dir, "small", b"small")?;
    let again = reprotecting(dir, &[]).run();
    if again.code() != 0 {
        return Err(format!("not repeated: {}", again.err));
    }
    check(dir)?;
    heal(dir, "new", &[8; 5_000])
}

/// The same, after further updates. Now only the manifest is new: it gets the place of an earlier one, and all heads are
/// replaced where they are.
fn touched() -> Dir {
    let dir = edited();
    for _ in 0..3 {
        touch(&dir);
        reprotecting(&dir, &[]).run().status(0);
    }
    touch(&dir);
    dir
}

fn touch(dir: &Dir) {
    fs::File::open(dir.path("large")).unwrap().set_modified(SystemTime::now()).unwrap();
}

#[test]
fn h06_killed_while_a_parity_file_is_updated() {
    killed_while_updating(edited, "1 content added, 1 gone; 105");
}

#[test]
fn h06_killed_while_only_the_manifest_in_a_parity_file_is_new() {
    let dir = touched();
    let len = |dir: &Dir| fs::metadata(dir.aside("parity")).unwrap().len();
    let before = len(&dir);
    reprotecting(&dir, &[]).run().status(0);
    assert_eq!(len(&dir), before);
    killed_while_updating(touched, "0 contents added, 0 gone; 0 B encoded");
}

fn killed_while_updating(stage: fn() -> Dir, said: &str) {
    if !can_inject() {
        return;
    }
    let dir = stage();
    let (run, calls) = calls(reprotecting(&dir, &["-j", "1"]), &dir);
    run.status(0).stderr_has(said);
    let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
    assert!(calls.len() > 12, "{calls:?}");
    let mut problems = Vec::new();
    for call in calls {
        let dir = stage();
        let run = failing(reprotecting(&dir, &["-j", "1"]), &dir, call, Fault::Kill).run();
        let is_killed = run.code() == 128 + 9;
        let checked = if is_killed { check_updated(&dir) } else { Err("it was not killed".into()) };
        if let Err(why) = checked {
            problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A protected tree with a damaged file, whose manifest is damaged, or gone. Returns also the undamaged manifest.
fn without_manifest(is_gone: bool) -> (Dir, Vec<u8>) {
    let dir = stage();
    protect(&dir).run().status(0);
    damage(&dir.path("small"));
    let manifest = dir.aside("manifest");
    let good = fs::read(&manifest).unwrap();
    if is_gone {
        fs::remove_file(manifest).unwrap();
    } else {
        let mut bytes = good.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&manifest, bytes).unwrap();
    }
    (dir, good)
}

fn restore(dir: &Dir) -> Ftk {
    let repair = dir.ftk(["manifest", "repair", ".", "-j", "1", "--yes"]).arg(dir.aside("manifest"));
    repair.arg("--from").arg(dir.aside("parity"))
}

/// Checks that the manifest is as before or restored, and that another run completes the work.
fn check_restored(dir: &Dir, before: Option<&Vec<u8>>, good: &Vec<u8>) -> Result<(), String> {
    let read = |name: &str| fs::read(dir.aside(name)).ok();
    let found = read("manifest");
    if found.as_ref() != before && found.as_ref() != Some(good) {
        return Err("the manifest is neither old nor new".into());
    }
    let again = restore(dir).run();
    let verified = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest")).run();
    let left = fs::read_dir(dir.aside("state").join("ftk")).into_iter().flatten();
    let mut left =
        left.map(|it| it.unwrap().file_name()).filter(|it| it.as_encoded_bytes().starts_with(b"computed-"));
    match () {
        () if again.code() != 0 => Err(format!("not repeated: {}{}", again.text(), again.err)),
        // An unfinished file is left for `undo`.
        () if verified.text().lines().any(|line| !line.contains(".ftk-")) => {
            Err(format!("not repaired: {}{}", verified.text(), verified.err))
        }
        () if read("manifest").as_ref() != Some(good) => Err("the manifest is not restored".into()),
        () if read("manifest.damaged").as_ref() != before => Err("the damaged manifest is not kept".into()),
        () if left.next().is_some() => Err("computed contents are left".into()),
        () => Ok(()),
    }
}

#[test]
fn h06_killed_while_the_manifest_is_restored() {
    if !can_inject() {
        return;
    }
    let mut problems = Vec::new();
    for is_gone in [false, true] {
        let (dir, _) = without_manifest(is_gone);
        let (run, calls) = calls(restore(&dir), &dir);
        run.status(0).stderr_has("wrote '");
        let calls: Vec<_> = calls.iter().filter(|call| changes(call)).collect();
        assert!(calls.len() > 20, "{calls:?}");
        for call in calls {
            let (dir, good) = without_manifest(is_gone);
            let before = fs::read(dir.aside("manifest")).ok();
            let run = failing(restore(&dir), &dir, call, Fault::Kill).run();
            let is_killed = run.code() == 128 + 9;
            let checked = match is_killed {
                true => check_restored(&dir, before.as_ref(), &good),
                false => Err("it was not killed".into()),
            };
            if let Err(why) = checked {
                problems.push(format!("before {} number {}: {why}\n  {}", call.name, call.nth, call.line));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn some_calls_of_an_update_with_parity_fail() {
    if !can_inject() {
        return;
    }
    let dir = edited();
    let (_, calls) = calls(reprotecting(&dir, &["-j", "1"]), &dir);
    let faults = faults(&calls, Extent::Some);
    let mut problems = Vec::new();
    for &(call, error) in &faults {
        let dir = edited();
        let run = failing(reprotecting(&dir, &["-j", "1"]), &dir, call, Fault::Error(error)).run();
        let checked = match run.err.contains("panicked") {
            true => Err("it panics".into()),
            false => check_updated(&dir),
        };
        if let Err(why) = checked {
            problems.push(problem(call, error, &run, &why));
        }
    }
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), faults.len(), problems.join("\n"));
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
