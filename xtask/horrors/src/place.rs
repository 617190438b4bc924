//! A directory in which one tool runs in one scenario.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use super::seen::{Run, Seen};

/// A command that runs longer than this counts as hanging. Every command needs only seconds, but the machine may be
/// busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Limit of the address space of a command, in KiB, to protect the machine from unbounded allocation.
const MEMORY_KIB: u64 = 8 << 20;

/// User and group without privileges, for whom permissions apply.
const UNPRIVILEGED: u32 = 65534;

/// An empty tree, a private home directory, and files for the output. Dropping it removes them all.
pub struct Place {
    folder: PathBuf,
    /// The value of `PATH`.
    path: String,
    /// Fails after an interrupt.
    may_go_on: fn() -> Result<()>,
}

impl Place {
    /// Creates the folder. Programs in `programs` are found before those of the system. If `may_go_on` fails, a running
    /// command is killed.
    ///
    /// # Errors
    /// If a directory cannot be created.
    pub fn new(folder: PathBuf, programs: &Path, may_go_on: fn() -> Result<()>) -> Result<Self> {
        let place = Self { folder, path: format!("{}:/usr/bin:/bin", programs.display()), may_go_on };
        for name in ["", "tree", "home", "tmp"] {
            let dir = place.folder.join(name);
            fs::create_dir(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
            if geteuid().is_root() {
                chown(dir, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
            }
        }
        Ok(place)
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// # Errors
    /// If the script fails.
    pub(super) fn set_up(&self, script: &str) -> Result<()> {
        let run = self.line(0, &format!("set -e\n{script}"))?;
        ensure!(run.is_success(), "cannot set up the tree: {}", String::from_utf8_lossy(&run.err));
        Ok(())
    }

    /// Runs a command as root that mounts a file system in the tree. Returns `false` if the caller is not root or the
    /// command fails.
    ///
    /// # Errors
    /// If the shell cannot be started.
    pub(super) fn mount(&self, command: &str) -> Result<bool> {
        if !geteuid().is_root() {
            return Ok(false);
        }
        let mut shell = Command::new("/bin/sh");
        let status = shell.args(["-c", command]).current_dir(self.tree()).stdin(Stdio::null()).status()?;
        Ok(status.success())
    }

    /// Runs each line in a separate shell, and stops after a line that hangs. The output of the first line is in
    /// `1.out` and `1.err` next to the tree, and so on.
    ///
    /// # Errors
    /// If a program is missing or strace cannot trace.
    pub(super) fn run(&self, lines: &str) -> Result<Seen> {
        let mut runs = Vec::new();
        for (nth, line) in (1..).zip(lines.lines()) {
            let run = self.line(nth, line)?;
            let err = String::from_utf8_lossy(&run.err);
            // A command that could not run, or a fault that could not be injected, proves nothing.
            if matches!(run.status, Some(126 | 127)) || err.contains("strace: ") {
                bail!("{line}: {}", err.trim());
            }
            let hangs = run.status.is_none();
            runs.push(run);
            if hangs {
                break;
            }
        }
        Ok(Seen { runs, tree: self.tree() })
    }

    fn line(&self, nth: usize, line: &str) -> Result<Run> {
        let [out, err] = ["out", "err"].map(|name| self.folder.join(format!("{nth}.{name}")));
        let limited = format!("ulimit -c 0 && ulimit -v {MEMORY_KIB} && eval \"$1\"");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &limited, "sh", line]).current_dir(self.tree()).process_group(0);
        command.env_clear().env("PATH", &self.path).env("LC_ALL", "C").env("TZ", "UTC").env("TERM", "xterm");
        command.env("HOME", self.folder.join("home")).env("TMPDIR", self.folder.join("tmp"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        if geteuid().is_root() {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        let begun = Instant::now();
        let mut child = command.spawn().context("cannot start a shell")?;
        let status = self.wait(&mut child, begun)?;
        Ok(Run {
            line: line.to_owned(),
            status: status.map(code),
            seconds: begun.elapsed().as_secs_f64(),
            out: fs::read(out)?,
            err: fs::read(err)?,
        })
    }

    /// Waits until the child ends, and returns `None` if it hangs. In both cases its whole process group is killed.
    fn wait(&self, child: &mut Child, begun: Instant) -> Result<Option<ExitStatus>> {
        let group = Pid::from_child(child);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if begun.elapsed() > PATIENCE || (self.may_go_on)().is_err() {
                break None;
            }
            sleep(Duration::from_millis(2));
        };
        _ = kill_process_group(group, Signal::KILL);
        child.wait()?;
        (self.may_go_on)()?;
        Ok(status)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Unmount first, or `rm` would delete the files of mounted file systems.
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        for point in points.filter(|point| Path::new(point).starts_with(&self.folder)) {
            _ = Command::new("umount").args(["-l", point]).status();
        }
        // `remove_dir_all` keeps a descriptor for each level, and the tree may be deep.
        for words in [&["chmod", "-R", "u+rwX"][..], &["rm", "-rf"]] {
            _ = Command::new(words[0]).args(&words[1..]).arg(&self.folder).stderr(Stdio::null()).status();
        }
    }
}

/// Returns the status as a shell reports it: 128 and the number of the signal for a signal.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Place {
        // Not in a `TempDir`, which the other user cannot enter.
        let folder = std::env::temp_dir().join(format!("ftk-horrors-place-{name}-{}", std::process::id()));
        Place::new(folder, Path::new("/usr/bin"), || Ok(())).unwrap()
    }

    #[test]
    fn lines_run_in_order_in_the_tree_with_a_private_home() {
        let place = place("lines");
        place.set_up("mkdir d; echo content > d/a").unwrap();
        let seen =
            place.run("cat d/a; echo said >&2\necho $HOME; env | grep -c ^XDG; rm d/a; exit 3").unwrap();
        let [first, last] = &seen.runs[..] else { panic!() };
        assert_eq!((first.status, &*first.out, &*first.err), (Some(0), &b"content\n"[..], &b"said\n"[..]));
        let home = format!("{}\n0\n", place.folder.join("home").display());
        assert_eq!((last.status, &*last.out), (Some(3), home.as_bytes()));
        assert!(!seen.tree.join("d/a").exists());
    }

    #[test]
    fn permissions_apply_even_if_root_runs_this() {
        let place = place("permissions");
        place.set_up("echo content > a; chmod 0 a; mkdir locked; chmod 0 locked").unwrap();
        assert!(!place.run("cat a").unwrap().last().is_success());
        assert!(!place.run("ls locked").unwrap().last().is_success());
        let folder = place.folder.clone();
        drop(place);
        assert!(!folder.exists());
    }

    #[test]
    fn signals_have_the_status_that_a_shell_reports() {
        let place = place("signals");
        assert_eq!(place.run("kill -SEGV $$").unwrap().last().status, Some(139));
        assert_eq!(place.run("sh -c 'kill -SEGV $$'; exit $?").unwrap().last().status, Some(139));
    }

    #[test]
    fn commands_that_cannot_run_are_errors() {
        let place = place("cannot");
        assert!(place.set_up("false; true").is_err());
        assert!(place.run("no-such-program").err().unwrap().to_string().starts_with("no-such-program: "));
        assert!(place.run("echo 'strace: cannot trace' >&2").is_err());
    }
}
