//! Digests of data in memory, measured by the criterion benches of `benches/`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::bench::case::is_ftk;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::interrupt;
use crate::bench::record::{Group, Outcome, Row, Section};
use crate::bench::stats::Summary;
use crate::ci;

/// The time per figure is short, because hundreds of them would otherwise take an hour. Ten samples show the noise.
const OPTIONS: &str = "--warm-up-time 0.03 --measurement-time 0.1 --sample-size 10 --nresamples 1000";

/// The figures to measure. "One by one" is measured only for the kernel that ftk chooses.
const DIGESTS: &str = "/(ftk|ftk one by one|ftk [a-z0-9-]+|[a-z0-9-]+)/[0-9]+$";

const GIB: u64 = 1 << 30;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    if bench.options.common.is_quick {
        println!(" not measured: `cargo test -p ftk-benches --benches` checks the results");
        return Ok(Vec::new());
    }
    let features = features();
    let digests =
        Criterion::new("digests", features).run(DIGESTS, &bench.scratch.path("criterion-digests"))?;
    let mut sections: Vec<_> =
        by_group(digests).map(|(group, figures)| Frame::digest(&group).section(figures)).collect();
    let lines = Criterion::new("lines", features).run("", &bench.scratch.path("criterion-lines"))?;
    sections.push(Frame::lines(&lines).section(lines));
    Ok(sections)
}

/// Returns the argument for cargo that makes OpenSSL a peer, if its headers are installed.
fn features() -> &'static str {
    let openssl = Command::new("pkg-config").args(["--atleast-version=3", "openssl"]).status();
    if openssl.is_ok_and(|status| status.success()) {
        return "--features openssl ";
    }
    println!(" OpenSSL is not measured: the headers of version 3 (libssl-dev) are missing");
    ""
}

/// The command of a bench.
struct Criterion {
    bench: &'static str,
    /// The arguments of cargo, up to the options of criterion.
    cargo: String,
}

impl Criterion {
    fn new(bench: &'static str, features: &str) -> Self {
        Self { bench, cargo: format!("bench -p ftk-benches {features}--bench {bench}") }
    }

    /// Runs the benches that match `filter`. Criterion writes into `folder`, which is emptied first.
    ///
    /// # Errors
    /// If the bench cannot be built or fails, for example because of a wrong result.
    fn run(&self, filter: &str, folder: &Path) -> Result<Vec<Figure>> {
        println!(" {}: some minutes, {}", self.bench, self.typed(""));
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let output = ci::cargo(&format!("{} -- {OPTIONS}", self.cargo))
            .arg(filter)
            .env("CRITERION_HOME", folder)
            .output()
            .context("cannot start cargo")?;
        interrupt::check()?;
        if !output.status.success() {
            bail!("the bench failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let mut figures = Vec::new();
        for folder in folders_of_figures(folder)? {
            figures.push(Figure::read(&folder, |id| self.typed(id))?);
        }
        Ok(figures)
    }

    /// Returns the command for one figure, or for all if `id` is empty.
    fn typed(&self, id: &str) -> String {
        let exact = if id.is_empty() { String::new() } else { format!(" --exact '{id}'") };
        format!("cargo {} -- {OPTIONS}{exact}", self.cargo)
    }
}

/// One row at one size or number of threads.
struct Figure {
    group: String,
    row: String,
    /// Bytes of a message, or threads.
    parameter: u64,
    /// Bytes or strings in one iteration.
    amount: u64,
    /// Milliseconds per iteration of each sample.
    samples: Vec<f64>,
    command: String,
}

/// The required part of `sample.json`.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    /// Nanoseconds of all iterations of a sample.
    times: Vec<f64>,
}

impl Figure {
    /// Reads the files that criterion wrote into `folder`.
    fn read(folder: &Path, command: impl Fn(&str) -> String) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let id: Value = serde_json::from_str(&text("benchmark.json")?)?;
        let word = |field: &str| id[field].as_str().with_context(|| format!("{id} has no {field}"));
        let Samples { iters, times } = serde_json::from_str(&text("sample.json")?)?;
        let throughput = &id["throughput"];
        let amount = throughput["Bytes"].as_u64().or_else(|| throughput["Elements"].as_u64());
        Ok(Self {
            group: word("group_id")?.to_owned(),
            row: word("function_id")?.to_owned(),
            parameter: word("value_str")?.parse()?,
            amount: amount.with_context(|| format!("{id} has no throughput"))?,
            samples: times.iter().zip(iters).map(|(ns, count)| ns / count / 1e6).collect(),
            command: command(word("full_id")?),
        })
    }

    /// Converts the figure to a row with the time of `amount` bytes or strings.
    fn into_row(self, amount: u64) -> Row {
        let factor = amount as f64 / self.amount as f64;
        let runs: Vec<_> = self.samples.iter().map(|ms| (ms * factor * 1e3).round() / 1e3).collect();
        let median = Summary::of(&runs).map_or(0.0, |summary| summary.median);
        Row {
            tool: self.row,
            command: self.command,
            outcome: Outcome::Measured { median: (median * 1e3).round() / 1e3, runs, memory_kib: 0 },
        }
    }
}

/// Returns the folders with the newest figures of criterion below `folder`.
fn folders_of_figures(folder: &Path) -> Result<Vec<PathBuf>> {
    let files = derived::regular_files(folder)
        .with_context(|| format!("there are no figures in {}", folder.display()))?;
    let samples = files.iter().filter(|path| path.ends_with("new/sample.json"));
    Ok(samples.filter_map(|path| Some(path.parent()?.to_owned())).collect())
}

fn by_group(figures: Vec<Figure>) -> impl Iterator<Item = (String, Vec<Figure>)> {
    let mut groups: BTreeMap<String, Vec<Figure>> = BTreeMap::new();
    for figure in figures {
        groups.entry(figure.group.clone()).or_default().push(figure);
    }
    groups.into_iter()
}

/// The common properties of the figures of a section.
struct Frame {
    title: String,
    /// The number of bytes or strings that times refer to, whatever the size of an iteration.
    amount: u64,
    /// The unit of the rate, and its size in bytes or strings.
    rate: (&'static str, u64),
    /// Returns the title of the column for a parameter.
    column: fn(u64) -> String,
}

impl Frame {
    /// The section of one digest: a column per message size.
    fn digest(group: &str) -> Self {
        let digest = group.strip_prefix("digests/").unwrap_or(group);
        Self {
            title: format!("{digest}: 1 GiB in messages of one size, one thread"),
            amount: GIB,
            rate: ("GiB/s", GIB),
            column: bytes,
        }
    }

    /// The section of many short strings: a column per number of threads.
    fn lines(figures: &[Figure]) -> Self {
        let amount = figures.first().map_or(0, |figure| figure.amount);
        Self {
            title: format!("sha256 of {amount} strings of 16 bytes"),
            amount,
            rate: ("million/s", 1_000_000),
            column: |threads| format!("{threads} thread{}", if threads == 1 { "" } else { "s" }),
        }
    }

    /// Makes one group per parameter, with the rows of ftk first.
    fn section(&self, figures: Vec<Figure>) -> Section {
        let mut groups: BTreeMap<u64, Vec<Figure>> = BTreeMap::new();
        for figure in figures {
            groups.entry(figure.parameter).or_default().push(figure);
        }
        let groups = groups.into_iter().map(|(parameter, mut figures)| {
            figures.sort_by(|a, b| (!is_ftk(&a.row), &a.row).cmp(&(!is_ftk(&b.row), &b.row)));
            let rows: Vec<_> = figures.into_iter().map(|figure| figure.into_row(self.amount)).collect();
            Group { title: (self.column)(parameter), files: 0, note: Some(self.rates(&rows)), rows }
        });
        Section {
            title: self.title.clone(),
            file_system: "in memory".into(),
            cache: "warm".into(),
            groups: groups.collect(),
        }
    }

    /// Returns the median rates: `GiB/s: ftk 3.41; sha2 1.62`.
    fn rates(&self, rows: &[Row]) -> String {
        let (unit, size) = self.rate;
        let rates = rows.iter().filter_map(|row| {
            let seconds = row.outcome.summary()?.median / 1e3;
            Some(format!("{} {:.2}", row.tool, self.amount as f64 / size as f64 / seconds))
        });
        format!("{unit}: {}", rates.collect::<Vec<_>>().join("; "))
    }
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..0x10_0000 => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a folder as criterion does: one figure with two samples.
    fn write(folder: &Path, group: &str, row: &str, parameter: u64, throughput: &str, ns: f64) {
        let folder = folder.join(format!("{}/{row}/{parameter}", group.replace('/', "_")));
        for version in ["base", "new"] {
            fs::create_dir_all(folder.join(version)).unwrap();
        }
        let id = format!("{group}/{row}/{parameter}");
        let benchmark = serde_json::json!({
            "group_id": group, "function_id": row, "value_str": parameter.to_string(),
            "throughput": serde_json::from_str::<Value>(throughput).unwrap(), "full_id": id,
        });
        let sample = serde_json::json!({
            "sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [ns, 4.0 * ns],
        });
        fs::write(folder.join("new/benchmark.json"), benchmark.to_string()).unwrap();
        fs::write(folder.join("new/sample.json"), sample.to_string()).unwrap();
    }

    fn figures(folder: &Path) -> Vec<Figure> {
        let folders = folders_of_figures(folder).unwrap();
        folders.iter().map(|folder| Figure::read(folder, |id| format!("run {id}")).unwrap()).collect()
    }

    #[test]
    fn figures_become_sections() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mib = r#"{"Bytes":1048576}"#;
        write(folder, "digests/sha256 (avx512)", "sha2", 4096, mib, 2e6);
        write(folder, "digests/sha256 (avx512)", "ftk portable", 4096, mib, 3e6);
        write(folder, "digests/sha256 (avx512)", "ftk", 4096, mib, 1e6);
        write(folder, "digests/sha256 (avx512)", "ftk", 64, mib, 1e6);
        write(folder, "lines/sha256", "ftk", 2, r#"{"Elements":10}"#, 5e6);

        let groups: Vec<_> = by_group(figures(folder)).collect();
        assert_eq!(groups.len(), 2);
        let mut groups = groups.into_iter();
        let (name, figures) = groups.next().unwrap();
        let section = Frame::digest(&name).section(figures);
        assert!(section.title.starts_with("sha256 (avx512): 1 GiB"), "{}", section.title);
        let titles: Vec<_> = section.groups.iter().map(|group| &*group.title).collect();
        assert_eq!(titles, ["64 B", "4 KiB"]);
        let group = &section.groups[1];
        assert_eq!(
            group.rows.iter().map(|row| &*row.tool).collect::<Vec<_>>(),
            ["ftk", "ftk portable", "sha2"]
        );
        // The two samples have 1 and 2 ms per MiB.
        assert_eq!(
            group.rows[0].outcome,
            Outcome::Measured { median: 1536.0, runs: vec![1024.0, 2048.0], memory_kib: 0 }
        );
        assert_eq!(group.note.as_deref(), Some("GiB/s: ftk 0.65; ftk portable 0.22; sha2 0.33"));
        assert_eq!(group.rows[0].command, "run digests/sha256 (avx512)/ftk/4096");

        let figures = groups.next().unwrap().1;
        let section = Frame::lines(&figures).section(figures);
        assert_eq!(section.groups[0].title, "2 threads");
        assert_eq!(
            section.groups[0].rows[0].outcome,
            Outcome::Measured { median: 7.5, runs: vec![5.0, 10.0], memory_kib: 0 }
        );
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([16, 1024, 65_536, 1 << 20].map(bytes), ["16 B", "1 KiB", "64 KiB", "1 MiB"]);
    }

    #[test]
    fn no_figures_are_an_error() {
        assert!(folders_of_figures(Path::new("no/such/folder")).is_err());
    }
}
