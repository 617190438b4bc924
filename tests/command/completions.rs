//! The completion scripts in real shells, which run in a pseudo-terminal that `script` provides.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use crate::harness::{Dir, needs};

/// Makes the shell print each argument of `ftk` between brackets, and then a mark. The scripts run the program.
const SHOW: &str = r#"ftk() { printf '[%s]' "$@"; printf '@%s\n' end; }"#;

/// What `SHOW` prints after the arguments, which does not stand in its definition.
const END: &str = "@end";

/// The names in the directory. If a shell executed one, there would be a file `pwned`.
const NAMES: [&str; 6] =
    ["file1", "two words", "it's", "new\nline", "red\x1b[31m", "$(touch pwned);`touch pwned`"];

/// Makes a directory with names that need quotes, `sub/`, and two journals in the state directory.
fn tree() -> Dir {
    let dir = Dir::new();
    NAMES.iter().for_each(|name| _ = dir.raw_file(name.as_bytes(), b""));
    dir.dir("sub");
    let state = dir.aside("state").join("ftk");
    fs::create_dir_all(&state).unwrap();
    for name in ["dup-1.jsonl", "dup 2'.jsonl", "dup-\x1b[31m.jsonl", "not-a-journal"] {
        fs::write(state.join(name), b"").unwrap();
    }
    dir
}

/// An interactive shell.
struct Shell<'d> {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    dir: &'d Dir,
}

impl<'d> Shell<'d> {
    /// Starts a shell that reads `start` first.
    fn new(dir: &'d Dir, shell: &str, start: &str) -> Self {
        let home = dir.aside("home");
        let script = if shell == "zsh" { "_ftk" } else { "ftk" };
        fs::create_dir_all(&home).unwrap();
        let text = dir.ftk(["completions", shell]).run().status(0).stderr("").out;
        fs::write(home.join(script), text).unwrap();
        let start = format!("{start}\n{SHOW}\nPS1='> '\nprintf '@%s\\n' end\n");
        fs::write(home.join(".zshrc"), &start).unwrap();
        fs::write(home.join(".bashrc"), &start).unwrap();
        let program = env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
        let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
        let run = match shell {
            "bash" => format!("bash --noprofile --rcfile '{}' -i", home.join(".bashrc").display()),
            _ => "zsh -i".into(),
        };
        let run =
            format!("HOME='{home}' ZDOTDIR='{home}' PATH='{path}' TERM=xterm {run}", home = home.display());
        let start =
            dir.ftk([] as [&str; 0]).instead(dir, ["timeout", "100", "script", "-qec", &run, "/dev/null"]);
        let mut child = start.stdin_from(std::process::Stdio::piped()).spawn();
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut shell = Self { child, keys, screen, dir };
        shell.until_end();
        shell
    }

    /// Reads up to the next mark. Returns what was before it.
    fn until_end(&mut self) -> String {
        let mut read = Vec::new();
        let mut byte = [0];
        while !read.ends_with(END.as_bytes()) {
            let n = self.screen.read(&mut byte).unwrap();
            assert!(n > 0, "the shell has ended: {}", String::from_utf8_lossy(&read));
            read.push(byte[0]);
        }
        read.truncate(read.len() - END.len());
        String::from_utf8_lossy(&read).replace("\r\n", "\n")
    }

    /// Types `ftk `, the keys and Enter. Returns the arguments that ftk gets.
    fn args(&mut self, keys: &str) -> Vec<String> {
        self.keys.write_all(format!("ftk {keys}\n").as_bytes()).unwrap();
        let screen = self.until_end();
        let args = screen.rsplit_once("\n[").map_or(&*screen, |(_, args)| args);
        args.trim_end_matches(']').split("][").map(Into::into).collect()
    }

    /// Checks what the keys complete, in any order.
    fn check(&mut self, rows: &[(&str, &[&str])]) {
        for (keys, expected) in rows {
            let mut args = self.args(keys);
            // The words that were typed come first.
            let typed = keys.trim_end_matches(|c| c != ' ').split_whitespace().count();
            let mut completed = args.split_off(typed.min(args.len()));
            completed.sort();
            assert_eq!(completed, *expected, "{keys:?}");
        }
        assert!(!self.dir.path("pwned").exists(), "a name was executed");
    }
}

impl Drop for Shell<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks what both shells complete. `\x14` (Ctrl-T) inserts all completions, Tab only what they have in common.
fn check_all(shell: &mut Shell<'_>) {
    let state = shell.dir.aside("state").join("ftk").display().to_string();
    let (first, second) = (format!("{state}/dup 2'.jsonl"), format!("{state}/dup-1.jsonl"));
    let rules = ["argument", "deepest", "first", "newest", "oldest", "path=", "shallowest", "shortest"];
    let topics = [
        "cache",
        "calibrate",
        "cmp",
        "coming-from",
        "completions",
        "config",
        "du",
        "dup",
        "find",
        "global",
        "hash",
        "help",
        "json",
        "man",
        "manifest",
        "query",
        "recipes",
        "report",
        "selection",
        "tree-digest",
        "undo",
        "where",
    ];
    shell.check(&[
        ("find --sort=s\t", &["--sort=size"]),
        ("find --so\tsi\t", &["--sort=size"]),
        ("find --hyperlink=al\t", &["--hyperlink=always"]),
        ("hash --tree=g\t", &["--tree=git"]),
        ("dup prune --action=h\t", &["--action=hardlink"]),
        ("dup prune --action h\t", &["hardlink"]),
        ("dup prune --keep \x14", &rules),
        ("find -t \x14", &["b", "c", "d", "f", "l", "p", "s"]),
        ("hash -a sha256,bl\x14", &["sha256,blake2b", "sha256,blake3"]),
        ("dup --format \x14", &["csv", "fdupes", "json", "screen"]),
        ("help \x14", &topics),
        ("help dup \x14", &["apply", "prune", "undo"]),
        ("help x\t", &["x"]),
        ("undo \x14", &[&first, &second]),
        ("undo fi\t", &["file1"]),
        ("find fi\t", &["file1"]),
        ("find tw\t", &["two words"]),
        ("find 'tw\t", &["two words"]),
        ("find it\t", &["it's"]),
        ("find new\t", &["new\nline"]),
        ("find red\t", &["red\x1b[31m"]),
        ("find \\$\t", &["$(touch pwned);`touch pwned`"]),
        ("find . . --newer=fi\t", &["--newer=file1"]),
        ("hash -o fi\t", &["file1"]),
        ("dup pr\t", &["prune"]),
        ("find -- --so\t", &["--so"]),
    ]);
}

#[test]
fn bash_completes() {
    needs!("bash", "script");
    let dir = tree();
    let keys = "bind 'set completion-query-items 0'; bind 'set page-completions off'
        bind 'set enable-bracketed-paste off' 2>/dev/null; bind '\"\\C-t\": insert-completions'; . ~/ftk";
    let loaded = "/usr/share/bash-completion/bash_completion";
    for start in
        ["", &format!("[ ! -e {loaded} ] || . {loaded}"), "set -u; set -o posix; shopt -s nullglob failglob"]
    {
        let mut shell = Shell::new(&dir, "bash", &format!("{start}\n{keys}"));
        check_all(&mut shell);
        shell.check(&[
            ("manifest create \x14", &["sub"]),
            ("man --install \t", &["sub/"]),
            ("dup prune --action=move=su\t", &["--action=move=sub/"]),
        ]);
    }
    // Users change what bash splits words at.
    let mut shell = Shell::new(&dir, "bash", &format!("COMP_WORDBREAKS=${{COMP_WORDBREAKS//[=:]}}\n{keys}"));
    shell.check(&[
        ("find --sort=s\t", &["--sort=size"]),
        ("hash -a sha256,bl\x14", &["sha256,blake2b", "sha256,blake3"]),
        ("find tw\t", &["two words"]),
    ]);
}

#[test]
fn zsh_completes() {
    needs!("zsh", "script");
    let dir = tree();
    let keys = "fpath=(~ $fpath); autoload -Uz compinit; compinit -u -D
        zle -C all complete-word _generic; bindkey '^T' all; unset zle_bracketed_paste
        zstyle ':completion:all::::' completer _all_matches _complete
        zstyle ':completion:all:*' insert true";
    let mut shell = Shell::new(&dir, "zsh", keys);
    check_all(&mut shell);
    // zsh removes the slash at Enter.
    shell.check(&[
        ("manifest create \x14", &["sub"]),
        ("man --install \t", &["sub"]),
        ("dup prune --action=move=su\t", &["--action=move=sub"]),
        ("find \"--sort=s\t", &["--sort=size"]),
    ]);
}

#[test]
fn fish_completes() {
    needs!("fish");
    let dir = tree();
    let home = dir.aside("home");
    fs::create_dir_all(&home).unwrap();
    let script = home.join("ftk.fish");
    fs::write(&script, dir.ftk(["completions", "fish"]).run().status(0).stderr("").out).unwrap();
    let program = env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned();
    for (line, expected) in [
        ("find --sort=s", "--sort=size\n"),
        ("dup prune --action h", "hardlink\n"),
        ("find -t f,d", "f,d\tdirectory\n"),
        ("help coming-from fd", "fd\nfdupes\n"),
        ("help zz", ""),
        ("find tw", "two words\n"),
        ("hash --output=fi", "--output=file1\n"),
        ("man --install su", "sub/\n"),
        ("dup p", "prune\tLink, clone, move or delete surplus copies (needs --yes)\n"),
    ] {
        let ask = format!(
            "set -x HOME $argv[1]; set -x PATH $argv[2] $PATH; source $argv[3]; complete -C 'ftk {line}'"
        );
        let (home, program, script) =
            (home.to_str().unwrap(), program.to_str().unwrap(), script.to_str().unwrap());
        let run = dir.ftk([] as [&str; 0]).instead(&dir, ["fish", "-N", "-c", &ask, home, program, script]);
        run.run().status(0).stdout(expected);
    }
    assert!(!dir.path("pwned").exists());
}
