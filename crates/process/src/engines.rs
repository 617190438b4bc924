//! The digest engines of one worker: one for each algorithm, all fed with the same chunks.

use std::collections::VecDeque;
use std::rc::Rc;

use ftk_hash::{Algorithm, Digest, Engine, Event, Platform};
use ftk_read::Chunk;

/// Feeds chunks to all engines and returns each chunk when every engine has used it. Files are told apart by
/// slot.
pub(crate) struct Engines {
    kind: Kind,
    /// The digests of the file on each slot, concatenated. Engines fill them in as they finish.
    digests: Vec<u8>,
    /// Total length of one slot's digests, in bytes.
    width: usize,
}

enum Kind {
    /// A single engine owns its chunks.
    One {
        engine: Box<dyn Engine<Piece>>,
        events: Vec<Event<Piece>>,
    },
    Several {
        queues: Vec<Queue>,
        events: Vec<Event<Piece>>,
        held: usize,
    },
}

/// An engine and the chunks it has no room for yet. It may hold fewer chunks at once than the other engines.
struct Queue {
    engine: Box<dyn Engine<Piece>>,
    waiting: VecDeque<Rc<Chunk>>,
    /// Offset of its digest within a slot's digests.
    at: usize,
}

impl Engines {
    /// Creates one engine for each algorithm, for files on slots below `slots`.
    pub(crate) fn new(algorithms: &[Algorithm], platform: Platform, slots: usize) -> Self {
        let mut width = 0;
        let mut queue = |algorithm: &Algorithm| {
            let at = width;
            width += algorithm.digest_len();
            Queue { engine: algorithm.engine(platform, slots), waiting: VecDeque::new(), at }
        };
        let kind = match algorithms {
            [algorithm] => {
                width = algorithm.digest_len();
                Kind::One { engine: algorithm.engine(platform, slots), events: Vec::new() }
            }
            _ => Kind::Several {
                queues: algorithms.iter().map(&mut queue).collect(),
                events: Vec::new(),
                held: 0,
            },
        };
        Self { kind, digests: vec![0; slots * width], width }
    }

    /// Returns how many files can be hashed in parallel: as many as the widest engine can hash.
    pub(crate) fn width(&self) -> usize {
        match &self.kind {
            Kind::One { engine, .. } => engine.width(),
            Kind::Several { queues, .. } => {
                queues.iter().map(|queue| queue.engine.width()).max().unwrap_or(1)
            }
        }
    }

    /// Returns how many more chunks fit before the next [`step`](Self::step).
    pub(crate) fn vacant(&self) -> usize {
        match &self.kind {
            Kind::One { engine, .. } => engine.vacant(),
            Kind::Several { held, .. } => self.width() - held,
        }
    }

    /// Adds the next chunk of a file. The file's previous chunk must have been returned.
    pub(crate) fn feed(&mut self, chunk: Chunk) {
        match &mut self.kind {
            Kind::One { engine, .. } => {
                engine.feed(chunk.slot, chunk.part.is_start(), chunk.part.is_end(), Piece::Own(chunk))
            }
            Kind::Several { queues, held, .. } => {
                *held += 1;
                let chunk = Rc::new(chunk);
                queues.iter_mut().for_each(|queue| queue.waiting.push_back(Rc::clone(&chunk)));
            }
        }
    }

    /// Works until at least one chunk has been used by every engine, and appends such chunks to `used`.
    /// Appends nothing only if there are no chunks.
    pub(crate) fn step(&mut self, used: &mut Vec<Chunk>) {
        let (digests, width) = (&mut self.digests, self.width);
        let mut note = |slot: u32, at: usize, digest: &Digest| {
            let (at, bytes) = (slot as usize * width + at, digest.as_bytes());
            digests[at..at + bytes.len()].copy_from_slice(bytes);
        };
        match &mut self.kind {
            Kind::One { engine, events } => {
                engine.step(events);
                used.extend(events.drain(..).filter_map(|event| match event {
                    Event::Dry { data, .. } => data.into_chunk(),
                    Event::Done { key, data, digest } => {
                        note(key, 0, &digest);
                        data.into_chunk()
                    }
                }));
            }
            Kind::Several { queues, events, held } => {
                let before = used.len();
                while *held > 0 && used.len() == before {
                    for queue in &mut *queues {
                        queue.step(events);
                        for event in events.drain(..) {
                            let chunk = match event {
                                Event::Dry { data, .. } => data,
                                Event::Done { key, data, digest } => {
                                    note(key, queue.at, &digest);
                                    data
                                }
                            };
                            used.extend(chunk.into_chunk());
                        }
                    }
                }
                *held -= used.len() - before;
            }
        }
    }

    /// Returns the concatenated digests of the file on this slot. Valid once its last chunk is used up.
    pub(crate) fn digests(&self, slot: u32) -> &[u8] {
        &self.digests[slot as usize * self.width..][..self.width]
    }

    /// Discards the unfinished digests of the file on this slot.
    pub(crate) fn forget(&mut self, slot: u32) {
        match &mut self.kind {
            Kind::One { engine, .. } => engine.forget(slot),
            Kind::Several { queues, .. } => queues.iter_mut().for_each(|queue| queue.engine.forget(slot)),
        }
    }
}

impl Queue {
    /// Works until no chunk waits. A narrow engine has then used all its chunks; a wide one has filled its
    /// lanes or holds all the chunks there are.
    fn step(&mut self, events: &mut Vec<Event<Piece>>) {
        loop {
            while self.engine.vacant() > 0
                && let Some(chunk) = self.waiting.pop_front()
            {
                let Chunk { slot, part, .. } = *chunk;
                self.engine.feed(slot, part.is_start(), part.is_end(), Piece::Shared(chunk));
            }
            self.engine.step(events);
            if self.waiting.is_empty() {
                return;
            }
        }
    }
}

/// A chunk in an engine. One type, so that the program has each engine once.
enum Piece {
    /// A single engine has it.
    Own(Chunk),
    /// Several engines of one thread read it.
    Shared(Rc<Chunk>),
}

impl Piece {
    /// Returns the chunk if no other engine needs it any more.
    fn into_chunk(self) -> Option<Chunk> {
        match self {
            Self::Own(chunk) => Some(chunk),
            Self::Shared(chunk) => Rc::into_inner(chunk),
        }
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Own(chunk) => chunk.as_ref(),
            Self::Shared(chunk) => (**chunk).as_ref(),
        }
    }
}
