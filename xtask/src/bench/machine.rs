//! The machine and the versions of a record.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::peers::Peers;

/// The facts that a reader needs to judge the times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Day of the run in UTC, such as 2026-01-31.
    pub(crate) date: String,
    /// Its name, and the instruction sets that digests use: a virtual machine may hide the model.
    pub(crate) cpu: String,
    /// Logical CPUs.
    pub(crate) cpus: usize,
    pub(crate) memory_mib: u64,
    pub(crate) kernel: String,
    /// Average number of running or waiting processes in the minute before. Unless near 0, it means noise.
    pub(crate) load: f64,
    /// Version and commit.
    pub(crate) ftk: String,
    pub(crate) tools: Vec<Tool>,
}

/// A peer and its version.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// `None` if the tool is missing and was not measured.
    pub(crate) version: Option<String>,
}

impl Machine {
    /// Collects the facts.
    ///
    /// # Errors
    /// If the system does not provide one of them.
    pub(crate) fn look(ftk: &Path, peers: &Peers) -> Result<Self> {
        let (cpu, memory) = (fs::read_to_string("/proc/cpuinfo")?, fs::read_to_string("/proc/meminfo")?);
        let memory = field(&memory, "MemTotal");
        let load = fs::read_to_string("/proc/loadavg")?;
        let commit = said("git", &["describe", "--always", "--dirty", "--exclude=*"]);
        let tools = peers.versions().into_iter();
        Ok(Self {
            date: said("date", &["-u", "+%Y-%m-%d"]).context("no date")?,
            cpu: cpu_name(&cpu),
            cpus: std::thread::available_parallelism()?.get(),
            memory_mib: memory.and_then(|text| text.trim_end_matches(" kB").parse().ok()).unwrap_or(0) / 1024,
            kernel: said("uname", &["-sr"]).context("no kernel release")?,
            load: load.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0),
            ftk: [said(ftk, &["--version"]), commit].into_iter().flatten().collect::<Vec<_>>().join(" "),
            tools: tools.map(|(name, version)| Tool { name: name.to_owned(), version }).collect(),
        })
    }

    /// Returns the folder name of a record: the day and the CPU.
    pub(crate) fn slug(&self) -> String {
        let words = self.cpu.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.filter(|word| !matches!(*word, "" | "R" | "TM" | "CPU" | "Processor"));
        let cpu: Vec<_> = words.map(str::to_ascii_lowercase).collect();
        format!("{}-{}", self.date, cpu.join("-"))
    }
}

/// Returns the name of the CPU from the text of `/proc/cpuinfo`, with the instruction sets that digests use.
fn cpu_name(info: &str) -> String {
    let flags: Vec<_> = field(info, "flags").unwrap_or_default().split(' ').collect();
    let sets = [("avx512bw", "AVX-512"), ("avx2", "AVX2"), ("sha_ni", "SHA-NI")];
    let sets: Vec<_> = sets.iter().filter(|(flag, _)| flags.contains(flag)).map(|(_, name)| *name).collect();
    let name = field(info, "model name").unwrap_or("unknown");
    if sets.is_empty() { name.to_owned() } else { format!("{name} ({})", sets.join(", ")) }
}

/// Returns the type of the file system that contains `path`.
pub(crate) fn file_system(path: &Path) -> String {
    let df = Command::new("df").arg("--output=fstype").arg(path).output();
    let text = df.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().nth(1).unwrap_or("unknown").trim().to_owned()
}

/// Returns the value after `name` and a colon.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim()))
}

/// Returns the first line of output of a command if it succeeds.
pub(super) fn said(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.lines().next()?.trim().to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> Machine {
        Machine {
            date: "2026-01-31".into(),
            cpu: "Intel(R) Xeon(R) Processor @ 2.40GHz".into(),
            cpus: 2,
            memory_mib: 24_000,
            kernel: "Linux 6.1".into(),
            load: 0.05,
            ftk: "ftk 0.1.0 abc1234".into(),
            tools: vec![
                Tool { name: "fd".into(), version: Some("fd 10.5.0".into()) },
                Tool { name: "bfs".into(), version: None },
            ],
        }
    }

    #[test]
    fn the_name_of_a_cpu_has_its_instruction_sets() {
        let info = "model name\t: AMD EPYC\nflags\t\t: fpu avx2 sha_ni\nprocessor\t: 1\n";
        assert_eq!(cpu_name(info), "AMD EPYC (AVX2, SHA-NI)");
        assert_eq!(cpu_name("model name\t: old\nflags\t\t: fpu\n"), "old");
        assert_eq!(cpu_name(""), "unknown");
    }

    #[test]
    fn a_record_is_named_after_day_and_cpu() {
        assert_eq!(example().slug(), "2026-01-31-intel-xeon-2-40ghz");
    }

    #[test]
    fn fields_of_proc_files_are_found() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 1 GHz\nMemTotal:       1024 kB\n";
        assert_eq!(field(text, "model name"), Some("A CPU @ 1 GHz"));
        assert_eq!(field(text, "MemTotal"), Some("1024 kB"));
        assert_eq!(field(text, "model"), None);
    }

    #[test]
    fn output_of_a_failed_command_is_ignored() {
        assert_eq!(said("echo", &["one"]).as_deref(), Some("one"));
        assert_eq!(said("false", &[]), None);
    }
}
