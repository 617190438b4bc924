//! The libFuzzer target for `ftk_fuzz::checks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::checks(data));
