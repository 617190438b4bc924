//! The libFuzzer target for `ftk_fuzz::list_edits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::list_edits(data));
