//! Files of almost 8 EiB, of which two are more than 63 bits and three more than 64 bits can count.

use crate::harness::{Dir, bytes};

const HUGE: u64 = i64::MAX as u64;

fn huge() -> Dir {
    let dir = Dir::new();
    dir.hole("d/1", HUGE)
        .hole("d/2", HUGE)
        .hole("d/3", HUGE)
        .file("d/small", &bytes(1, 3))
        .hole("large", HUGE - 1);
    dir
}

#[test]
fn sums_do_not_overflow() {
    let dir = huge();
    let in_d = u128::from(HUGE) * 3 + 3;
    let all = in_d + u128::from(HUGE) - 1;
    let run = dir.ftk(["du", "--apparent-size", "-t", "f", "-d1"]).run().status(0);
    run.stdout(format!("{all}\t.\n{in_d}\t./d\n"));
    dir.ftk(["du", "--apparent-size", "-t", "f", "-sh"]).run().status(0).stdout("32E\t.\n");
    let run = dir.ftk(["find", "-t", "f", "--group-by", "directory"]).run().status(0);
    run.stdout(format!("{in_d}\t4\t75.00\t./d\n{}\t1\t25.00\t.\n", HUGE - 1));
    // What other programs read is exact too.
    let written = dir.ftk(["du", "--format", "ncdu", "-t", "f"]).run().status(0);
    let run = dir.ftk(["du", "--from", "-", "--apparent-size", "-a", "--top", "1"]).stdin(&written.out);
    run.run().status(0).stdout(format!("{all}\t{}\n", dir.path("").canonicalize().unwrap().display()));
}

#[test]
fn find_sorts_and_compares_them() {
    let dir = huge();
    let run = dir.ftk(["find", "-t", "f", "--sort=size"]).run().status(0);
    run.stdout("./d/small\n./large\n./d/1\n./d/2\n./d/3\n");
    let run = dir.ftk(["find", "-t", "f", "--sort=size", "--reverse", "--max-results", "2"]).run().status(0);
    run.stdout("./d/3\n./d/2\n");
    for (expression, count) in [
        (format!("size = {HUGE}"), 3),
        (format!("size >= {HUGE}"), 3),
        (format!("size < {HUGE} and type = f"), 2),
        (format!("size = {}", HUGE - 1), 1),
        (format!("size > {HUGE}"), 0),
        (format!("size > {}", u64::MAX), 0),
        ("size > 8191P".into(), 4),
        ("size > 8192P".into(), 0),
    ] {
        let run = dir.ftk(["find", "--count", "--where", &expression]).run();
        run.check(run.text() == format!("{count}\n"), &expression);
    }
}
