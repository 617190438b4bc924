//! The libFuzzer target for `ftk_fuzz::parity_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::parity_files(data));
