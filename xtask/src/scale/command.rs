//! The command line of `cargo xtask scale`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use super::costs::Costs;
use super::table::page;
use super::tree::{Shape, Tree};
use crate::bench::record::all;
use crate::bench::splice::splice;

/// The page with the table, between markers of the name `scale`.
const PAGE: &str = "docs/cluster.md";

/// Where the costs come from.
const RECORDS: &str = "benches/records";

/// Prints the table, or writes it into the page.
pub(crate) fn run(writes: bool) -> Result<ExitCode> {
    let block = block(Path::new("."))?;
    if writes {
        fs::write(PAGE, splice(&fs::read_to_string(PAGE)?, "scale", &block)?)?;
    } else {
        print!("{block}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the text for the page.
fn block(root: &Path) -> Result<String> {
    // A record may have only some of the tables.
    let records = all(&root.join(RECORDS))?;
    let measured = records.iter().find_map(|record| Some((&record.name, Costs::of(&record.tables).ok()?)));
    let (name, costs) = measured.context("no record has all the costs")?;
    Ok(page(&Tree::generate(&Shape::BILLION), &costs, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_output() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let page = fs::read_to_string(root.join(PAGE)).unwrap();
        let new = splice(&page, "scale", &block(root).unwrap()).unwrap();
        assert!(page == new, "run `cargo xtask scale --write`");
    }
}
