//! The systems for which a release has programs.

use crate::deny;

/// A system, and its names in the worlds of the packages. Programs for it are static, and run on any Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Target {
    #[value(name = "x86_64")]
    X86_64,
    Aarch64,
}

impl Target {
    pub(super) const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// Returns the name in Rust.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Aarch64 => "aarch64-unknown-linux-musl",
        }
    }

    /// Returns the name of the processor in RPM and Python packages, and in `uname -m`.
    pub(super) fn machine(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Returns the name of the processor in Debian packages and images.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Returns the target whose programs run on this machine.
    pub(super) fn native() -> anyhow::Result<Self> {
        let host = deny::host()?;
        let found = Self::ALL.into_iter().find(|target| host.starts_with(target.machine()));
        found.ok_or_else(|| anyhow::anyhow!("no program of a release runs on {host}"))
    }
}
