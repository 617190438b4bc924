//! Prints the paths of regular files that contain a text, but not of hidden or ignored ones: `search TEXT PATH...`
#![expect(clippy::print_stderr, reason = "an example of a program")]

use std::ffi::OsString;
use std::io::{Read, Write, stdout};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use ftk_ignore::IgnoreFiles;
use ftk_walk::{Entry, FileType, Op, Step, WalkError, Walker};

fn contains(text: &[u8], entry: &Entry<'_>) -> Result<bool, WalkError> {
    if entry.file_type() != FileType::Regular {
        return Ok(false);
    }
    let mut content = Vec::new();
    entry.open()?.read_to_end(&mut content).map_err(|error| entry.error(Op::Read, error))?;
    Ok(text.is_empty() || content.windows(text.len()).any(|part| part == text))
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let text = args.next().map(OsString::into_vec).unwrap_or_default();
    let walker = Walker::new(args)
        .filter_entry(|entry| !entry.name().starts_with(b"."))
        .filter_with(IgnoreFiles::new());
    let failures = walker.fold(
        || 0,
        |failures, entry| {
            let found = entry.and_then(|entry| Ok(contains(&text, entry)?.then(|| entry.path())));
            let written = match found.map_err(|error| format!("{error:#}")) {
                Ok(Some(path)) => stdout().write_all(&[path.as_os_str().as_bytes(), b"\n"].concat()),
                Ok(None) => Ok(()),
                Err(error) => Err(std::io::Error::other(error)),
            };
            *failures += usize::from(written.inspect_err(|error| eprintln!("{error}")).is_err());
            Step::Descend
        },
    );
    ExitCode::from(if failures.iter().sum::<usize>() > 0 { 2 } else { 0 })
}
