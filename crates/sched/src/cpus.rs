//! The number of CPUs and cores that this process may use.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::LazyLock;
use std::thread;

/// Returns the number of logical CPUs that this process may use, limited by its affinity and by the quota of
/// its control group; at least 1.
///
/// The first call takes tens of microseconds, and the result is kept. Call this only if the answer matters.
pub fn logical_cpus() -> usize {
    static CPUS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    *CPUS
}

/// Returns the number of physical cores among [`logical_cpus`], or the number of logical CPUs if the system
/// does not report cores.
///
/// Reads a small file for each CPU.
pub fn physical_cores() -> usize {
    let logical = logical_cpus();
    match cores_of(Path::new("/sys/devices/system/cpu"), &allowed_cpus()) {
        0 => logical,
        cores => cores.min(logical),
    }
}

/// Returns the numbers of the CPUs that this process may run on, or an empty list if the system does not
/// report them.
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

/// Returns the number of cores that these CPUs belong to, or 0 if it is unknown for any of them.
///
/// A core is identified by the list of its CPUs, since core numbers repeat between packages and, on some
/// machines, between dies.
fn cores_of(sys_cpu: &Path, cpus: &[usize]) -> usize {
    let siblings = |cpu| fs::read_to_string(sys_cpu.join(format!("cpu{cpu}/topology/core_cpus_list"))).ok();
    cpus.iter().map(|&cpu| siblings(cpu)).collect::<Option<BTreeSet<_>>>().map_or(0, |cores| cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_counted_by_their_sibling_lists() {
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
    fn there_are_at_most_as_many_cores_as_cpus() {
        assert!((1..=logical_cpus()).contains(&physical_cores()));
    }
}
