//! Usage errors: status 2, a message, nothing on standard output.

use crate::harness::Dir;

#[test]
fn bad_usage() {
    let dir = Dir::new();
    dir.file("there", b"");
    for args in [
        &[][..],
        &["nonsense"],
        &["--nonsense"],
        &["find", "--nonsense"],
        &["hash", "-a"],
        &["hash", "-a", "nonsense"],
        &["hash", "-j", "0", "there"],
        &["hash", "-j", "-1", "there"],
        &["hash", "-j", "many", "there"],
        &["hash", "--io", "nonsense", "there"],
        &["hash", "--memory", "lots", "there"],
        &["find", "-t", "x"],
        &["find", "-S", "12Q"],
        &["find", "-S", ""],
        &["find", "--min-depth", "-1"],
        &["find", "--max-depth", "deep"],
        &["find", "--color", "pink"],
        &["find", "-n", "[a"],
        &["find", "-E", "[a"],
        &["hash", "-o"],
        &["hash", "-o", ""],
    ] {
        let run = dir.ftk(args).run().status(2).stdout("");
        run.check(!run.err.is_empty(), "there is a message");
        run.check(!run.err.contains("panicked"), "it is no panic");
    }
}

#[test]
fn names_of_options_and_values_are_in_the_message() {
    let dir = Dir::new();
    dir.ftk(["hash", "-j", "0"]).run().status(2).stderr_has("--threads").stderr_has("a number from 1");
    dir.ftk(["find", "-t", "x"]).run().status(2).stderr_has("--type");
    dir.ftk(["find", "-n", "[a"]).run().status(2).stderr_has("[a");
}

/// What users of other tools type is answered with what to type here.
#[test]
fn guesses_are_answered_with_what_ftk_calls_it() {
    let dir = Dir::new();
    dir.file("a", b"");
    for (args, answer) in [
        (&["find", "--gitignore"][..], "there is no option '--gitignore': use --ignore-files"),
        (&["find", "--user", "root"], "in ftk: ftk find --owner root   ("),
        (&["find", "--newer", "1 week"], "--newer needs a file; for a time use --changed-within"),
        (&["find", "-lh"], "'-h' prints help in ftk; for readable sizes: ftk find -l --human-readable"),
        (&["find", "--sort", "sizes", "."], "a value of --sort follows an equals sign: --sort=sizes"),
        (&["find", "--modify"], "unexpected argument '--modify' found; see `ftk find -h`"),
        (&["find", "--format", "help"], "the fields are path, name, dir"),
        (&["find", "a", "--exec", "gzip -k {}"], "each word is one argument"),
        (&["find", "a", "--exec-batch", "gzip -k"], "each word is one argument"),
        (&["df"], "there is no command 'df': use ftk du"),
        (&["sha256sum", "a"], "use ftk hash"),
        (&["hash", "--md5", "a"], "there is no option '--md5': use -a md5"),
        (&["hash", "--sha512", "a"], "there is no option '--sha512': use -a sha512"),
        (
            &["hash", "-a", "512", "a"],
            "'-a 512' is shasum syntax: use -a sha512   (ftk help coming-from sha256sum)",
        ),
        (&["hash", "-a", "1", "a"], "use -a sha1 "),
        (
            &["hash", "-M", "list", "a"],
            "'-M' is md5deep and hashdeep syntax: by content: ftk manifest import FILE",
        ),
        (
            &["hash", "-X", "list", "a"],
            "then ftk manifest unique PATH k.jsonl, which lists the files whose content FILE does not",
        ),
        (&["hash", "-k", "list", "a"], "by name: --check FILE, with --new"),
        (&["hash", "-a", "xx", "a"], "[possible values: sha256, sha1, sha512, md5"),
        (&["hash", "-a", "kk", "a"], "[possible values: sha256, sha1, sha512, md5"),
        (&["md5deep", "-r", "a"], "ftk help coming-from hashdeep has its options"),
        (&["bagit", "x"], "there is no command 'bagit': use ftk hash --bag DIR, with --create to make a bag"),
        (
            &["par2", "create", "P"],
            "there is no command 'par2': use ftk manifest create, then protect and repair; see",
        ),
        (&["hash", "-b", "a"], "\n     sha256sum: omit it: files are always read as they are"),
        (&["hash", "-a", "blake2b", "-l", "256", "a"], "ftk computes BLAKE2b only with 512 bits: omit it"),
        (&["find", "--sort", "-r"], "there is no option '-r': to reverse the order of --sort use --reverse"),
        (&["find", "--sort=size", "-r", "."], "use --reverse"),
        (&["du", "-S", "."], "'-S' is --size in ftk; for -S of GNU du: use ftk find --group-by directory"),
        (&["find", "a", "--exec", "echo", "x{}", "+"], "--exec runs CMD for each: use --exec-batch CMD {} +"),
        (&["dup", "--yes"], "ftk dup only reports; ftk dup prune acts"),
        (
            &["cmp", "--skip", "x", "a", "a"],
            "there is no option '--skip': use --exclude, or --ignore for metadata",
        ),
        (&["find", "--ignore", "x"], "there is no option '--ignore': use --exclude"),
        (&["undo", "--last", "--yes"], "omit it: undo acts at once; --dry-run only prints what it would do"),
        (&["dup", "undo", "-y"], "omit it: undo acts at once"),
        (&["undo", "-n"], "use --dry-run"),
        (&["undo"], "use --last for the most recent run"),
        (&["prune", "a"], "there is no command 'prune': use ftk dup prune"),
        (
            &["dup", "prune", "-n", "--action", "delete", "a"],
            "in ftk, -n is --name, and '--action' would be its value: drop the -n",
        ),
        (&["dup", "-I", "a"], "\n     jdupes: use ftk dup prune --isolate"),
        (&["dup", "-I", "a"], "\n     fdupes: it deletes at once: look at the plan"),
        (&["dup", "-d", "a"], "\n     czkawka: omit it: the directories are the PATHs"),
        (&["dup", "-dryrun", "true", "a"], "'-dryrun' is rdfind syntax: omit it: "),
        (&["dup", "-rdN", "a"], "in ftk: ftk dup prune --action delete --yes a   ("),
        (
            &["dup", "-rdN", "a"],
            "\n     -r: the same in ftk\n     -d: use ftk dup prune --action delete\n     -N: ",
        ),
        (&["dup", "-rnq", "a"], "in ftk: ftk dup --quiet a   ("),
        (
            &["dup", "-rfm", "a", "--keep", "x y"],
            "ftk dup prune --action delete --list --summary a --keep 'x y'   (",
        ),
        (
            &["dup", "prune", "-rN", "a", "--action", "hardlink"],
            "in ftk: ftk dup prune --yes a --action hardlink   (",
        ),
        (&["dup", "prune", "--action", "delete"], "ftk: missing: a PATH: `.` is the working directory; see "),
        (&["undo", "--user"], "unexpected argument '--user' found; see `ftk undo -h`"),
        (&["report", "--gibberish", "."], "unexpected argument '--gibberish' found; see `ftk report -h`"),
        (&["hash", "-a"], "'-a' is --algorithm in ftk; for -a of hashdeep: use --check --new FILE"),
        (
            &["hash", "-avvk", "a"],
            "; to find moved files too: ftk manifest import FILE, then ftk manifest verify",
        ),
        (
            &["hash", "-r", "-c", "md5,sha256", "."],
            "\n     -c is --check in ftk; for -c of hashdeep: ftk hash -a md5,sha256\n",
        ),
        (&["hash", "-a"], "\n     for -a of shasum, cksum and sha256sum: use -a sha256"),
        (
            &["dup", "prune"],
            "ftk: missing: --action hardlink, reflink, symlink, delete, trash or move=DIR, and a PATH: `.` is the working \
             directory; see `ftk dup prune -h`",
        ),
    ] {
        dir.ftk(args).run().status(2).stderr_has(answer);
    }
    // The shell writes names in place of `*`.
    dir.file("-dash.tgz", b"").file("-rf", b"");
    for args in [&["hash", "-dash.tgz"][..], &["du", "-dash.tgz", "a"], &["find", "-dash.tgz", "a"]] {
        let names = "ftk: '-dash.tgz' is a file: write `./*` instead of `*`, or -- before the names\n";
        dir.ftk(args).run().status(2).stderr_has(names);
    }
    dir.ftk(["hash", "-rf", "a"]).run().status(2).stderr_has("'-rf' is a file: ");
    for name in ["-dash.tgz", "-rf"] {
        std::fs::remove_file(dir.path(name)).unwrap();
    }
    // A value after an option that could stand alone.
    dir.file("b", b"bb");
    dir.ftk(["find", "--sort", "size", "-t", "f"]).run().status(0).stdout("./a\n./b\n");
    dir.ftk(["hash", "--tree", "git", "."]).run().status(0).stderr_has("sha1");
    // A file of that name is a starting point.
    dir.file("size", b"").ftk(["find", "--sort", "size"]).run().status(0).stdout("size\n");
    // The names of JSON.
    let names =
        dir.ftk(["find", "--where", "size_bytes = 2 and nlink = 1", "--format", "{size_bytes} {nlink}"]);
    names.run().status(0).stdout("2 1\n");
}

/// A misspelled word is answered with the right one, an invalid value with the valid ones.
#[test]
fn misspelled_words_are_answered_with_suggestions() {
    let dir = Dir::new();
    for (args, suggestion) in [
        (&["hsah"][..], "'hash'"),
        (&["fnid", "."], "'find'"),
        (&["hash", "--algoritm", "md5"], "'--algorithm'"),
        (&["find", "--exclde", "x"], "'--exclude'"),
        (&["find", "--thread", "2"], "'--threads'"),
        (&["hash", "-a", "sha265"], "sha256"),
        (&["hash", "-a", "nonsense"], "sha3-512, xxh64, xxh3, xxh128, crc32, crc32c"),
        (&["find", "--color", "pink"], "auto, always, never"),
        (&["find", "--progress", "maybe"], "auto, always, never, json"),
        (&["completions", "csh"], "bash"),
    ] {
        let run = dir.ftk(args).run().status(2).stdout("").stderr_has(suggestion);
        run.check(run.err.starts_with("ftk: ") && run.err.ends_with(" -h`\n"), "it points to the help");
        run.check(run.err.lines().count() == 1, "it is one line");
    }
}

/// The names of other tools are not slips, even if they differ from a command by one letter.
#[test]
fn other_tools_get_no_suggestion() {
    let dir = Dir::new();
    for tool in ["dd", "cp", "mv"] {
        let expected = format!("ftk: unknown command '{tool}'; see `ftk -h`\n");
        dir.ftk([tool, "x"]).run().status(2).stdout("").stderr(&expected);
    }
}

/// Without a command, help is printed on standard error, since the user did not ask for it.
#[test]
fn no_command() {
    let dir = Dir::new();
    let help = dir.ftk(["-h"]).run().status(0);
    dir.ftk([] as [&str; 0]).run().status(2).stdout("").stderr(help.text());
    dir.ftk(["-v"]).run().status(2).stdout("").stderr_has("requires a subcommand");
}

/// Each message says in plain words which values are accepted.
#[test]
fn numbers_and_sizes() {
    let dir = Dir::new();
    dir.file("x", b"x");
    let mut messages = String::new();
    for args in [
        &["find", "--max-depth", "99999999999"][..],
        &["find", "--max-depth", "deep"],
        &["find", "--min-depth=-1"],
        &["find", "--max-results", "0"],
        &["dup", "prune", "--action", "delete", "--min-copies", "0"],
        &["cmp", "--max-mismatches", "many", "x", "x"],
        &["hash", "-j", "0"],
        &["find", "-S", "10KB"],
        &["find", "-S", "0.3"],
        &["hash", "--memory", "1.5X"],
        &["hash", "--memory", "1K", "."],
        &["find", "--changed-within", "tomorrow"],
        &["find", "--changed-before", "2024-02-30"],
    ] {
        let run = dir.ftk(args).run().status(2).stdout("");
        messages += &format!("$ ftk {}\n{}", args.join(" "), run.err.split_inclusive('\n').next().unwrap());
    }
    insta::assert_snapshot!(messages);
}

/// The message names the smallest amount of memory that works.
#[test]
fn the_message_names_the_memory_that_is_needed() {
    let dir = Dir::new();
    dir.file("x", b"x").file("d/y", b"x");
    for command in
        [&["hash"][..], &["dup"], &["manifest", "create"], &["find", "--sort", "--format", "{path}"]]
    {
        let with = |memory: &str| dir.ftk(command).args([".", "-j", "mono", "--memory", memory]).run();
        let refused = with("1K").status(2).stdout("");
        let needed = refused.err.split("at least ").nth(1).unwrap();
        let needed: u64 = needed.split('K').next().unwrap().parse().unwrap();
        let mut needed = needed;
        // The phases after the walk need some more.
        while let Some(more) = with(&format!("{needed}K")).err.split("at least ").nth(1) {
            let more = more.split('K').next().unwrap().parse().unwrap();
            assert!(more > needed, "{command:?}: {needed}");
            needed = more;
        }
        with(&format!("{needed}K")).status(0);
        with(&format!("{}K", needed - 1)).status(2);
    }
}

/// An option that needs another one is refused without it, also next to an option that excludes the other one: the
/// parser does not check this.
#[test]
fn options_that_need_others() {
    let dir = Dir::new();
    dir.file("a", b"").file("f", b"");
    for (args, why) in [
        (&["du", "--quarantine", "q"][..], "--quarantine needs --interactive"),
        (&["du", "--quarantine", "q", "--top", "3"], "--quarantine needs --interactive"),
        (&["dup", "--quarantine", "q"], "--quarantine needs --interactive"),
        (&["dup", "--quarantine", "q", "--format", "csv"], "--quarantine needs --interactive"),
        (&["dup", "--ignore-names"], "--dirs"),
        (&["manifest", "diff", "a", "f", "--top", "3"], "--top needs --by-directory"),
        (&["manifest", "diff", "a", "f", "--top", "3", "--status"], "--top needs --by-directory"),
        (&["hash", "--bag", "--ignore-missing", "a"], "--ignore-missing needs --check"),
        (&["hash", "--check", "--create", "a"], "--create needs --bag"),
        (&["find", "--reverse", "--group-by", "type"], "missing: --sort"),
        (&["report", "--dirs", "-o", "x"], "--dup"),
    ] {
        dir.ftk(args).run().status(2).stdout("").stderr_has(why);
    }
}
