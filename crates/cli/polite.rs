//! `--polite` and `--limit-rate`: how a run makes room for others.

use ftk_file::{DropMethod, Mount, drop_methods, limit_rate, mounts};
use ftk_read::be_polite;
use ftk_select::parse_bytes;

use crate::args::Globals;
use crate::console::{Console, cause};

/// Parses a rate in bytes per second: a size, and optionally `/s`.
pub(crate) fn parse_rate(text: &str) -> Result<u64, String> {
    match parse_bytes(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("nothing could be read: the rate must be at least 1 byte per second".into()),
        rate => rate.map_err(|error| error.to_string()),
    }
}

/// Applies the options to this process. It must not have started threads yet.
pub(crate) fn begin(globals: &Globals, console: &Console) {
    if let Some(rate) = globals.limit_rate {
        limit_rate(rate);
    }
    if globals.polite
        && let Err(error) = be_polite()
    {
        console
            .warning(format_args!("--polite: cannot set the I/O class or the priority: {}", cause(&error)));
    }
}

/// With `-v`, prints what `--polite` did.
pub(crate) fn say_methods(globals: &Globals, console: &Console) {
    if !globals.polite {
        return;
    }
    console.verbose(|| {
        let methods = drop_methods();
        let mounts: Vec<_> = mounts().collect();
        let by = |method, name: &str| {
            let devices = methods.iter().filter(|&(_, of)| *of == method);
            let mut names: Vec<_> = devices.map(|(dev, _)| file_system(*dev, &mounts)).collect();
            names.sort();
            names.dedup();
            if names.is_empty() { String::new() } else { format!(", by {name} ({})", names.join(", ")) }
        };
        let how =
            by(DropMethod::DontCache, "RWF_DONTCACHE") + &by(DropMethod::Advise, "mincore and posix_fadvise");
        let how = how.strip_prefix(',').map_or_else(|| " of no files".into(), str::to_owned);
        format!("polite  idle I/O class, priority 19; pages dropped{how}")
    });
}

/// Returns the type of the file system with this device number, such as `ext4`.
fn file_system(dev: u64, mounts: &[Mount]) -> String {
    mounts.iter().find(|mount| mount.dev == dev).map_or_else(
        || format!("device {}:{}", rustix::fs::major(dev), rustix::fs::minor(dev)),
        |mount| mount.kind.clone(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_sizes_per_second() {
        for (text, rate) in
            [("1", 1), ("50M", 50 << 20), ("50M/s", 50 << 20), ("1.5MB/s", 1_500_000), ("100KiB", 100 << 10)]
        {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["", "/s", "0", "0M/s", "-1", "fast", "1M/m", "1M/s/s", "1M /s", "99999999P"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn file_systems_are_found_by_their_number() {
        let mount = |dev, kind: &str| Mount { dev, root: "/".into(), at: "/".into(), kind: kind.into() };
        let mounts =
            &[mount(rustix::fs::makedev(254, 0), "ext4"), mount(rustix::fs::makedev(0, 27), "tmpfs")];
        assert_eq!(file_system(rustix::fs::makedev(254, 0), mounts), "ext4");
        assert_eq!(file_system(rustix::fs::makedev(0, 27), mounts), "tmpfs");
        assert_eq!(file_system(rustix::fs::makedev(0, 2), mounts), "device 0:2");
    }
}
