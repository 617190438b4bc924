//! Too little memory, and no room for temporary files.

use crate::harness::Dir;

#[test]
fn too_little_memory_names_the_least() {
    let dir = Dir::new();
    dir.file("t/a", b"1");
    let set = dir.set("t", &[]);
    for args in
        [&["convert", "t.jsonl", "-o", "x"][..], &["largest", &set][..], &["sql", "SELECT 1", &set][..]]
    {
        let error = dir.refused(&[args, &["--memory", "1M"][..]].concat());
        assert!(error.contains("at least 64M"), "{error}");
    }
    assert!(!dir.path("x").exists());
    dir.ask(&["largest", &set, "--memory", "64M"]);
}

#[test]
fn a_directory_for_temporary_files_must_exist() {
    let dir = Dir::new();
    dir.file("t/a", b"1").file("file", b"");
    let set = dir.set("t", &[]);
    for temp_dir in ["missing", "file"] {
        let error = dir.refused(&["largest", &set, "--temp-dir", temp_dir]);
        assert!(error.contains(temp_dir), "{error}");
    }
}

/// What does not fit into the memory goes to the disk, and a full disk is an error.
#[test]
fn rows_that_do_not_fit_are_written_to_the_disk() {
    let dir = Dir::new();
    for nth in 0..32 {
        dir.file(format!("t/{nth}"), nth.to_string().as_bytes());
    }
    let set = dir.set("t", &[]);
    // A million rows, of which each has 100 bytes.
    let sql =
        "SELECT count(*) AS n, max(number) AS last FROM (SELECT row_number() OVER (ORDER BY text) AS number
        FROM (SELECT concat(a.path, b.path, c.path, d.path, a.digest) AS text
        FROM entries a, entries b, entries c, entries d))";
    // How many rows are in memory at once depends on the order of threads: 64 MiB suffice in about every second
    // run. When they do not, the message names more than was tried, and following it leads to an amount that
    // suffices.
    let ask = |memory: u64| dir.query(&["sql", sql, &set, "--memory", &format!("{memory}M")]);
    let refused = (0..40).map(|_| ask(64)).find(|printed| printed.code() != 0);
    let (mut memory, mut printed) = (64, refused.expect("64 MiB do not always suffice"));
    while printed.code() != 0 {
        let amount =
            printed.err.strip_prefix(&format!("ftk query: --memory {memory}M does not suffice: at least "));
        let needed = amount.and_then(|amount| amount.strip_suffix("M is needed\n")?.parse().ok());
        let needed = needed.unwrap_or_else(|| panic!("{printed:?}"));
        assert!((memory + 1..512).contains(&needed), "{printed:?}");
        memory = needed;
        printed = ask(memory);
    }
    // A limit for the size of files is like a full disk. This amount of memory suffices in nearly every run.
    let script = format!(
        "trap '' XFSZ; ulimit -f 100; exec {} sql \"$0\" {set} --memory 128M --temp-dir .",
        env!("CARGO_BIN_EXE_ftk-query")
    );
    let run = || {
        std::process::Command::new("bash")
            .args(["-c", &script, sql])
            .current_dir(dir.path(""))
            .output()
            .unwrap()
    };
    let error_of = |output: &std::process::Output| String::from_utf8(output.stderr.clone()).unwrap();
    let full = (0..10).map(|_| run()).find(|output| !error_of(output).contains("does not suffice"));
    let full = full.expect("128 MiB nearly always suffice");
    let error = error_of(&full);
    assert_eq!((full.status.code(), full.stdout.len()), (Some(2), 0), "{error}");
    let expected = "ftk query: cannot write temporary files to .: file too large: choose another directory with --temp-dir, \
                    or a larger --memory\n";
    assert_eq!(error, expected);
}
