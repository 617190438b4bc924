//! Device numbers.
#![allow(clippy::unnecessary_cast, reason = "the width of device numbers differs between systems")]

use rustix::fs::{Dev, major, makedev, minor};

/// Returns the number of a device, as in [`Stat::dev`](crate::Stat::dev), from its two parts.
pub fn device_of(major: u32, minor: u32) -> u64 {
    makedev(major, minor) as u64
}

/// Returns the major and the minor number of a device.
pub fn device_parts(device: u64) -> (u32, u32) {
    (major(device as Dev), minor(device as Dev))
}
