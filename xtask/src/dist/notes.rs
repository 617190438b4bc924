//! The part of the changelog about one version.

/// Returns the heading and the text of the section of a version.
pub(crate) fn section<'t>(changelog: &'t str, version: &str) -> Option<(&'t str, &'t str)> {
    let mut rest = changelog;
    loop {
        let (_, after) = rest.split_once("\n## ")?;
        let (heading, text) = after.split_once('\n')?;
        if heading.split(' ').next() == Some(version) {
            let text = text.split("\n## ").next().unwrap_or_default();
            return Some((heading, text.trim()));
        }
        rest = after;
    }
}

/// Returns the day in a heading such as `0.1.0 (2026-12-01)`.
pub(crate) fn day(heading: &str) -> Option<&str> {
    let (_, day) = heading.strip_suffix(')')?.split_once(" (")?;
    let is_day = day.len() == 10
        && day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_day.then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_at_the_next_one() {
        let text = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.10 (2027-01-02)\n\n- ten\n\n### Fixed\n\n- it\n\n## 0.1.1\n\n- one\n";
        assert_eq!(section(text, "0.1.1"), Some(("0.1.1", "- one")));
        assert_eq!(section(text, "0.1.10"), Some(("0.1.10 (2027-01-02)", "- ten\n\n### Fixed\n\n- it")));
        assert_eq!(section(text, "0.1"), None);
    }

    #[test]
    fn a_day_has_a_year_first() {
        assert_eq!(day("0.1.0 (2026-12-01)"), Some("2026-12-01"));
        for bad in ["0.1.0", "0.1.0 (soon)", "0.1.0 (01.12.2026)", "0.1.0 2026-12-01"] {
            assert_eq!(day(bad), None, "{bad}");
        }
    }
}
