//! The libFuzzer target for `ftk_fuzz::s3_inventories`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::s3_inventories(data));
