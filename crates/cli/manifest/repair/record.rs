//! The record that a repair uses: FILE, or the manifest in a parity file if FILE is damaged or gone.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use ftk_manifest::{Error, Manifest};
use ftk_parity::Parity;
use ftk_record::{Output, ZstdReader, is_zstd_name, quote};

use crate::console::{Console, chain};
use crate::globals::Globals;
use crate::human;
use crate::lock::Lock;
use crate::manifest::input::Input;
use crate::manifest::parity::kept_manifest;
use crate::manifest::repair::is_device_error;

/// A record, and what is to be done with FILE.
pub(super) struct Record<'r> {
    pub(super) input: Input,
    /// The lock of FILE, if it may be written.
    pub(super) lock: Option<Lock>,
    /// The manifest that takes the place of FILE.
    pub(super) kept: Option<Kept<'r>>,
}

/// The manifest in a parity file, which is used because FILE is damaged or gone.
pub(super) struct Kept<'r> {
    file: &'r Path,
    is_gone: bool,
    compressed: fs::File,
}

impl<'r> Record<'r> {
    /// Opens FILE, and locks it if `locks`. If it is damaged or gone, opens the newest manifest in the parity files,
    /// and says so. This one is not locked.
    ///
    /// # Errors
    /// If FILE is something else, or no parity file has a manifest.
    pub(super) fn open(
        file: &'r OsStr,
        locks: bool,
        parities: &[(&OsStr, Parity)],
        memory: u64,
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let path = Path::new(file);
        let opened = (|| {
            let lock = locks.then(|| Lock::acquire(path, console)).transpose()?;
            let input = Input::open(file, globals, console)?;
            lock.as_ref().map_or(Ok(()), Lock::check).with_context(|| quote(file.as_bytes()))?;
            Ok(Self { input, lock, kept: None })
        })();
        let (error, is_gone) = match opened {
            Err(error) if !parities.is_empty() && file != "-" => match is_gone(&error) {
                Some(is_gone) => (error, is_gone),
                None if matches!(error.downcast_ref(), Some(Error::NotManifest(_))) => {
                    let hint = "if it is a damaged manifest, move it away, and repair uses the one in the parity file";
                    return Err(error.context(hint));
                }
                None => return Err(error),
            },
            opened => return opened,
        };
        let mut newest: Option<(&OsStr, fs::File, Manifest)> = None;
        for (path, parity) in parities {
            match kept_manifest(parity, memory) {
                Ok((compressed, manifest)) => {
                    let found = (*path, compressed, manifest);
                    let start = |it: &(_, _, Manifest)| it.2.header().start_ns;
                    if newest.as_ref().is_none_or(|newest| start(newest) < start(&found)) {
                        newest = Some(found);
                    }
                }
                Err(error) => {
                    console.warning(format_args!(
                        "the manifest in {} cannot be used: {}",
                        quote(path.as_bytes()),
                        chain(&error)
                    ));
                }
            }
        }
        let Some((parity, compressed, manifest)) = newest else { return Err(error) };
        let date = human::date(manifest.header().start_ns);
        console.warning(format_args!(
            "{}; the manifest in {} is used, which is of {date}",
            chain(&error),
            quote(parity.as_bytes())
        ));
        let kept = Kept { file: path, is_gone, compressed };
        Ok(Self { input: Input { manifest, own: Vec::new() }, lock: None, kept: Some(kept) })
    }
}

/// Returns whether FILE is gone, or `None` if it is not known to be damaged or gone.
fn is_gone(error: &anyhow::Error) -> Option<bool> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return (error.kind() == ErrorKind::NotFound || is_device_error(error))
            .then_some(error.kind() == ErrorKind::NotFound);
    }
    match error.downcast_ref::<Error>()? {
        Error::Seal(_) | Error::Compression(_) => Some(false),
        Error::Io(error) if is_device_error(error) => Some(false),
        _ => None,
    }
}

impl Kept<'_> {
    /// Says what a run with `--yes` does.
    pub(super) fn say(&self, console: &Console) {
        let name = quote(self.file.as_os_str().as_bytes());
        console.summary(match self.is_gone {
            true => format!("would also write {name}"),
            false => {
                format!("would also replace {name}, and keep the damaged one as {}", shown(&self.damaged()))
            }
        });
    }

    fn damaged(&self) -> PathBuf {
        let mut name = OsString::from(self.file);
        name.push(".damaged");
        name.into()
    }

    /// Writes FILE, and keeps a damaged one under another name. `discard`: what cannot be read is not kept.
    ///
    /// # Errors
    /// If either cannot be written, or the other name is in use. FILE then stays as it is.
    pub(super) fn restore(mut self, discard: bool, console: &Console) -> anyhow::Result<()> {
        let name = quote(self.file.as_os_str().as_bytes());
        let cannot = || format!("cannot write {name}");
        let is_kept = if self.is_gone { false } else { self.keep(discard)? };
        io::Seek::rewind(&mut self.compressed).with_context(cannot)?;
        let mut output = match self.is_gone {
            true => Output::create_new(self.file),
            false => Output::create(self.file),
        }
        .with_context(cannot)?;
        let copied = match is_zstd_name(self.file) {
            true => io::copy(&mut self.compressed, &mut output),
            false => {
                ZstdReader::new(&mut self.compressed).and_then(|mut all| io::copy(&mut all, &mut output))
            }
        };
        copied.and_then(|_| output.commit()).with_context(cannot)?;
        let kept =
            if is_kept { format!("; the damaged one is {}", shown(&self.damaged())) } else { String::new() };
        console.summary(format_args!("wrote {name}{kept}"));
        Ok(())
    }

    /// Copies the damaged file. Returns whether it could be read.
    fn keep(&self, discard: bool) -> anyhow::Result<bool> {
        let damaged = self.damaged();
        let cannot = || format!("cannot keep {} as {}", shown(self.file), shown(&damaged));
        let mut bytes = Vec::new();
        match fs::File::open(self.file).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if is_device_error(&error) && discard => return Ok(false),
            Err(error) if is_device_error(&error) => {
                bail!("{} cannot be read, so it cannot be kept (--discard)", shown(self.file))
            }
            read => _ = read.with_context(cannot)?,
        }
        // A run that was killed here may have kept it.
        if fs::read(&damaged).is_ok_and(|kept| kept == bytes) {
            return Ok(true);
        }
        let mut output = Output::create_new(&damaged).with_context(cannot)?;
        output.write_all(&bytes).and_then(|()| output.commit()).with_context(cannot)?;
        Ok(true)
    }
}

fn shown(path: &Path) -> String {
    quote(path.as_os_str().as_bytes())
}
