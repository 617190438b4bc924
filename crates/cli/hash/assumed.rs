//! Finds out by which algorithm a digest is that does not say it.

use anyhow::Context as _;
use ftk_hash::{Algorithm, Digest};
use ftk_inventory::{FileNo, Inventory, PathList};

use crate::hash::check::lists::TOO_LARGE;
use crate::run::{Hashed, Run};

/// Reads the file in `paths`, a list of one, and returns the algorithms by which it has one of the `listed` digests, of
/// those whose digests have this length. None if it cannot be read.
///
/// # Errors
/// If no reader starts, or the memory is too small.
pub(super) fn matching(paths: PathList, listed: &[Digest], run: &Run<'_>) -> anyhow::Result<Vec<Algorithm>> {
    let of_length = |it: &Algorithm| listed.iter().any(|listed| listed.as_bytes().len() == it.digest_len());
    let candidates: Vec<_> = Algorithm::ALL.into_iter().filter(of_length).collect();
    let (inventory, _) = Inventory::from_list(paths).context(TOO_LARGE)?;
    let work = run.whole(&inventory, None, &candidates);
    let Hashed { rows, .. } = run.read(&work, run.rows(&work, false)?)?;
    let found = rows.digests(FileNo(0).0).into_iter().flatten();
    let is_listed = |digest: &[u8]| listed.iter().any(|listed| listed.as_bytes() == digest);
    Ok(candidates.into_iter().zip(found).filter(|(_, digest)| is_listed(digest)).map(|it| it.0).collect())
}
