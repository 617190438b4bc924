//! Estimates an agreement from a sample.

use crate::times::agreement::{RoundedSide, TimeAgreement, sides};
use crate::times::distinct::Distinct;
use crate::times::grid::{FINE, Grid, MICRO, MILLI, SECOND, is_plausible, through_double};

/// The largest step that is estimated: a day. One time that was set for all files is no rounding.
const LARGEST_STEP: i128 = 24 * 3600 * SECOND;

/// Choices of files to find an unknown step. At least one of them has no file with another time.
const TRIES: usize = 48;

/// The files of such a choice: enough that their common divisor is nearly always the step itself.
const CHOSEN: usize = 6;

const SIDES: [RoundedSide; 2] = [RoundedSide::New, RoundedSide::Old];

/// An agreement, and what it explains of the sample.
pub(super) struct Fit {
    pub(super) agreement: TimeAgreement,
    /// Whether the grid is one of [`Grid::KNOWN`], and not shifted.
    pub(super) is_known: bool,
    /// Pairs of different times that it explains.
    pub(super) changed: usize,
    /// Pairs that it explains, also those of equal times.
    pub(super) explained: usize,
    /// Pairs that it explains, and pairs of equal times.
    same: usize,
    /// Some of the exact times that it explains.
    exact: Distinct,
}

impl Fit {
    fn new(pairs: &[(i128, i128)], agreement: TimeAgreement, is_known: bool) -> Self {
        let mut fit =
            Self { agreement, is_known, changed: 0, explained: 0, same: 0, exact: Distinct::default() };
        for (old_ns, new_ns) in pairs {
            let (is_equal, is_explained) = (old_ns == new_ns, agreement.explains(*old_ns, *new_ns));
            fit.changed += usize::from(is_explained && !is_equal);
            fit.explained += usize::from(is_explained);
            fit.same += usize::from(is_explained || is_equal);
            if is_explained {
                fit.exact.add(sides(agreement.rounded, (*old_ns, *new_ns)).1);
            }
        }
        fit
    }

    /// Returns whether it is better: it explains more, or the same with smaller errors. A shift needs several files, with
    /// several times.
    fn is_better(&self, other: &Self) -> bool {
        let is_plain = |it: &Self| {
            let agreement = &it.agreement;
            agreement.shift_ns() == 0
                || it.changed > 2 && (it.exact.are_enough() || agreement.is_of_time_zones())
        };
        let key = |it: &Self| (it.same, it.explained, is_plain(it), -it.agreement.width);
        key(self) > key(other)
    }

    /// Returns whether the other files were edited: there are few, and their times are not close to those that it explains.
    fn is_sufficient(&self, pairs: &[(i128, i128)]) -> bool {
        let (agreement, shift_ns) = (&self.agreement, self.agreement.shift_ns());
        let is_close = |(old_ns, new_ns): &(i128, i128)| {
            (old_ns != new_ns || shift_ns != 0)
                && (new_ns - old_ns - shift_ns).abs() <= FINE
                && !agreement.explains(*old_ns, *new_ns)
        };
        self.same * 10 >= pairs.len() * 9 && !pairs.iter().any(is_close)
    }
}

/// Returns the agreement that explains most of these pairs of an old and a new time, and explains the change of at least
/// one.
pub(super) fn estimate(pairs: &[(i128, i128)]) -> Option<Fit> {
    let pairs: Vec<_> = pairs
        .iter()
        .copied()
        .filter(|(old_ns, new_ns)| is_plausible(*old_ns) && is_plausible(*new_ns))
        .collect();
    if pairs.iter().all(|(old_ns, new_ns)| old_ns == new_ns) {
        return None;
    }
    let mut best: Option<Fit> = None;
    for grid in Grid::KNOWN {
        for side in SIDES {
            offer(&mut best, fit(&pairs, side, grid, 0, true));
        }
    }
    // Unknown steps, and known ones with a shift that is not a multiple of them.
    if best.as_ref().is_none_or(|best| !best.is_sufficient(&pairs)) {
        for (side, grid, phase) in unknown(&pairs) {
            offer(&mut best, fit(&pairs, side, grid, phase, false));
        }
    }
    best.filter(|best| best.changed > 0)
}

/// Replaces the best fit if another one is better.
fn offer(best: &mut Option<Fit>, fit: Option<Fit>) {
    if let Some(fit) = fit
        && best.as_ref().is_none_or(|best| fit.is_better(best))
    {
        *best = Some(fit);
    }
}

/// Returns the best agreement of this grid.
fn fit(pairs: &[(i128, i128)], rounded: RoundedSide, grid: Grid, phase: i128, is_known: bool) -> Option<Fit> {
    let sides = || pairs.iter().map(|pair| sides(rounded, *pair));
    let width = sides().map(|(rounded, _)| grid.width(rounded)).max()?;
    let on_grid = sides().filter(|(rounded, _)| grid.has(rounded - phase));
    let mut errors: Vec<_> = on_grid.map(|(rounded, exact)| rounded - exact).collect();
    errors.sort_unstable();
    // The errors of one rounding are in a range of its width: the one with the most of them.
    let (mut first, mut range, mut most) = (0, None, 0);
    for last in 0..errors.len() {
        while errors[last] - errors[first] > width {
            first += 1;
        }
        if last + 1 - first > most {
            (most, range) = (last + 1 - first, Some((errors[first], errors[last])));
        }
    }
    Some(Fit::new(pairs, TimeAgreement::new(rounded, grid, phase, width, range?), is_known))
}

/// Returns the possible grids of times whose grid is not known, or that were shifted after they were rounded.
fn unknown(pairs: &[(i128, i128)]) -> Vec<(RoundedSide, Grid, i128)> {
    let mut grids = Vec::new();
    for side in SIDES {
        for nth in 0..TRIES {
            // The multiples of the golden ratio are distributed over the tree, and differ in each choice.
            let random = |k: usize| ((nth * CHOSEN + k) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let chosen: [_; CHOSEN] =
                std::array::from_fn(|k| sides(side, pairs[(random(k) % pairs.len() as u64) as usize]));
            let (first, exact) = chosen[0];
            let step = chosen.iter().fold(0, |step, (rounded, _)| divisor(step, rounded - first));
            if (2..=LARGEST_STEP).contains(&step) {
                let phase = first.rem_euclid(step);
                if step < MILLI {
                    grids.push((side, Grid::Step(step), phase));
                }
                if step >= MICRO {
                    grids.push((side, Grid::ThroughDouble(step), phase));
                }
            }
            if nth < TRIES / 3 {
                let double = |unit| (side, Grid::Double(unit), first - through_double(exact, unit));
                let millis = (exact + MILLI / 2).div_euclid(MILLI) * MILLI;
                grids.extend([
                    double(SECOND),
                    double(MILLI),
                    (side, Grid::ThroughDouble(MILLI), first - millis),
                ]);
            }
        }
    }
    grids
}

/// Returns the greatest common divisor of two numbers.
fn divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(i128::MAX)
}
