//! The rule that `ARCHITECTURE.md` lists every dependency between the crates. This table is the only list of what a
//! crate may use: a new dependency is a change of the page.

use std::collections::{BTreeMap, BTreeSet};

use super::manifests;
use super::tree::{Finding, Tree};

/// The page with the table of crates.
const PAGE: &str = "ARCHITECTURE.md";

/// The heading of the first column, which holds the name of a crate without `ftk-`.
const NAME: &str = "crate";

/// The heading of the column that lists the crates that this one depends on.
const USES: &str = "uses";

/// The name in the table of the root package `ftk`, whose folder is `crates/cli`.
const ROOT: &str = "cli";

/// The table in `ARCHITECTURE.md` has a row for every crate, and the column `uses` lists exactly the `ftk-*` crates
/// that its `Cargo.toml` names, except for tests.
pub(crate) fn every_edge_is_listed(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.get(PAGE) else { return vec![Finding::file(PAGE, "is missing")] };
    let mut listed = match rows(page) {
        Ok(rows) => rows,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    for (name, used) in edges(tree) {
        let Some((line, listed)) = listed.remove(name) else {
            findings.push(Finding::file(PAGE, format!("the table has no row for `{name}`")));
            continue;
        };
        for missing in used.difference(&listed) {
            findings.push(Finding::line(
                PAGE,
                line,
                format!("`{name}` uses `{missing}`, which is not listed"),
            ));
        }
        for wrong in listed.difference(&used) {
            findings.push(Finding::line(PAGE, line, format!("`{name}` does not use `{wrong}`")));
        }
    }
    findings.extend(
        listed
            .iter()
            .map(|(name, (line, _))| Finding::line(PAGE, *line, format!("there is no crate `{name}`"))),
    );
    findings
}

/// The crates in the manifests, and the crates that each depends on.
fn edges(tree: &Tree) -> BTreeMap<&str, BTreeSet<String>> {
    let mut edges = BTreeMap::new();
    for (path, text) in tree.ending("Cargo.toml") {
        let name = match path.split('/').collect::<Vec<_>>()[..] {
            ["Cargo.toml"] => ROOT,
            ["crates", name, "Cargo.toml"] => name,
            _ => continue,
        };
        let used = manifests::built_with(text);
        let used = used.iter().filter_map(|used| used.strip_prefix("ftk-"));
        edges.insert(name, used.map(str::to_owned).collect());
    }
    edges
}

/// A row of the table: its line in the page, and the names in the column `uses`.
type Row = (usize, BTreeSet<String>);

/// The rows of the first table with both columns, by the name in the first.
fn rows(page: &str) -> Result<BTreeMap<&str, Row>, Finding> {
    let mut lines = page.lines().zip(1..);
    let uses = lines.by_ref().find_map(|(line, _)| {
        let heads = cells(line);
        heads.first().filter(|first| **first == NAME)?;
        heads.iter().position(|head| *head == USES)
    });
    let Some(uses) = uses else {
        return Err(Finding::file(PAGE, format!("has no table with the columns `{NAME}` and `{USES}`")));
    };
    let rows = lines.skip(1).take_while(|(line, _)| line.starts_with('|')).map(|(line, number)| {
        let cells = cells(line);
        let name = cells.first().and_then(|cell| quoted(cell).next());
        let used = cells.get(uses).map(|cell| quoted(cell).map(str::to_owned).collect());
        name.zip(used)
            .map(|(name, used)| (name, (number, used)))
            .ok_or_else(|| Finding::line(PAGE, number, "a row without the name of a crate"))
    });
    rows.collect()
}

/// The cells of a row of a table; no cell here contains a `|`.
fn cells(line: &str) -> Vec<&str> {
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(str::trim).collect())
}

/// The words between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# Architecture

| crate | purpose | uses |
|---|---|---|
| `walk` | walks | nothing |
| `select` | selects | `walk` |
| `cli` (the root package) | prints | `select`, `walk` |

| crate | no | table |
";

    fn found(page: &str) -> Vec<String> {
        let files = [
            ("Cargo.toml", "[dependencies]\nftk-walk.workspace = true\nftk-select.workspace = true\n"),
            ("crates/walk/Cargo.toml", "[dependencies]\nlibc.workspace = true\n"),
            ("crates/select/Cargo.toml", "[dependencies]\nftk-walk = { workspace = true }\n"),
            ("benches/Cargo.toml", "[dependencies]\nftk-walk.workspace = true\n"),
            (PAGE, page),
        ];
        every_edge_is_listed(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_table_passes() {
        assert_eq!(found(TABLE), [""; 0]);
    }

    #[test]
    fn a_missing_edge_is_found() {
        let page = TABLE.replace("`select`, `walk`", "`walk`");
        assert_eq!(found(&page), ["ARCHITECTURE.md:7: `cli` uses `select`, which is not listed"]);
    }

    #[test]
    fn an_edge_that_does_not_exist_is_found() {
        let page = TABLE.replace("nothing", "`select`");
        assert_eq!(found(&page), ["ARCHITECTURE.md:5: `walk` does not use `select`"]);
    }

    #[test]
    fn missing_and_unknown_crates_are_found() {
        let page = TABLE.replace("| `select` | selects", "| `filter` | selects");
        let expected = [
            "ARCHITECTURE.md: the table has no row for `select`",
            "ARCHITECTURE.md:6: there is no crate `filter`",
        ];
        assert_eq!(found(&page), expected);
    }

    #[test]
    fn a_page_without_the_table_is_found() {
        let expected = ["ARCHITECTURE.md: has no table with the columns `crate` and `uses`"];
        assert_eq!(found("# Architecture\n"), expected);
        assert_eq!(found(&TABLE.replace("| uses |", "| needs |")), expected);
        assert_eq!(found(&TABLE.replace("`walk` |", "walk |").replace("| `walk`", "| walk")).len(), 1);
        assert_eq!(every_edge_is_listed(&Tree::default()).len(), 1);
    }
}
