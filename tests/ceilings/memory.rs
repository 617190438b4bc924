//! With little memory, commands give the right answer or an error, and do not crash.

use crate::harness::{Dir, Run, records, skip};

/// Every command that keeps tables, run on the equal trees `t` and `u`.
const COMMANDS: [&[&str]; 10] = [
    &["find", "--sort", "t"],
    &["hash", "t"],
    &["hash", "--check", "../list"],
    &["dup", "t", "u"],
    &["dup", "prune", "--action", "delete", "t", "u"],
    &["manifest", "create", "t"],
    &["manifest", "verify", "t", "../manifest"],
    &["manifest", "update", "t", "../manifest"],
    &["manifest", "unique", "../manifest", "../manifest"],
    &["cmp", "t", "u"],
];

/// Two equal trees, and a list and a manifest of one of them.
fn trees() -> Dir {
    let dir = Dir::new();
    for nth in 0..1500 {
        for tree in ["t", "u"] {
            dir.file(format!("{tree}/{}/{nth:030}", nth % 30), nth.to_string().as_bytes());
        }
    }
    dir.ftk(["hash", "t", "-o", "../list"]).run().status(0);
    dir.ftk(["manifest", "create", "t", "-o", "../manifest"]).run().status(0);
    dir
}

#[test]
fn tables_beyond_the_budget_are_an_error() {
    let dir = trees();
    for command in COMMANDS {
        for threads in ["mono", "8"] {
            let run = dir.ftk(["--memory", "20K", "-j", threads]).args(command).run().status(2).stdout("");
            run.stderr_has(" --memory");
        }
    }
    dir.ftk(["--memory", "20K", "hash", "t", "-o", "../out"]).run().status(2);
    assert!(!dir.aside("out").exists(), "an incomplete output exists");
}

/// Raises the limit in steps, from the lowest one at which the program starts to one that is enough.
#[test]
fn a_small_address_space_causes_no_crash() {
    let dir = trees();
    let starts = |kib: &u32| {
        let args = ["manifest", "unique", "missing", "missing", "-j", "mono"];
        dir.ftk(args).limit(&dir, &format!("-v {kib}")).run().err.contains("'missing'")
    };
    let Some(first) = (8..200).map(|nth| nth * 1024).find(starts) else {
        return skip("no limit of the address space lets a program start");
    };
    let (mut enough, mut too_little) = (0, 0);
    for command in COMMANDS {
        let free = dir.ftk(command).run().status(0);
        // One MiB remains for the stack: the kernel kills a process whose stack cannot grow.
        for more in [1, 2, 4, 8, 16, 64] {
            for threads in ["mono", "8"] {
                let limit = format!("-v {}", first + more * 1024);
                let run = dir.ftk(command).args(["-j", threads]).limit(&dir, &limit).run();
                if run.code() == 0 {
                    run.check(lasting(&run) == lasting(&free), "the answer is the one without a limit");
                    enough += 1;
                } else {
                    let run = run.status(2);
                    // Messages of the standard library and of glibc: no memory for a table, a thread, its stack or its exit.
                    let words = [
                        "memory allocation of",
                        "allocate memory",
                        "temporarily unavailable",
                        "register TLS destructor",
                    ];
                    run.check(words.iter().any(|it| run.err.contains(it)), "it says why");
                    // The standard library may write at the same time.
                    run.check(run.err.contains("ftk: "), "an error of ours");
                    too_little += 1;
                }
            }
        }
    }
    assert!(enough > 0 && too_little > 0, "{enough} runs had enough, {too_little} had not");
}

/// The lines that do not depend on the time: all but a manifest's first and last.
fn lasting(run: &Run) -> Vec<Vec<u8>> {
    let tells = |line: &Vec<u8>| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
    records(&run.out, b'\n').into_iter().filter(|line| !tells(line)).collect()
}
