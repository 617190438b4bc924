//! The check that the file systems have enough free space.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use ftk_record::quote;
use indicatif::DecimalBytes;

/// The space that a run needs, by file system.
#[derive(Debug, Default)]
pub(super) struct Demand {
    /// By device: bytes that stay used, the largest number of bytes that are used for a moment, and a path.
    devices: BTreeMap<u64, (u64, u64, PathBuf)>,
}

impl Demand {
    /// Adds bytes that stay used on the file system of a path. If it does not exist, the nearest directory above it
    /// counts.
    pub(super) fn add(&mut self, path: &Path, bytes: u64) {
        self.entry(path, |(stay, _, _)| *stay = stay.saturating_add(bytes));
    }

    /// Adds bytes that are used only until a file of the same size is removed.
    pub(super) fn add_briefly(&mut self, directory: &Path, bytes: u64) {
        self.entry(directory, |(_, moment, _)| *moment = bytes.max(*moment));
    }

    fn entry(&mut self, directory: &Path, add: impl FnOnce(&mut (u64, u64, PathBuf))) {
        let above =
            directory.ancestors().map(|it| if it.as_os_str().is_empty() { Path::new(".") } else { it });
        let found = above.filter_map(|it| Some((it, it.metadata().ok()?.dev()))).next();
        // Without an answer the space is not checked. A full disk is then an error of the step.
        if let Some((path, dev)) = found {
            add(self.devices.entry(dev).or_insert_with(|| (0, 0, path.to_owned())));
        }
    }

    /// Checks that every file system has enough free space. `hint` ends the message.
    ///
    /// # Errors
    /// If one has too little.
    pub(super) fn check(&self, hint: &str) -> anyhow::Result<()> {
        for (stay, moment, path) in self.devices.values() {
            let Ok(found) = rustix::fs::statvfs(path) else { continue };
            // Such as ramfs, and FUSE programs that do not say.
            if found.f_blocks == 0 {
                continue;
            }
            let (needed, free) =
                (stay.saturating_add(*moment), found.f_bavail.saturating_mul(found.f_frsize));
            ensure!(
                needed <= free,
                "not enough space on the file system of {}: {} needed, {} free; {hint}",
                quote(path.as_os_str().as_encoded_bytes()),
                DecimalBytes(needed),
                DecimalBytes(free),
            );
        }
        Ok(())
    }
}
