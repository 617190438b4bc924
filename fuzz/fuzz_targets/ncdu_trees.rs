//! The libFuzzer target for `ftk_fuzz::ncdu_trees`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::ncdu_trees(data));
