//! Digests of data in memory, measured by the criterion benches of `benches/`.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bench::case::is_ftk;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::interrupt;
use crate::bench::record::{Group, Outcome, Row, Section};
use crate::ci;

/// The time per figure is short, because hundreds of them would otherwise take an hour. Ten samples show the noise.
const OPTIONS: &str = "--warm-up-time 0.03 --measurement-time 0.1 --sample-size 10 --nresamples 1000";

/// The figures to measure. "One by one" is measured only for the kernel that ftk chooses.
const DIGESTS: &str = "/(ftk|ftk one by one|ftk [a-z0-9-]+|[a-z0-9-]+)/[0-9]+$";

const GIB: u64 = 1 << 30;

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    if bench.options.common.quick {
        println!(" not measured: `cargo test -p ftk-benches --benches` checks the results");
        return Ok(Vec::new());
    }
    let features = features();
    let digests = run("digests", features, DIGESTS, &bench.scratch.path("criterion-digests"))?;
    let mut sections: Vec<_> = digests_by_group(digests);
    sections.push(lines(run("lines", features, "", &bench.scratch.path("criterion-lines"))?));
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

/// Runs the benches of this name that match `filter`. Criterion writes into `folder`, which is emptied first.
///
/// # Errors
/// If the bench cannot be built or fails, for example because of a wrong result.
fn run(name: &str, features: &str, filter: &str, folder: &Path) -> Result<Vec<Figure>> {
    let args = format!("bench -p ftk-benches {features}--bench {name} -- {OPTIONS}");
    println!(" {name}: some minutes, cargo {args}");
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let mut cargo = ci::cargo(&args);
    let output = cargo.arg(filter).env("CRITERION_HOME", folder).output().context("cannot start cargo")?;
    interrupt::check()?;
    if !output.status.success() {
        bail!("the bench failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    figures(folder, &format!("cargo {args} --exact"))
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

/// The required part of `benchmark.json`.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: String,
    value_str: String,
    full_id: String,
    /// The amount by its unit, `Bytes` or `Elements`.
    throughput: BTreeMap<String, u64>,
}

/// The required part of `sample.json`.
#[derive(Deserialize)]
struct Samples {
    iters: Vec<f64>,
    /// Nanoseconds of all iterations of a sample.
    times: Vec<f64>,
}

/// Reads the newest figures that criterion wrote below `folder`. The command for one of them ends with its name.
fn figures(folder: &Path, command: &str) -> Result<Vec<Figure>> {
    let files = derived::regular_files(folder)
        .with_context(|| format!("there are no figures in {}", folder.display()))?;
    let mut figures = Vec::new();
    for path in files.iter().filter(|path| path.ends_with("new/sample.json")) {
        let Samples { iters, times } = read(path)?;
        let path = path.with_file_name("benchmark.json");
        let Benchmark { group_id, function_id, value_str, full_id, throughput } = read(&path)?;
        let amount = throughput.into_values().next();
        figures.push(Figure {
            group: group_id,
            row: function_id,
            parameter: value_str.parse()?,
            amount: amount.with_context(|| format!("{} has no throughput", path.display()))?,
            samples: times.iter().zip(iters).map(|(ns, count)| ns / count / 1e6).collect(),
            command: format!("{command} '{full_id}'"),
        });
    }
    Ok(figures)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not of criterion", path.display()))
}

/// Makes a section for each digest, with a column per message size.
fn digests_by_group(figures: Vec<Figure>) -> Vec<Section> {
    let groups = grouped(figures, |figure| figure.group.clone()).into_iter();
    let section = |(group, figures): (String, Vec<Figure>)| {
        let digest = group.strip_prefix("digests/").unwrap_or(&group);
        let title = format!("{digest}: 1 GiB in messages of one size, one thread");
        section(title, GIB, ("GiB/s", GIB), bytes, figures)
    };
    groups.map(section).collect()
}

/// Makes the section of many short strings, with a column per number of threads.
fn lines(figures: Vec<Figure>) -> Section {
    let amount = figures.first().map_or(0, |figure| figure.amount);
    let threads = |threads| format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
    section(
        format!("sha256 of {amount} strings of 16 bytes"),
        amount,
        ("million/s", 1_000_000),
        threads,
        figures,
    )
}

/// Makes a group per parameter, with the rows of ftk first. Times refer to `amount` bytes or strings, whatever the size
/// of an iteration; a rate has a unit, and its size in bytes or strings.
fn section(
    title: String,
    amount: u64,
    (unit, size): (&str, u64),
    column: fn(u64) -> String,
    figures: Vec<Figure>,
) -> Section {
    let groups = grouped(figures, |figure| figure.parameter).into_iter().map(|(parameter, mut figures)| {
        figures.sort_by_key(|figure| (!is_ftk(&figure.row), figure.row.clone()));
        let rows: Vec<_> = figures.into_iter().map(|figure| row(figure, amount)).collect();
        let rates = rows.iter().filter_map(|row| {
            let seconds = row.outcome.summary()?.median / 1e3;
            Some(format!("{} {:.2}", row.tool, amount as f64 / size as f64 / seconds))
        });
        let note = format!("{unit}: {}", rates.collect::<Vec<_>>().join("; "));
        Group { title: column(parameter), files: 0, note: Some(note), rows }
    });
    Section { title, file_system: "in memory".into(), cache: "warm".into(), groups: groups.collect() }
}

/// Converts a figure to a row with the time of `amount` bytes or strings.
fn row(figure: Figure, amount: u64) -> Row {
    let factor = amount as f64 / figure.amount as f64;
    let samples = figure.samples.iter().map(|ms| ms * factor);
    Row { tool: figure.row, command: figure.command, outcome: Outcome::measured(samples, 0) }
}

fn grouped<K: Ord>(figures: Vec<Figure>, key: fn(&Figure) -> K) -> BTreeMap<K, Vec<Figure>> {
    let mut groups: BTreeMap<K, Vec<Figure>> = BTreeMap::new();
    for figure in figures {
        groups.entry(key(&figure)).or_default().push(figure);
    }
    groups
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
            "throughput": serde_json::from_str::<serde_json::Value>(throughput).unwrap(), "full_id": id,
        });
        let sample = serde_json::json!({
            "sampling_mode": "Linear", "iters": [1.0, 2.0], "times": [ns, 4.0 * ns],
        });
        fs::write(folder.join("new/benchmark.json"), benchmark.to_string()).unwrap();
        fs::write(folder.join("new/sample.json"), sample.to_string()).unwrap();
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

        let (of_lines, digests): (Vec<_>, _) =
            figures(folder, "run").unwrap().into_iter().partition(|figure| figure.group == "lines/sha256");
        let [section] = &digests_by_group(digests)[..] else { panic!("one digest") };
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
            Outcome::Measured { median: 1536.0, runs: vec![1024.0, 2048.0], cpu_ms: None, memory_kib: 0 }
        );
        assert_eq!(group.note.as_deref(), Some("GiB/s: ftk 0.65; ftk portable 0.22; sha2 0.33"));
        assert_eq!(group.rows[0].command, "run 'digests/sha256 (avx512)/ftk/4096'");

        let section = lines(of_lines);
        assert_eq!(section.groups[0].title, "2 threads");
        assert_eq!(
            section.groups[0].rows[0].outcome,
            Outcome::Measured { median: 7.5, runs: vec![5.0, 10.0], cpu_ms: None, memory_kib: 0 }
        );
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([16, 1024, 65_536, 1 << 20].map(bytes), ["16 B", "1 KiB", "64 KiB", "1 MiB"]);
    }

    #[test]
    fn no_figures_are_an_error() {
        assert!(figures(Path::new("no/such/folder"), "").is_err());
    }
}
