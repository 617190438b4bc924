//! The command under test and its results.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::{Dir, is_root};

/// The program that cargo built: it is in the directory above that of the tests. `FTK_TEST_PROGRAM` names another one, which is
/// for another CPU or C library.
static FTK: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(program) = std::env::var_os("FTK_TEST_PROGRAM") {
        return program.into();
    }
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("a test is in `deps`").join("ftk")
});

/// The program that is tested.
pub fn program() -> PathBuf {
    FTK.clone()
}

/// A command that runs for longer than this hangs. The machine may be very busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// The unprivileged user and group.
const UNPRIVILEGED: u32 = 65534;

/// A command that is about to run `ftk`.
pub struct Ftk {
    command: Command,
    stdin: Option<Vec<u8>>,
}

impl Ftk {
    pub fn new<A: AsRef<OsStr>>(dir: &Dir, args: impl IntoIterator<Item = A>) -> Self {
        Self::of(dir, Command::new(&*FTK), args)
    }

    fn of<A: AsRef<OsStr>>(dir: &Dir, mut command: Command, args: impl IntoIterator<Item = A>) -> Self {
        let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(b"FTK_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
            command.env_remove(name);
        }
        for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"] {
            command.env_remove(name);
        }
        command.args(args).current_dir(dir.path(""));
        command.env("LC_ALL", "C").env("TZ", "UTC").env("XDG_CACHE_HOME", dir.aside("cache"));
        // The defaults and the trash of the developer stay out of the tests.
        command.env("XDG_STATE_HOME", dir.aside("state")).env("XDG_CONFIG_HOME", dir.aside("config"));
        command.env("XDG_DATA_HOME", dir.aside("data"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, stdin: None }
    }

    /// The same command appended to the arguments of a wrapper: `strace -o log`, `sh -c 'ulimit ...; exec
    /// "$@"' sh`.
    pub fn under<A: AsRef<OsStr>>(self, dir: &Dir, wrapper: impl IntoIterator<Item = A>) -> Self {
        let mut wrapper = wrapper.into_iter();
        let mut command = Command::new(wrapper.next().expect("a wrapper is a program"));
        command.args(wrapper).arg(self.command.get_program());
        let args: Vec<OsString> = self.command.get_args().map(OsStr::to_owned).collect();
        Self { stdin: self.stdin, ..Self::of(dir, command, args) }
    }

    /// Another command in the same environment.
    pub fn instead<A: AsRef<OsStr>>(self, dir: &Dir, command: impl IntoIterator<Item = A>) -> Self {
        let mut command = command.into_iter();
        Self::of(dir, Command::new(command.next().expect("a command has a name")), command)
    }

    /// The same command after the shell's `ulimit`.
    pub fn limit(self, dir: &Dir, limit: &str) -> Self {
        self.under(dir, ["sh", "-c", &format!("ulimit {limit} && exec \"$@\""), "sh"])
    }

    /// As a user who may not read everything; the last setting before the run.
    pub fn unprivileged(mut self, dir: &Dir) -> Self {
        if is_root() {
            if !*IS_EXECUTABLE_BY_ALL {
                let copy = reachable_copy(dir);
                let replaced =
                    |word: &OsStr| if word == FTK.as_os_str() { copy.clone() } else { word.to_owned() };
                let program = replaced(self.command.get_program());
                let args: Vec<OsString> = self.command.get_args().map(replaced).collect();
                self = Self { stdin: self.stdin, ..Self::of(dir, Command::new(program), args) };
            }
            // The standard library also drops all supplementary groups here.
            self.command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        self
    }

    /// With another group than that of the unprivileged user, after [`unprivileged`](Self::unprivileged).
    pub fn group(mut self, group: u32) -> Self {
        self.command.gid(group);
        self
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        self.command.stdin(Stdio::piped());
        self.stdin = Some(bytes.to_vec());
        self
    }

    /// Sets where standard input comes from.
    pub fn stdin_from(mut self, from: impl Into<Stdio>) -> Self {
        self.command.stdin(from);
        self
    }

    /// Sets where standard output goes. The result does not contain it.
    pub fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.command.stdout(to);
        self
    }

    /// Starts the command without waiting for it.
    pub fn spawn(mut self) -> Child {
        self.command.spawn().expect("the command starts")
    }

    /// Runs the command to its end.
    ///
    /// # Panics
    /// If it hangs.
    pub fn run(mut self) -> Run {
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), self.stdin) {
            // A command may close the pipe without reading its input.
            thread::spawn(move || _ = pipe.write_all(&bytes));
        }
        let (out, err) = (drain(child.stdout.take()), drain(child.stderr.take()));
        let (out, err) = (out.recv_timeout(PATIENCE), err.recv_timeout(PATIENCE));
        let (Ok(out), Ok(err)) = (out, err) else {
            _ = child.kill();
            panic!("it hangs: {:?}", self.command);
        };
        let status = child.wait().unwrap();
        let tree: PathBuf = self.command.get_current_dir().unwrap().to_owned();
        let command = format!("{:?}", self.command);
        Run { status, out, err: String::from_utf8(err).expect("messages are UTF-8"), command, tree }
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            _ = pipe.read_to_end(&mut bytes);
        }
        _ = send.send(bytes);
    });
    receive
}

/// Whether the unprivileged user can run the binary where cargo put it.
static IS_EXECUTABLE_BY_ALL: LazyLock<bool> = LazyLock::new(|| {
    let mut command = Command::new(&*FTK);
    command.arg("--version").stdout(Stdio::null()).uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    command.status().is_ok_and(|status| status.success())
});

/// Puts the binary next to the tree of a test, where every user can run it. Another process copies it, for the reason that
/// [`install`](super::install) gives.
fn reachable_copy(dir: &Dir) -> OsString {
    let copy = dir.aside("ftk");
    if !copy.exists() && fs::hard_link(&*FTK, &copy).is_err() {
        let copied = Command::new("cp").arg("--force").arg(&*FTK).arg(&copy).status().unwrap();
        assert!(copied.success(), "cp {FTK:?}");
    }
    copy.into_os_string()
}

/// The exit status and output of a command. Every failed check shows all of it.
#[derive(Debug)]
pub struct Run {
    status: ExitStatus,
    pub out: Vec<u8>,
    pub err: String,
    command: String,
    tree: PathBuf,
}

impl Run {
    /// The exit status; more than 128 for a signal, as in a shell.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or_default())
    }

    #[track_caller]
    pub fn status(self, expected: i32) -> Self {
        self.check(self.code() == expected, &format!("the status is not {expected}"));
        self
    }

    #[track_caller]
    pub fn stdout(self, expected: impl AsRef<[u8]>) -> Self {
        let expected = expected.as_ref();
        self.check(self.out == expected, &format!("stdout is not {}", shown(expected)));
        self
    }

    #[track_caller]
    pub fn stdout_has(self, part: &str) -> Self {
        self.check(self.text().contains(part), &format!("stdout has no {part:?}"));
        self
    }

    #[track_caller]
    pub fn stdout_lacks(self, part: &str) -> Self {
        self.check(!self.text().contains(part), &format!("stdout has {part:?}"));
        self
    }

    #[track_caller]
    pub fn stderr(self, expected: &str) -> Self {
        self.check(self.err == expected, &format!("stderr is not {expected:?}"));
        self
    }

    #[track_caller]
    pub fn stderr_has(self, part: &str) -> Self {
        self.check(self.err.contains(part), &format!("stderr has no {part:?}"));
        self
    }

    #[track_caller]
    pub fn stderr_lacks(self, part: &str) -> Self {
        self.check(!self.err.contains(part), &format!("stderr has {part:?}"));
        self
    }

    /// Standard output as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        str::from_utf8(&self.out).unwrap_or_else(|error| self.fail(&format!("stdout is not UTF-8: {error}")))
    }

    /// Whether a part is in the output or in a message.
    pub fn says(&self, part: &str) -> bool {
        self.text().contains(part) || self.err.contains(part)
    }

    #[track_caller]
    pub fn check(&self, holds: bool, what: &str) {
        if !holds {
            self.fail(what);
        }
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        panic!(
            "{what}\n{}\nin {} with {}\n{}\n--- stdout\n{}\n--- stderr\n{}",
            self.command,
            self.tree.display(),
            names(&self.tree),
            self.status,
            shown(&self.out),
            shown(self.err.as_bytes()),
        )
    }
}

/// The names in a directory, sorted.
fn names(dir: &std::path::Path) -> String {
    const MOST: usize = 40;
    let mut names: Vec<_> = match fs::read_dir(dir) {
        Ok(entries) => entries.flatten().map(|entry| format!("{:?}", entry.file_name())).collect(),
        Err(error) => return error.to_string(),
    };
    names.sort();
    let n = names.len();
    names.truncate(MOST);
    format!("{n} entries: {}", names.join(" "))
}

/// Bytes for a message, shortened.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 4000;
    let cut = &bytes[..bytes.len().min(MOST)];
    let more =
        if cut.len() < bytes.len() { format!("... {} bytes in all", bytes.len()) } else { String::new() };
    format!("{}{more}", String::from_utf8_lossy(cut))
}
