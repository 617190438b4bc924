//! Counts entries and regular files: `cargo run --release --example count -- PATH...`
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example of a program")]

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;

use ftk_walk::{Entry, FileType, Step, Visitor, WalkError, Walker};

#[derive(Default)]
struct Count {
    entries: usize,
    files: usize,
}

impl Visitor for Count {
    type Dir = ();

    fn root(&mut self, _: &mut Entry<'_>) -> Step {
        self.entries += 1;
        Step::Descend
    }

    fn descend(&mut self, _: Option<&()>, _: &Entry<'_>) {}

    fn entry(&mut self, _: &(), entry: &mut Entry<'_>) -> Step {
        self.entries += 1;
        self.files += usize::from(entry.file_type() == FileType::Regular);
        Step::Descend
    }

    fn error(&mut self, error: WalkError) -> Step {
        eprintln!("{error}: {}", error.source);
        Step::Next
    }
}

fn main() {
    let roots = std::env::args_os().skip(1).filter_map(|path| CString::new(path.into_vec()).ok());
    let counts = Walker::new(roots).run(|_| Count::default());
    let entries: usize = counts.iter().map(|count| count.entries).sum();
    let files: usize = counts.iter().map(|count| count.files).sum();
    println!("{entries} entries, {files} files");
}
