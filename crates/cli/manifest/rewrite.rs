//! Rewriting a locked manifest, several times in one run.

use std::path::Path;

use anyhow::Context as _;
use ftk_manifest::{Error, Header, Writer};
use ftk_record::quote;

use crate::list::List;
use crate::lock::Lock;
use crate::manifest::create::{Sink, write};
use crate::stdout::Stdout;

/// A manifest that a run replaces, each time as a whole.
pub(super) struct Rewrite<'o> {
    path: &'o Path,
    stdout: &'o Stdout,
    lock: Lock,
    /// The file that replaces the manifest next.
    next: Option<List<'o>>,
}

impl<'o> Rewrite<'o> {
    /// Creates the file that will replace the manifest `path`, so that a directory that cannot be written is known
    /// before anything is read.
    ///
    /// # Errors
    /// If no such file can be created or locked.
    pub(super) fn begin(path: &'o Path, lock: Lock, stdout: &'o Stdout) -> anyhow::Result<Self> {
        let mut rewrite = Self { path, stdout, lock, next: None };
        rewrite.next = Some(rewrite.create()?);
        Ok(rewrite)
    }

    fn create(&mut self) -> anyhow::Result<List<'o>> {
        let list = List::create(Some(self.path), self.stdout)?;
        self.lock.extend_to(&list).with_context(|| quote(self.path.as_os_str().as_encoded_bytes()))?;
        Ok(list)
    }

    /// Device and inode of the manifest and of the file that replaces it.
    pub(super) fn own(&self) -> Vec<(u64, u64)> {
        self.next.as_ref().map_or_else(Vec::new, List::own)
    }

    /// Replaces the manifest with this header and the entries that `fill` writes.
    ///
    /// # Errors
    /// If this fails, or another program has replaced the manifest, which is then kept.
    pub(super) fn replace(
        &mut self,
        header: &Header,
        fill: impl FnOnce(&mut Writer<Sink<'_>>) -> Result<(), Error>,
    ) -> anyhow::Result<()> {
        let list = match self.next.take() {
            Some(list) => list,
            None => self.create()?,
        };
        write(header, list, Some(self.path), |writer| {
            fill(writer)?;
            Ok(self.lock.check()?)
        })?;
        self.lock.replaced();
        Ok(())
    }
}
