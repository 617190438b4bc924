//! Counts entries that a walk sends to this thread, as `find PATH... | wc -l` does: `stream PATH...`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example of a program")]

use std::process::ExitCode;

use ftk_walk::Walker;

fn main() -> ExitCode {
    let (mut entries, mut failed) = (0_u64, false);
    for entry in Walker::new(std::env::args_os().skip(1)).stream(1000) {
        match entry {
            Ok(_) => entries += 1,
            Err(error) => {
                eprintln!("{error:#}");
                failed = true;
            }
        }
    }
    println!("{entries}");
    ExitCode::from(if failed { 2 } else { 0 })
}
