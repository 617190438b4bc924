//! Engines: digests of many messages that arrive in pieces and in any order.

use ftk_hash::{Algorithm, Digest, Engine, Event, Platform, Simd};

/// The number of keys, and so of unfinished messages at once.
const KEYS: usize = 40;

/// The content of the messages: arbitrary bytes, at another offset for every key.
static BYTES: [u8; LONGEST + KEYS] = bytes();

/// The length of the longest message: BLAKE3 has a special way up to 32 KiB.
const LONGEST: usize = 40_000;

const fn bytes() -> [u8; LONGEST + KEYS] {
    let mut bytes = [0; LONGEST + KEYS];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at * 7 + at / 251) as u8;
        at += 1;
    }
    bytes
}

/// Uses the input as the lengths of messages and pieces, and to decide which message is fed next, when the
/// engine makes a step, and which message is forgotten. Each digest must be that of the message alone.
pub fn engines(data: &[u8]) {
    let [algorithm, simd, data @ ..] = data else { return };
    let algorithm = Algorithm::ALL[usize::from(*algorithm) % Algorithm::ALL.len()];
    let simd = [Simd::Portable, Simd::Avx2, Simd::ShaNi, Simd::Avx512][usize::from(*simd) % 4];
    let Ok(platform) = Platform::up_to(simd) else { return };
    let engine = algorithm.engine(platform, KEYS);
    let mut run = Run { algorithm, engine, messages: [const { None }; KEYS], events: Vec::new() };
    for &[key, how, high, low] in data.as_chunks().0 {
        let key = usize::from(key) % KEYS;
        let len = usize::from(high) << 8 | usize::from(low);
        match how {
            0..=15 => run.step(),
            16..=19 => run.forget(key),
            _ => run.feed(key, len, how < 128),
        }
    }
    run.finish();
}

struct Run<'e> {
    algorithm: Algorithm,
    engine: Box<dyn Engine<&'static [u8]> + 'e>,
    /// The unfinished message of each key.
    messages: [Option<Message>; KEYS],
    events: Vec<Event<&'static [u8]>>,
}

/// An unfinished message, and how many of its bytes were fed.
#[derive(Clone, Copy)]
struct Message {
    fed: usize,
    /// The piece that the engine has.
    piece: Option<(&'static [u8], bool)>,
}

impl Run<'_> {
    /// Feeds a piece to the engine, unless the engine still has one of this message.
    fn feed(&mut self, key: usize, len: usize, is_last: bool) {
        let before = self.messages[key];
        if before.is_some_and(|message| message.piece.is_some()) {
            return;
        }
        if self.engine.vacant() == 0 {
            self.step();
        }
        let fed = before.map_or(0, |message| message.fed);
        let end = LONGEST.min(fed + len);
        let piece = &BYTES[key..][fed..end];
        self.messages[key] = Some(Message { fed: end, piece: Some((piece, is_last)) });
        self.engine.feed(key as u32, before.is_none(), is_last, piece);
    }

    fn step(&mut self) {
        self.engine.step(&mut self.events);
        let has_pieces = self.messages.iter().flatten().any(|message| message.piece.is_some());
        assert_eq!(self.events.is_empty(), !has_pieces, "a step has events if and only if there is work");
        for event in self.events.drain(..) {
            let (Event::Dry { key, data } | Event::Done { key, data, .. }) = &event;
            let place = &mut self.messages[*key as usize];
            let message = place.as_mut().expect("it is under way");
            let (piece, is_last) = message.piece.take().expect("the engine has a piece of it");
            assert!(std::ptr::eq(*data, piece), "the piece is returned");
            assert_eq!(is_last, matches!(event, Event::Done { .. }));
            if let Event::Done { key, digest, .. } = event {
                let whole = &BYTES[key as usize..][..message.fed];
                assert_eq!(
                    digest,
                    alone(self.algorithm, whole),
                    "{} bytes by {}",
                    whole.len(),
                    self.algorithm
                );
                *place = None;
            }
        }
    }

    fn forget(&mut self, key: usize) {
        if self.messages[key].is_none_or(|message| message.piece.is_none()) {
            self.engine.forget(key as u32);
            self.messages[key] = None;
        }
    }

    /// Finishes all messages that were not forgotten.
    fn finish(&mut self) {
        for key in 0..KEYS {
            while self.messages[key].is_some_and(|message| message.piece.is_some()) {
                self.step();
            }
            if self.messages[key].is_some() {
                self.feed(key, 0, true);
            }
        }
        while self.messages.iter().any(Option::is_some) {
            self.step();
        }
    }
}

fn alone(algorithm: Algorithm, message: &[u8]) -> Digest {
    let portable = Platform::up_to(Simd::Portable).expect("every CPU can do without");
    algorithm.hash_one_with(portable, message)
}
