//! How the times of two trees agree.

use crate::times::grid::{Grid, MICRO, MILLI, SECOND, is_plausible};

/// Which of two times is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundedSide {
    /// The recorded time, or that of the first tree.
    Old,
    /// The present time, or that of the second tree.
    New,
}

/// What a rounding keeps of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Multiples of this many nanoseconds.
    Step(i128),
    /// A `double` in seconds.
    DoubleSeconds,
    /// A `double` in milliseconds.
    DoubleMillis,
}

/// How the times of two trees agree: those of one tree are the times of the other one, shifted by one amount, rounded, or
/// both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeAgreement {
    pub(super) rounded: RoundedSide,
    pub(super) grid: Grid,
    /// What a shift after the rounding has added to the times of the grid.
    pub(super) phase: i128,
    /// The smallest and the largest difference between the rounded and the other time.
    pub(super) range: (i128, i128),
    /// The difference of two errors of the rounding is at most this.
    pub(super) width: i128,
    shift_ns: i128,
}

impl TimeAgreement {
    /// Creates the agreement of pairs whose rounded times are on the grid, and whose differences reach from `least` to
    /// `most`.
    pub(super) fn new(
        rounded: RoundedSide,
        grid: Grid,
        phase: i128,
        width: i128,
        (least, most): (i128, i128),
    ) -> Self {
        // The errors may be in any range of this width that has all known ones.
        let range = |shift: i128| ((most - width).max(shift - width), (least + width).min(shift + width));
        let possible = (most - width, least + width);
        let shift = if possible.0 <= 0 && 0 <= possible.1 { 0 } else { roundest(possible) };
        let is_exact = shift == 0 || shift % (15 * 60 * SECOND) == 0;
        let range = if is_exact { range(shift) } else { possible };
        let shift_ns = if rounded == RoundedSide::New { shift } else { -shift };
        Self { rounded, grid, phase, range, width, shift_ns }
    }

    /// Returns whether the difference between two times is part of the agreement. Equal times of two exact trees are not,
    /// if the times have shifted.
    pub fn explains(&self, old_ns: i128, new_ns: i128) -> bool {
        let (rounded, exact) = sides(self.rounded, (old_ns, new_ns));
        let difference = rounded.saturating_sub(exact);
        (self.range.0..=self.range.1).contains(&difference)
            && is_plausible(rounded)
            && self.grid.has(rounded - self.phase)
    }

    /// Returns the amount by which all times have shifted, in nanoseconds: 0 if they are only rounded. If they are also
    /// rounded, this is the roundest amount that is possible.
    pub fn shift_ns(&self) -> i128 {
        self.shift_ns
    }

    /// Returns whether the shift is, to two seconds, a difference between the clocks of two time zones: a multiple of 15
    /// minutes, of at most 14 hours.
    pub(super) fn is_of_time_zones(&self) -> bool {
        const QUARTER: i128 = 15 * 60 * SECOND;
        let off = self.shift_ns.saturating_add(QUARTER / 2).rem_euclid(QUARTER) - QUARTER / 2;
        let most = 14 * 3600 * SECOND + 2 * SECOND;
        off.abs() < 2 * SECOND && (QUARTER / 2..most).contains(&self.shift_ns.saturating_abs())
    }

    /// Returns how times are rounded, and which ones. `None` if they are exact.
    pub fn rounding(&self) -> Option<(RoundedSide, Rounding)> {
        let rounding = match self.grid {
            Grid::Step(1) => return None,
            Grid::Step(step) | Grid::ThroughDouble(step) => Rounding::Step(step),
            Grid::Double(SECOND) => Rounding::DoubleSeconds,
            Grid::Double(_) => Rounding::DoubleMillis,
        };
        Some((self.rounded, rounding))
    }
}

/// Returns the rounded and the exact time of a pair.
pub(super) fn sides(rounded: RoundedSide, (old_ns, new_ns): (i128, i128)) -> (i128, i128) {
    match rounded {
        RoundedSide::Old => (old_ns, new_ns),
        RoundedSide::New => (new_ns, old_ns),
    }
}

/// Returns the number in a range that people are most likely to have meant, such as a whole hour.
fn roundest((least, most): (i128, i128)) -> i128 {
    let middle = least + (most - least) / 2;
    let units = [15 * 60 * SECOND, 60 * SECOND, SECOND, MILLI, MICRO];
    let nearest = |unit: i128| (middle + unit / 2).div_euclid(unit) * unit;
    units.into_iter().map(nearest).find(|ns| (least..=most).contains(ns)).unwrap_or(middle)
}
