//! Two files, compared by ftk and by GNU cmp.

use std::process::{Command, Output, Stdio};

use super::dice::{Dice, pair};
use crate::harness::{Dir, Run, needs};

/// Pairs for every test.
const PAIRS: u64 = 150;

/// In the POSIX locale, `cmp` prints `char` instead of `byte`.
const LOCALE: &str = "C.UTF-8";

/// Status and output of `cmp`.
fn gnu(dir: &Dir, args: &[String]) -> Output {
    gnu_into(dir, args, Stdio::piped())
}

/// Status and output of `cmp` with this standard output.
fn gnu_into(dir: &Dir, args: &[String], stdout: Stdio) -> Output {
    let mut command = Command::new("cmp");
    command.args(args).current_dir(dir.path("")).env("LC_ALL", LOCALE).stdin(Stdio::null());
    command.stdout(stdout).output().unwrap()
}

/// The messages of a program on standard error, without its name and without summaries.
fn messages(err: &str, program: &str) -> Vec<String> {
    err.lines().filter_map(|line| line.strip_prefix(program)?.strip_prefix(": ")).map(Into::into).collect()
}

fn messages_of(run: &Run) -> Vec<String> {
    messages(&run.err, "ftk")
}

fn messages_of_gnu(output: &Output) -> Vec<String> {
    messages(str::from_utf8(&output.stderr).unwrap(), "cmp")
}

/// A method. The output must not depend on it.
fn plan(dice: &mut Dice) -> Vec<String> {
    let threads = dice.one_of(&["auto", "mono", "2", "3", "8"]);
    let block = dice.one_of(&["0", "512", "1000", "4096", "64K", "1M"]);
    let method = dice.one_of(&["auto", "mapped", "stream"]);
    ["-j", threads, "--block-size", block, "--method", method].map(Into::into).into()
}

/// The number in one of the notations of `cmp`.
fn spelt(dice: &mut Dice, number: usize) -> String {
    match dice.below(6) {
        0 => format!("0{number:o}"),
        1 => format!("{number:#x}"),
        2 if number.is_multiple_of(1024) => format!("{}K", number / 1024),
        3 if number.is_multiple_of(1024) => format!("{}KiB", number / 1024),
        4 => format!("{number:#X}").replace('X', "x"),
        _ => number.to_string(),
    }
}

/// The same part of both files for `cmp` and for `ftk cmp`.
fn part(dice: &mut Dice, len: usize) -> [Vec<String>; 2] {
    let mut args = [Vec::new(), Vec::new()];
    let skip = |dice: &mut Dice| {
        let skip = dice.one_of(&[0, 1, 2, 100, 4096, len / 2, len, len + 1]);
        spelt(dice, skip)
    };
    let skip = match dice.below(4) {
        0 => Some(skip(dice)),
        1 => Some(format!("{}:{}", skip(dice), skip(dice))),
        _ => None,
    };
    if let Some(skip) = skip {
        args.iter_mut().for_each(|args| args.extend(["-i".into(), skip.clone()]));
    }
    if dice.chance(3) {
        let bytes = dice.one_of(&[0, 1, 10, 4096, len / 2, len, 10 * len]);
        let bytes = spelt(dice, bytes);
        args[0].extend(["-n".into(), bytes.clone()]);
        args[1].extend(["--bytes".into(), bytes]);
    }
    args
}

/// Calls `check` for every pair, with equivalent arguments for `cmp` and `ftk cmp`.
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

/// `cmp` with these arguments and more.
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
        run.check(messages_of(&run) == messages_of_gnu(&expected), what);
    });
}

/// The bytes are also shown as characters, in lists and for the first difference.
#[test]
fn bytes_as_characters() {
    needs!("cmp");
    for_every_pair(8000, |dir, [theirs, ours], what| {
        for flags in [&["-bl"][..], &["--print-bytes"]] {
            let expected = gnu(dir, &with(&theirs, flags.iter().copied().chain(["a", "b"])));
            let run = dir.ftk(cmp(&ours, flags.iter().copied().chain(["a", "b"]))).run();
            let is_list = flags.iter().any(|flag| flag.contains('l'));
            let first = run.out.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
            run.check(if is_list { &run.out[..] } else { first } == expected.stdout, what);
            run.check(Some(run.code()) == expected.status.code(), what);
            run.check(messages_of(&run) == messages_of_gnu(&expected), what);
        }
    });
    let dir = Dir::new();
    let all: Vec<u8> = (0..=255).collect();
    let turned: Vec<u8> = all.iter().map(|byte| byte.rotate_left(3) ^ 0x55).collect();
    dir.file("a", &all).file("b", &turned);
    let run = dir.ftk(["cmp", "-lb", "a", "b"]).run().status(1);
    run.stdout(gnu(&dir, &["-lb".into(), "a".into(), "b".into()]).stdout);
    let run = dir.ftk(["cmp", "-b", "--max-mismatches", "2", "a", "b"]).run().status(1);
    run.stdout("a b differ: byte 1, line 1 is   0 ^@ 125 U\n1 0x00 ^@   0x55 U\n2 0x01 ^A   0x5d ]\n");
}

/// Numbers after the files are skips, and one file alone is compared with standard input.
#[test]
fn operands() {
    needs!("cmp");
    let dir = Dir::new();
    for nth in 0..60 {
        let [a, b] = pair(9000 + nth);
        let mut dice = Dice::new(9500 + nth);
        dir.file("a", &a).file("b", &b);
        let skip = |dice: &mut Dice| {
            let skip = dice.one_of(&[0, 1, 7, 1024, a.len() / 2, a.len(), a.len() + 9]);
            spelt(dice, skip)
        };
        let mut args: Vec<String> =
            dice.one_of(&[&["-l"][..], &[], &["-b"], &["-lb"]]).iter().map(|it| (*it).to_owned()).collect();
        if dice.chance(3) {
            args.extend(["-i".into(), skip(&mut dice)]);
        }
        match dice.below(4) {
            0 => args.push("a".into()),
            1 => args.extend(["a".into(), "b".into(), skip(&mut dice)]),
            2 => args.extend(["-".into(), "b".into(), skip(&mut dice), skip(&mut dice)]),
            _ => args.extend(["a".into(), "b".into(), skip(&mut dice), skip(&mut dice)]),
        }
        let locale = ["env".into(), format!("LC_ALL={LOCALE}"), "cmp".into()];
        let expected = dir.ftk([""; 0]).instead(&dir, [&locale[..], &args].concat()).stdin(&b).run();
        let run = dir.ftk(cmp(&args, [])).stdin(&b).run();
        let is_list = args[0].starts_with("-l");
        let first = run.out.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        run.check(if is_list { &run.out[..] } else { first } == expected.out, &format!("{args:?}"));
        run.check(run.code() == expected.code(), &format!("{args:?}"));
        run.check(messages_of(&run) == messages(&expected.err, "cmp"), &expected.err);
    }
}

/// A number means the same to both. ftk rejects what `cmp` rejects, with few exceptions.
#[test]
fn numbers() {
    needs!("cmp");
    let dir = Dir::on_disk();
    let a: Vec<u8> = (0..3000).map(|nth| (nth % 251) as u8).collect();
    // Every byte differs, so the first line of a list shows what was skipped, and the last what was compared.
    let b: Vec<u8> = a.iter().map(|byte| byte.wrapping_add(7)).collect();
    dir.file("a", &a).file("b", &b);
    for number in [
        "0",
        "00",
        "10",
        "010",
        "0777",
        "0x10",
        "0X1f",
        "1k",
        "1K",
        "1kB",
        "1KB",
        "1KiB",
        "1kiB",
        "2K",
        "1M",
        "1MB",
        "1MiB",
        "1G",
        "1GB",
        "1T",
        "1P",
        "1E",
        "7E",
        "0x1E",
        "010k",
        "0x1kB",
        "9223372036854775807",
        "",
        "-1",
        "08",
        "0x",
        "1b",
        "1B",
        "10B",
        "1w",
        "1c",
        "x",
        "1x",
        "1e2",
        "1.5K",
        "1KBB",
        "1Ki",
        "16E",
        "1Z",
        "1Y",
        "99999999999999999999999",
        "1:",
        ":1",
        "1:2:3",
        "1 ",
        "K",
        "1m",
        "1g",
        "+3",
        " 3",
    ] {
        for option in ["-i", "-n"] {
            let ours = if option == "-n" { "--bytes" } else { option };
            let args = |option: &str| {
                [
                    "-l".into(),
                    format!("{option}={number}").replace("-i=", "-i").replace("-n=", "-n"),
                    "a".into(),
                    "b".into(),
                ]
            };
            let expected = gnu(&dir, &args(option));
            let run = dir.ftk(cmp(&args(ours), [])).run();
            let expected_code = expected.status.code().unwrap();
            match number {
                // One-letter units in either case, as everywhere in ftk. A unit without a number is an error.
                "1m" | "1g" => run.check(expected_code == 2 && run.code() < 2, number),
                "+3" | " 3" | "K" => run.check(expected_code < 2 && run.code() == 2, number),
                _ => {
                    run.check(run.code() == expected_code, number);
                    run.check(run.out == expected.stdout, number);
                }
            }
        }
    }
}

#[test]
fn the_status_alone() {
    needs!("cmp");
    for_every_pair(3000, |dir, [theirs, ours], what| {
        let expected = gnu(dir, &with(&theirs, ["-s", "a", "b"]));
        for silent in ["--status", "--silent", "-s"] {
            let run = dir.ftk(cmp(&ours, [silent, "a", "b"])).run();
            run.check(run.out.is_empty() && run.err.is_empty(), what);
            run.check(Some(run.code()) == expected.status.code(), what);
        }
    });
}

/// If the output is discarded, neither tool reads past the first difference.
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
    run.stderr("  first difference at byte 1; the search stopped there, since output goes to /dev/null\n");
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

/// A pipe has no size and cannot seek.
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
                run.check(messages_of(&run) == messages(&expected.err, "cmp"), &expected.err);
            }
        }
    }
}
