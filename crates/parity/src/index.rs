//! The index: batches, contents and checksums.

use std::ops::Range;
use std::str::FromStr as _;

use ftk_hash::{Algorithm, Hasher};

use crate::layout::is_large;
use crate::{Batch, Error, Layout, Piece, UNIT, round_up};

/// The algorithms of the digests by which contents are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithms(pub Vec<Algorithm>);

impl Algorithms {
    /// Starts to hash a content.
    pub(crate) fn hashers(&self) -> Vec<Hasher> {
        self.0.iter().map(|algorithm| Hasher::new(*algorithm)).collect()
    }

    /// Returns whether a content has these digests.
    pub(crate) fn match_digests(&self, content: &[u8], digests: &[u8]) -> bool {
        let mut hashers = self.hashers();
        hashers.iter_mut().for_each(|hasher| hasher.update(content));
        are(hashers, digests)
    }
}

/// Returns whether these are the digests.
pub(crate) fn are(hashers: Vec<Hasher>, digests: &[u8]) -> bool {
    let found: Vec<u8> =
        hashers.into_iter().flat_map(|hasher| hasher.finalize().as_bytes().to_vec()).collect();
    found == digests
}

/// A distinct content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its length in bytes.
    pub size: u64,
    /// Its digests, one after the other.
    pub digests: Vec<u8>,
}

/// What a parity file knows of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) algorithms: Algorithms,
    pub(crate) batches: Vec<Batch>,
    pub(crate) contents: Vec<Content>,
    pub(crate) layout: Layout,
    /// The checksum of each block of the stream.
    pub(crate) data_sums: Vec<u64>,
    /// The checksum of each recovery block, batch by batch.
    pub(crate) recovery_sums: Vec<u64>,
}

impl Index {
    /// The largest number of bytes in memory for each byte of an index, with the bytes themselves.
    pub(crate) const HELD: u64 = 4;

    /// Returns the index without the content that was skipped. The places of these become zeros.
    pub(crate) fn without(mut self, skipped: &[usize]) -> Self {
        let mut is_kept = vec![true; self.contents.len()];
        skipped.iter().for_each(|&nth| is_kept[nth] = false);
        let mut position = 0;
        let positions: Vec<_> =
            is_kept.iter().map(|kept| (position, position += usize::from(*kept)).0).collect();
        self.layout.pieces.retain(|piece| is_kept[piece.content]);
        self.layout.pieces.iter_mut().for_each(|piece| piece.content = positions[piece.content]);
        let mut kept = is_kept.iter();
        self.contents.retain(|_| *kept.next().expect("one for each content"));
        self
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.algorithms.0.len() as u8];
        for algorithm in &self.algorithms.0 {
            out.push(algorithm.name().len() as u8);
            out.extend(algorithm.name().as_bytes());
            out.push(algorithm.digest_len() as u8);
        }
        let put = |out: &mut Vec<u8>, value: u64| out.extend(value.to_le_bytes());
        put(&mut out, self.batches.len() as u64);
        for batch in &self.batches {
            [batch.blocks, batch.groups, batch.recovery, batch.offset]
                .iter()
                .for_each(|it| put(&mut out, *it));
        }
        put(&mut out, self.contents.len() as u64);
        let mut pieces = self.layout.pieces.clone();
        pieces.sort_unstable_by_key(|piece| (piece.content, piece.offset));
        let mut pieces = pieces.as_slice();
        for (nth, content) in self.contents.iter().enumerate() {
            let count = pieces.iter().take_while(|piece| piece.content == nth).count();
            let (own, others) = pieces.split_at(count);
            pieces = others;
            out.extend(&content.digests);
            put(&mut out, content.size);
            put(&mut out, count as u64);
            for piece in own {
                [piece.offset, piece.place, piece.len].iter().for_each(|it| put(&mut out, *it));
            }
        }
        self.data_sums.iter().chain(&self.recovery_sums).for_each(|sum| put(&mut out, *sum));
        out
    }

    /// Reads an index. `block`: the length of blocks; `len`: that of the file. It has at most [`HELD`](Self::HELD) times as
    /// many bytes.
    pub(crate) fn decode(bytes: &[u8], block: u64, len: u64) -> Result<Self, Error> {
        let mut input = Input(bytes);
        // Every block has a checksum, so a short index has few.
        let most = bytes.len() as u64 / 8;
        let algorithms = algorithms(&mut input)?;
        let digest_len: usize = algorithms.0.iter().map(|algorithm| algorithm.digest_len()).sum();
        let (mut blocks, mut recovery) = (0, 0);
        let count = input.count(32)?;
        let mut batches = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let batch = batch(&mut input, blocks, recovery, most, block, len)?;
            blocks = batch.range().end;
            recovery += batch.recovery_blocks();
            batches.push(batch);
        }
        let stream = blocks * block;
        let count = input.count(digest_len + 16)?;
        let (mut contents, mut pieces) = (Vec::with_capacity(count as usize), Vec::new());
        for content in 0..count {
            let digests = input.bytes(digest_len)?.to_vec();
            let size = input.word()?;
            let (mut end, mut stored) = (0, 0);
            let is_large = is_large(size, block);
            let unit = if is_large { block } else { UNIT };
            for _ in 0..input.count(24)? {
                let [offset, place, len] = [input.word()?, input.word()?, input.word()?];
                let range = |start: u64, limit| start.checked_add(len).filter(|end| *end <= limit);
                let is_valid =
                    len > 0 && offset >= end && place.is_multiple_of(unit) && offset.is_multiple_of(unit);
                end = range(offset, size)
                    .filter(|_| is_valid && range(place, stream).is_some())
                    .ok_or(INVALID)?;
                stored += len;
                pieces.push(Piece { content: content as usize, offset, place, len });
            }
            // Only a large content may have holes.
            if !is_large && stored != size {
                return Err(INVALID);
            }
            contents.push(Content { size, digests });
        }
        pieces.sort_unstable_by_key(|piece| piece.place);
        check(&pieces, &contents, block)?;
        let mut sums = |count: u64| -> Result<Vec<u64>, Error> {
            let (words, _) = input.bytes(count as usize * 8)?.as_chunks::<8>();
            Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
        };
        let (data_sums, recovery_sums) = (sums(blocks)?, sums(recovery)?);
        if !input.0.is_empty() {
            return Err(Error::Invalid("the length of the index"));
        }
        let layout = Layout { pieces, blocks, block };
        Ok(Self { algorithms, batches, contents, layout, data_sums, recovery_sums })
    }
}

const INVALID: Error = Error::Invalid("the place of a content");
const INVALID_BATCH: Error = Error::Invalid("a batch");
const SHORT: &str = "the index ends early";

fn algorithms(input: &mut Input<'_>) -> Result<Algorithms, Error> {
    let mut all = Vec::new();
    for _ in 0..input.byte()? {
        let len = input.byte()?;
        let name = std::str::from_utf8(input.bytes(len.into())?).ok();
        let algorithm = name.and_then(|name| Algorithm::from_str(name).ok().filter(|it| it.name() == name));
        let algorithm = algorithm.ok_or(Error::Invalid("an unknown algorithm"))?;
        if usize::from(input.byte()?) != algorithm.digest_len() {
            return Err(Error::Invalid("the length of a digest"));
        }
        all.push(algorithm);
    }
    match all.iter().any(|algorithm| algorithm.identifies_content()) {
        true => Ok(Algorithms(all)),
        false => Err(Error::Invalid("no digests that identify contents")),
    }
}

/// Reads a batch after so many blocks and recovery blocks, of which there are at most `most`.
fn batch(
    input: &mut Input<'_>,
    first: u64,
    earlier: u64,
    most: u64,
    block: u64,
    len: u64,
) -> Result<Batch, Error> {
    let [blocks, groups, recovery, offset] = [input.word()?, input.word()?, input.word()?, input.word()?];
    let batch = Batch { first, blocks, groups, recovery, offset, earlier };
    let is_valid = blocks <= most - first
        && (1..=blocks).contains(&groups)
        && (1..=1 << 15).contains(&recovery)
        && batch.rows(0) + batch.chunk() <= 1 << 16
        && batch.recovery_blocks() <= most - earlier
        && (batch.recovery_blocks() * block).checked_add(offset).is_some_and(|end| end <= len);
    if is_valid { Ok(batch) } else { Err(INVALID_BATCH) }
}

/// Checks that no unit belongs to two contents, and that large ones have blocks of their own.
fn check(pieces: &[Piece], contents: &[Content], block: u64) -> Result<(), Error> {
    let mut end = 0;
    let mut small: Range<u64> = 0..0;
    for piece in pieces {
        let is_large = is_large(contents[piece.content].size, block);
        if piece.place < end || is_large && piece.place < small.end {
            return Err(INVALID);
        }
        let unit = if is_large { block } else { UNIT };
        end = round_up(piece.range().end, unit);
        if !is_large {
            small = piece.place..round_up(piece.range().end, block);
        }
    }
    Ok(())
}

/// The rest of the bytes.
struct Input<'b>(&'b [u8]);

impl<'b> Input<'b> {
    fn bytes(&mut self, len: usize) -> Result<&'b [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Error::Invalid(SHORT))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.bytes(1)?[0])
    }

    fn word(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.bytes(8)?.try_into().expect("eight bytes")))
    }

    /// Reads the number of entries that follow, each of at least `len` bytes.
    fn count(&mut self, len: usize) -> Result<u64, Error> {
        let count = self.word()?;
        if count <= (self.0.len() / len) as u64 { Ok(count) } else { Err(Error::Invalid(SHORT)) }
    }
}
