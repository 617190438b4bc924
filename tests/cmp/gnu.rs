//! Two files, as GNU cmp sees them.

use std::process::{Command, Output, Stdio};

use super::dice::{Dice, pair};
use crate::harness::{Dir, Run, needs};

/// Pairs that every test looks at.
const PAIRS: u64 = 150;

/// In that of POSIX `cmp` says `char` instead of `byte`.
const LOCALE: &str = "C.UTF-8";

/// What `cmp` says.
fn gnu(dir: &Dir, args: &[String]) -> Output {
    gnu_into(dir, args, Stdio::piped())
}

/// What it says where standard output goes there.
fn gnu_into(dir: &Dir, args: &[String], stdout: Stdio) -> Output {
    let mut command = Command::new("cmp");
    command.args(args).current_dir(dir.path("")).env("LC_ALL", LOCALE).stdin(Stdio::null());
    command.stdout(stdout).output().unwrap()
}

/// The messages of a program on standard error, without its name; summaries are none.
fn messages(err: &str, program: &str) -> Vec<String> {
    err.lines().filter_map(|line| line.strip_prefix(program)?.strip_prefix(": ")).map(Into::into).collect()
}

fn messages_of(run: &Run) -> Vec<String> {
    messages(&run.err, "ftk")
}

fn messages_of_gnu(output: &Output) -> Vec<String> {
    messages(str::from_utf8(&output.stderr).unwrap(), "cmp")
}

/// A way to go about it, which must not show.
fn plan(dice: &mut Dice) -> Vec<String> {
    let threads = dice.one_of(&["auto", "mono", "2", "3", "8"]);
    let block = dice.one_of(&["0", "512", "1000", "4096", "64K", "1M"]);
    let method = dice.one_of(&["auto", "mapped", "stream"]);
    ["-j", threads, "--block-size", block, "--method", method].map(Into::into).into()
}

/// The same part of both files for `cmp` and for `ftk cmp`.
fn part(dice: &mut Dice, len: usize) -> [Vec<String>; 2] {
    let mut args = [Vec::new(), Vec::new()];
    let skip = |dice: &mut Dice| dice.one_of(&[0, 1, 2, 100, 4096, len / 2, len, len + 1]);
    let skip = match dice.below(4) {
        0 => Some(skip(dice).to_string()),
        1 => Some(format!("{}:{}", skip(dice), skip(dice))),
        _ => None,
    };
    if let Some(skip) = skip {
        args.iter_mut().for_each(|args| args.extend(["-i".into(), skip.clone()]));
    }
    if dice.chance(3) {
        let bytes = dice.one_of(&[0, 1, 10, 4096, len / 2, len, 10 * len]).to_string();
        args[0].extend(["-n".into(), bytes.clone()]);
        args[1].extend(["--bytes".into(), bytes]);
    }
    args
}

/// Hands every pair to `check`, with arguments for `cmp` and for `ftk cmp` that mean the same.
fn for_every_pair(seed: u64, check: impl Fn(&Dir, [Vec<String>; 2], &str)) {
    let dir = Dir::new();
    for nth in 0..PAIRS {
        let [a, b] = pair(seed + 2 * nth);
        let mut dice = Dice::new(seed + 2 * nth + 1);
        dir.file("a", &a).file("b", &b);
        let [theirs, ours] = part(&mut dice, a.len());
        let ours = [plan(&mut dice), ours].concat();
        let what = format!("pair {nth} of {} and {} bytes", a.len(), b.len());
        check(&dir, [theirs, ours], &what);
    }
}

/// `cmp`, these arguments and more of them.
fn cmp<'a>(args: &[String], more: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    [vec!["cmp".into()], with(args, more)].concat()
}

fn with<'a>(args: &[String], more: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    args.iter().cloned().chain(more.into_iter().map(Into::into)).collect()
}

#[test]
fn every_byte_that_differs() {
    needs!("cmp");
    for_every_pair(1000, |dir, [theirs, ours], what| {
        let expected = gnu(dir, &with(&theirs, ["-l", "a", "b"]));
        let run = dir.ftk(cmp(&ours, ["-l", "a", "b"])).run();
        run.check(run.out == expected.stdout, what);
        run.check(Some(run.code()) == expected.status.code(), what);
        run.check(messages_of(&run) == messages_of_gnu(&expected), what);
    });
}

#[test]
fn the_first_byte_that_differs() {
    needs!("cmp");
    for_every_pair(2000, |dir, [theirs, ours], what| {
        let expected = gnu(dir, &with(&theirs, ["a", "b"]));
        let run = dir.ftk(cmp(&ours, ["a", "b"])).run();
        let first = run.text().split_inclusive('\n').next().unwrap_or_default();
        run.check(first.as_bytes() == expected.stdout, what);
        run.check(Some(run.code()) == expected.status.code(), what);
        // After a byte that differs `cmp` does not look for the end.
        if expected.stdout.is_empty() {
            run.check(messages_of(&run) == messages_of_gnu(&expected), what);
        }
    });
}

#[test]
fn the_status_alone() {
    needs!("cmp");
    for_every_pair(3000, |dir, [theirs, ours], what| {
        let expected = gnu(dir, &with(&theirs, ["-s", "a", "b"]));
        for silent in ["-q", "-s"] {
            let run = dir.ftk(cmp(&ours, [silent, "a", "b"])).run();
            run.check(run.out.is_empty() && run.err.is_empty(), what);
            run.check(Some(run.code()) == expected.status.code(), what);
        }
    });
}

/// Nobody sees what is printed: neither looks further than the first byte that differs.
#[test]
fn into_the_null_device() {
    needs!("cmp");
    for_every_pair(7000, |dir, [theirs, ours], what| {
        for list in [&["-l"][..], &[]] {
            let files = [list, &["a", "b"]].concat();
            let expected = gnu_into(dir, &with(&theirs, files.iter().copied()), Stdio::null());
            let run = dir.ftk(cmp(&ours, files.iter().copied())).stdout(Stdio::null()).run();
            run.check(Some(run.code()) == expected.status.code(), what);
            run.check(messages_of(&run) == messages_of_gnu(&expected), what);
        }
    });
    let dir = Dir::new();
    dir.file("a", b"abcd").file("b", b"xbyd-");
    let run = dir.ftk(["cmp", "--ranges", "a", "b"]).stdout(Stdio::null()).run().status(1);
    run.stderr("  different at byte 1; nobody sees the rest, and it was not looked for\n");
}

/// Offset and both bytes of each line of `cmp -l`.
fn parsed(list: &[u8]) -> Vec<(u64, u8, u8)> {
    let octal = |digits: &str| u8::from_str_radix(digits, 8).unwrap();
    let line = |line: &str| match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        [offset, a, b] => (offset.parse().unwrap(), octal(a), octal(b)),
        _ => panic!("{line}"),
    };
    str::from_utf8(list).unwrap().lines().map(line).collect()
}

#[test]
fn the_first_few_and_all() {
    needs!("cmp");
    for_every_pair(4000, |dir, [theirs, ours], what| {
        let all = parsed(&gnu(dir, &with(&theirs, ["-l", "a", "b"])).stdout);
        let hex = |(offset, a, b): &(u64, u8, u8)| format!("{offset} {a:#04x} {b:#04x}\n");
        for most in [1, 2, 8, 100, 5000, 0] {
            let n = if most == 0 { all.len() } else { most.min(all.len()) };
            let run = dir.ftk(cmp(&ours, ["--max-mismatches", &most.to_string(), "a", "b"])).run();
            let rest = run.text().split_once('\n').map_or("", |(_, rest)| rest);
            run.check(rest == all[..n].iter().map(hex).collect::<String>(), what);
            let enough = run.err.contains("search stopped at byte");
            run.check(!enough || n == most, what);
        }
        let default = dir.ftk(cmp(&ours, ["a", "b"])).run();
        let lines = default.text().lines().count();
        default.check(lines == if all.is_empty() { 0 } else { 1 + all.len().min(8) }, what);
    });
}

#[test]
fn ranges_are_runs_of_bytes() {
    needs!("cmp");
    for_every_pair(5000, |dir, [theirs, ours], what| {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (offset, ..) in parsed(&gnu(dir, &with(&theirs, ["-l", "a", "b"])).stdout) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == offset => *last = offset,
                _ => ranges.push((offset, offset)),
            }
        }
        let line = |&(first, last): &(u64, u64)| format!("{first}-{last} {}\n", last - first + 1);
        let expected: String = ranges.iter().map(line).collect();
        let run = dir.ftk(cmp(&ours, ["--ranges", "a", "b"])).run();
        run.check(run.out == expected.as_bytes(), what);
    });
}

/// Through a pipe there is no size to begin with, and no way back.
#[test]
fn standard_input() {
    needs!("cmp");
    let dir = Dir::new();
    for nth in 0..40 {
        let [a, b] = pair(6000 + nth);
        dir.file("a", &a).file("b", &b);
        let [theirs, ours] = part(&mut Dice::new(7000 + nth), a.len());
        for list in [&["-l"][..], &[]] {
            for inputs in [["-", "b"], ["b", "-"]] {
                let rest = || list.iter().copied().chain(inputs);
                let locale = ["env".into(), format!("LC_ALL={LOCALE}")];
                let theirs = [&locale[..], &cmp(&theirs, rest())].concat();
                let expected = dir.ftk([""; 0]).instead(&dir, theirs).stdin(&a).run();
                let run = dir.ftk(cmp(&ours, rest())).stdin(&a).run();
                let first = match list {
                    [] => run.text().split_inclusive('\n').next().unwrap_or_default().as_bytes(),
                    _ => &run.out,
                };
                run.check(first == expected.out, &format!("pair {nth}: {}", expected.text()));
                run.check(run.code() == expected.code(), "as cmp");
                if expected.out.is_empty() || !list.is_empty() {
                    run.check(messages_of(&run) == messages(&expected.err, "cmp"), &expected.err);
                }
            }
        }
    }
}
