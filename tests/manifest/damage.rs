//! Damage to files of a tree.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use super::records::{lines, seal};

/// Changes a byte of a file and restores its mtime. The ctime tells that something was written.
pub(crate) fn flip(path: &Path) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let metadata = file.metadata().unwrap();
    let (mut byte, at) = ([0], metadata.len() / 2);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    file.set_modified(metadata.modified().unwrap()).unwrap();
}

/// Changes files as a failing disk does: no time changes. `root` is the tree, and `paths` are relative to it.
///
/// No call sets the ctime of a file. So the test changes the recorded ctime instead, and the start of the run that made
/// the manifest: files that changed since then would be read by every update.
pub(crate) fn rot(root: &Path, manifest: &Path, paths: &[String]) {
    let ctime = regex::Regex::new(r#""ctime_ns":-?[0-9]+"#).unwrap();
    let mut lines = lines(manifest);
    for path in paths {
        flip(&root.join(path));
        let now = fs::metadata(root.join(path)).unwrap();
        let ctime_ns = i128::from(now.ctime()) * 1_000_000_000 + i128::from(now.ctime_nsec());
        let start = format!("{{\"path\":\"{path}\",");
        let line = lines.iter_mut().find(|line| line.starts_with(&start)).expect("a recorded file");
        *line = ctime.replace(line, format!("\"ctime_ns\":{ctime_ns}")).into_owned();
    }
    let later = SystemTime::now() + Duration::from_millis(100);
    // A run that is older than the manifest takes its start for an error of a clock.
    thread::sleep(Duration::from_millis(120));
    let later = later.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let before = lines[0].rfind(':').unwrap() + 1;
    lines[0] = format!("{}{later}}}", &lines[0][..before]);
    fs::write(manifest, seal(&lines)).unwrap();
}
