//! The funnel: finds identical files in up to three passes.

use std::ops::RangeInclusive;

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::{Failed, Report, Rows, Work};

use crate::candidates::candidates;
use crate::classes::{Class, classes, sizes};
use crate::found::{Equal, Found};
use crate::links::Links;
use crate::pass::{Pass, Stage, Thresholds};

/// Where and how to search for duplicates.
#[derive(Clone, Debug)]
pub struct Funnel<'i> {
    /// The files, with their sizes.
    pub inventory: &'i Inventory,
    /// The digest that identical files share.
    pub algorithm: Algorithm,
    /// The abilities of the CPU.
    pub platform: Platform,
    /// The sizes of files to include, both ends inclusive. If 0 is included, all empty files are reported as
    /// identical.
    pub sizes: RangeInclusive<u64>,
}

/// Finds the files that share their size and digest.
///
/// Each pass over the candidates is one call of `run`. It must process the work of the stage into the rows
/// ([`ftk_process::process`]); threads, memory and progress are its choice. There are at most three passes.
///
/// # Errors
/// Any error of `run`. A file that cannot be read is not such an error: it is in [`Found::failed`] and in no group.
///
/// # Panics
/// If the digest has fewer than 16 bytes, or the inventory has no sizes.
pub fn find<'i, E>(
    funnel: &Funnel<'i>,
    run: impl FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
) -> Result<Found<'i>, E> {
    find_with(funnel, &Thresholds::default(), run)
}

/// Does the same as [`find`], with other thresholds for the passes.
pub(crate) fn find_with<'i, E>(
    funnel: &Funnel<'i>,
    thresholds: &Thresholds,
    run: impl FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
) -> Result<Found<'i>, E> {
    let width = funnel.algorithm.digest_len();
    assert!(width >= 16, "{} is too short to tell files apart", funnel.algorithm);
    let links = Links::new(funnel.inventory);
    let all = candidates(funnel.inventory, &funnel.sizes, &links);

    let mut equal = Equal::new(width);
    let (mut huge, mut left) = (Vec::new(), Vec::new());
    let mut passes = Passes { funnel, thresholds, run, failed: Vec::new(), pending: 0 };
    let ends = thresholds.span(Pass::Ends);
    passes.pass(Pass::Ends, all, |class| match class.size {
        size if ends.is_whole(size) => equal.push(class.size, class.digest, class.files()),
        size if size >= thresholds.huge => huge.extend(class.files()),
        _ => left.extend(class.files()),
    })?;
    passes.pass(Pass::Inside, huge, |class| left.extend(class.files()))?;
    passes.pass(Pass::Whole, left, |class| equal.push(class.size, class.digest, class.files()))?;

    let Passes { mut failed, pending, .. } = passes;
    failed.sort_by_key(|failed| failed.file);
    Ok(Found { failed, pending, inventory: funnel.inventory, links, equal })
}

/// The inputs of all passes, and the files that could not be processed.
struct Passes<'f, 'i, R> {
    funnel: &'f Funnel<'i>,
    thresholds: &'f Thresholds,
    run: R,
    failed: Vec<Failed>,
    pending: u64,
}

impl<R> Passes<'_, '_, R> {
    /// Runs one pass over the files, and calls `each` for every class of files that still look identical.
    fn pass<E>(&mut self, pass: Pass, mut files: Vec<FileNo>, each: impl FnMut(Class<'_>)) -> Result<(), E>
    where
        R: FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
    {
        if files.is_empty() {
            return Ok(());
        }
        files.sort_unstable();
        let (inventory, algorithms, span) =
            (self.funnel.inventory, &[self.funnel.algorithm], self.thresholds.span(pass));
        let read = |size| span.ranges(size).map(|range| range.end - range.start).sum::<u64>();
        let bytes = sizes(inventory, &files).map(read).sum();
        let platform = self.funnel.platform;
        let stage = Stage {
            pass,
            work: Work {
                inventory,
                algorithms,
                platform,
                only: Some(&files),
                span,
                fixed_sizes: true,
                prefix: None,
            },
            bytes,
        };
        let mut rows = Rows::new(stage.work.files(), algorithms);
        self.failed.extend((self.run)(&stage, &mut rows)?.failed);
        self.pending += (0..stage.work.files()).filter(|&row| rows.is_pending(row)).count() as u64;
        classes(&files, sizes(inventory, &files), |row| rows.digest(row, 0), each);
        Ok(())
    }
}
