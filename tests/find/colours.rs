//! Coloured paths, as `ls` and `LS_COLORS` define them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::harness::{Dir, Run, needs};

const PALETTE: &str = "LS_COLORS=di=34:ln=36:or=31:ex=32:su=35:tw=42:ow=43:pi=33:so=45:*.gz=41";

fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("a.gz", b"").file("d/plain", b"").file("run", b"").file("suid", b"").dir("open").dir("tmp");
    for (path, mode) in [("run", 0o755), ("suid", 0o4755), ("open", 0o777), ("tmp", 0o1777)] {
        fs::set_permissions(dir.path(path), Permissions::from_mode(mode)).unwrap();
    }
    dir.symlink("a.gz", "link").symlink("nowhere", "or").fifo("pipe").socket("socket");
    dir
}

fn run(dir: &Dir, variable: &str, args: &[&str]) -> Run {
    dir.ftk(["find", "--sort", "-t", "f,d,l,p,s"]).args(args).under(dir, ["env", variable]).run().status(0)
}

#[test]
fn of_every_type() {
    let dir = tree();
    let run = run(&dir, PALETTE, &["--color", "always"]);
    let painted = |dir: &str, style: &str, name: &str| {
        let dir = if dir.is_empty() { String::new() } else { format!("\x1b[34m{dir}\x1b[0m") };
        if style.is_empty() { format!("{dir}{name}\n") } else { format!("{dir}\x1b[{style}m{name}\x1b[0m\n") }
    };
    run.stdout(
        [
            painted("", "34", "."),
            painted("./", "41", "a.gz"),
            painted("./", "34", "d"),
            painted("./d/", "", "plain"),
            painted("./", "36", "link"),
            painted("./", "43", "open"),
            painted("./", "31", "or"),
            painted("./", "33", "pipe"),
            painted("./", "32", "run"),
            painted("./", "45", "socket"),
            painted("./", "35", "suid"),
            painted("./", "42", "tmp"),
        ]
        .concat(),
    );
}

#[test]
fn starting_points() {
    let dir = tree();
    let run = run(&dir, PALETTE, &["--color", "always", "d/plain", "tmp/", "run"]);
    run.stdout("\x1b[34md/\x1b[0mplain\n\x1b[32mrun\x1b[0m\n\x1b[42mtmp/\x1b[0m\n");
}

#[test]
fn only_if_requested_and_not_for_records() {
    let dir = tree();
    let plain = run(&dir, PALETTE, &["--color", "never"]);
    assert!(!plain.text().contains('\x1b'));
    run(&dir, PALETTE, &[]).stdout(&plain.out);
    run(&dir, PALETTE, &["-0", "--color", "always"]).stdout(plain.text().replace('\n', "\0"));
    run(&dir, PALETTE, &["--color", "always", "--format", "{path}"]).stdout(&plain.out);
}

/// On a terminal, through `script`: colours are the default, and control characters in names are escaped.
#[test]
fn on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    dir.raw_file(b"\x1b[31mred\n", b"").dir("d");
    let ftk = env!("CARGO_BIN_EXE_ftk");
    let on_a_terminal = |variables: &str, args: &str| {
        let line = format!("{variables} '{ftk}' find --sort {args}");
        dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run().status(0)
    };
    let run = on_a_terminal("TERM=xterm LS_COLORS=di=34", "");
    let expected =
        "\x1b[34m.\x1b[0m\r\n\x1b[34m./\x1b[0m\\x1b[31mred\\n\r\n\x1b[34m./\x1b[0m\x1b[34md\x1b[0m\r\n";
    run.stdout(expected);
    for (variables, args) in
        [("TERM=dumb", ""), ("TERM=xterm NO_COLOR=1", ""), ("TERM=xterm", "--color never")]
    {
        on_a_terminal(variables, args).stdout(".\r\n./\\x1b[31mred\\n\r\n./d\r\n");
    }
    on_a_terminal("TERM=xterm", "--format '{name} {path}'")
        .stdout(". .\r\n\\x1b[31mred\\n ./\\x1b[31mred\\n\r\nd ./d\r\n");
}
