//! Generated text inside a page that people write.

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- bench -->\n";
const END: &str = "<!-- /bench -->";

/// `page` with `block` between its two markers.
///
/// # Errors
/// If the page has no such place.
pub(crate) fn splice(page: &str, block: &str) -> Result<String> {
    let missing = || format!("no place for the benchmark: {} and {END}", BEGIN.trim_end());
    let (before, rest) = page.split_once(BEGIN).with_context(missing)?;
    let (_, after) = rest.split_once(END).with_context(missing)?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", block.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_changes() {
        let page = "# Title\n<!-- bench -->\nold\n<!-- /bench -->\nend\n";
        let once = splice(page, "new\n").unwrap();
        assert_eq!(once, "# Title\n<!-- bench -->\n\nnew\n\n<!-- /bench -->\nend\n");
        assert_eq!(splice(&once, "new").unwrap(), once);
    }

    #[test]
    fn a_page_without_markers_is_refused() {
        assert!(splice("# Title\n", "x").is_err());
        assert!(splice("<!-- bench -->\nx", "x").is_err());
        assert!(splice("<!-- /bench -->\n<!-- bench -->\n", "x").is_err());
    }
}
