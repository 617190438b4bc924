//! Replaces generated text inside a page that is written by hand.

use anyhow::{Context, Result};

/// Returns `page` with `block` between the two markers of this name, such as `<!-- bench -->` and `<!-- /bench -->`.
///
/// # Errors
/// If the page lacks these markers.
pub(crate) fn splice(page: &str, name: &str, block: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let missing = || format!("the page lacks the markers {} and {end}", begin.trim_end());
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", block.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_block_changes() {
        let page = "# Title\n<!-- bench -->\nold\n<!-- /bench -->\nend\n";
        let once = splice(page, "bench", "new\n").unwrap();
        assert_eq!(once, "# Title\n<!-- bench -->\n\nnew\n\n<!-- /bench -->\nend\n");
        assert_eq!(splice(&once, "bench", "new").unwrap(), once);
    }

    #[test]
    fn a_page_without_markers_is_an_error() {
        assert!(splice("# Title\n", "bench", "x").is_err());
        assert!(splice("<!-- bench -->\nx", "bench", "x").is_err());
        assert!(splice("<!-- /bench -->\n<!-- bench -->\n", "bench", "x").is_err());
    }
}
