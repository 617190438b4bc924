//! The libFuzzer target for `ftk_fuzz::plans`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::plans(data));
