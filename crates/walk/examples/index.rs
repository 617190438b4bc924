//! Prints size and path of all regular files in path order, as a backup program needs them: `index PATH...`
#![expect(clippy::print_stderr, reason = "an example of a program")]

use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use ftk_walk::{Fields, FileType, Walker};

fn main() -> io::Result<ExitCode> {
    let walker = Walker::new(std::env::args_os().skip(1)).prefetch(Fields::SIZE);
    let (entries, errors) = walker.collect_sorted();
    let mut out = BufWriter::new(io::stdout().lock());
    for entry in entries.iter().filter(|entry| entry.file_type() == FileType::Regular) {
        if let Some(metadata) = entry.metadata() {
            write!(out, "{}\t", metadata.size)?;
            out.write_all(entry.path().as_os_str().as_bytes())?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    for error in &errors {
        eprintln!("{error:#}");
    }
    Ok(ExitCode::from(if errors.is_empty() { 0 } else { 2 }))
}
