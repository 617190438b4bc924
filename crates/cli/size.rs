//! Sizes for people, of any number of bytes.

/// How sizes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Powers of 1,000, rounded to the nearest: `1.9 TB`.
    Decimal,
    /// Powers of 1,024, rounded up, like `du -h`: `1.9T`.
    Binary,
    /// Units of this many bytes, rounded up, like `du -k`: `1904`.
    Blocks(u32),
}

impl Unit {
    pub(crate) fn format(self, bytes: u128) -> String {
        let (base, names): (u128, _) = match self {
            Self::Decimal => (1_000, [" B", " kB", " MB", " GB", " TB", " PB", " EB", " ZB", " YB", " RB"]),
            Self::Binary => (1_024, ["", "K", "M", "G", "T", "P", "E", "Z", "Y", "R"]),
            Self::Blocks(size) => return bytes.div_ceil(size.into()).to_string(),
        };
        let round = |bytes: u128, unit: u128| match self {
            Self::Decimal => bytes.saturating_add(unit / 2) / unit,
            Self::Binary | Self::Blocks(_) => bytes.div_ceil(unit),
        };
        let mut unit = 1;
        for (power, name) in names.iter().enumerate() {
            // A number below ten has one decimal.
            let tenths = round(bytes.saturating_mul(10), unit);
            let whole = round(bytes, unit);
            if power > 0 && tenths < 100 {
                return format!("{}.{}{name}", tenths / 10, tenths % 10);
            }
            if whole < base || power + 1 == names.len() {
                return format!("{whole}{name}");
            }
            unit *= base;
        }
        unreachable!("the last unit ends the loop")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_sizes_are_rounded_to_the_nearest() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (1_900_000_000_000, "1.9 TB"),
            (u128::from(u64::MAX) * 1_000, "18 ZB"),
        ] {
            assert_eq!(Unit::Decimal.format(bytes), text);
        }
    }

    #[test]
    fn binary_sizes_are_rounded_up_like_those_of_du() {
        for (bytes, text) in [
            (0, "0"),
            (1_023, "1023"),
            (1_024, "1.0K"),
            (1_025, "1.1K"),
            (10_137, "9.9K"),
            (10_138, "10K"),
            (1 << 20, "1.0M"),
            ((1 << 20) - 1, "1.0M"),
            (1_u128 << 64, "16E"),
        ] {
            assert_eq!(Unit::Binary.format(bytes), text);
        }
        assert!(Unit::Binary.format(u128::MAX).ends_with('R'));
        for (bytes, text) in [(0, "0"), (1, "1"), (1_024, "1"), (1_025, "2"), (1 << 64, "18014398509481984")]
        {
            assert_eq!(Unit::Blocks(1_024).format(bytes), text);
        }
    }
}
