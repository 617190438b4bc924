//! The funnel.

use std::ops::RangeInclusive;

use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{FileNo, Inventory};
use ftk_process::{Failed, Report, Rows, Work};

use crate::candidates::candidates;
use crate::classes::{Class, classes, sizes};
use crate::found::{Equal, Found};
use crate::links::Links;
use crate::pass::{Cuts, Pass, Stage};

/// What is searched for duplicates.
#[derive(Clone, Debug)]
pub struct Funnel<'i> {
    /// The files, with their sizes.
    pub inventory: &'i Inventory,
    /// The digest that equal files agree in.
    pub algorithm: Algorithm,
    /// What the CPU can do.
    pub platform: Platform,
    /// The sizes of the files that count, both ends included. Empty files are all equal, and are so also to this
    /// function if 0 is one of the sizes.
    pub sizes: RangeInclusive<u64>,
}

/// Finds the files that agree in size and digest.
///
/// Every pass over the candidates is one call of `run`, which has to process the work of the stage into the rows
/// ([`ftk_process::process`]) with whatever threads, memory and progress it likes. There are at most three.
///
/// # Errors
/// Whatever `run` returns. A file that cannot be read is none: it is in [`Found::failed`] and in no group.
///
/// # Panics
/// If the digest has fewer than 16 bytes, or the inventory no sizes.
pub fn find<'i, E>(
    funnel: &Funnel<'i>,
    run: impl FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
) -> Result<Found<'i>, E> {
    find_with(funnel, &Cuts::default(), run)
}

/// The same, with other lines between small and large.
pub(crate) fn find_with<'i, E>(
    funnel: &Funnel<'i>,
    cuts: &Cuts,
    run: impl FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
) -> Result<Found<'i>, E> {
    let width = funnel.algorithm.digest_len();
    assert!(width >= 16, "{} is too short to tell files apart", funnel.algorithm);
    let links = Links::new(funnel.inventory);
    let all = candidates(funnel.inventory, &funnel.sizes, &links);

    let mut equal = Equal::new(width);
    let (mut huge, mut left) = (Vec::new(), Vec::new());
    let mut passes = Passes { funnel, cuts, run, failed: Vec::new(), pending: 0 };
    let ends = cuts.span(Pass::Ends);
    passes.pass(Pass::Ends, all, |class| match class.size {
        size if ends.is_whole(size) => equal.push(class.size, class.digest, class.files()),
        size if size >= cuts.huge => huge.extend(class.files()),
        _ => left.extend(class.files()),
    })?;
    passes.pass(Pass::Inside, huge, |class| left.extend(class.files()))?;
    passes.pass(Pass::Whole, left, |class| equal.push(class.size, class.digest, class.files()))?;

    let Passes { mut failed, pending, .. } = passes;
    failed.sort_by_key(|failed| failed.file);
    Ok(Found { failed, pending, inventory: funnel.inventory, links, equal })
}

/// What all passes work with, and what they leave behind.
struct Passes<'f, 'i, R> {
    funnel: &'f Funnel<'i>,
    cuts: &'f Cuts,
    run: R,
    failed: Vec<Failed>,
    pending: u64,
}

impl<R> Passes<'_, '_, R> {
    /// Reads the files as the pass does, and hands on those that are still equal to others.
    fn pass<E>(&mut self, pass: Pass, mut files: Vec<FileNo>, each: impl FnMut(Class<'_>)) -> Result<(), E>
    where
        R: FnMut(&Stage<'_>, &mut Rows) -> Result<Report, E>,
    {
        if files.is_empty() {
            return Ok(());
        }
        files.sort_unstable();
        let (inventory, algorithms, span) =
            (self.funnel.inventory, &[self.funnel.algorithm], self.cuts.span(pass));
        let read = |size| span.ranges(size).map(|range| range.end - range.start).sum::<u64>();
        let bytes = sizes(inventory, &files).map(read).sum();
        let platform = self.funnel.platform;
        let stage =
            Stage { pass, work: Work { inventory, algorithms, platform, only: Some(&files), span }, bytes };
        let mut rows = Rows::new(stage.work.files(), algorithms);
        self.failed.extend((self.run)(&stage, &mut rows)?.failed);
        self.pending += (0..stage.work.files()).filter(|&row| rows.is_pending(row)).count() as u64;
        classes(&files, sizes(inventory, &files), |row| rows.digest(row, 0), each);
        Ok(())
    }
}
