//! What may differ between a page and a run: times, speeds, places, keys, blocks on the disk, and how far a killed run
//! came.

use std::sync::LazyLock;

use regex::Regex;

/// Each pattern, and what is compared in its place.
const FILTERS: &[(&str, &str)] = &[
    (r"(?-u:\b)in [0-9.,]+ (ns|us|ms|s|min)( \([0-9.,]+ [kMGT]?B/s\))?", "in TIME"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([+-][0-9]{2}:[0-9]{2}|Z)", "DATE"),
    (r"(?-u:\b)[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?-u:\b)", "DATE"),
    (r"[0-9]{8}T[0-9]{6}Z-[0-9A-Za-z]+", "RUN"),
    (r"SHA256:[A-Za-z0-9+/]{43}", "SHA256:KEY"),
    (r"Submitted batch job [0-9]+", "Submitted batch job N"),
    // File systems differ in the blocks that they allocate for a file.
    (r"(?-u:\b)[0-9]+ digests? reused, [0-9.]+ [kMGT]?B ", "N digests reused, SIZE "),
    (r"(?-u:\b)(frees?) [0-9.]+ [kMGT]?B", "$1 SIZE"),
    // The user who runs the test, a number of entries, and their blocks.
    (r"(?m)^[0-9]+\t([0-9]+)\t[0-9]+$", "UID\t$1\tBYTES"),
];

/// The text without what differs from run to run.
pub(super) fn stable(text: &str) -> String {
    static COMPILED: LazyLock<Vec<(Regex, &str)>> =
        LazyLock::new(|| FILTERS.iter().map(|(re, to)| (Regex::new(re).unwrap(), *to)).collect());
    let mut text = text.to_owned();
    for (regex, to) in COMPILED.iter() {
        text = regex.replace_all(&text, *to).into_owned();
    }
    text
}

#[test]
fn only_what_differs_from_run_to_run_is_replaced() {
    for (text, expected) in [
        ("11 entries, 1.04 MB in 5.00 ms (207.87 MB/s)   sha256", "11 entries, 1.04 MB in TIME   sha256"),
        ("scanned 10 files in 2.12 ms, found 5", "scanned 10 files in TIME, found 5"),
        ("mtime 2025-06-01T12:00:00+00:00 → 2026-11-22T18:28:07.848588032+01:00", "mtime DATE → DATE"),
        ("which is of 2026-11-26 20:18\n", "which is of DATE\n"),
        ("dup-20261122T182807Z-olfTCM.jsonl", "dup-RUN.jsonl"),
        ("would delete 3 files and free 135.17 kB", "would delete 3 files and free SIZE"),
        ("delete   a      frees 40.96 kB", "delete   a      frees SIZE"),
        ("6 files, 3 digests reused, 950.00 kB in 12.79 ms", "6 files, N digests reused, SIZE in TIME"),
        ("6 files, 1 digest reused, 0 B in 12.79 ms", "6 files, N digests reused, SIZE in TIME"),
        ("Submitted batch job 17", "Submitted batch job N"),
        ("1000\t11\t1085440\n", "UID\t11\tBYTES\n"),
        ("film\t3\t950000\n", "film\t3\t950000\n"),
        ("2 × 50.00 kB   wastes 50.00 kB", "2 × 50.00 kB   wastes 50.00 kB"),
        ("sha256 8268efe6… → f51955b5…", "sha256 8268efe6… → f51955b5…"),
    ] {
        assert_eq!(stable(text), expected);
    }
}
