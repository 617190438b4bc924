//! The padding of MD5 and SHA: a one bit, zeros, and the length of the message in bits.

use super::Tail;

/// Returns the most message bytes that fit into `room` bytes together with the one bit and a length field of
/// `length` bytes.
pub(super) const fn longest(room: usize, length: usize) -> usize {
    room - length - 1
}

/// Pads `used` bytes to blocks of `block` bytes that end with `length`. Returns the number of blocks.
pub(super) fn merkle_damgard<const N: usize>(
    tail: &mut Tail,
    used: usize,
    block: usize,
    length: [u8; N],
) -> usize {
    let blocks = (used + 1 + N).div_ceil(block);
    let end = blocks * block;
    tail[used] = 0x80;
    tail[used + 1..end - N].fill(0);
    tail[end - N..end].copy_from_slice(&length);
    blocks
}

#[cfg(test)]
mod tests {
    use crate::function::{Function, Md5, Sha1, Sha256, Sha512};

    #[test]
    fn lengths_beyond_32_bits_are_written_completely() {
        let total = (1 << 33) + 5;
        let mut tail = [0xee; 256];
        assert_eq!(<Sha256>::pad(&mut tail, 5, total), 1);
        assert_eq!(tail[56..64], (total * 8).to_be_bytes());
        assert_eq!(tail[5], 0x80);
        assert_eq!(tail[6..56], [0; 50]);
        assert_eq!(Sha1::pad(&mut tail, 60, total), 2);
        assert_eq!(tail[120..128], (total * 8).to_be_bytes());
        assert_eq!(Md5::pad(&mut tail, 60, total), 2);
        assert_eq!(tail[120..128], (total * 8).to_le_bytes());
        assert_eq!(<Sha512>::pad(&mut tail, 112, u64::MAX), 2);
        assert_eq!(tail[240..256], (u128::from(u64::MAX) * 8).to_be_bytes());
    }

    #[test]
    fn up_to_short_bytes_make_one_block() {
        let mut tail = [0; 256];
        for used in [0, <Sha256>::SHORT, <Sha256>::SHORT + 1, <Sha256>::TAIL] {
            assert_eq!(<Sha256>::pad(&mut tail, used, 0), 1 + usize::from(used > <Sha256>::SHORT));
        }
        for used in [0, <Sha512>::SHORT, <Sha512>::SHORT + 1, <Sha512>::TAIL] {
            assert_eq!(<Sha512>::pad(&mut tail, used, 0), 1 + usize::from(used > <Sha512>::SHORT));
        }
    }
}
