//! Rules for the pages: the index is complete, and links lead somewhere.

use super::tree::{Finding, Tree, joined};

/// The index of all pages.
const INDEX: &str = "docs/README.md";

/// Every page in `docs/` is linked from the index.
pub(crate) fn index_is_complete(tree: &Tree) -> Vec<Finding> {
    let Some(index) = tree.get(INDEX) else { return vec![Finding::file(INDEX, "is missing")] };
    let linked: Vec<_> =
        links(index).filter_map(|(_, to)| resolved(INDEX, to)).map(|(path, _)| path).collect();
    tree.ending(".md")
        .map(|(path, _)| path)
        .filter(|path| path.starts_with("docs/") && *path != INDEX && !linked.iter().any(|to| to == path))
        .map(|path| Finding::file(INDEX, format!("does not link {path}")))
        .collect()
}

/// Relative links in pages lead to files, directories or headings of the repository.
pub(crate) fn links_lead_somewhere(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (page, text) in tree.ending(".md") {
        for (line, to) in links(text) {
            let Some((path, heading)) = resolved(page, to) else { continue };
            let has_heading = |text: &str| headings(text).any(|name| name == heading);
            let leads = match tree.get(&path) {
                Some(text) => heading.is_empty() || has_heading(text),
                None => tree.has_directory(&path),
            };
            if !leads {
                findings.push(Finding::line(page, line, format!("the link to {to} leads nowhere")));
            }
        }
    }
    findings
}

/// The targets of links that are written `[text](target)`, with the number of the line. Code blocks have no links.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        line.split("](").skip(1).filter_map(move |rest| Some((number, rest.split_once(')')?.0)))
    })
}

/// The path from the top of the repository and the heading that a link on `page` leads to; `None` for other sites.
fn resolved<'t>(page: &str, to: &'t str) -> Option<(String, &'t str)> {
    if to.contains("://") || to.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = to.split_once('#').unwrap_or((to, ""));
    Some((if path.is_empty() { page.to_owned() } else { joined(page, path) }, heading))
}

/// The names that links use for the headings of a page.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| {
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        line.trim_start_matches('#')
            .trim()
            .chars()
            .filter(kept)
            .collect::<String>()
            .to_lowercase()
            .replace(' ', "-")
    })
}

/// The lines that are not in code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(index: &str, page: &str) -> Tree {
        Tree::of(&[
            (INDEX, index),
            ("docs/page.md", page),
            ("docs/man/ftk.1", ""),
            ("README.md", "# ftk\n\n## One `test` - two\n"),
        ])
    }

    #[test]
    fn a_page_that_the_index_lacks_is_found() {
        assert_eq!(index_is_complete(&tree("- [page](page.md): a page\n", "")), []);
        assert_eq!(index_is_complete(&tree("- [page](other.md)\n", "")).len(), 1);
        assert_eq!(index_is_complete(&Tree::default()).len(), 1);
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for link in [
            "[a](../README.md)",
            "[a](../README.md#one-test---two) and [b](man)",
            "[a](man/ftk.1)",
            "[a](#own)",
            "[a](https://example.org/x) and <https://example.org>",
            "\n```text\n[a](nothing)\n```\n",
        ] {
            let page = format!("# Own\n\n{link}\n");
            assert_eq!(links_lead_somewhere(&tree("", &page)), [], "{link}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        for to in ["../README", "../README.md#two", "#other", "ma"] {
            let page = format!("# Page\n[a](page.md) [b]({to})\n");
            let found = links_lead_somewhere(&tree("", &page));
            assert_eq!(found, [Finding::line("docs/page.md", 2, format!("the link to {to} leads nowhere"))]);
        }
    }
}
