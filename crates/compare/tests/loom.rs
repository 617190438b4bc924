//! Checks the search for the earliest mismatches over all interleavings of two and three workers:
//! `RUSTFLAGS="--cfg ftk_loom" cargo test -p ftk-compare --profile loom --test loom`.
//!
//! The source of the search is compiled with loom's primitives in two versions. One is unchanged. The other
//! has an atomic update that is split into a read and a write; its checks must fail. The model is complete:
//! workers share only two counters and a table.
#![cfg(ftk_loom)]
#![expect(clippy::duplicate_mod, reason = "the mutation compiles the same source with other primitives")]
#![expect(unreachable_pub, reason = "the included source has public items")]

#[path = "."]
mod sound {
    mod primitive {
        pub(crate) use loom::sync::Mutex;
        pub(crate) use loom::sync::atomic::AtomicU64;
    }
    #[path = "../src/mismatch.rs"]
    pub(crate) mod mismatch;
    #[path = "../src/search.rs"]
    pub(crate) mod search;
}

#[path = "."]
mod mutated {
    mod primitive {
        use std::sync::atomic::Ordering;

        pub(crate) use loom::sync::Mutex;

        /// An atomic whose `fetch_update` is a separate read and write, so that other threads can run between
        /// them.
        #[derive(Debug)]
        pub(crate) struct AtomicU64(loom::sync::atomic::AtomicU64);

        impl AtomicU64 {
            pub(crate) fn new(value: u64) -> Self {
                Self(loom::sync::atomic::AtomicU64::new(value))
            }
            pub(crate) fn load(&self, order: Ordering) -> u64 {
                self.0.load(order)
            }
            pub(crate) fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                change: impl Fn(u64) -> Option<u64>,
            ) -> Result<u64, u64> {
                let value = self.0.load(fetch);
                self.0.store(change(value).ok_or(value)?, set);
                Ok(value)
            }
            pub(crate) fn fetch_max(&self, other: u64, order: Ordering) -> u64 {
                self.0.fetch_max(other, order)
            }
            pub(crate) fn fetch_min(&self, other: u64, order: Ordering) -> u64 {
                self.0.fetch_min(other, order)
            }
        }
    }
    #[path = "../src/mismatch.rs"]
    pub(crate) mod mismatch;
    #[path = "../src/search.rs"]
    pub(crate) mod search;
}

macro_rules! models {
    ($version:ident) => {
        use loom::sync::Arc;
        use loom::thread;

        use super::$version::mismatch::Mismatch;
        use super::$version::search::{BlockClaims, Search};

        /// Processes blocks of one byte. The first `equal` bytes are known to be equal; a worker that claims
        /// one of them reports this.
        fn work(search: &Search, differ: &[u64], equal: u64) {
            while let Some(claim) = search.claim() {
                if claim.end <= equal {
                    search.skip_to(equal);
                    continue;
                }
                for offset in claim {
                    if differ.contains(&offset) && search.is_needed(offset) {
                        search.insert(&[Mismatch { offset, a: 0, b: 1 }]);
                    }
                }
            }
        }

        /// Checks a search in `len` bytes for the first `capacity` of the offsets that `differ`.
        fn check(workers: u64, len: u64, capacity: usize, differ: &'static [u64], equal: u64) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(if workers > 2 { 2 } else { 3 });
            builder.check(move || {
                let claims = BlockClaims { block: 1, max: 2, workers };
                let search = Arc::new(Search::new(0..len, capacity, claims));
                let threads: Vec<_> = (1..workers)
                    .map(|_| {
                        let search = Arc::clone(&search);
                        thread::spawn(move || work(&search, differ, equal))
                    })
                    .collect();
                work(&search, differ, equal);
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                let search = Arc::try_unwrap(search).expect("all others have ended");
                let found: Vec<_> = search.into_earliest().iter().map(|it| it.offset).collect();
                assert_eq!(found, differ[..capacity.min(differ.len())], "the earliest, each once");
            });
        }

        pub(crate) fn first_two_of_three() {
            check(2, 4, 2, &[1, 2, 3], 0);
        }
        pub(crate) fn few_mismatches() {
            check(2, 4, 3, &[0, 2], 0);
        }
        pub(crate) fn after_equal_blocks() {
            check(2, 5, 2, &[2, 3, 4], 2);
        }
        pub(crate) fn three_workers() {
            check(3, 3, 2, &[0, 1, 2], 0);
        }
        pub(crate) fn one_fails() {
            loom::model(|| {
                let search = Arc::new(Search::new(0..4, 1, BlockClaims { block: 1, max: 1, workers: 2 }));
                let other = {
                    let search = Arc::clone(&search);
                    thread::spawn(move || work(&search, &[3], 0))
                };
                let _ = search.claim();
                search.give_up();
                other.join().unwrap();
                assert_eq!(search.claim(), None);
            });
        }
    };
}

/// The unchanged version: the result is the earliest mismatches, each once.
mod sound_models {
    models!(sound);

    #[test]
    fn the_first_two_of_three_are_found() {
        first_two_of_three();
    }
    #[test]
    fn all_mismatches_are_found_if_there_are_few() {
        few_mismatches();
    }
    #[test]
    fn ranges_known_to_be_equal_are_skipped() {
        after_equal_blocks();
    }
    #[test]
    fn three_workers_agree() {
        three_workers();
    }
    #[test]
    fn a_failing_worker_ends_the_search() {
        one_fails();
    }
}

/// The mutated version: two workers can get the same claim, so a mismatch is found twice, and the models
/// above must detect this.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "each once"]
    fn the_first_is_found_twice() {
        first_two_of_three();
    }
    #[test]
    #[should_panic = "each once"]
    fn one_of_few_is_found_twice() {
        few_mismatches();
    }
    #[test]
    #[should_panic = "each once"]
    fn two_workers_claim_the_same_block_after_a_skip() {
        after_equal_blocks();
    }
    #[test]
    #[should_panic = "each once"]
    fn three_workers_disagree() {
        three_workers();
    }
    #[test]
    fn a_failing_worker_ends_the_mutated_search_too() {
        one_fails();
    }
}
