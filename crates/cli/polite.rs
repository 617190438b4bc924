//! `--polite` and `--limit-rate`: how a run makes room for others.

use ftk_file::{DropMethod, Mount, drop_methods, limit_rate, mounts};
use ftk_read::be_polite;

use crate::console::{Console, cause};
use crate::globals::Globals;
use crate::human::device;

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
    let known = mounts.iter().find(|mount| mount.dev == dev);
    known.map_or_else(|| format!("device {}", device(dev)), |mount| mount.kind.clone())
}

#[cfg(test)]
mod tests {
    use ftk_file::device_of;

    use super::*;

    #[test]
    fn file_systems_are_found_by_their_number() {
        let mount =
            |dev, kind: &str| Mount { number: 1, dev, root: "/".into(), at: "/".into(), kind: kind.into() };
        let mounts = &[mount(device_of(254, 0), "ext4"), mount(device_of(0, 27), "tmpfs")];
        assert_eq!(file_system(device_of(254, 0), mounts), "ext4");
        assert_eq!(file_system(device_of(0, 27), mounts), "tmpfs");
        assert_eq!(file_system(device_of(0, 2), mounts), "device 0:2");
    }
}
