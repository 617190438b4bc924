//! Installs missing peers into a separate folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
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
            Source::Pip(package, folder) => pip(peer, package, folder),
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
    link(Path::new("debian/usr/bin").join(peer.name), peer)
}

/// Installs a package of Python into a folder of its own, and links its program.
fn pip(peer: &Peer, package: &str, folder: &str) -> Result<()> {
    let place = Path::new(INSTALLED).join("pip");
    succeed(
        Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--target"])
            .arg(&place)
            .arg(package),
    )?;
    link(Path::new("pip").join(folder).join(peer.name), peer)
}

/// Makes a program, whose path begins in the folder of installed peers, one of them.
fn link(program: PathBuf, peer: &Peer) -> Result<()> {
    let installed = Path::new(INSTALLED);
    ensure!(installed.join(&program).exists(), "the package has no {}", program.display());
    fs::create_dir_all(installed.join("bin"))?;
    symlink(Path::new("..").join(program), installed.join("bin").join(peer.name))?;
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
