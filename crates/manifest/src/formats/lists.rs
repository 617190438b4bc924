//! Lists of digests: `hashdeep`, BagIt and `sha256sum`.

use std::ops::Range;

use ftk_hash::Algorithm;
use ftk_record::{End, Style, SumFormat, write_bag_line, write_hashdeep_header, write_hashdeep_line};

use crate::Entry;

/// The folder of a bag that holds its payload, as the paths in a payload manifest begin.
pub(super) const PAYLOAD: &[u8] = b"data/";

/// The algorithms of a list, and where their digests are in an entry.
pub(super) type Columns = Vec<(Algorithm, Range<usize>)>;

pub(super) fn hashdeep_header(out: &mut Vec<u8>, columns: &Columns) {
    let names: Vec<_> = columns.iter().map(|(algorithm, _)| algorithm.name()).collect();
    write_hashdeep_header(out, &names);
}

/// Appends the line of a regular file. `name` is the path as the tool gives it.
pub(super) fn hashdeep(
    out: &mut Vec<u8>,
    entry: &Entry<'_>,
    name: &[u8],
    columns: &Columns,
) -> Result<(), String> {
    let size = entry.size().ok_or("its size is not recorded")?;
    let digests = columns.iter().map(|(_, range)| &entry.digests[range.clone()]);
    write_hashdeep_line(out, size, digests, name).map_err(|error| error.to_string())
}

/// Appends the line of a payload file. `name` is the path in the bag.
pub(super) fn bagit(
    out: &mut Vec<u8>,
    entry: &Entry<'_>,
    name: &[u8],
    columns: &Columns,
) -> Result<(), String> {
    write_bag_line(out, &entry.digests[columns[0].1.clone()], name).map_err(|error| error.to_string())
}

/// Appends the line of a regular file.
pub(super) fn sha256(out: &mut Vec<u8>, entry: &Entry<'_>, name: &[u8], columns: &Columns) {
    let (algorithm, range) = &columns[0];
    let format = SumFormat::new(algorithm.tag(), Style::Untagged, End::Newline);
    format.write_line(out, &entry.digests[range.clone()], name);
}
