//! Installs missing peers into a separate folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::peers::{INSTALLED, Peer, Peers, Source};
use crate::ci;

/// Lists the peers and installs missing ones. Prints those that cannot be installed; the benchmark works without
/// them.
pub(crate) fn run(folder: Option<&Path>) -> Result<()> {
    let peers = Peers::find(folder);
    for (name, version) in peers.versions() {
        println!("{name:10} {}", version.as_deref().unwrap_or("missing"));
    }
    for peer in peers.missing() {
        let done = match peer.source {
            Source::Cargo(package) => {
                succeed(ci::cargo("install --locked --root").args([INSTALLED, package]))
            }
            Source::Debian(package) => debian(peer, package),
            Source::System => Err(anyhow::anyhow!("part of the operating system")),
        };
        match done {
            Ok(()) => println!("{}: installed into {INSTALLED}", peer.name),
            Err(error) => println!("{}: not installed: {error:#}", peer.name),
        }
    }
    Ok(())
}

/// Unpacks a Debian package without installing it, which needs no privileges.
fn debian(peer: &Peer, package: &str) -> Result<()> {
    let unpacked = Path::new(INSTALLED).join("debian");
    let download = unpacked.join(".download");
    if download.exists() {
        fs::remove_dir_all(&download)?;
    }
    fs::create_dir_all(&download)?;
    succeed(Command::new("apt-get").args(["-q", "download", package]).current_dir(&download))?;
    let archive = fs::read_dir(&download)?.next().context("apt-get downloaded nothing")??.path();
    succeed(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&unpacked))?;
    fs::remove_dir_all(&download)?;
    let bin = Path::new(INSTALLED).join("bin");
    fs::create_dir_all(&bin)?;
    let program = Path::new("usr/bin").join(peer.name);
    ensure!(unpacked.join(&program).exists(), "the package {package} has no {}", program.display());
    symlink(Path::new("../debian").join(program), bin.join(peer.name))?;
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
