//! Formats times, memory and ratios.

use super::record::is_slower;

/// Formats milliseconds with about three digits, in a suitable unit.
pub(crate) fn time(ms: f64) -> String {
    match ms {
        10_000.0.. => format!("{:.1} s", ms / 1e3),
        1_000.0.. => format!("{:.2} s", ms / 1e3),
        100.0.. => format!("{ms:.0} ms"),
        10.0.. => format!("{ms:.1} ms"),
        _ => format!("{ms:.2} ms"),
    }
}

/// Formats a range in the unit of `median`.
pub(crate) fn range(median: f64, min: f64, max: f64) -> String {
    match median {
        1_000.0.. => format!("{:.2}-{:.2}", min / 1e3, max / 1e3),
        100.0.. => format!("{min:.0}-{max:.0}"),
        _ => format!("{min:.1}-{max:.1}"),
    }
}

pub(crate) fn memory(kib: u64) -> String {
    let mib = kib as f64 / 1024.0;
    if mib < 100.0 { format!("{mib:.1} MiB") } else { format!("{mib:.0} MiB") }
}

/// Formats a ratio. If ftk is slower, the ratio is below 1 and gets a second decimal.
pub(crate) fn ratio(times: f64) -> String {
    if is_slower(times) { format!("{times:.2}x") } else { format!("{times:.1}x") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_about_three_digits() {
        let shown = [0.456, 12.34, 123.4, 1234.0, 12345.0].map(time);
        assert_eq!(shown, ["0.46 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s"]);
        assert_eq!([512, 2048, 204_800].map(memory), ["0.5 MiB", "2.0 MiB", "200 MiB"]);
        assert_eq!([0.5, 0.996, 12.34].map(ratio), ["0.50x", "1.0x", "12.3x"]);
        assert_eq!(range(1500.0, 1400.0, 1600.0), "1.40-1.60");
    }
}
