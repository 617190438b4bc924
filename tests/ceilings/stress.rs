//! Many runs with more workers than the machine has cores: a result that depends on timing shows up in some run.

use crate::harness::{Dir, gnu_find, needs, records, sorted, sum};

#[test]
fn all_runs_give_the_same_output() {
    needs!("find", "xargs", "sha256sum", "md5sum", "b3sum");
    let dir = Dir::new();
    for nth in 0..2400_u32 {
        dir.file(
            format!("{}/{}/{nth}", nth % 40, nth % 3),
            nth.to_string().repeat(nth as usize % 50).as_bytes(),
        );
    }
    let everything = gnu_find(&dir, &["."]);
    let sums = ["sha256", "md5", "blake3"].map(|name| {
        let tool = if name == "blake3" { "b3sum".to_owned() } else { format!("{name}sum") };
        (name, sum(&dir, &[&tool], &["."]))
    });
    for round in 0..24 {
        let threads = ["2", "3", "8", "16"][round % 4];
        let list = dir.ftk(["find", "-0", "-j", threads]).run().status(0);
        list.check(sorted(records(&list.out, 0)) == everything, "find lists the same");
        let (algorithm, expected) = &sums[round % 3];
        let io = if round % 2 == 0 { "auto" } else { "sync" };
        dir.ftk(["hash", "-a", algorithm, "-j", threads, "--io", io, "."]).run().status(0).stdout(expected);
    }
}
