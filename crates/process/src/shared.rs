//! One huge file hashed by all workers, where the digest is a tree: BLAKE3.

use std::sync::atomic::{AtomicUsize, Ordering};

use ftk_hash::{ChainingValue, Tree};
use ftk_inventory::Opener;
use ftk_read::{Failure, File, Stat, Sync};
use ftk_sched::{Stop, Team};

use crate::claims::Job;
use crate::driver::Failed;
use crate::rows::State;
use crate::run::Crew;
use crate::team::leave_shared_descriptors;

/// Hashes the file of `size` bytes. Each worker opens it for itself, since they share no descriptors, claims
/// windows of the tree, and says at the end whether the file it saw stayed as it was.
pub(crate) fn process(crew: &Crew<'_>, workers: usize, size: u64, job: Job<'_>) -> Option<Failed> {
    let tree = Tree::new(size).expect("only files of several windows are shared");
    // Raised by the first worker that fails, so that the others do not read on for nothing.
    let (failed, next) = (Stop::new(), AtomicUsize::new(0));
    let parts = Team::new(workers).run(crew.env.stop, |worker| {
        if worker > 0 {
            leave_shared_descriptors();
        }
        let part = windows(crew, worker, &tree, &next, &failed, &job);
        if part.is_err() {
            failed.raise();
        }
        part
    });
    if crew.env.stop.is_raised() {
        return None;
    }
    crew.cells.of(0).add_file(true);
    match parts.into_iter().collect::<Result<Vec<_>, _>>().and_then(|parts| join(&tree, size, &parts)) {
        Ok(values) => {
            job.row.ok(tree.root(&values).as_bytes());
            None
        }
        Err(failure) => {
            let file = job.file;
            job.row.fail(State::of(&failure));
            Some(Failed { file, failure })
        }
    }
}

/// What one worker made: the file as it saw it, and the values of the windows it claimed.
struct Part {
    stat: Stat,
    values: Vec<(usize, ChainingValue)>,
}

fn windows(
    crew: &Crew<'_>,
    worker: usize,
    tree: &Tree,
    next: &AtomicUsize,
    failed: &Stop,
    job: &Job<'_>,
) -> Result<Part, Failure> {
    let inventory = crew.work.inventory;
    let dir = Opener::new(inventory).open(job.dir).map_err(|source| Failure::Io { op: "open", source })?;
    let name = inventory.name(job.dir, job.file);
    let file = File::open(&dir, name, inventory.via_link(job.dir, job.file))?;
    let mut part = Part { stat: *file.stat(), values: Vec::new() };
    let mut buf = vec![0; Sync::STREAM_BUF_LEN];
    let (mut bytes, mut reads) = (0, 0);
    while !crew.env.stop.is_raised() && !failed.is_raised() {
        // Relaxed: the counter hands out numbers and nothing else.
        let nth = next.fetch_add(1, Ordering::Relaxed);
        if nth >= tree.windows() {
            break;
        }
        let window = tree.window(nth);
        let mut subtree = tree.subtree(nth);
        let mut at = window.start;
        while at < window.end {
            let ask = buf.len().min((window.end - at) as usize);
            let got =
                file.read_at(&mut buf[..ask], at).map_err(|source| Failure::Io { op: "read", source })?;
            if got == 0 {
                // Shorter than when it was measured: `verify` finds out how.
                file.verify(at, reads + 2)?;
                return Err(unexpected_end());
            }
            subtree.update(&buf[..got]);
            crew.cells.of(worker).add_bytes(got, true);
            at += got as u64;
            bytes += got as u64;
            reads += 1;
        }
        part.values.push((nth, subtree.finalize()));
    }
    // Two reads at least: the others read too, and for as long as this one.
    file.verify(bytes, reads + 2)?;
    Ok(part)
}

/// The values of all windows in order, if all workers saw the same file.
fn join(tree: &Tree, size: u64, parts: &[Part]) -> Result<Vec<ChainingValue>, Failure> {
    let first = &parts[0].stat;
    if let Some(other) = parts.iter().find(|part| part.stat.size != size || part.stat != *first) {
        return Err(Failure::Changed { before: Box::new(*first), after: Box::new(other.stat), read: size });
    }
    let mut values = vec![None; tree.windows()];
    for &(nth, value) in parts.iter().flat_map(|part| &part.values) {
        values[nth] = Some(value);
    }
    values.into_iter().collect::<Option<_>>().ok_or_else(unexpected_end)
}

/// The file ended before its size although nothing else about it changed.
fn unexpected_end() -> Failure {
    Failure::Io { op: "read", source: std::io::ErrorKind::UnexpectedEof.into() }
}
