//! Counts the newlines of all regular files in parallel, as `wc -l` does: `lines PATH...`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example of a program")]

use std::io::{self, Read};
use std::process::ExitCode;

use ftk_walk::{Entry, FileType, Op, Step, WalkError, Walker};

/// The state of one worker.
#[derive(Default)]
struct Count {
    lines: usize,
    buffer: Vec<u8>,
    failed: bool,
}

impl Count {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), WalkError> {
        if entry.file_type() == FileType::Regular {
            self.lines += self.newlines(entry.open()?).map_err(|error| entry.error(Op::Read, error))?;
        }
        Ok(())
    }

    fn newlines(&mut self, mut file: impl Read) -> io::Result<usize> {
        self.buffer.resize(64 << 10, 0);
        let mut lines = 0;
        loop {
            match file.read(&mut self.buffer)? {
                0 => return Ok(lines),
                n => lines += self.buffer[..n].iter().filter(|&&byte| byte == b'\n').count(),
            }
        }
    }
}

fn main() -> ExitCode {
    let counts = Walker::new(std::env::args_os().skip(1)).fold(Count::default, |count, entry| {
        if let Err(error) = entry.and_then(|entry| count.add(entry)) {
            eprintln!("{error:#}");
            count.failed = true;
        }
        Step::Descend
    });
    println!("{}", counts.iter().map(|count| count.lines).sum::<usize>());
    ExitCode::from(if counts.iter().any(|count| count.failed) { 2 } else { 0 })
}
