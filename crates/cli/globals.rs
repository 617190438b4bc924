//! The options that all commands share.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use ftk_sched::{Backend, Threads, logical_cpus, physical_cores};
use ftk_select::parse_bytes;

/// Options of every command, accepted before and after its name.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Number of workers
    ///
    /// A number, or a word. `auto`: ftk chooses, using the figures of `ftk calibrate`, up to 32 for network and FUSE
    /// file systems; `mono`: 1; `compute`: one per physical core; `io`: one per logical CPU.
    #[arg(short = 'j', long, global = true, value_name = "N", default_value = "auto")]
    pub(crate) threads: ThreadsArg,

    /// How to read files
    ///
    /// `auto` uses io_uring where it is available and faster. `uring` fails where io_uring is not available.
    #[arg(long, global = true, value_name = "READER", default_value = "auto")]
    pub(crate) io: IoArg,

    /// Limit for buffers and tables, such as 512M
    ///
    /// The default is a quarter of the memory.
    #[arg(long, alias = "memory-budget", global = true, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,

    /// Read at the lowest priority
    ///
    /// The page cache stays as it was. Sets the idle I/O class and the lowest CPU priority. Pages that ftk loads are
    /// dropped; pages that were cached before stay. If the kernel does not say which pages of a file are cached, none
    /// are dropped.
    #[arg(long, global = true)]
    pub(crate) polite: bool,

    /// Read at most RATE bytes per second, such as 50M
    ///
    /// The limit applies to all workers together. The units are those of sizes, and `/s` may follow.
    #[arg(long, global = true, value_name = "RATE", value_parser = parse_rate)]
    pub(crate) limit_rate: Option<u64>,

    /// How to show progress on standard error
    ///
    /// `auto`: on a terminal, after one second. `always`: from the start; without a terminal, one line every ten
    /// seconds. `json`: one object per line, every half second and at the end of each phase.
    #[arg(long, global = true, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: ProgressArg,

    /// When to use colours
    ///
    /// `auto`: on a terminal, unless NO_COLOR is set. CLICOLOR_FORCE=1 makes `auto` the same as `always`.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,

    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only results, findings and errors
    ///
    /// So there is no summary, no progress, and no line about what is as it should be, such as a file that is OK in a
    /// list of digests, or a step that succeeded. How to undo a run is printed. To print nothing and only set the exit
    /// status, use the option --status of `find`, `cmp`, `hash --check`, `manifest verify` and `manifest diff`.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Explain what was decided, why, with what result
    ///
    /// On standard error.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Write statistics of the run to FILE, as JSON
    ///
    /// They include the time, files and bytes of each phase, errors, skipped entries and memory. `-`: standard output.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,

    /// Write the result of the run to FILE, for Prometheus
    ///
    /// FILE is for the textfile collector of node_exporter, which needs a name that ends in `.prom`. It has the exit
    /// status, the time of the last success, and the number of errors, files, bytes and findings. `-`: standard output.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,

    /// Append the result of the run to FILE, as a line of JSON
    ///
    /// A log of checks: when, where, by whom, with which command line, what was found, the exit status, and for a
    /// manifest its digest. FILE is created if it does not exist. It must be a log of ftk, and is skipped in trees.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) log: Option<PathBuf>,

    /// Ignore the file of defaults
    ///
    /// Scripts should use this option. The file is $XDG_CONFIG_HOME/ftk/config.toml, or else
    /// ~/.config/ftk/config.toml. It has a table for each command, such as `[find]` or `[manifest.create]`, with a list
    /// `options` of strings in the long form: `options = ["--sort=size", "--exclude=.git"]`. The command line wins, and
    /// -v shows the defaults. Those that change the form of the output count only on a terminal. `ftk help config`
    /// explains it.
    #[arg(long, global = true)]
    pub(crate) no_config: bool,
}

impl Globals {
    /// Returns the limit for buffers and tables, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| physical_memory() / 4)
    }

    /// Returns the number of workers that was requested, if any.
    pub(crate) fn workers(&self) -> Option<usize> {
        match self.threads.resolve() {
            Threads::Auto => None,
            Threads::Fixed(n) => Some(n),
        }
    }
}

/// Parses a rate in bytes per second: a size, and optionally `/s`.
fn parse_rate(text: &str) -> Result<u64, String> {
    match parse_bytes(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("nothing could be read: the rate must be at least 1 byte per second".into()),
        rate => rate.map_err(|error| error.to_string()),
    }
}

/// Returns the bytes of memory in this machine; 4 GiB where the system does not report it.
fn physical_memory() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        info.totalram as u64 * u64::from(info.mem_unit)
    }
    #[cfg(not(target_os = "linux"))]
    {
        4 << 30
    }
}

/// `auto`, `always` or `never`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl When {
    /// Sets the colours of everything written through `anstream`.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The value of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    Auto,
    Always,
    Never,
    Json,
}

/// The value of `--io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IoArg {
    Auto,
    Sync,
    Uring,
}

impl IoArg {
    /// Returns the reader that was requested, if any.
    pub(crate) fn backend(self) -> Option<Backend> {
        match self {
            Self::Auto => None,
            Self::Sync => Some(Backend::Sync),
            Self::Uring => Some(Backend::Uring),
        }
    }
}

/// The value of `--threads`, not yet compared with this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadsArg {
    Auto,
    Compute,
    Io,
    Fixed(usize),
}

impl FromStr for ThreadsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "mono" => Ok(Self::Fixed(1)),
            "compute" => Ok(Self::Compute),
            "io" => Ok(Self::Io),
            _ => match text.parse() {
                Ok(n @ 1..=MOST_THREADS) => Ok(Self::Fixed(n)),
                _ => Err(format!("expected auto, mono, compute, io or a number from 1 to {MOST_THREADS}")),
            },
        }
    }
}

/// More workers than this only cost memory.
const MOST_THREADS: usize = 1024;

impl ThreadsArg {
    /// Returns the number of workers on this machine.
    pub(crate) fn resolve(self) -> Threads {
        match self {
            Self::Auto => Threads::Auto,
            Self::Compute => Threads::Fixed(physical_cores()),
            Self::Io => Threads::Fixed(logical_cpus()),
            Self::Fixed(n) => Threads::Fixed(n),
        }
    }
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
    fn threads() {
        assert_eq!("auto".parse(), Ok(ThreadsArg::Auto));
        assert_eq!("mono".parse(), Ok(ThreadsArg::Fixed(1)));
        assert_eq!("compute".parse(), Ok(ThreadsArg::Compute));
        assert_eq!("io".parse(), Ok(ThreadsArg::Io));
        assert_eq!("7".parse(), Ok(ThreadsArg::Fixed(7)));
        for bad in ["0", "1025", "-1", "", "many"] {
            assert!(bad.parse::<ThreadsArg>().is_err(), "{bad}");
        }
    }
}
