//! Digests of a stream that is not in the inventory, such as standard input.

use std::io::{self, ErrorKind, Read};

use ftk_file::AlignedBuf;
use ftk_hash::{Algorithm, Digest, Event, Platform};
use ftk_read::SyncReader;

use crate::engines::Shared;

/// Reads `input` to its end and returns one digest for each algorithm, in their order.
///
/// # Errors
/// Any error of reading, except interruptions, which are retried.
pub fn hash_stream(
    mut input: impl Read,
    algorithms: &[Algorithm],
    platform: Platform,
) -> io::Result<Vec<Digest>> {
    let mut engines: Vec<_> = algorithms.iter().map(|it| it.engine::<Shared<Piece>>(platform, 1)).collect();
    let (mut events, mut digests) = (Vec::new(), Vec::new());
    let mut piece = Piece { buf: AlignedBuf::new(SyncReader::STREAM_BUF_LEN), len: 0 };
    let mut is_start = true;
    loop {
        piece.len = match input.read(&mut piece.buf) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        let is_end = piece.len == 0;
        let shared = Shared::new(piece);
        for engine in &mut engines {
            engine.feed(0, is_start, is_end, shared.clone());
            engine.step(&mut events);
        }
        digests.extend(events.drain(..).filter_map(|event| match event {
            Event::Dry { .. } => None,
            Event::Done { digest, .. } => Some(digest),
        }));
        if is_end {
            return Ok(digests);
        }
        piece = shared.into_inner().expect("every engine has given it back");
        is_start = false;
    }
}

/// The bytes of one read.
struct Piece {
    buf: AlignedBuf,
    len: usize,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.buf[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_reads_of_a_stream_do_not_change_its_digests() {
        let bytes: Vec<u8> = (0..700_000_u32).map(|i| (i % 253) as u8).collect();
        let platform = Platform::detect();
        let alone: Vec<_> = Algorithm::ALL.iter().map(std::slice::from_ref).collect();
        for algorithms in [&alone[..], &[&Algorithm::ALL]].concat() {
            for len in [0, 1, 70_000, bytes.len()] {
                let dribs = bytes[..len]
                    .chunks(60_001)
                    .fold(Box::new(io::empty()) as Box<dyn Read>, |all, drib| Box::new(all.chain(drib)));
                let digests = hash_stream(dribs, algorithms, platform).expect("slices do not fail");
                let expected = algorithms.iter().map(|it| it.hash_one(platform, &bytes[..len]));
                assert!(expected.eq(digests), "{algorithms:?} of {len} bytes");
            }
        }
    }
}
