//! Numbers of threads to try.

use ftk_sched::logical_cpus;

/// Returns the powers of two below the number of logical CPUs, and that number; always one and two.
pub fn thread_counts() -> Vec<usize> {
    let most = logical_cpus().max(2);
    let mut counts: Vec<_> = (0..).map(|power| 1 << power).take_while(|count| *count < most).collect();
    counts.push(most);
    counts
}
