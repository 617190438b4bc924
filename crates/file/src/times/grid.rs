//! The times that a rounding produces.

/// A microsecond in nanoseconds.
pub(super) const MICRO: i128 = 1000;
/// A millisecond in nanoseconds.
pub(super) const MILLI: i128 = 1_000_000;
/// A second in nanoseconds.
pub(super) const SECOND: i128 = 1_000_000_000;

/// Errors up to this are too small for an edit: the file would be written twice within this time. A little more than the
/// step of exFAT.
pub(super) const FINE: i128 = 11 * MILLI;

/// Times closer to the epoch than a day are no real times, and too small to show a rounding.
const LEAST: i128 = 24 * 3600 * SECOND;

/// Times beyond this many nanoseconds before or after the epoch are implausible: 39,000 years.
const MOST: i128 = 1 << 60 << 10;

/// A set of times, one of which is the result of each rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// Multiples of this many nanoseconds.
    Step(i128),
    /// Numbers of seconds or milliseconds, a unit of this many nanoseconds, that a `double` represents.
    Double(i128),
    /// Multiples of this many nanoseconds, of times that went through a `double` or not.
    ThroughDouble(i128),
}

impl Grid {
    /// Every grid that file systems and programs are known to use, each before those with larger errors. The first one
    /// is that of exact times.
    pub(super) const KNOWN: [Self; 10] = [
        Self::Step(1),
        Self::Step(100), // NTFS, SMB
        Self::Double(SECOND),
        Self::Double(MILLI),
        Self::Step(MICRO), // utimes(2)
        Self::ThroughDouble(MICRO),
        Self::ThroughDouble(MILLI),
        Self::ThroughDouble(10 * MILLI), // exFAT
        Self::ThroughDouble(SECOND),
        Self::ThroughDouble(2 * SECOND), // FAT
    ];

    /// Returns whether a rounding may have produced this time.
    pub(super) fn has(self, ns: i128) -> bool {
        match self {
            _ if !is_plausible(ns) => false,
            Self::Step(1) => true,
            _ if ns.abs() < LEAST => false,
            Self::Step(step) => ns % step == 0,
            // A conversion to nanoseconds truncates or rounds.
            Self::Double(unit) => (through_double(ns, unit) - ns).abs() <= 1,
            Self::ThroughDouble(step) => {
                let multiple = (ns + step / 2).div_euclid(step) * step;
                // Programs that keep milliseconds pass them on as seconds, and many truncate these to microseconds.
                let seconds = || through_double(multiple, SECOND);
                let is_passed_on = |ns: i128| {
                    step >= MILLI && (ns == seconds() || ns == seconds() - seconds().rem_euclid(MICRO))
                };
                ns == multiple || is_passed_on(ns)
            }
        }
    }

    /// Returns by how much the errors of two times near `ns` differ at most.
    pub(super) fn width(self, ns: i128) -> i128 {
        // A time may go through a double of milliseconds, and then through one of seconds.
        let doubles = 2 * spacing(ns, SECOND).max(spacing(ns, MILLI));
        match self {
            Self::Step(step) => step - 1,
            Self::Double(_) => doubles + 2,
            Self::ThroughDouble(step) => step - 1 + doubles + if step >= MILLI { MICRO } else { 0 },
        }
    }
}

/// Returns whether arithmetic with a recorded time makes sense. Recorded times are any numbers.
pub(super) fn is_plausible(ns: i128) -> bool {
    (-MOST..=MOST).contains(&ns)
}

/// Returns the time that a `double` of this unit stands for, truncated to nanoseconds.
pub(super) fn through_double(ns: i128, unit: i128) -> i128 {
    let whole = ns.div_euclid(unit);
    let rest = (whole as f64 + ns.rem_euclid(unit) as f64 / unit as f64) - whole as f64;
    whole * unit + (rest * unit as f64).floor() as i128
}

/// Returns the distance between two doubles of this unit near `ns`, in nanoseconds, rounded up.
fn spacing(ns: i128, unit: i128) -> i128 {
    let units = (ns.abs() / unit) as f64;
    ((f64::from_bits(units.to_bits() + 1) - units) * unit as f64).ceil() as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in nanoseconds, and what Python, Perl, Node and Java made of them: `os.utime(copy, (atime, st_mtime))`,
    /// `utime` of `Time::HiRes`, `fs.cpSync` with `preserveTimestamps`, `fs.utimesSync` with `mtimeMs / 1000`,
    /// `Files.copy` with `COPY_ATTRIBUTES`, `File.setLastModified`.
    const COPIES: [(i128, [i128; 6]); 12] = [
        (
            1_144_272_509_611_178_002,
            [
                1_144_272_509_611_177_921,
                1_144_272_509_611_177_921,
                1_144_272_509_611_000_000,
                1_144_272_509_611_177_000,
                1_144_272_509_611_178_000,
                1_144_272_509_611_000_000,
            ],
        ),
        (
            1_067_760_436_273_878_287,
            [
                1_067_760_436_273_878_335,
                1_067_760_436_273_878_336,
                1_067_760_436_274_000_000,
                1_067_760_436_273_878_000,
                1_067_760_436_273_878_000,
                1_067_760_436_273_000_000,
            ],
        ),
        (
            1_126_614_242_531_969_374,
            [
                1_126_614_242_531_969_308,
                1_126_614_242_531_969_309,
                1_126_614_242_532_000_000,
                1_126_614_242_531_969_000,
                1_126_614_242_531_969_000,
                1_126_614_242_531_000_000,
            ],
        ),
        (
            1_482_637_352_507_069_464,
            [
                1_482_637_352_507_069_349,
                1_482_637_352_507_069_349,
                1_482_637_352_506_999_000,
                1_482_637_352_507_069_000,
                1_482_637_352_507_069_000,
                1_482_637_352_507_000_000,
            ],
        ),
        (
            1_699_642_630_407_608_741,
            [
                1_699_642_630_407_608_747,
                1_699_642_630_407_608_747,
                1_699_642_630_407_999_000,
                1_699_642_630_407_608_000,
                1_699_642_630_407_608_000,
                1_699_642_630_407_000_000,
            ],
        ),
        (
            1_225_437_259_100_780_963,
            [
                1_225_437_259_100_780_963,
                1_225_437_259_100_780_964,
                1_225_437_259_101_000_000,
                1_225_437_259_100_780_000,
                1_225_437_259_100_780_000,
                1_225_437_259_100_000_000,
            ],
        ),
        (
            1_523_832_096_030_437_866,
            [
                1_523_832_096_030_437_946,
                1_523_832_096_030_437_946,
                1_523_832_096_029_999_000,
                1_523_832_096_030_437_000,
                1_523_832_096_030_437_000,
                1_523_832_096_030_000_000,
            ],
        ),
        (
            1_418_554_019_464_680_097,
            [
                1_418_554_019_464_680_194,
                1_418_554_019_464_680_195,
                1_418_554_019_464_999_000,
                1_418_554_019_464_680_000,
                1_418_554_019_464_680_000,
                1_418_554_019_464_000_000,
            ],
        ),
        (
            1_652_231_581_818_492_001,
            [
                1_652_231_581_818_491_935,
                1_652_231_581_818_491_936,
                1_652_231_581_818_000_000,
                1_652_231_581_818_491_000,
                1_652_231_581_818_492_000,
                1_652_231_581_818_000_000,
            ],
        ),
        (
            1_002_261_353_747_144_854,
            [
                1_002_261_353_747_144_818,
                1_002_261_353_747_144_818,
                1_002_261_353_746_999_000,
                1_002_261_353_747_144_000,
                1_002_261_353_747_144_000,
                1_002_261_353_747_000_000,
            ],
        ),
        (
            1_478_230_859_285_970_256,
            [
                1_478_230_859_285_970_211,
                1_478_230_859_285_970_211,
                1_478_230_859_286_000_000,
                1_478_230_859_285_970_000,
                1_478_230_859_285_970_000,
                1_478_230_859_285_000_000,
            ],
        ),
        (
            1_774_747_711_860_954_509,
            [
                1_774_747_711_860_954_523,
                1_774_747_711_860_954_523,
                1_774_747_711_861_000_000,
                1_774_747_711_860_954_000,
                1_774_747_711_860_954_000,
                1_774_747_711_860_000_000,
            ],
        ),
    ];

    #[test]
    fn copies_of_real_programs_are_on_their_grid() {
        let grids = [
            Grid::Double(SECOND),
            Grid::Double(SECOND),
            Grid::ThroughDouble(MILLI),
            Grid::ThroughDouble(MICRO),
            Grid::Step(MICRO),
            Grid::ThroughDouble(MILLI),
        ];
        for (ns, copies) in &COPIES {
            for (copy, grid) in copies.iter().zip(grids) {
                assert!(grid.has(*copy), "{grid:?} {ns} {copy}");
                assert!((copy - ns).abs() <= grid.width(*ns), "{grid:?} {ns} {copy}");
            }
        }
        // Exact times are on none of them.
        for grid in &Grid::KNOWN[1..] {
            let n = COPIES.iter().filter(|(ns, _)| grid.has(*ns)).count();
            assert!(n < 2, "{grid:?}");
        }
    }

    #[test]
    fn implausible_times_are_on_no_grid() {
        for ns in [i128::MIN, i128::MAX, MOST + 1, -MOST - 1] {
            assert!(Grid::KNOWN.iter().all(|grid| !grid.has(ns)), "{ns}");
        }
        assert!(Grid::KNOWN[1..].iter().all(|grid| !grid.has(0)), "the epoch is a multiple of everything");
    }
}
