//! A directory in which one tool meets one failure.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use super::seen::{Run, Seen, has};
use crate::bench::interrupt;

/// After this time a line hangs. None has work for more than seconds, but the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How much a line may have mapped, in KiB, so that what eats memory without end does not eat that of the machine.
const MEMORY_KIB: u64 = 8 << 20;

/// User and group of `nobody`, whom permissions hold back.
const NOBODY: u32 = 65534;

/// An empty tree, a home of its own, and room for what is printed; all gone when it is dropped.
pub(crate) struct Place {
    folder: PathBuf,
    /// Where programs are looked for.
    path: String,
}

impl Place {
    /// # Errors
    /// Of the file system.
    pub(crate) fn new(folder: PathBuf, programs: &Path) -> Result<Self> {
        let place = Self { folder, path: format!("{}:/usr/bin:/bin", programs.display()) };
        for name in ["", "tree", "home", "tmp"] {
            let dir = place.folder.join(name);
            fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
            if geteuid().is_root() {
                chown(dir, Some(NOBODY), Some(NOBODY))?;
            }
        }
        Ok(place)
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// # Errors
    /// If the script does.
    pub(crate) fn set_up(&self, script: &str) -> Result<()> {
        let run = self.line(&format!("set -e\n{script}"))?;
        ensure!(run.status == Some(0), "the tree cannot be made: {}", run.err_text());
        Ok(())
    }

    /// Runs a command as root in the tree, which mounts something there. `false`, with the reason printed, if only root
    /// could or the command fails.
    ///
    /// # Errors
    /// If there is no shell.
    pub(crate) fn mount(&self, command: &str) -> Result<bool> {
        if !geteuid().is_root() {
            return Ok(false);
        }
        let mut shell = Command::new("/bin/sh");
        let status = shell.args(["-c", command]).current_dir(self.tree()).stdin(Stdio::null()).status()?;
        Ok(status.success())
    }

    /// Runs each line in a shell of its own; one that hangs is the last.
    ///
    /// # Errors
    /// If a program is missing.
    pub(crate) fn run(&self, lines: &str) -> Result<Seen> {
        let mut runs = Vec::new();
        for line in lines.lines() {
            let run = self.line(line)?;
            // Nothing is proven by what could not be done, nor by a failure that could not be injected.
            if matches!(run.status, Some(126 | 127)) || has(&run.err, b"strace: ") {
                bail!("{line}: {}", run.err_text());
            }
            let hangs = run.status.is_none();
            runs.push(run);
            if hangs {
                break;
            }
        }
        Ok(Seen { runs, tree: self.tree() })
    }

    fn line(&self, line: &str) -> Result<Run> {
        let (out, err) = (self.folder.join("out"), self.folder.join("err"));
        let limited = format!("ulimit -c 0 && ulimit -v {MEMORY_KIB} && eval \"$1\"");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &limited, "sh", line]).current_dir(self.tree()).process_group(0);
        command.env_clear().env("PATH", &self.path).env("LC_ALL", "C").env("TZ", "UTC").env("TERM", "xterm");
        command.env("HOME", self.folder.join("home")).env("TMPDIR", self.folder.join("tmp"));
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        if geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let begun = Instant::now();
        let mut child = command.spawn().context("cannot start a shell")?;
        let status = wait(&mut child, begun)?;
        Ok(Run {
            line: line.to_owned(),
            status: status.map(code),
            seconds: begun.elapsed().as_secs_f64(),
            out: fs::read(out)?,
            err: fs::read(err)?,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What was mounted would be emptied.
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
        for point in points.filter(|point| Path::new(point).starts_with(&self.folder)) {
            _ = Command::new("umount").args(["-l", point]).status();
        }
        // Not the standard library: it keeps a descriptor for each level of a deep tree.
        for words in [&["chmod", "-R", "u+rwX"][..], &["rm", "-rf"]] {
            let command =
                Command::new(words[0]).args(&words[1..]).arg(&self.folder).stderr(Stdio::null()).status();
            _ = command;
        }
    }
}

/// Waits until the child ends; `None` if it did not in time. What it has started is ended in any case.
fn wait(child: &mut Child, begun: Instant) -> Result<Option<ExitStatus>> {
    let group = Pid::from_child(child);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begun.elapsed() > PATIENCE || interrupt::check().is_err() {
            break None;
        }
        sleep(Duration::from_millis(2));
    };
    _ = kill_process_group(group, Signal::KILL);
    child.wait()?;
    interrupt::check()?;
    Ok(status)
}

/// The status as a shell has it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Place {
        let folder = std::env::temp_dir().join(format!("ftk-xtask-place-{name}-{}", std::process::id()));
        Place::new(folder, Path::new("/usr/bin")).unwrap()
    }

    #[test]
    fn lines_run_one_after_the_other_in_the_tree() {
        let place = place("lines");
        place.set_up("mkdir d; echo content > d/a").unwrap();
        let seen = place.run("cat d/a; echo said >&2\ncd d; rm a; exit 3").unwrap();
        assert_eq!(
            (seen.runs[0].status, &*seen.runs[0].out, &*seen.runs[0].err),
            (Some(0), &b"content\n"[..], &b"said\n"[..])
        );
        assert_eq!(seen.last().status, Some(3));
        assert!(seen.names("d").is_empty());
    }

    #[test]
    fn permissions_hold_whoever_runs_this() {
        let place = place("permissions");
        place.set_up("echo content > a; chmod 0 a; mkdir locked; chmod 0 locked").unwrap();
        assert!(!place.run("cat a").unwrap().last().is_success());
        assert!(!place.run("ls locked").unwrap().last().is_success());
        let folder = place.folder.clone();
        drop(place);
        assert!(!folder.exists());
    }

    #[test]
    fn a_home_of_its_own() {
        let place = place("home");
        let seen = place.run("echo $HOME; env | grep -c ^XDG; true").unwrap();
        assert_eq!(seen.last().out, format!("{}\n0\n", place.folder.join("home").display()).as_bytes());
    }

    #[test]
    fn signals_have_the_status_of_a_shell() {
        let place = place("signals");
        assert_eq!(place.run("kill -SEGV $$").unwrap().last().status, Some(139));
        assert_eq!(place.run("sh -c 'kill -SEGV $$'; exit $?").unwrap().last().status, Some(139));
    }

    #[test]
    fn what_cannot_be_done_proves_nothing() {
        let place = place("cannot");
        assert!(place.set_up("false; true").is_err());
        assert!(place.run("no-such-program").err().unwrap().to_string().starts_with("no-such-program: "));
        assert!(place.run("echo 'strace: cannot trace' >&2").is_err());
    }
}
