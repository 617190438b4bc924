//! The libFuzzer target for `ftk_fuzz::tars`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::tars(data));
