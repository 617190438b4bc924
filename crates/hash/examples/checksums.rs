//! Prints the digest of each file, as `sha256sum` and similar tools do: `checksums ALGORITHM FILE...`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example of a program")]

use std::process::ExitCode;

use ftk_hash::Algorithm;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let name = args.next().unwrap_or_default();
    let algorithm: Algorithm = match name.to_string_lossy().parse() {
        Ok(algorithm) => algorithm,
        Err(error) => {
            eprintln!("checksums: {error}");
            return ExitCode::from(2);
        }
    };
    let mut status = 0;
    for path in args {
        match algorithm.hash_file(&path) {
            Ok(digest) => println!("{digest}  {}", path.display()),
            Err(error) => {
                eprintln!("checksums: cannot read {}: {error}", path.display());
                status = 2;
            }
        }
    }
    ExitCode::from(status)
}
