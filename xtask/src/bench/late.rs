//! A file system whose server answers late: sshfs, with a pipe that delays all requests in the place of ssh.

use std::io::{Read as _, Write as _, stdin};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Where OpenSSH has its server, on Debian and on others.
const SERVERS: [&str; 3] =
    ["/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server"];

/// Directories with such a mount, which end with this value.
pub(crate) struct Mounts(pub(crate) Vec<PathBuf>);

impl Drop for Mounts {
    fn drop(&mut self) {
        self.0.iter().for_each(|point| unmount(point));
    }
}

/// Mounts `source` at each of `points` anew, so that nothing is cached. Each has a client and a server of its own, which
/// gets every request after `delay_us` microseconds.
///
/// # Errors
/// If sshfs or the server is missing, or may not mount.
pub(crate) fn remount(delay_us: &str, source: &str, points: &[&str]) -> Result<()> {
    let helper = std::env::current_exe()?;
    let helper = helper.to_str().context("the path of this program is not UTF-8")?;
    ensure!(!helper.contains(' '), "sshfs splits {helper:?} at the blank");
    for point in points {
        unmount(Path::new(point));
        let mut mount = Command::new("sshfs");
        mount.args(["-o", "ro", "-o", &format!("ssh_command={helper} bench late {delay_us}")]);
        mount.arg(format!("host:{source}")).arg(point);
        // It goes on in the background. If it held one of our pipes, we would wait for its end.
        let status = mount.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.context("cannot start sshfs")?;
        ensure!(status.success(), "sshfs cannot mount at {point}: {status}");
    }
    Ok(())
}

/// Removes a mount, if there is one.
fn unmount(point: &Path) {
    let mut unmount = Command::new("fusermount3");
    // Without a mount it fails, which does not matter.
    _ = unmount.args(["-u", "-z", "-q"]).arg(point).stderr(Stdio::null()).status();
}

/// Passes standard input to an SFTP server after `delay_us` microseconds. The server prints its answers.
///
/// # Errors
/// If the server cannot be started, or ends early.
pub(crate) fn serve(delay_us: &str) -> Result<()> {
    let delay = Duration::from_micros(delay_us.parse()?);
    let program = SERVERS.into_iter().find(|path| Path::new(path).exists()).context("no sftp-server")?;
    let mut server =
        Command::new(program).stdin(Stdio::piped()).spawn().context("cannot start the server")?;
    let mut requests = server.stdin.take().context("it is a pipe")?;
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    // Pieces wait at the same time, as they would on a long line.
    let writer = thread::spawn(move || {
        receiver.into_iter().try_for_each(|(due, piece)| {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            requests.write_all(&piece)
        })
    });
    let mut buffer = [0; 64 << 10];
    loop {
        let len = stdin().read(&mut buffer)?;
        if len == 0 || sender.send((Instant::now() + delay, buffer[..len].to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    _ = writer.join();
    server.wait()?;
    Ok(())
}
