//! The value of `--modify-window`.

/// Parses a time: a whole number of seconds, or of another unit such as `1us`. Returns nanoseconds.
pub(super) fn window(text: &str) -> Result<i128, &'static str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" | "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1000,
        "ns" => 1,
        _ => return Err("expected a time such as 2, 10ms, 1us or 100ns"),
    };
    let number: u32 =
        number.parse().map_err(|_| "expected a whole number with a unit: 2, 10ms, 1us or 100ns")?;
    Ok(i128::from(number) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_whole_numbers_with_a_unit() {
        for (text, ns) in [
            ("2", 2_000_000_000),
            ("0", 0),
            ("3600s", 3_600_000_000_000),
            ("10ms", 10_000_000),
            ("1us", 1000),
            ("100ns", 100),
        ] {
            assert_eq!(window(text), Ok(ns), "{text}");
        }
        for bad in ["", "us", "1.5", "-1", "+1", "1 s", "1m", "1h", "99999999999"] {
            assert!(window(bad).is_err(), "{bad}");
        }
    }
}
