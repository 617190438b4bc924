//! What earlier runs measured, and the file that keeps it.
//!
//! Each figure is the median of the last sixteen runs that measured it. So one run in a hurry changes little, and figures
//! that are wrong for a time become right again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::fields::DIGEST;
use crate::machine::machine;
use crate::store::{MAX_BYTES, replace};
use crate::{Constants, Figure, logical_cpus};

/// The most values of each figure; the median is that of all of them.
const KEPT: usize = 16;

/// A figure is not used before this many runs have measured it. Two bad runs among the first five do no harm.
const LEAST: usize = 5;

/// The most kinds of machines in the file, and the most places of each. Those that were measured last remain.
const MACHINES: usize = 4;
const PLACES: usize = 8;

/// The file is not written more often. It is as old as its last modification.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The version of the file. A file of a later version is neither used nor replaced.
const VERSION: u32 = 1;

/// The figures that `ftk calibrate` does not measure, since they need files that are not cached.
const COLD: [&str; 3] = ["cold_contention", "ring_cold", "probe"];

/// What earlier runs on machines of this kind have measured.
///
/// Machines are of one kind if they have the same kind and number of CPUs, kernel and version of ftk. So a home directory
/// that several machines share serves all of them.
#[derive(Debug)]
pub struct Learned {
    /// The first is that of this machine.
    machines: Vec<Machine>,
    /// Where to write, if that is due.
    due: Option<PathBuf>,
}

/// A figure that earlier runs measured and that is used now.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// The figure.
    pub figure: Figure,
    /// The number of runs whose median it is.
    pub runs: usize,
}

/// The content of the file.
#[derive(Deserialize, Serialize)]
struct Stored<M> {
    version: u32,
    machines: M,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Machine {
    machine: String,
    /// The values of each figure, wherever the files were. The last is the newest.
    everywhere: Values,
    /// Those of the files at one place. The place that was measured last comes first.
    places: Vec<(String, Values)>,
}

type Values = BTreeMap<String, Vec<f64>>;

impl Learned {
    /// Loads the figures from a file. Anything that is wrong with the file means that nothing is known: it may be missing
    /// or damaged, of a later version of ftk, of another user, or no regular file.
    pub fn load(path: &Path) -> Self {
        Self::load_at(path, SystemTime::now(), format!("{}; {} CPUs", machine(), logical_cpus()))
    }

    fn load_at(path: &Path, now: SystemTime, machine: String) -> Self {
        let (mut machines, due) = match read(path, now) {
            Ok((text, is_due)) => match parse(&text) {
                Ok(machines) => (machines, is_due),
                Err(LaterVersion) => (Vec::new(), false),
            },
            Err(error) => (Vec::new(), error.kind() == io::ErrorKind::NotFound),
        };
        match machines.iter().position(|it| it.machine == machine) {
            Some(nth) => machines[..=nth].rotate_right(1),
            None => machines.insert(0, Machine { machine, ..Machine::default() }),
        }
        Self { machines, due: due.then(|| path.to_owned()) }
    }

    /// Whether figures may be added now: once a day.
    pub fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// Replaces constants by figures that at least five runs have measured, and returns these. If the constants are
    /// those of a calibration, only the ones that it does not measure are replaced.
    ///
    /// `place` names what holds the files, such as a file system. At a place that is not known, figures of all places
    /// are used.
    pub fn apply(&self, constants: &mut Constants, is_calibrated: bool, place: Option<&str>) -> Vec<Used> {
        let Machine { everywhere, places, .. } = &self.machines[0];
        let here = places.iter().find(|(name, _)| Some(&**name) == place).map(|(_, values)| values);
        let enough = |values: &&Vec<f64>| values.len() >= LEAST;
        let used = |(name, all): (&String, &Vec<f64>)| {
            let values = here.and_then(|here| here.get(name)).filter(enough).unwrap_or(all);
            let figure = Figure::new(name, rounded(median(values)))?;
            constants.set(name, figure.value);
            Some(Used { figure, runs: values.len() })
        };
        let wanted =
            |(name, all): &(&String, &Vec<f64>)| enough(all) && (!is_calibrated || COLD.contains(&&***name));
        everywhere.iter().filter(wanted).filter_map(used).collect()
    }

    /// Adds the figures of a run at this place and writes the file, once: nothing is [due](Self::is_due) afterwards.
    /// The file is not synced; after a crash it may be damaged, which [`load`](Self::load) notices.
    ///
    /// # Errors
    /// Any error of the file system. The caller should ignore it.
    pub fn add(&mut self, place: Option<&str>, figures: &[Figure]) -> io::Result<()> {
        let Some(path) = self.due.take_if(|_| !figures.is_empty()) else { return Ok(()) };
        self.push(place, figures);
        let text = serde_json::to_string(&Stored { version: VERSION, machines: &self.machines })?;
        replace(&path, &text, |_| Ok(()))
    }

    fn push(&mut self, place: Option<&str>, figures: &[Figure]) {
        let Machine { everywhere, places, .. } = &mut self.machines[0];
        if let Some(place) = place {
            match places.iter().position(|(name, _)| name == place) {
                Some(nth) => places[..=nth].rotate_right(1),
                None => places.insert(0, (place.to_owned(), Values::new())),
            }
            places.truncate(PLACES);
        }
        let mut here = place.and(places.first_mut()).map(|(_, values)| values);
        for Figure { name, value } in figures {
            push(everywhere, name, *value);
            if let Some(here) = here.as_deref_mut().filter(|_| !name.starts_with(DIGEST)) {
                push(here, name, *value);
            }
        }
        self.machines.truncate(MACHINES);
    }
}

/// Adds a value, and drops the oldest one if there are too many.
fn push(values: &mut Values, name: &str, value: f64) {
    let values = values.entry(name.to_owned()).or_default();
    values.push(rounded(value));
    values.drain(..values.len().saturating_sub(KEPT));
}

/// Rounds to four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("a number")
}

/// Returns the middle value, or the mean of the two middle ones; 0 if there are none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted[..] {
        [] => 0.0,
        _ if sorted.len() % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Returns the text of the file, and whether it may be replaced: it is at least a day old, and was written by ftk. After a
/// crash it may have lost its end, or everything but zeros.
fn read(path: &Path, now: SystemTime) -> io::Result<(String, bool)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // A file from the future was written with another clock.
    let modified = metadata.modified()?;
    let age = now.duration_since(modified).unwrap_or_else(|error| error.duration());
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    let is_ours = text.starts_with(b"{\"version\":") || text.iter().all(|byte| *byte == 0);
    Ok((String::from_utf8_lossy(&text).into_owned(), age >= DAY && is_ours))
}

struct LaterVersion;

/// Returns the machines of a file, without implausible values; none if it is damaged.
fn parse(text: &str) -> Result<Vec<Machine>, LaterVersion> {
    let Ok(Stored { version, machines }) = serde_json::from_str::<Stored<serde_json::Value>>(text) else {
        return Ok(Vec::new());
    };
    if version > VERSION {
        return Err(LaterVersion);
    }
    let mut machines: Vec<Machine> = serde_json::from_value(machines).unwrap_or_default();
    for Machine { everywhere, places, .. } in &mut machines {
        for values in places.iter_mut().map(|(_, values)| values).chain([everywhere]) {
            values.retain(|name, values| {
                values.retain(|value| Figure::new(name, *value).is_some());
                values.drain(..values.len().saturating_sub(KEPT));
                !values.is_empty()
            });
        }
        places.truncate(PLACES);
    }
    machines.truncate(MACHINES);
    Ok(machines)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::{CpuTime, Limits, Model, Phase, Progress, RunPlan, Sample, Threads};

    const THIS: &str = "this kind";

    fn load(path: &Path) -> Learned {
        Learned::load_at(path, SystemTime::now(), THIS.to_owned())
    }

    fn later(path: &Path, age: Duration) -> Learned {
        Learned::load_at(path, SystemTime::now() + age, THIS.to_owned())
    }

    fn figures(value: f64) -> Vec<Figure> {
        ["file_ns", "ring_cold", "digest_bytes_per_s.md5/avx2"]
            .map(|name| Figure {
                name: name.to_owned(),
                value: value * if name.contains('/') { 1e6 } else { 1.0 },
            })
            .into()
    }

    /// A file with six runs at one place.
    fn file() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("not/there/yet/learned");
        for nth in 0..6 {
            later(&path, DAY * 2).add(Some("disk"), &figures(f64::from(300 + nth))).unwrap();
        }
        (dir, path)
    }

    fn used(learned: &Learned, is_calibrated: bool, place: Option<&str>) -> Vec<(String, f64, usize)> {
        let used = learned.apply(&mut Constants::default(), is_calibrated, place);
        used.into_iter().map(|it| (it.figure.name, it.figure.value, it.runs)).collect()
    }

    #[test]
    fn figures_are_used_from_the_fifth_run_on() {
        let mut learned = load(Path::new("/nowhere/learned"));
        let mut constants = Constants::default();
        for nth in 1..=20_u32 {
            learned.push(None, &figures(f64::from(500 + nth)));
            let used = learned.apply(&mut constants, false, None);
            assert_eq!(used.len(), if nth < 5 { 0 } else { 3 }, "{nth}");
            assert!(used.iter().all(|used| used.runs == (nth as usize).min(16)));
        }
        // The median of the runs 5 to 20.
        assert_eq!((constants.file_ns, constants.ring_cold), (512, 512.5));
        assert_eq!(constants.digest_bytes_per_s["md5/avx2"], 512_500_000);
    }

    #[test]
    fn a_place_has_its_own_figures_once_it_was_measured_often() {
        let mut learned = load(Path::new("/nowhere/learned"));
        for (place, runs, value) in [("slow", 7, 900.0), ("fast", 8, 300.0), ("new", 4, 300.0)] {
            (0..runs).for_each(|_| learned.push(Some(place), &figures(value)));
        }
        let file_ns =
            |place| used(&learned, false, place).into_iter().find(|(name, ..)| name == "file_ns").unwrap();
        assert_eq!(file_ns(Some("slow")), ("file_ns".to_owned(), 900.0, 7));
        assert_eq!(file_ns(Some("fast")), ("file_ns".to_owned(), 300.0, 8));
        for place in [Some("new"), Some("unknown"), None] {
            assert_eq!(file_ns(place), ("file_ns".to_owned(), 300.0, 16));
        }
        // A digest is equally fast everywhere.
        assert!(learned.machines[0].places.iter().all(|(_, values)| values.len() == 2));
    }

    #[test]
    fn what_was_calibrated_is_preferred() {
        let (_dir, path) = file();
        let names =
            |is_calibrated| used(&load(&path), is_calibrated, None).into_iter().map(|(name, ..)| name);
        assert!(names(false).eq(["digest_bytes_per_s.md5/avx2", "file_ns", "ring_cold"]));
        assert!(names(true).eq(["ring_cold"]));
    }

    #[test]
    fn the_file_is_written_at_most_once_a_day() {
        let (_dir, path) = file();
        let before = fs::read(&path).unwrap();
        for age in [Duration::ZERO, DAY / 2, DAY - Duration::from_secs(60)] {
            let mut learned = later(&path, age);
            assert!(!learned.is_due());
            learned.add(None, &figures(500.0)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), before);
        }
        let mut learned = later(&path, DAY + Duration::from_secs(60));
        assert!(learned.is_due());
        learned.add(None, &[]).unwrap();
        assert!(learned.is_due(), "a run without figures is not the one of the day");
        learned.add(None, &figures(500.0)).unwrap();
        assert!(!learned.is_due());
        assert_ne!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        // The clock was wrong when the file was written.
        assert!(Learned::load_at(&path, SystemTime::now() - 2 * DAY, THIS.to_owned()).is_due());
    }

    #[test]
    fn a_bad_file_means_that_nothing_is_known() {
        let (dir, path) = file();
        let good = fs::read_to_string(&path).unwrap();
        assert_eq!(used(&load(&path), false, None).len(), 3);
        let other = path.with_file_name("other");
        let known = |learned: &Learned| used(learned, false, None).len();
        // Damaged by a crash: nothing is known, and the file is replaced when it is due.
        for text in [&good[..good.len() / 2], &good[..good.len() - 1], "", "\0\0\0"] {
            fs::write(&other, text).unwrap();
            assert_eq!((known(&load(&other)), later(&other, 2 * DAY).is_due()), (0, true), "{text:?}");
            assert!(!load(&other).is_due());
        }
        // Something else that has this name stays as it is.
        for text in [&b"{}"[..], b"[]", b"my notes", &b"\xff".repeat(100_000), &good.as_bytes()[1..]] {
            fs::write(&other, text).unwrap();
            assert_eq!((known(&load(&other)), later(&other, 2 * DAY).is_due()), (0, false));
        }
        // Of a later version: it stays as it is.
        fs::write(&other, good.replace("\"version\":1", "\"version\":2")).unwrap();
        assert_eq!((known(&load(&other)), later(&other, 2 * DAY).is_due()), (0, false));
        fs::write(&other, r#"{"version":3,"machines":{"new":"form"},"more":1}"#).unwrap();
        assert_eq!((known(&load(&other)), later(&other, 2 * DAY).is_due()), (0, false));
        // Not a regular file, or in place of a directory.
        let link = path.with_file_name("link");
        symlink(&path, &link).unwrap();
        for path in [dir.path(), &link, Path::new("/dev/zero"), &path.join("below")] {
            assert_eq!((known(&load(path)), later(path, 2 * DAY).is_due()), (0, false), "{path:?}");
        }
        // Of another user.
        if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
            assert_eq!((known(&load(&path)), later(&path, 2 * DAY).is_due()), (0, false));
        }
    }

    #[test]
    fn what_cannot_be_written_is_an_error_that_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(!load(&dir.path().join("file/learned")).is_due());
        let mut learned = load(&dir.path().join("new/learned"));
        fs::write(dir.path().join("new"), "").unwrap();
        assert!(learned.add(None, &figures(300.0)).is_err());
        assert!(!learned.is_due());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn implausible_values_of_the_file_are_dropped() {
        let (_dir, path) = file();
        let text = fs::read_to_string(&path).unwrap();
        let bad = text.replace("[300.0,301.0", "[-1.0,1e99").replace("\"ring_cold\"", "\"unknown\"");
        assert_ne!(bad, text);
        fs::write(&path, bad).unwrap();
        let names: Vec<_> = used(&load(&path), false, None).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["digest_bytes_per_s.md5/avx2"]);
    }

    #[test]
    fn machines_of_several_kinds_share_a_file() {
        let (_dir, path) = file();
        let of = |machine: &str| Learned::load_at(&path, SystemTime::now() + 2 * DAY, machine.to_owned());
        assert_eq!(used(&of("other"), false, None).len(), 0);
        for nth in 0..8_u32 {
            for kind in ["a", "b", "c"] {
                of(kind).add(Some(&format!("disk {nth} of {kind}")), &figures(f64::from(700 + nth))).unwrap();
            }
        }
        for (kind, value) in [(THIS, 302.5), ("a", 703.5), ("c", 703.5)] {
            assert_eq!(
                used(&of(kind), false, None)[1],
                ("file_ns".to_owned(), value, if kind == THIS { 6 } else { 8 })
            );
        }
        // The machines and places that were measured longest ago are forgotten.
        (0..9).for_each(|nth| of("d").add(Some(&format!("disk {nth}")), &figures(400.0)).unwrap());
        assert_eq!(used(&of(THIS), false, None).len(), 0);
        assert_eq!(of("d").machines[0].places.iter().map(|(name, _)| &**name).next(), Some("disk 8"));
        assert_eq!((of("d").machines.len(), of("d").machines[0].places.len()), (4, 8));
        // Even then everything is read: `MAX_BYTES` is a limit for other files.
        for kind in ["a", "b", "c", "d"] {
            for nth in 0..8 {
                for _ in 0..16 {
                    let names = ["file_ns", "contention", "cold_contention", "ring_cold", "probe"];
                    let mut figures =
                        names.map(|name| Figure { name: name.to_owned(), value: 0.0001234 }).to_vec();
                    figures.extend(
                        (0..30).map(|nth| Figure { name: format!("{DIGEST}{nth}/x"), value: 1.234e10 }),
                    );
                    let place = format!("0000ef53000000000123456789abcde{nth}");
                    of(kind).add(Some(&place), &figures).unwrap();
                }
            }
        }
        assert!(fs::metadata(&path).unwrap().len() < MAX_BYTES, "{:?}", fs::metadata(&path).unwrap().len());
    }

    fn speed(constants: &Constants) -> f64 {
        constants.digest_bytes_per_s["md5/avx2"] as f64
    }

    /// A machine with eight CPUs, and the figures that it has learned.
    struct Simulated {
        /// How the machine is.
        truth: Constants,
        learned: Learned,
        /// Counts runs, for variations.
        runs: u64,
    }

    impl Simulated {
        fn new(factor: f64) -> Self {
            let mut truth = Constants::default();
            truth.file_ns = (truth.file_ns as f64 * factor) as u64;
            truth.contention = (truth.contention * factor).min(0.9);
            truth.cold_contention = (truth.cold_contention * factor).min(0.9);
            truth.ring_cold = (truth.ring_cold * factor).max(1.1);
            truth.probe *= if factor > 1.0 { 1.6 } else { 0.6 };
            truth.digest_bytes_per_s.values_mut().for_each(|speed| *speed = (*speed as f64 / factor) as u64);
            Self { truth, learned: load(Path::new("/nowhere/learned")), runs: 0 }
        }

        /// A number from 0.9 to 1.1 that looks random.
        fn jitter(&mut self) -> f64 {
            self.runs += 1;
            0.9 + (self.runs.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1 << 24) as f64 * 0.2
        }

        fn model(&self) -> Model {
            let mut constants = Constants::default();
            self.learned.apply(&mut constants, false, Some("disk"));
            Model::new(constants)
        }

        /// Does a run whose times are `slower` times as long, and learns. Returns the forecast divided by the time.
        fn run(&mut self, is_cold: bool, ring: bool, slower: f64) -> f64 {
            const LEFT: u64 = 500_000;
            const BYTES: u64 = 500;
            let kernel = "md5/avx2";
            let computing = self.truth.file_ns as f64 + BYTES as f64 / speed(&self.truth) * 1e9;
            let mut sample = Sample { files: 16, bytes: 16 * BYTES, nanos: 0, waits: 0, remote_cpu: None };
            let mut of_file = computing;
            if is_cold {
                (sample.waits, of_file) = (16, computing + 300_000.0);
            }
            let (model, limits) =
                (self.model(), Limits { threads: Threads::Auto, backend: None, ring, cpus: 8 });
            let seen = Sample { nanos: (of_file * self.jitter() * slower * 16.0) as u64, ..sample };
            let choice = model.choose(seen, LEFT, limits);
            let same =
                Limits { threads: Threads::Fixed(choice.workers), backend: Some(choice.backend), ..limits };
            let real = Sample { nanos: (of_file * 16.0) as u64, ..sample };
            let took = Model::new(self.truth.clone()).choose(real, LEFT, same).forecast_nanos;
            let took = (took as f64 * self.jitter() * slower) as u64;
            let cpu = if is_cold { took / 4 } else { took / 10 * 9 };
            let bytes = LEFT * BYTES;
            let phase = Phase {
                nanos: took,
                files: LEFT,
                bytes,
                own_bytes: bytes / 8,
                cpu: CpuTime { running: cpu, waiting: took / 50 },
            };
            let own_bytes = 1 << 30;
            let hashing = (own_bytes as f64 / speed(&self.truth) * 1e9 * self.jitter() * slower) as u64;
            let cpu = CpuTime { running: hashing, waiting: 0 };
            let large = Phase { nanos: hashing, files: 8, bytes: 8 * own_bytes, own_bytes, cpu };
            let plan = RunPlan {
                sample: seen,
                sampled: Progress { files: 32, bytes: 32 * BYTES, ..Progress::default() },
                choice: Some(choice),
                took_nanos: took,
                large: 8,
                probe_nanos: if is_cold { (took as f64 / slower / self.truth.probe) as u64 } else { 0 },
                small_phase: Some(phase),
                large_phase: Some(large),
            };
            self.learned.push(Some("disk"), &model.figures(&plan, 8, Some(kernel)));
            choice.forecast_nanos as f64 / took as f64
        }

        /// Does 20 runs, and returns the mean forecasts of ten further ones.
        fn learn(&mut self, is_cold: bool, ring: bool, slow: impl Fn(u32) -> f64) -> f64 {
            (0..20).for_each(|nth| _ = self.run(is_cold, ring, slow(nth)));
            (0..10).map(|_| self.run(is_cold, ring, 1.0)).sum::<f64>() / 10.0
        }
    }

    #[test]
    fn after_twenty_runs_forecasts_are_right_although_built_in_figures_are_not() {
        for factor in [5.0, 0.2] {
            for (is_cold, ring, wrong, right) in
                [(false, false, 0.3, 0.2), (true, true, 0.5, 0.3), (true, false, 0.4, 0.3)]
            {
                let before = Simulated::new(factor).run(is_cold, ring, 1.0);
                let mut machine = Simulated::new(factor);
                let after = machine.learn(is_cold, ring, |_| 1.0);
                let off = |forecast: f64| forecast.max(1.0 / forecast) - 1.0;
                assert!(off(before) > wrong, "{factor} {is_cold} {ring}: {before}");
                assert!(off(after) < right / 2.0, "{factor} {is_cold} {ring}: {before} {after}");
            }
        }
    }

    /// The choice of the number of workers needs the figures, not only the forecasts.
    #[test]
    fn cached_and_cold_runs_together_find_the_figures_of_the_machine() {
        for (factor, ring) in [(5.0, true), (5.0, false), (0.2, true), (0.2, false)] {
            let mut machine = Simulated::new(factor);
            machine.learn(false, ring, |_| 1.0);
            machine.learn(true, ring, |_| 1.0);
            let (learned, truth) = (machine.model().constants().clone(), machine.truth);
            for (name, learned, truth) in [
                ("file_ns", learned.file_ns as f64, truth.file_ns as f64),
                ("contention", learned.contention + 1.0, truth.contention + 1.0),
                ("ring_cold", learned.ring_cold, if ring { truth.ring_cold } else { 4.0 }),
                ("cold_contention", learned.cold_contention, if ring { 0.33 } else { truth.cold_contention }),
                ("probe", learned.probe, truth.probe),
                ("md5", speed(&learned), speed(&truth)),
            ] {
                let off = (learned / truth - 1.0).abs();
                assert!(off < 0.25, "{factor} {ring} {name}: {learned} {truth}");
            }
        }
    }

    #[test]
    fn every_fourth_run_may_take_ten_times_as_long() {
        for factor in [5.0, 0.2] {
            for (is_cold, ring) in [(false, false), (true, true), (true, false)] {
                let usual = Simulated::new(factor).learn(is_cold, ring, |_| 1.0);
                let disturbed =
                    Simulated::new(factor).learn(is_cold, ring, |nth| if nth % 4 == 3 { 10.0 } else { 1.0 });
                assert!(
                    (disturbed / usual - 1.0).abs() < 0.1,
                    "{factor} {is_cold} {ring}: {usual} {disturbed}"
                );
            }
        }
    }

    fn any_figures() -> impl Strategy<Value = Vec<Figure>> {
        let values =
            prop_oneof![-0.3..1.5, 0.0..20.0, 100.0..2e6, Just(f64::NAN), Just(f64::INFINITY), 1e5..1e14];
        let names = prop::sample::select(vec![
            "file_ns",
            "contention",
            "cold_contention",
            "ring_cold",
            "probe",
            "team_ns",
            "digest_bytes_per_s.md5/avx2",
            "digest_bytes_per_s.a b",
        ]);
        let figure = (names, values).prop_map(|(name, value)| Figure::new(name, value));
        prop::collection::vec(figure, 0..6).prop_map(|figures| figures.into_iter().flatten().collect())
    }

    proptest! {
        /// The same as a list of all runs, of which the last 16 that measured a figure count.
        #[test]
        fn the_median_is_that_of_the_last_sixteen(
            runs in prop::collection::vec((prop::option::of(0..3_u8), any_figures()), 0..120),
            asked in prop::option::of(0..3_u8),
            is_calibrated: bool,
        ) {
            let place = |nth: Option<u8>| nth.map(|nth| nth.to_string());
            let mut learned = load(Path::new("/nowhere/learned"));
            for (at, figures) in &runs {
                learned.push(place(*at).as_deref(), figures);
            }
            let last = |name: &str, at: Option<u8>| {
                let mut values: Vec<f64> = runs
                    .iter()
                    .filter(|(place, _)| at.is_none() || *place == at)
                    .flat_map(|(_, figures)| figures.iter().filter(|figure| figure.name == name))
                    .map(|figure| figure.value)
                    .rev()
                    .take(16)
                    .collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let mut constants = Constants::default();
            let used = learned.apply(&mut constants, is_calibrated, place(asked).as_deref());
            prop_assert_eq!(constants.check(), Ok(()));
            for name in ["file_ns", "contention", "cold_contention", "ring_cold", "probe", "digest_bytes_per_s.md5/avx2"] {
                let mut values = last(name, None);
                let is_wanted = values.len() >= 5 && (!is_calibrated || COLD.contains(&name));
                let here = last(name, asked);
                if asked.is_some() && here.len() >= 5 && !name.contains('/') {
                    values = here;
                }
                let found = used.iter().find(|used| used.figure.name == name);
                prop_assert_eq!(found.is_some(), is_wanted);
                if let Some(Used { figure, runs }) = found {
                    let n = values.len();
                    let median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
                    prop_assert_eq!(*runs, n);
                    prop_assert!((figure.value - median).abs() <= median.abs() * 1e-3, "{} {}", figure.value, median);
                }
            }
        }

        #[test]
        fn what_was_written_is_read_again(runs in prop::collection::vec(any_figures(), 1..8)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("learned");
            let mut all = load(Path::new("/nowhere/learned"));
            for figures in &runs {
                all.push(Some("disk"), figures);
                later(&path, 2 * DAY).add(Some("disk"), figures).unwrap();
            }
            prop_assert_eq!(used(&load(&path), false, Some("disk")), used(&all, false, Some("disk")));
        }

        #[test]
        fn garbage_means_that_nothing_is_known(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("learned");
            fs::write(&path, bytes).unwrap();
            prop_assert!(used(&load(&path), false, None).is_empty());
        }
    }
}
