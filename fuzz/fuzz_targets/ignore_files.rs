//! The libFuzzer target for `ftk_fuzz::ignore_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::ignore_files(data));
