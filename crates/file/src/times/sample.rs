//! A sample of a sequence.

/// At most `MOST` items of a sequence of unknown length, evenly distributed over it.
#[derive(Clone, Debug)]
pub struct EvenSample<T> {
    items: Vec<T>,
    /// One item of this many is kept.
    stride: u64,
    /// The number of items so far.
    seen: u64,
}

/// Enough that what half of all items have in common cannot be missed by chance.
const MOST: usize = 512;

impl<T> EvenSample<T> {
    /// Adds the next item of the sequence.
    pub fn add(&mut self, item: T) {
        if self.seen.is_multiple_of(self.stride) {
            self.items.push(item);
            if self.items.len() == MOST {
                let mut nth = 0;
                self.items.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.stride *= 2;
            }
        }
        self.seen += 1;
    }

    /// Returns the items of the sample, in the order of the sequence.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl<T> Default for EvenSample<T> {
    fn default() -> Self {
        Self { items: Vec::new(), stride: 1, seen: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_evenly_distributed() {
        for n in [0, 1, 511, 512, 513, 100_000_u64] {
            let mut sample = EvenSample::default();
            (0..n).for_each(|nth| sample.add(nth));
            let items = sample.items();
            let stride = items.get(1).map_or(1, |second| second - items[0]);
            assert!(items.iter().zip(0..).all(|(item, nth)| *item == nth * stride), "{n}");
            assert!(items.len() < MOST && items.len() as u64 == n.div_ceil(stride), "{n}");
        }
    }
}
