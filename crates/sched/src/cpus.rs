//! How many CPUs and cores this process may use.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::LazyLock;
use std::thread;

/// Logical CPUs that this process may use, by affinity and by the quota of its control group; at least 1.
///
/// Found out once, which costs some tens of microseconds: ask only when the answer matters.
pub fn logical_cpus() -> usize {
    static CPUS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    *CPUS
}

/// Physical cores among [`logical_cpus`]; as many as those where the system does not say.
///
/// Reads a small file for each CPU.
pub fn physical_cores() -> usize {
    let logical = logical_cpus();
    match cores_of(Path::new("/sys/devices/system/cpu"), &allowed_cpus()) {
        0 => logical,
        cores => cores.min(logical),
    }
}

/// Numbers of the CPUs this process may run on; empty where the system does not say.
#[cfg(target_os = "linux")]
fn allowed_cpus() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

#[cfg(not(target_os = "linux"))]
fn allowed_cpus() -> Vec<usize> {
    Vec::new()
}

/// How many cores these CPUs belong to, 0 if that is unknown for any of them.
///
/// A core is told by the list of its CPUs, since core numbers repeat between packages and, on some machines,
/// between dies.
fn cores_of(sys_cpu: &Path, cpus: &[usize]) -> usize {
    let siblings = |cpu| fs::read_to_string(sys_cpu.join(format!("cpu{cpu}/topology/core_cpus_list"))).ok();
    cpus.iter().map(|&cpu| siblings(cpu)).collect::<Option<BTreeSet<_>>>().map_or(0, |cores| cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_told_by_their_siblings() {
        let sys = tempfile::tempdir().unwrap();
        for (cpu, siblings) in ["0,2\n", "1,3\n", "0,2\n", "1,3\n"].into_iter().enumerate() {
            let topology = sys.path().join(format!("cpu{cpu}/topology"));
            fs::create_dir_all(&topology).unwrap();
            fs::write(topology.join("core_cpus_list"), siblings).unwrap();
        }
        assert_eq!(cores_of(sys.path(), &[0, 1, 2, 3]), 2);
        assert_eq!(cores_of(sys.path(), &[1, 3]), 1);
        assert_eq!(cores_of(sys.path(), &[0, 9]), 0);
        assert_eq!(cores_of(sys.path(), &[]), 0);
    }

    #[test]
    fn no_more_cores_than_cpus() {
        assert!((1..=logical_cpus()).contains(&physical_cores()));
    }
}
