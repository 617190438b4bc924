//! Groups of parts by hash: parts that are too many to be read at the same time are merged into fewer files first.

use std::io::Write as _;

use crate::blocks::BLOCK;
use crate::parse::Owned;
use crate::sequence::Sequence;
use crate::shard::whole_lines::{PartFile, WholeLines, locate};
use crate::write::BATCH;
use crate::{Error, Failed, Header, Manifest, Writer};

/// The most groups. Each is an open file, and few may be open.
const GROUPS: u64 = 48;

/// The name of a group in errors.
const NAME: &[u8] = b"(merged parts)";

impl Manifest {
    /// Returns how many bytes of memory are enough to read parts by hash, in [groups](Self::group) if there are many. For other
    /// files, which are read one after another, this is 0.
    pub fn least_memory(&self) -> u64 {
        let sizes = || self.parts().iter().map(|part| part.sealed.bytes_to_read());
        let (all, largest) = (self.bytes_at_a_time(), sizes().max().unwrap_or(0));
        // A group is closed when the next part does not fit, so all but the last one have more than the first sum.
        let of_groups = (all.div_ceil(GROUPS) + largest).max(GROUPS * BLOCK as u64 * 2);
        all.min(of_groups)
    }

    /// Merges parts by hash in groups, if reading all of them at the same time needs more than `memory` bytes. Afterwards it
    /// needs no more, if `memory` is at least the [least](Self::least_memory). The groups are unnamed temporary files with the
    /// lines of all parts.
    ///
    /// # Errors
    /// If a part cannot be read, has lines that are out of order or of other shards, or a temporary file cannot be written.
    pub fn group(self, memory: u64) -> Result<Self, Error> {
        if self.bytes_at_a_time() <= memory {
            return Ok(self);
        }
        let (parts, header) = self.into_files();
        let (mut groups, mut group, mut bytes) = (Vec::new(), Vec::new(), 0);
        for part in parts {
            let size = part.sealed.bytes_to_read();
            if group.len() > 1 && bytes + size > memory {
                groups.push(join(std::mem::take(&mut group), &header)?);
                bytes = 0;
            }
            group.push(part);
            bytes += size;
        }
        match <[_; 1]>::try_from(group) {
            Ok([part]) => groups.push(part),
            Err(group) => groups.push(join(group, &header)?),
        }
        Ok(Self::of_files(groups, header))
    }
}

/// Merges parts by hash into one file.
fn join(parts: Vec<PartFile>, header: &Header) -> Result<PartFile, Error> {
    let parts = Manifest::of_files(parts, Header { failed: Failed::default(), ..header.clone() });
    let mut file = tempfile::tempfile()?;
    let mut writer = Writer::new(parts.header(), |lines| file.write_all(lines));
    let mut lines = WholeLines::new(parts.parts(), header)?;
    let (mut sequence, mut parsed, mut batch) = (Sequence::default(), Owned::new(), Vec::new());
    while let Some(line) = lines.next()? {
        let start = batch.len();
        batch.extend_from_slice(line);
        let number = lines.number();
        // Later errors would not name the part.
        let read = parsed.read(&batch[start..], header);
        let read = read.and_then(|_| sequence.add(parsed.entry().path, lines.shard()));
        read.map_err(|what| locate(parts.parts(), Error::Line { number, what }))?;
        batch.push(b'\n');
        if batch.len() >= BATCH {
            writer.copy(&batch)?;
            batch.clear();
        }
    }
    writer.copy(&batch)?;
    writer.finish()?;
    let [merged] = <[_; 1]>::try_from(Manifest::open_any(file)?.into_files().0).expect("it is one file");
    let shards = parts.into_files().0.into_iter().flat_map(|part| part.shards).collect();
    Ok(PartFile { shards, name: NAME.to_vec(), ..merged })
}
