//! Parses the value of `--sample` and `--check`: a share of the files, in per cent.

use ftk_manifest::Sample;

/// Parses `5%`, `0.1%` or `5`: more than 0 and at most 100. Every run samples other files.
pub(super) fn share(text: &str) -> Result<Sample, String> {
    let percent: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).parse();
    match percent {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Sample::new(percent)),
        _ => Err("expected more than 0% and at most 100%".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_above_0_and_at_most_100_per_cent() {
        for good in ["5%", "0.1%", "100", "1e-3%"] {
            assert!(share(good).is_ok(), "{good}");
        }
        for bad in ["", "%", "0", "-1%", "100.1%", "nan", "inf", "5 %", "half"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
