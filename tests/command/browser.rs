//! `ftk du --interactive` and `ftk dup --interactive` on a real terminal, which tmux provides.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{Dir, needs};

/// A terminal in which ftk runs.
struct Terminal<'d> {
    dir: &'d Dir,
}

impl<'d> Terminal<'d> {
    /// Starts ftk with arguments in the syntax of the shell.
    fn new(dir: &'d Dir, args: &str) -> Self {
        let terminal = Self { dir };
        let ftk = env!("CARGO_BIN_EXE_ftk");
        let line = format!("'{ftk}' {args}; echo \"status $?\"; exec sleep 100");
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &line]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let socket = self.dir.aside("tmux");
        let all = ["tmux", "-u", "-S", socket.to_str().unwrap()].into_iter().chain(args.iter().copied());
        self.dir.ftk([""; 0]).instead(self.dir, all).run().status(0).text().to_owned()
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    fn letters(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Waits until the screen contains a text, and returns the screen.
    fn shows(&self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(text) {
                return screen;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no {text:?} in:\n{screen}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// Directories with files of different sizes, and names that would act on a terminal.
fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("top/photos/big", &[1; 300_000]).file("top/photos/other", &[2; 50_000]);
    dir.file("top/inbox/copy", &[1; 300_000]).file("top/note", b"a note");
    dir.raw_file(b"top/\x1b[31mred\n", b"red").file("top/\u{65e5}\u{672c}", b"wide");
    dir
}

#[test]
fn du_moves_away_and_undo_brings_back() {
    needs!("tmux");
    let dir = scene();
    let terminal = Terminal::new(&dir, "du --apparent-size --interactive top");
    let screen = terminal.shows("photos/");
    assert!(screen.contains("\\x1b[31mred\\n") && screen.contains("\u{65e5}\u{672c}"), "{screen}");
    terminal.tmux(&["resize-window", "-x", "20", "-y", "5"]);
    let small = terminal.shows("? keys  Space mark");
    assert_eq!(small.lines().count(), 5, "{small}");
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    terminal.keys(&["Space"]);
    terminal.shows("1 marked");
    terminal.letters("d");
    terminal.shows("CANNOT BE UNDONE");
    // A word that is not complete changes nothing.
    terminal.letters("quarantin");
    terminal.keys(&["Enter"]);
    terminal.shows("nothing was done");
    assert!(dir.path("top/photos/big").exists());
    terminal.letters("quarantine");
    terminal.keys(&["Enter"]);
    terminal.shows("moved 1 entry");
    assert!(!dir.path("top/photos").exists());
    terminal.keys(&["x"]);
    let screen = terminal.shows("? keys");
    assert!(!screen.contains("photos/"), "{screen}");
    terminal.letters("q");
    let screen = terminal.shows("status 0");
    assert!(screen.contains("ftk undo"), "the usual screen is back: {screen}");
    dir.ftk(["undo", "--last"]).run().status(0);
    assert_eq!(fs::read(dir.path("top/photos/big")).unwrap(), [1; 300_000]);
}

#[test]
fn du_refuses_what_has_changed_and_deletes_the_rest() {
    needs!("tmux");
    let dir = scene();
    let terminal = Terminal::new(&dir, "du --apparent-size --interactive top");
    terminal.shows("photos/");
    terminal.keys(&["Space", "Space"]);
    terminal.letters("d");
    terminal.shows("type quarantine or delete");
    fs::write(dir.path("top/photos/new"), "").unwrap();
    terminal.letters("delete");
    terminal.keys(&["Enter"]);
    let screen = terminal.shows("deleted 1 entry");
    assert!(screen.contains("refuse") && screen.contains("1 not done"), "{screen}");
    assert!(dir.path("top/photos/new").exists() && dir.path("top/photos/big").exists());
    assert!(!dir.path("top/inbox").exists());
    terminal.keys(&["x"]);
    terminal.shows("? keys");
    terminal.keys(&["C-c"]);
    terminal.shows("status 2");
}

/// A trial: a directory still had the files that were deleted from it, and the path of the quarantine was cut.
#[test]
fn counts_are_those_after_the_action() {
    needs!("tmux");
    let dir = scene();
    let terminal = Terminal::new(&dir, "du --apparent-size -i top");
    let screen = terminal.shows("photos/");
    assert!(screen.contains("2 files"), "{screen}");
    terminal.letters("l");
    terminal.shows("other");
    terminal.letters("jk");
    terminal.keys(&["Space"]);
    terminal.letters("d");
    let screen = terminal.shows("CANNOT BE UNDONE");
    let joined: String = screen.lines().map(str::trim).collect();
    let to = joined.split("moves back; to ").nth(1).unwrap().split("delete:").next().unwrap();
    assert!(to.starts_with("top/.ftk-quarantine/") && to.contains("Z-"), "{screen}");
    let to = to.to_owned();
    terminal.letters("quarantine");
    terminal.keys(&["Enter"]);
    let screen = terminal.shows("press a key");
    assert!(screen.contains(&format!("moved 1 entry to {to}")), "{to} {screen}");
    terminal.keys(&["x"]);
    terminal.shows("? keys");
    terminal.letters("h");
    let screen = terminal.shows("photos/");
    assert!(screen.contains("1 file") && !screen.contains("2 files"), "{screen}");
    terminal.letters("q");
    terminal.shows("status 0");
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(!dir.path("top/.ftk-quarantine").exists());
    assert_eq!(fs::read(dir.path("top/photos/big")).unwrap(), [1; 300_000]);
}

/// As when a connection ends.
#[test]
fn it_ends_with_its_terminal() {
    needs!("tmux");
    let dir = scene();
    let pid = dir.aside("pid");
    let ftk = env!("CARGO_BIN_EXE_ftk");
    for ignored in ["", "trap '' HUP; "] {
        let terminal = Terminal { dir: &dir };
        let line = format!("{ignored}echo $$ > '{}'; exec '{ftk}' du --interactive top", pid.display());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &line]);
        terminal.shows("photos/");
        let process = format!("/proc/{}", fs::read_to_string(&pid).unwrap().trim());
        terminal.tmux(&["kill-server"]);
        let begun = Instant::now();
        while fs::exists(&process).unwrap() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it still runs");
            sleep(Duration::from_millis(20));
        }
        std::mem::forget(terminal); // its server has ended
    }
}

#[test]
fn dup_acts_as_prune_does() {
    needs!("tmux");
    let dir = scene();
    let terminal = Terminal::new(&dir, "dup --interactive top");
    terminal.shows("1 group");
    terminal.keys(&["Enter"]);
    terminal.shows("kept");
    terminal.keys(&["Down", "Space"]);
    terminal.shows("1 marked");
    terminal.letters("d");
    terminal.shows("keep     top/");
    terminal.letters("delete");
    terminal.keys(&["Enter"]);
    terminal.shows("deleted 1 file and freed");
    let left = ["top/photos/big", "top/inbox/copy"].map(|path| dir.path(path).exists());
    assert!(left[0] != left[1], "{left:?}");
    terminal.keys(&["x"]);
    terminal.shows("nothing is here");
    terminal.letters("q");
    terminal.shows("status 0");
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(dir.path("top/photos/big").exists() && dir.path("top/inbox/copy").exists());
}

#[test]
fn a_signal_restores_the_terminal() {
    needs!("tmux");
    let dir = scene();
    let terminal = Terminal::new(&dir, "du --interactive top");
    terminal.shows("photos/");
    let shell = terminal.tmux(&["list-panes", "-F", "#{pane_pid}"]);
    let shell = shell.trim();
    let kill = format!("kill -TERM $(cat /proc/{shell}/task/{shell}/children)");
    dir.ftk([""; 0]).instead(&dir, ["sh", "-c", &kill]).run().status(0);
    let screen = terminal.shows("status 143");
    assert!(!screen.contains("photos/"), "{screen}");
    // Line ends are as usual again, so this begins in the first column.
    assert!(screen.lines().any(|line| line.starts_with("status 143")), "{screen}");
}

#[test]
fn without_a_terminal_it_is_an_error() {
    let dir = scene();
    for command in ["du", "dup"] {
        dir.ftk([command, "--interactive", "top"])
            .run()
            .status(2)
            .stderr_has("--interactive needs a terminal");
    }
    for (args, why) in [
        (
            &["du", "--interactive", "--exclude", "x", "top"][..],
            "--interactive cannot be used with --exclude",
        ),
        (&["du", "--interactive", "-L", "top"], "--interactive cannot be used with --follow"),
        (&["du", "--interactive", "--top", "3", "top"], "cannot be used with"),
        (&["du", "--quarantine", "q", "top"], "--interactive"),
    ] {
        dir.ftk(args).run().status(2).stderr_has(why);
    }
}
