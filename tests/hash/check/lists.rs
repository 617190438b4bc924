//! Unusual and partly wrong lists.

use crate::harness::{Dir, needs, sha256};

#[test]
fn comments_empty_lines_and_blanks_as_in_the_coreutils() {
    needs!("sha256sum");
    let dir = Dir::new();
    dir.file("x", b"1").file("#y", b"1");
    let digest = sha256(b"1");
    let upper = digest.to_uppercase();
    for list in [
        format!("# a comment\n{digest}  x\n"),
        format!("\n\n{digest}  x\n\n"),
        format!(" \t{digest}  x\n"),
        format!("{upper} *x\n"),
        format!("{digest}  x"),
        format!("{digest}  #y\n"),
        format!("  # no comment\n{digest}  x\n"),
        format!("\\{digest}  x\n"),
        format!("SHA256 (x) = {digest}\nMD5 (x) = nonsense\n"),
    ] {
        dir.file("list", list.as_bytes());
        let theirs = dir.ftk(["--version"]).instead(&dir, ["sha256sum", "-c", "list"]).run().status(0);
        let ours = dir.ftk(["hash", "-c", "list"]).run().status(0).stdout(&theirs.out);
        let warns = |err: &str| err.contains("improperly formatted");
        ours.check(warns(&ours.err) == warns(&theirs.err), "both warn, or none does");
    }
}

/// Invalid lists do not prevent the check of the others.
#[test]
fn an_invalid_list_does_not_stop_the_others() {
    let dir = Dir::new();
    dir.file("x", b"1").file("good", format!("{}  x\n", sha256(b"1")).as_bytes()).file("empty", b"").dir("d");
    let run = dir.ftk(["hash", "-c", "missing", "good", "empty", "d", "good"]).run().status(2);
    run.stdout("x: OK\nx: OK\n")
        .stderr_has("ftk: cannot open 'missing': no such file or directory\n")
        .stderr_has("ftk: 'empty': no properly formatted checksum lines found: it is empty\n")
        .stderr_has("ftk: cannot check 'd': no file has a name such as SHA256SUMS");
}

/// A path may occur several times, with the same digest, another one, or another algorithm.
#[test]
fn a_path_may_come_twice() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let (good, bad) = (sha256(b"abc"), sha256(b"abd"));
    let list = format!("{good}  x\n{bad}  x\n{good}  x\nMD5 (x) = 900150983cd24fb0d6963f7d28e17f72\n");
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(1);
    run.stdout("x: OK\nx: FAILED (SHA256)\nx: OK\nx: OK\n").stderr_has("3 ok, 1 failed, 3 B in ");
}

/// Paths that no file can have are checked like others.
#[test]
fn impossible_paths() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let digest = sha256(b"1");
    let long = "n".repeat(70_000);
    let deep = "d/".repeat(50_000);
    let list = format!("{digest}  x/\n{digest}  {long}\n{digest}  {deep}x\n{digest}  x\n");
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2);
    let mut lines = run.text().lines();
    assert_eq!(lines.next(), Some("x/: FAILED open or read"));
    assert_eq!(lines.next().unwrap().len(), long.len() + ": FAILED open or read".len());
    assert_eq!(lines.next().unwrap().len(), deep.len() + "x: FAILED open or read".len());
    assert_eq!((lines.next(), lines.next()), (Some("x: OK"), None));
}

/// Lists of Windows have `\\` as separator.
#[test]
fn backslashes_are_separators_if_nothing_else_is() {
    let dir = Dir::new();
    dir.file("d/e/f", b"abc").file("g", b"abc");
    let good = sha256(b"abc");
    let check = |list: String| dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run();
    let note = "`\\` in names is read as `/`, since no name has `/` and none exists as it is";
    let run = check(format!("{good} *d\\e\\f\n{good} *g\n")).status(0).stdout("d/e/f: OK\ng: OK\n");
    run.stderr_has(note);
    check("; x\r\nd\\e\\f 352441C2\r\n".to_owned()).status(0).stdout("d/e/f: OK\n");
    // In a list with `/`, and if such a file exists, they are part of the names.
    check(format!("{good}  d\\e\\f\n{good}  d/e/f\n")).status(1).stderr_lacks(note);
    dir.file("d\\g", b"abc");
    let run = check(format!("{good}  d\\e\\f\n{good}  d\\g\n")).status(1).stderr_lacks(note);
    run.stdout("d\\e\\f: FAILED open or read\nd\\g: OK\n");
}

/// A list that was made in another directory.
#[test]
fn a_list_without_any_file_here_says_where_they_are() {
    let dir = Dir::new();
    dir.file("old/d/f", b"abc").file("old/d/g", b"abc");
    let list = dir.ftk(["hash", "old/d"]).run().status(0).out;
    dir.file("old/list", &list);
    let check = |at: &str, list: &str, args: &[&str]| {
        dir.ftk(["hash", "-c", list]).args(args).under(&dir, ["env", "-C", at]).run()
    };
    check("old", "list", &[]).status(1).stderr_has("no file of 'list' is here: --root .. finds them\n");
    check("old", "list", &["--root", ".."]).status(0).stderr_lacks("here");
    let run = check("old", "list", &["--ignore-missing"]).status(1);
    run.stderr_has("--root .. finds them");
    dir.dir("new").file("new/f", b"abc").file("new/g", b"abc");
    std::fs::rename(dir.path("old/list"), dir.path("new/list")).unwrap();
    std::fs::rename(dir.path("old"), dir.path("gone")).unwrap();
    let run = check("new", "list", &[]).status(1);
    run.stderr_has("all names of 'list' begin with 'old/d/', and without it 'f' exists: make the list in that directory, or let `ftk manifest import --root old/d` remove it");
    std::fs::remove_file(dir.path("new/f")).unwrap();
    let run = check("new", "list", &[]).status(1);
    run.stderr_has(
        "begin with 'old/d/', which does not lead to a file here: --root DIR looks for them in DIR\n",
    );
    check(".", "new/list", &[]).status(1).stderr_has(
        "begin with 'old/d/', which does not lead to a file here: --root DIR looks for them in DIR\n",
    );
}

/// A trial: names that begin with `./`, as those of `find . -exec md5sum`, were said to lead to no file.
#[test]
fn a_list_with_names_of_the_working_directory_says_which_option_helps() {
    let dir = Dir::new();
    dir.file("src/a", b"1").file("src/d/b", b"2").dir("lists");
    for (name, find) in [("dots", "."), ("bare", "a d")] {
        let list = format!("cd src && find {find} -type f -exec sha256sum {{}} +");
        let list = dir.ftk([""; 0]).instead(&dir, ["sh", "-c", &list]).run().status(0).out;
        dir.file(format!("lists/{name}"), &list).file(format!("src/{name}"), &list);
        let check = |words: &[&str]| dir.ftk(["hash", "-c"]).args(words).run();
        let (away, near) = (format!("lists/{name}"), format!("src/{name}"));
        let away = &*away;
        check(&[away])
            .status(1)
            .stderr_has(&format!("no file of '{away}' is here: --root DIR looks for them in DIR\n"));
        check(&[&near])
            .status(1)
            .stderr_has(&format!("no file of '{near}' is here: --root src finds them\n"));
        // The directory that was given as if it were to be checked.
        check(&[away, "src"])
            .status(2)
            .stderr_has(&format!("no file of '{away}' is here: --root src finds them\n"));
        check(&[away, "--root", "lists"])
            .status(1)
            .stderr_has(&format!("no file of '{away}' is in 'lists'\n"));
        check(&[away, "--root", "src"]).status(0).stderr_lacks("--root");
    }
}

/// What is checked is another copy: the names begin with the directory that was hashed.
#[test]
fn a_list_of_another_directory_names_the_one_that_all_names_share() {
    let dir = Dir::new();
    dir.file("b1/x/f", b"1")
        .file("b1/x/y/g", b"2")
        .file("copy/x/f", b"1")
        .file("copy/x/y/g", b"2")
        .dir("empty");
    let check = |hashed: &str, root: &str| {
        let list = dir.ftk(["hash", hashed]).run().status(0).out;
        dir.ftk(["hash", "-c", "-", "--root", root]).stdin(&list).run().status(1)
    };
    let import = "make the list in that directory, or let `ftk manifest import --root";
    for hashed in ["b1", "b1/x", "./b1"] {
        let leading = hashed.trim_end_matches("/x");
        check(hashed, "copy").stderr_has(&format!(
            "  all names of '-' begin with '{leading}/', and without it 'x/f' exists: {import} {leading}` remove it"
        ));
    }
    check("b1/x", "copy/x").stderr_has(&format!("'b1/x/', and without it 'f' exists: {import} b1/x`"));
    check("b1", "empty")
        .stderr_has("  all names of '-' begin with 'b1/x/', which does not lead to a file in 'empty'\n");
}

/// SFV lists are read and written as other programs do.
#[test]
fn sfv_lists_are_read_and_written() {
    needs!("rhash", "cksfv");
    let dir = Dir::new();
    dir.file("a b", b"abc").file("c;", b"x").file("d/e", b"");
    let by = |words: &[&str]| {
        dir.ftk([] as [&str; 0]).instead(&dir, words).args(["a b", "c;", "d/e"]).run().status(0).out
    };
    for list in [by(&["rhash", "--sfv"]), by(&["cksfv"])] {
        let check = || dir.ftk(["hash", "-c", "--strict"]).stdin(&list).run();
        check().status(0).stdout("a b: OK\nc;: OK\nd/e: OK\n").stderr_has("   crc32");
        let dos = String::from_utf8(list.clone()).unwrap().replace('\n', "\r\n");
        dir.ftk(["hash", "-c", "--strict"]).stdin(dos.as_bytes()).run().status(0);
        dir.file("d/e", b"1");
        check().status(1).stdout("a b: OK\nc;: OK\nd/e: FAILED\n");
        dir.file("d/e", b"");
        let run = dir.ftk(["manifest", "import", "-"]).stdin(&list).run().status(2).stdout("");
        run.stderr_has("a CRC does not identify contents");
    }
    let run = dir.ftk(["hash", "--sfv", "a b", "c;", "d/e", "-o"]).arg("own.sfv").run();
    run.status(0);
    let own = std::fs::read_to_string(dir.path("own.sfv")).unwrap();
    assert!(own.starts_with("; "), "{own}");
    assert!(own.ends_with("\na b 352441C2\nc; 8CDC1683\nd/e 00000000\n"), "{own}");
    for tool in [&["rhash", "-c"][..], &["cksfv", "-g"]] {
        dir.ftk([] as [&str; 0]).instead(&dir, tool).arg("own.sfv").run().status(0);
    }
    dir.ftk(["hash", "-c", "--strict", "-"]).stdin(own.as_bytes()).run().status(0);
    // Names that the format cannot represent, and text that is no comment.
    dir.file("new\nline", b"").file(" lead", b"").file(";x", b"");
    let run = dir.ftk(["hash", "--sfv", "new\nline", " lead", ";x", "c;"]).run().status(2);
    let run = run.stderr_has("cannot list 'new\\nline': the name contains a line end\n");
    assert!(run.text().ends_with("by ftk\nc; 8CDC1683\n"), "{}", run.text());
    let run =
        dir.ftk(["hash", "-c"]).stdin(b"; x\nc; 8CDC1683\nother text\n").run().status(2).stdout("c;: OK\n");
    run.stderr_has("line 3: cannot check it: the line does not end with the 8 digits of a CRC-32\n");
    for args in [&["--tag"][..], &["-a", "md5"], &["-z"], &["--json"], &["--check"]] {
        dir.ftk(["hash", "--sfv", "c;"])
            .args(args)
            .run()
            .status(2)
            .stdout("")
            .stderr_has("cannot be used with");
    }
}
