//! Prints for each directory the bytes of all regular files below it, and its path: `sums PATH...`
#![expect(clippy::print_stderr, reason = "an example of a program")]

use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use ftk_walk::{FileType, Step, Walker};

fn main() -> io::Result<ExitCode> {
    let (sums, errors) = Walker::new(std::env::args_os().skip(1)).fold_dirs(
        |bytes: &mut u64, entry| {
            if entry.file_type() == FileType::Regular {
                *bytes += entry.metadata()?.size;
            }
            Ok(Step::Descend)
        },
        |bytes, below| *bytes += below,
    );
    let mut out = BufWriter::new(io::stdout().lock());
    for (path, bytes) in &sums {
        write!(out, "{bytes}\t")?;
        out.write_all(path.as_os_str().as_bytes())?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    for error in &errors {
        eprintln!("{error:#}");
    }
    Ok(ExitCode::from(if errors.is_empty() { 0 } else { 2 }))
}
