//! The libFuzzer target for `ftk_fuzz::film_lists`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::film_lists(data));
