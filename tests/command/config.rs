//! The file of defaults.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Dir, Run, is_root, needs};

/// The file of defaults of a test.
fn file(dir: &Dir) -> PathBuf {
    dir.aside("config").join("ftk/config.toml")
}

/// Makes a tree with this file of defaults.
fn with(text: &str) -> Dir {
    let dir = Dir::new();
    dir.file("small", b"1").file("large", b"12345").file("skip/x.log", b"123");
    write(&dir, text);
    dir
}

fn write(dir: &Dir, text: &str) {
    fs::create_dir_all(file(dir).parent().unwrap()).unwrap();
    fs::write(file(dir), text).unwrap();
}

fn lines(run: &Run) -> Vec<&str> {
    run.text().lines().collect()
}

/// The case of the issue, and every way in which the command line wins.
#[test]
fn the_command_line_wins() {
    let dir = with("[find]\noptions = [\"--sort=size\", \"--type=f\", \"--exclude=skip\"]\n");
    for (args, expected) in [
        (&["find"][..], &["./small", "./large"][..]),
        (&["find", "--sort=name"], &["./large", "./small"]),
        (&["find", "--sort", "name"], &["./large", "./small"]),
        (&["find", "--reverse"], &["./large", "./small"]),
        (&["-j", "1", "find", "--", "."], &["./small", "./large"]),
        (&["find", "-t", "d"], &["."]),
        // What is skipped is added.
        (&["find", "-E", "large"], &["./small"]),
        (&["find", "--no-config", "-t", "f", "--sort"], &["./large", "./skip/x.log", "./small"]),
        (&["--no-config", "find", "-t", "f", "--sort", "-E", "large"], &["./skip/x.log", "./small"]),
        // It conflicts with the order.
        (&["find", "--group-by", "type"], &["6\t2\t100.00\tfile"]),
    ] {
        let run = dir.ftk(args).run().status(0);
        let run =
            if args.contains(&"--no-config") { run.stderr("") } else { run.stderr_has("  filters from '") };
        run.check(lines(&run) == expected, &format!("{args:?}"));
    }
    let run = dir.ftk(["find", "-v"]).run().status(0);
    run.stderr_has("ftk: config  ").stderr_has("ftk/config.toml': --sort=size --type=f --exclude=skip\n");
    dir.ftk(["find", "-v", "--sort=name"])
        .run()
        .status(0)
        .stderr_has("--exclude=skip; not used: --sort=size\n");
}

#[test]
fn each_command_has_its_own_defaults() {
    let dir = with(
        "options = ['--threads=1', '--color=never']\n\
         [manifest.create]\noptions = ['--algorithm=blake3', '--exclude=skip', '--threads=2']\n\
         [dup]\noptions = ['--min-size=3']\n\
         [dup.prune]\noptions = ['--keep=newest', '--reference=skip']\n",
    );
    let run = dir.ftk(["manifest", "create", ".", "-v", "-o"]).arg(dir.aside("m")).run().status(0);
    run.stderr_has("': --color=never --algorithm=blake3 --exclude=skip --threads=2\n");
    // The record shows what was selected, wherever that comes from.
    let manifest = fs::read_to_string(dir.aside("m")).unwrap();
    let header = manifest.lines().next().unwrap();
    assert!(
        header.contains(r#""options":[{"option":"--exclude=skip"}]"#) && header.contains("blake3"),
        "{header}"
    );
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("m")).run().status(0).stderr_lacks("unused");
    dir.ftk(["dup", "-v"]).run().status(0).stderr_has("': --threads=1 --color=never --min-size=3\n");
    dir.file("skip/y", b"1");
    let run = dir.ftk(["dup", "prune", ".", "--action", "delete", "-v", "--keep", "oldest"]).run().status(0);
    let run = run.stderr_has("--reference=skip; not used: --keep=newest\n");
    assert!(
        run.text().contains("small")
            && !run.text().lines().any(|line| line.contains("delete") && line.contains("skip/y"))
    );
    // Neither completions nor help depend on it.
    write(&dir, "nonsense");
    for args in
        [&["completions", "bash"][..], &["help"], &["find", "--help"], &["--version"], &["man", "x"], &["-h"]]
    {
        dir.ftk(args).run().stderr_lacks("config");
    }
}

/// What a program reads has the same form with and without the file.
#[test]
fn programs_get_the_usual_form() {
    needs!("script");
    let text = "options = ['--color=always']\n\
        [find]\noptions = ['--sort', '--long', '--human-readable', '--hyperlink=always']\n\
        [du]\noptions = ['--human-readable', '--all', '--apparent-size', '--top=1']\n\
        [dup]\noptions = ['--format=fdupes']\n";
    let dir = with(text);
    dir.file("copy", b"123");
    for args in [
        &["find", "--sort"][..],
        &["find", "--sort", "-0"],
        &["find", "--sort", "-c"],
        &["find", "--sort", "--json"],
        &["find", "--group-by", "type"],
        &["find", "-t", "f", "--sort", "-j", "mono", "--exec", "echo"],
        &["du"],
        &["du", "--json"],
        &["dup", "-q"],
        &["dup", "-q", "-0"],
    ] {
        let run = dir.ftk(args).run().status(0);
        dir.ftk(args)
            .args(if args.contains(&"--exec") { &[";", "--no-config"][..] } else { &["--no-config"] })
            .run()
            .status(0)
            .stdout(&run.out);
    }
    dir.ftk(["find", "-v"])
        .run()
        .stderr_has("--sort; not used: --color=always --long --human-readable --hyperlink=always\n");
    // On a terminal they count, but not where records end with NUL.
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let on_a_terminal = |args: &str| {
        let line = format!("'{ftk}' {args}");
        dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run().status(0)
    };
    let run = on_a_terminal("find small");
    run.check(run.text().contains("-rw") && run.text().contains("\x1b]8;"), "long, with links");
    let run = on_a_terminal("find -0 --color never small");
    run.check(run.text() == "small\0", "records for programs");
    let run = on_a_terminal("du -q --color never");
    run.check(run.text().lines().count() == 1, "--top=1");
}

/// Who reads a list in a pipe or a file learns that a filter of the file hides entries, in every command.
#[test]
fn filters_are_not_silent() {
    needs!("script");
    let text = "[find]\noptions = ['--exclude=skip', '--sort']\n\
        [du]\noptions = ['--size=+0', '--quiet']\n\
        [hash]\noptions = ['--no-hidden', '--quiet']\n\
        [dup]\noptions = ['--min-size=2']\n\
        [dup.prune]\noptions = ['--type=f', '--keep=newest']\n\
        [manifest.create]\noptions = ['--exclude=skip']\n";
    let dir = with(text);
    let said = |words: &str| {
        format!("  filters from '{}': {words} (--no-config ignores them)\n", file(&dir).display())
    };
    for (args, words) in [
        (&["find"][..], "--exclude=skip"),
        (&["find", "--status"], "--exclude=skip"),
        (&["find", "-t", "f", "--exec", "true"], "--exclude=skip"),
        (&["du"], "--size=+0"),
        (&["hash", "."], "--no-hidden"),
        (&["dup"], "--min-size=2"),
        (&["dup", "-q"], "--min-size=2"),
        (&["dup", "prune", ".", "--action", "delete"], "--type=f"),
        (&["manifest", "create", "-q", "."], "--exclude=skip"),
    ] {
        dir.ftk(args).run().stderr_has(&said(words));
        dir.ftk(["--no-config"]).args(args).run().stderr_lacks("filters from");
    }
    // A list selects the files, and the command line replaces a filter: neither hides anything.
    dir.ftk(["hash", ".", "-o", "../list"]).run().status(0).stderr_has(&said("--no-hidden"));
    dir.ftk(["hash", "--check", "../list"]).run().status(0).stderr_lacks("filters from");
    dir.ftk(["dup", "--min-size", "1"]).run().status(0).stderr_lacks("filters from");
    // On a terminal, the user of the file looks at the list, unless it goes to a file.
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let on_a_terminal = |args: &str| {
        let line = format!("'{ftk}' {args}");
        dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run().status(0)
    };
    let run = on_a_terminal("find");
    run.check(!run.text().contains("filters from"), "a terminal");
    let run = on_a_terminal("hash . -o ../other");
    run.check(run.text().contains("filters from"), "a file");
}

/// An option that another one makes meaningless is not used.
#[test]
fn defaults_that_do_not_fit_are_not_used() {
    let dir = with("[hash]\noptions = ['--cache']\n");
    let list = dir.ftk(["hash", "--no-config", "small"]).run().out;
    let list = dir.file("list", &list).path("list");
    dir.ftk(["hash", "--check"]).arg(&list).run().status(0).stdout("small: OK\n");
    dir.ftk(["hash", "--diff"]).args([&list, &list]).run().status(0);
    dir.ftk(["hash", "--tree", "skip"]).run().status(0);
    // A list or a record selects the files.
    write(&dir, "[hash]\noptions = ['--exclude=small']\n[du]\noptions = ['--exclude=small']\n");
    dir.ftk(["hash", "--check"]).arg(&list).run().status(0).stdout("small: OK\n");
    let record = dir.aside("m.jsonl");
    dir.ftk(["manifest", "create", "-q", ".", "-o"]).arg(&record).run().status(0);
    dir.ftk(["du", "--since"]).arg(&record).run().status(0).stderr_has("nothing grew or shrank");
    write(&dir, "[find]\noptions = ['--long', '--human-readable']\n");
    dir.ftk(["find", "--json", "small"]).run().status(0).stderr("");
    dir.ftk(["find", "--format", "{name}", "small"]).run().status(0).stderr("").stdout("small\n");
    dir.ftk(["find", "small", "--exec", "echo", "{}", ";"]).run().status(0).stderr("").stdout("small\n");
}

/// Every kind of file that cannot be used names itself, the line and the option.
#[test]
fn a_file_that_is_wrong_is_an_error() {
    for (text, line, why) in [
        ("[find]\noptions = ['--follow']", 2, "'--follow' counts only on the command line"),
        ("[cmp]\noptions = ['--exclude=x']", 2, "'--exclude=x' counts only on the command line"),
        ("[find]\noptions = ['--nonsense']", 2, "ftk find has no option '--nonsense'"),
        ("[find]\noptions = [\n'--sort=size',\n'--sort']", 2, "cannot be used multiple times"),
        ("[find]\noptions = [\n'--sort=ctime']", 3, "invalid value 'ctime' for '--sort"),
        (
            "[find]\noptions = ['-l']",
            2,
            "'-l' does not have the form --OPTION or --OPTION=VALUE; write --long\n",
        ),
        ("[find]\noptions = ['-E', '.git']", 2, "; write --exclude=VALUE\n"),
        ("[find]\noptions = ['--null']", 2, "or change what programs read"),
        ("[hash]\noptions = ['--algorithm=blake3']", 2, "or change what programs read"),
        ("[find]\noptions = ['-xf']", 2, "does not have the form"),
        ("[find]\noptions = ['--']", 2, "does not have the form"),
        ("[find]\noptions = ['.']", 2, "does not have the form"),
        ("[find]\noptions = ['--sort', 'size']", 2, "'size' does not have the form"),
        ("[find]\noptions = ['--hum']", 2, "ftk find has no option '--hum'"),
        ("[find]\noptions = ['--threads']", 2, "a value is required for '--threads"),
        ("[find]\noptions = ['--reverse=yes']", 2, "unexpected value 'yes' for '--reverse'"),
        ("[find]\noptions = [3]", 2, "each option is a string in quotes"),
        ("[find]\noptions = '--long'", 2, "options is a list"),
        ("[find]\nsort = 'size'", 2, "'sort' is neither `options` nor a command"),
        ("[fnid]\noptions = []", 1, "there is no command 'fnid'"),
        ("[manifest]\noptions = []", 2, "ftk manifest needs a command"),
        ("['manifest create']\noptions = []", 1, "there is no command 'manifest create'"),
        ("[manifest.creates]\n", 1, "there is no command 'manifest creates'"),
        ("[query]\noptions = []", 1, "ftk query has no defaults"),
        ("[find]\noptions = ['--long'", 2, ""),
        ("[find]\n[find]\n", 2, ""),
        ("[dup.prune]\noptions = ['--keep=oldest',\n'--yes']", 3, "'--yes' counts only on the command line"),
    ] {
        let dir = with(text);
        let run = dir.ftk(["find"]).run().status(2).stdout("");
        run.stderr_has("ftk: '").stderr_has(&format!("ftk/config.toml', line {line}: ")).stderr_has(why);
        dir.ftk(["find", "--no-config"]).run().status(0);
    }
}

/// No option that acts, writes, runs a program or lifts a protection can be a default, whatever its spelling.
#[test]
fn options_that_act_are_refused() {
    for (command, options) in [
        (
            "dup.prune",
            &["--yes", "--action=delete", "--script", "--quarantine=q", "--allow-unused-rules"][..],
        ),
        (
            "dup.prune",
            &["--into-snapshots", "--metadata-may-differ", "--remove-empty-dirs", "--journal=j", "--dirs"],
        ),
        ("dup.prune", &["--with-sidecars=xmp", "--min-size=0", "--follow", "--files-from=f", "--ask"]),
        ("dup.apply", &["--yes", "--edited", "--root=a=b", "--action=trash"]),
        (
            "find",
            &[
                "--exec=rm",
                "--exec-batch=rm",
                "--allow-unused-rules",
                "--explain=x",
                "--files0-from=x",
                "--newer=x",
            ],
        ),
        (
            "find",
            &["--stats=x", "--metrics=x", "--quiet", "--json", "--max-results=1", "--no-config", "--help"],
        ),
        (
            "hash",
            &["--output=x", "--check", "--bag", "--create", "--special", "--ignore-missing", "--root=x"],
        ),
        (
            "manifest.create",
            &["--force", "--output=x", "--no-content", "--no-xattrs", "--shard=1/2", "--size=1"],
        ),
        ("manifest.update", &["--force", "--other-root", "--max-missing=50%", "--accept=x", "--append-only"]),
        ("manifest.verify", &["--mode=quick", "--ignore=mtime", "--sample=1%", "--exit-on-first"]),
        ("manifest.scrub", &["--other-root", "--max-missing=9", "--bytes=1"]),
        ("manifest.repair", &["--yes", "--discard", "--other-root", "--metadata", "--from=x"]),
        ("cache.trim", &["--max-size=1"]),
        ("undo", &["--last"]),
    ] {
        for option in options {
            let dir = with(&format!("[{command}]\noptions = ['{option}']\n"));
            let run = dir.ftk(["find"]).run().status(2).stdout("");
            let is_named = run.err.contains(&format!("line 2: '{option}' counts only on the command line"))
                || run.err.contains(&format!("has no option '{option}'"));
            run.check(is_named, option);
        }
    }
}

#[test]
fn the_file_must_be_a_file_of_the_caller() {
    let dir = with("[find]\noptions = ['--sort']\n");
    let find = || dir.ftk(["find", "small"]).run();
    find().status(0);
    // A link is fine, as to a repository of such files.
    fs::rename(file(&dir), dir.aside("dotfile")).unwrap();
    symlink(dir.aside("dotfile"), file(&dir)).unwrap();
    find().status(0).stderr("");
    for mode in [0o664, 0o646] {
        fs::set_permissions(dir.aside("dotfile"), Permissions::from_mode(mode)).unwrap();
        find().status(2).stderr_has("cannot use '").stderr_has("other users may write to it: chmod go-w");
    }
    fs::set_permissions(dir.aside("dotfile"), Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(dir.aside("config/ftk"), Permissions::from_mode(0o777)).unwrap();
    find().status(2).stderr_has("other users could have put it there");
    fs::set_permissions(dir.aside("config/ftk"), Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(file(&dir)).unwrap();
    assert!(Command::new("mkfifo").arg(file(&dir)).status().unwrap().success());
    find().status(2).stderr_has("it is not a regular file");
    fs::remove_file(file(&dir)).unwrap();
    fs::create_dir(file(&dir)).unwrap();
    find().status(2).stderr_has("it is not a regular file");
    fs::remove_dir(file(&dir)).unwrap();
    fs::write(file(&dir), b"[find]\n# \xff\n").unwrap();
    find().status(2).stderr_has("valid UTF-8");
    fs::write(file(&dir), vec![b'\n'; 2 << 20]).unwrap();
    find().status(2).stderr_has("it is too large");
    fs::remove_dir_all(dir.aside("config")).unwrap();
    find().status(0);
    fs::write(dir.aside("config"), "").unwrap();
    find().status(0).stderr("");
}

/// Root does not use the file of another user, and a user who cannot search the directory has no file.
#[test]
fn the_file_of_another_user_is_not_used() {
    if !is_root() {
        return;
    }
    let dir = with("[find]\noptions = ['--sort']\n");
    let user = 65534;
    fs::set_permissions(file(&dir), Permissions::from_mode(0o600)).unwrap();
    let find = || dir.ftk(["find", "small"]).unprivileged(&dir).run();
    find().status(2).stderr_has("cannot use '").stderr_has("permission denied");
    fs::set_permissions(dir.aside("config/ftk"), Permissions::from_mode(0o700)).unwrap();
    find().status(0).stderr("");
    fs::set_permissions(dir.aside("config/ftk"), Permissions::from_mode(0o755)).unwrap();
    chown(file(&dir), Some(user), None).unwrap();
    let run = dir.ftk(["find", "small"]).run().status(2);
    run.stderr_has("it belongs to user 65534, and only those of user 0 and of root count");
    dir.ftk(["find", "small", "--no-config"]).run().status(0);
    find().status(0);
}

/// A default that matches nothing is not named, but stops a run that acts. The error says where it comes from.
#[test]
fn errors_name_the_defaults() {
    let dir = with(
        "[find]\noptions = ['--exclude=no-such-name']\n\
         [dup.prune]\noptions = ['--exclude=no-such-name', '--keep=newest', '--keep=shortest']\n",
    );
    dir.file("copy", b"12345");
    dir.ftk(["find", "copy"]).run().status(0).stderr_lacks("matched nothing");
    let run = dir.ftk(["find", "copy", "-E", "other"]).run().status(0);
    run.stderr_has("  --exclude 'other' matched nothing\n").stderr_lacks("'no-such-name'");
    let prune = ["dup", "prune", ".", "--action", "delete"];
    let run = dir.ftk(prune).run().status(0).stderr_lacks("matched nothing").stderr_lacks("decided nothing");
    run.check(run.text().contains("delete"), "a plan");
    let run =
        dir.ftk(prune).arg("--yes").run().status(2).stderr_has("--exclude 'no-such-name' matched nothing");
    run.stderr_has("  options from '")
        .stderr_has("': --exclude=no-such-name --keep=newest --keep=shortest (--no-config ignores them)\n");
    assert!(dir.path("copy").exists() && dir.path("large").exists());
}
