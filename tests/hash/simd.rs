//! `FTK_SIMD`: the output is the same whichever instruction set is used.

use super::algorithms::sizes;
use crate::harness::{Dir, bytes, sha256, skip};

const ALGORITHMS: [&str; 15] = [
    "sha256", "sha1", "sha512", "md5", "blake2b", "blake3", "sha224", "sha384", "sha3-256", "sha3-512",
    "xxh64", "xxh3", "xxh128", "crc32", "crc32c",
];

/// The bounds, lowest first, and the names that Linux has for their instructions.
const BOUNDS: [(&str, &[&str]); 4] = [
    ("portable", &[]),
    ("avx2", &["avx2", "bmi1", "bmi2"]),
    ("sha-ni", &["sha_ni", "sse4_1"]),
    ("avx512", &["avx512f", "avx512bw", "avx512vl", "avx2", "bmi1", "bmi2"]),
];

/// Returns whether the CPU lacks one of these flags according to the kernel.
fn lacks(flags: &[&str]) -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let line = info.lines().find(|line| line.starts_with("flags")).unwrap_or("");
    flags.iter().any(|flag| line.split_whitespace().all(|has| has != *flag))
}

/// Returns the bounds that this CPU has, and checks that the others are refused.
fn bounds(dir: &Dir) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (bound, flags) in BOUNDS {
        if !lacks(flags) {
            found.push(bound);
            continue;
        }
        let run = dir.ftk(["hash", "."]).under(dir, ["env", &format!("FTK_SIMD={bound}")]).run();
        run.status(2)
            .stdout("")
            .stderr(&format!("ftk: bad value of FTK_SIMD: this CPU does not have {bound}\n"));
        skip(&format!("this CPU does not have {bound}"));
    }
    found
}

#[test]
fn the_output_is_the_same_for_every_bound() {
    let dir = sizes();
    let lines: Vec<u8> =
        (0..3000).flat_map(|nth| [&bytes(nth, nth as usize % 90)[..], b"\n"].concat()).collect();
    dir.file("lines", &lines);
    for algorithm in ALGORITHMS {
        let files = ["hash", "-q", "-a", algorithm, "."];
        let lines = ["hash", "-q", "-a", algorithm, "--lines", "lines"];
        let [of_files, of_lines] = [&files[..], &lines].map(|args| dir.ftk(args).run().status(0).out);
        assert!(of_files.iter().filter(|byte| **byte == b'\n').count() > 30);
        for bound in bounds(&dir) {
            let env = ["env".to_owned(), format!("FTK_SIMD={bound}")];
            dir.ftk(files).under(&dir, &env).run().status(0).stdout(&of_files);
            dir.ftk(lines).under(&dir, &env).run().status(0).stdout(&of_lines);
        }
    }
}

/// The digest kernel that `-v` names never exceeds the bound.
#[test]
fn the_kernel_is_within_the_bound() {
    let dir = Dir::new();
    dir.file("a", b"a");
    let order = BOUNDS.map(|(bound, _)| bound);
    let rank = |kernel: &str| order.iter().position(|bound| *bound == kernel).expect("a known kernel");
    for (nth, bound) in bounds(&dir).into_iter().enumerate() {
        for (algorithm, checks) in
            ["sha256", "sha1", "sha512", "md5", "blake2b", "blake3", "sha224", "sha384"]
                .into_iter()
                .flat_map(|algorithm| [(algorithm, false), (algorithm, true)])
        {
            let run = match checks {
                false => dir.ftk(["hash", "-v", "-a", algorithm, "a"]),
                true => {
                    let list = dir.ftk(["hash", "-a", algorithm, "--tag", "a"]).run().status(0).out;
                    dir.file("list", &list);
                    dir.ftk(["hash", "-v", "--check", "list"])
                }
            };
            let run = run.under(&dir, ["env", &format!("FTK_SIMD={bound}")]).run().status(0);
            let plan = run.err.lines().find(|line| line.contains("plan ")).expect("a plan");
            let kernel = plan.split_once(&format!("{algorithm} ")).expect("the algorithm").1;
            let kernel = kernel.split([';', ':']).next().unwrap();
            run.check(rank(kernel) <= rank(bound), &format!("{kernel} is beyond {bound}"));
            run.check(nth > 0 || kernel == "portable", "the least bound is portable");
        }
    }
}

#[test]
fn an_unknown_bound_is_an_error() {
    let dir = Dir::new();
    dir.file("a", b"a").file("list", format!("{}  a\n", sha256(b"a")).as_bytes());
    for args in [&["hash", "a"][..], &["hash", "--lines", "a"], &["hash", "--check", "list"]] {
        let run = dir.ftk(args).under(&dir, ["env", "FTK_SIMD=sse9"]).run().status(2).stdout("");
        run.stderr(
            "ftk: bad value of FTK_SIMD: unknown instruction set \"sse9\", expected one of portable, neon, \
             avx2, sha-ni, avx512\n",
        );
    }
}
