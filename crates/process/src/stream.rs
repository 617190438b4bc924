//! Digests of a stream that is not in the inventory, such as standard input.

use std::io::{self, ErrorKind, Read};

use ftk_file::AlignedBuf;
use ftk_hash::{Algorithm, Digest, Hasher, Platform};
use ftk_read::SyncReader;

/// Reads `input` to its end and returns one digest for each algorithm, in their order.
///
/// # Errors
/// Any error of reading, except interruptions, which are retried.
pub fn hash_stream(
    mut input: impl Read,
    algorithms: &[Algorithm],
    platform: Platform,
) -> io::Result<Vec<Digest>> {
    let mut hashers: Vec<_> = algorithms.iter().map(|it| Hasher::with_platform(*it, platform)).collect();
    let mut buf = AlignedBuf::new(SyncReader::STREAM_BUF_LEN);
    loop {
        let len = match input.read(&mut buf) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if len == 0 {
            return Ok(hashers.into_iter().map(Hasher::finalize).collect());
        }
        for hasher in &mut hashers {
            hasher.update(&buf[..len]);
        }
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
                let expected = algorithms.iter().map(|it| it.hash_one_with(platform, &bytes[..len]));
                assert!(expected.eq(digests), "{algorithms:?} of {len} bytes");
            }
        }
    }
}
