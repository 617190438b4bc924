//! The search for the earliest mismatches, checked over the interleavings of two and three workers:
//! `RUSTFLAGS="--cfg ftk_loom" cargo test -p ftk-compare --release --test loom`.
//!
//! Its own source is compiled against loom's primitives, once as it is and once with atomics that read and write
//! apart, which must fail. Nothing stands in for anything: workers share two counters and a table, and no deque.
#![cfg(ftk_loom)]
#![expect(clippy::duplicate_mod, reason = "the mutation is the same source against other primitives")]
#![expect(unreachable_pub, reason = "what the crate makes public is part of the source")]

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

        /// An atomic whose changes are a read and a write of which others may come between.
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

        /// Blocks of one byte. The first `equal` of them are known to be equal, and whoever claims one of them says so.
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

        /// Explores a search in `len` bytes for the first `capacity` of those that `differ`.
        fn check(workers: u64, len: u64, capacity: usize, differ: &'static [u64], equal: u64) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(if workers > 2 { 2 } else { 3 });
            builder.check(move || {
                let claims = BlockClaims { block: 1, most: 2, workers };
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
        pub(crate) fn all_there_are() {
            check(2, 4, 3, &[0, 2], 0);
        }
        pub(crate) fn behind_what_is_equal() {
            check(2, 5, 2, &[2, 3, 4], 2);
        }
        pub(crate) fn three_workers() {
            check(3, 3, 2, &[0, 1, 2], 0);
        }
        pub(crate) fn one_fails() {
            loom::model(|| {
                let search = Arc::new(Search::new(0..4, 1, BlockClaims { block: 1, most: 1, workers: 2 }));
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

/// As it is: the result is the earliest mismatches, each once.
mod sound_models {
    models!(sound);

    #[test]
    fn the_first_two_of_three_win() {
        first_two_of_three();
    }
    #[test]
    fn all_there_are_are_found() {
        all_there_are();
    }
    #[test]
    fn what_is_equal_is_jumped_over() {
        behind_what_is_equal();
    }
    #[test]
    fn three_workers_agree() {
        three_workers();
    }
    #[test]
    fn one_that_fails_ends_all() {
        one_fails();
    }
}

/// With claims that two workers may get: something is found twice, and the models above notice.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "each once"]
    fn the_first_is_found_twice() {
        first_two_of_three();
    }
    #[test]
    #[should_panic = "each once"]
    fn one_of_all_is_found_twice() {
        all_there_are();
    }
    #[test]
    #[should_panic = "each once"]
    fn behind_what_is_equal_two_claim_the_same() {
        behind_what_is_equal();
    }
    #[test]
    #[should_panic = "each once"]
    fn three_workers_disagree() {
        three_workers();
    }
    #[test]
    fn one_that_fails_ends_all_the_same() {
        one_fails();
    }
}
