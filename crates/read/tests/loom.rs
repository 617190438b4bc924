//! Checks the guards that the `SIGBUS` handler searches, over all interleavings of threads: `RUSTFLAGS="--cfg
//! ftk_loom" cargo test -p ftk-read --profile loom --test loom`.
//!
//! The source of the guard is compiled twice against loom's atomics: unchanged, and with every ordering
//! relaxed, which must fail. A thread stands for the handler, which in the program interrupts a thread.
#![cfg(ftk_loom)]
#![expect(clippy::duplicate_mod, reason = "the mutation compiles the same source with other atomics")]

#[path = "."]
mod sound {
    mod primitive {
        pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize};
    }
    #[path = "../src/guard.rs"]
    pub(crate) mod guard;

    pub(crate) fn free() -> guard::Guard {
        let [start, end] = [(); 2].map(|()| primitive::AtomicUsize::new(0));
        guard::Guard { start, end, is_hit: primitive::AtomicBool::new(false) }
    }
}

#[path = "."]
mod mutated {
    mod primitive {
        use std::sync::atomic::Ordering::{self, Relaxed};

        pub(crate) use loom::sync::atomic::AtomicBool;

        /// An atomic that ignores the requested ordering and uses `Relaxed`.
        #[derive(Debug)]
        pub(crate) struct AtomicUsize(loom::sync::atomic::AtomicUsize);

        impl AtomicUsize {
            pub(crate) fn new(value: usize) -> Self {
                Self(loom::sync::atomic::AtomicUsize::new(value))
            }
            pub(crate) fn load(&self, _: Ordering) -> usize {
                self.0.load(Relaxed)
            }
            pub(crate) fn store(&self, value: usize, _: Ordering) {
                self.0.store(value, Relaxed);
            }
            pub(crate) fn compare_exchange(
                &self,
                old: usize,
                new: usize,
                _: Ordering,
                _: Ordering,
            ) -> Result<usize, usize> {
                self.0.compare_exchange(old, new, Relaxed, Relaxed)
            }
        }
    }
    #[path = "../src/guard.rs"]
    pub(crate) mod guard;

    pub(crate) fn free() -> guard::Guard {
        let [start, end] = [(); 2].map(|()| primitive::AtomicUsize::new(0));
        guard::Guard { start, end, is_hit: loom::sync::atomic::AtomicBool::new(false) }
    }
}

macro_rules! models {
    ($version:ident) => {
        use loom::sync::Arc;
        use loom::thread;

        use super::$version::free;

        /// Two mappings, below and above the address, use one guard in turn while the handler searches.
        pub(crate) fn handler_searches_while_a_guard_is_reused() {
            loom::model(|| {
                let guard = Arc::new(free());
                assert!(guard.acquire(10, 20));
                let handler = {
                    let guard = Arc::clone(&guard);
                    thread::spawn(move || {
                        assert_eq!(guard.end_of(30), None, "found a mapping that never existed")
                    })
                };
                guard.release();
                assert!(guard.acquire(40, 50));
                handler.join().unwrap();
                assert_eq!(guard.end_of(45), Some(50));
            });
        }

        /// Two threads claim one guard at once. One succeeds, and the guard holds its range.
        pub(crate) fn two_threads_claim_one_guard() {
            loom::model(|| {
                let guard = Arc::new(free());
                let other = {
                    let guard = Arc::clone(&guard);
                    thread::spawn(move || guard.acquire(10, 20))
                };
                let mine = guard.acquire(40, 50);
                let theirs = other.join().unwrap();
                assert!(mine != theirs, "each guard has one owner");
                assert_eq!(guard.end_of(15), theirs.then_some(20));
                assert_eq!(guard.end_of(45), mine.then_some(50));
            });
        }

        /// A mapping is found while others come and go, and only its guard is marked.
        pub(crate) fn handler_searches_among_other_guards() {
            loom::model(|| {
                let guards = Arc::new([free(), free()]);
                assert!(guards[0].acquire(10, 20) && guards[1].acquire(30, 40));
                let handler = {
                    let guards = Arc::clone(&guards);
                    thread::spawn(move || {
                        let found = guards.iter().position(|guard| guard.end_of(35).is_some());
                        assert_eq!(found, Some(1));
                        guards[1].hit();
                    })
                };
                guards[0].release();
                assert!(guards[0].acquire(50, 60));
                handler.join().unwrap();
                assert!(guards[1].is_hit() && !guards[0].is_hit());
            });
        }
    };
}

/// With the real orderings, all models pass.
mod sound_models {
    models!(sound);

    #[test]
    fn an_address_between_two_mappings_is_in_neither() {
        handler_searches_while_a_guard_is_reused();
    }
    #[test]
    fn a_guard_has_one_owner() {
        two_threads_claim_one_guard();
    }
    #[test]
    fn a_mapping_is_found_among_others() {
        handler_searches_among_other_guards();
    }
}

/// With relaxed orderings, the models find errors.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "found a mapping that never existed"]
    fn relaxed_orderings_find_a_mapping_that_never_existed() {
        handler_searches_while_a_guard_is_reused();
    }
    #[test]
    fn a_guard_still_has_one_owner() {
        two_threads_claim_one_guard();
    }
    #[test]
    #[should_panic = "Some(0)"]
    fn relaxed_orderings_find_the_wrong_mapping() {
        handler_searches_among_other_guards();
    }
}
