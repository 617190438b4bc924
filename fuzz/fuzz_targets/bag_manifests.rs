//! The libFuzzer target for `ftk_fuzz::bag_manifests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ftk_fuzz::bag_manifests(data));
