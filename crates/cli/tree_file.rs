//! Files that describe a tree: manifests, and the JSON of ncdu.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek as _};
use std::path::Path;

use anyhow::Context as _;
use ftk_manifest::{Kind, sniff};
use ftk_record::{ZstdReader, is_zstd, quote};

use crate::console::Console;
use crate::globals::Globals;
use crate::input;
use crate::manifest::input::Input;

/// Bytes that show whether a file is a manifest.
const START: u64 = 64 << 10;

/// A file that describes a tree.
#[expect(clippy::large_enum_variant, reason = "a run has a few of them")]
pub(crate) enum TreeFile {
    Manifest(Input),
    /// A file that is neither a manifest nor something that can become one, decompressed.
    Ncdu(BufReader<Box<dyn Read + Send>>),
}

impl TreeFile {
    /// Opens `path`, or standard input for `-`. In a directory are the parts of a manifest.
    ///
    /// # Errors
    /// If it cannot be opened, or is a manifest that is damaged.
    pub(crate) fn open(path: &OsStr, globals: &Globals, console: &Console) -> anyhow::Result<Self> {
        if path != "-" && Path::new(path).is_dir() {
            return Input::open(path, globals, console).map(Self::Manifest);
        }
        let name = || quote(path.as_encoded_bytes());
        let mut input = input::open(path).with_context(|| format!("cannot open {}", name()))?;
        let mut first = Vec::new();
        (&mut input).take(START).read_to_end(&mut first).with_context(name)?;
        if matches!(sniff(&first), Kind::Manifest | Kind::Plan | Kind::List(_)) {
            // A pipe cannot be read twice, so what follows is copied, as every command that reads manifests does.
            let file = whole(input, &first).with_context(name)?;
            return Input::of_file(path, file, console).map(Self::Manifest);
        }
        let is_compressed = is_zstd(&first);
        let input = Cursor::new(first).chain(input);
        let input: Box<dyn Read + Send> = match is_compressed {
            true => Box::new(ZstdReader::new(input).with_context(name)?),
            false => Box::new(input),
        };
        Ok(Self::Ncdu(BufReader::new(input)))
    }
}

/// Returns a file that can be read from its start.
fn whole(mut input: File, first: &[u8]) -> io::Result<File> {
    if input.rewind().is_ok() {
        return Ok(input);
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut first.chain(input), &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}
