//! What the handler of `SIGBUS` makes of mappings that come and go, checked over all interleavings:
//! `RUSTFLAGS="--cfg ftk_loom" cargo test -p ftk-read --release --test loom`.
//!
//! The guard's own source is compiled against loom's atomics, once as it is and once with orders that promise nothing,
//! which must fail. The handler is a thread here: in the program it runs on one, in the middle of other things.
#![cfg(ftk_loom)]
#![expect(clippy::duplicate_mod, reason = "the mutation is the same source against other primitives")]

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

        /// An atomic that orders nothing but itself.
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

        /// Mappings below and above the address share a place, one after the other, while the handler asks for it.
        pub(crate) fn between_two() {
            loom::model(|| {
                let guard = Arc::new(free());
                assert!(guard.take(10, 20));
                let handler = {
                    let guard = Arc::clone(&guard);
                    thread::spawn(move || assert_eq!(guard.end_of(30), None, "a mapping that never was"))
                };
                guard.release();
                assert!(guard.take(40, 50));
                handler.join().unwrap();
                assert_eq!(guard.end_of(45), Some(50));
            });
        }

        /// The place is taken by two threads at once: one gets it, and what it says is that one's.
        pub(crate) fn two_want_it() {
            loom::model(|| {
                let guard = Arc::new(free());
                let other = {
                    let guard = Arc::clone(&guard);
                    thread::spawn(move || guard.take(10, 20))
                };
                let mine = guard.take(40, 50);
                let theirs = other.join().unwrap();
                assert!(mine != theirs, "each place has one owner");
                assert_eq!(guard.end_of(15), theirs.then_some(20));
                assert_eq!(guard.end_of(45), mine.then_some(50));
            });
        }

        /// A mapping is found wherever others come and go, and only it is marked.
        pub(crate) fn among_others() {
            loom::model(|| {
                let guards = Arc::new([free(), free()]);
                assert!(guards[0].take(10, 20) && guards[1].take(30, 40));
                let handler = {
                    let guards = Arc::clone(&guards);
                    thread::spawn(move || {
                        let found = guards.iter().position(|guard| guard.end_of(35).is_some());
                        assert_eq!(found, Some(1));
                        guards[1].hit();
                    })
                };
                guards[0].release();
                assert!(guards[0].take(50, 60));
                handler.join().unwrap();
                assert!(guards[1].is_hit() && !guards[0].is_hit());
            });
        }
    };
}

/// As it is: the answer is about one mapping, and the right one.
mod sound_models {
    models!(sound);

    #[test]
    fn an_address_between_two_mappings_is_in_neither() {
        between_two();
    }
    #[test]
    fn a_place_has_one_owner() {
        two_want_it();
    }
    #[test]
    fn a_mapping_is_found_among_others() {
        among_others();
    }
}

/// With orders that promise nothing: a mapping is seen that never was, and the models above notice.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "a mapping that never was"]
    fn an_address_between_two_mappings_is_in_one() {
        between_two();
    }
    #[test]
    fn a_place_still_has_one_owner() {
        two_want_it();
    }
    #[test]
    #[should_panic = "Some(0)"]
    fn another_mapping_is_found() {
        among_others();
    }
}
