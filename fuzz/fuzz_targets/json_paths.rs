//! The libFuzzer target for `ftk_fuzz::json_paths`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::json_paths(data));
