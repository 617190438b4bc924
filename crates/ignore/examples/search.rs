//! Prints the paths of regular files that contain a text, but not of hidden or ignored ones: `search TEXT PATH...`
#![expect(clippy::print_stderr, reason = "an example of a program")]

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use ftk_ignore::IgnoreFiles;
use ftk_walk::{Entry, FileType, Op, Step, WalkError, Walker};

fn search(text: &[u8], entry: &Entry<'_>) -> Result<(), WalkError> {
    if entry.file_type() != FileType::Regular {
        return Ok(());
    }
    let mut content = Vec::new();
    entry.open()?.read_to_end(&mut content).map_err(|error| entry.error(Op::Read, error))?;
    if text.is_empty() || content.windows(text.len()).any(|part| part == text) {
        let line = [entry.path().as_os_str().as_bytes(), b"\n"].concat();
        io::stdout().write_all(&line).map_err(|error| entry.error(Op::Read, error))?;
    }
    Ok(())
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
            if let Err(error) = entry.and_then(|entry| search(&text, entry)) {
                eprintln!("{error:#}");
                *failures += 1;
            }
            Step::Descend
        },
    );
    ExitCode::from(if failures.iter().sum::<usize>() > 0 { 2 } else { 0 })
}
