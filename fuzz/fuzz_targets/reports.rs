//! The libFuzzer target for `ftk_fuzz::reports`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::reports(data));
