//! The documents that `ftk help` prints, whole or by section, so that a program without its documentation has them.

use anyhow::bail;

/// A document of the project.
pub(crate) struct Document {
    /// The word after `ftk help`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    text: &'static str,
    /// Whether its sections are listed if none is named: it is long, and a reader wants one of them.
    is_listed: bool,
}

/// The word that stands for all sections.
const ALL_SECTIONS: &str = "all";

impl Document {
    pub(crate) const ALL: [Self; 5] = [
        Self {
            name: "config",
            about: "Defaults of your own, in config.toml",
            text: include_str!("../../docs/config.md"),
            is_listed: false,
        },
        Self {
            name: "json",
            about: "The members of --json, by command",
            text: include_str!("../../docs/json.md"),
            is_listed: false,
        },
        Self {
            name: "recipes",
            about: "Recipes for common tasks",
            text: include_str!("../../docs/recipes.md"),
            is_listed: true,
        },
        Self {
            name: "tree-digest",
            about: "How hash --tree makes one digest of a directory",
            text: include_str!("../../docs/tree-digest.md"),
            is_listed: false,
        },
        Self {
            name: "where",
            about: "The expressions of --where",
            text: include_str!("../../docs/where.md"),
            is_listed: false,
        },
    ];

    /// Returns the sections whose headings have all these words, or parts of words, ignoring case. Without words, the
    /// whole document or the list of its sections.
    ///
    /// # Errors
    /// If there is no such section. The message names the one with the most similar heading.
    pub(crate) fn page(&self, words: &[&str]) -> anyhow::Result<String> {
        match *words {
            [] if self.is_listed => return Ok(self.list()),
            [] | [ALL_SECTIONS] => return Ok(self.text.to_owned()),
            _ => {}
        }
        let words: Vec<_> = words.iter().flat_map(|word| plain_words(word)).collect();
        let has_all = |heading: &str| {
            let heading = heading.to_lowercase();
            words.iter().all(|word| heading.contains(&**word))
        };
        let found: Vec<_> = self.sections().filter(|(heading, _)| has_all(heading)).map(|it| it.1).collect();
        if !found.is_empty() {
            return Ok(found.join("\n\n") + "\n");
        }
        let nearest = self.sections().map(|it| it.0).min_by_key(|heading| distance(&words, heading));
        let (name, asked) = (self.name, words.join(" "));
        let nearest = nearest.map(|it| format!("; the most similar is '{it}'")).unwrap_or_default();
        let list = if self.is_listed { "lists all" } else { "prints all" };
        bail!(
            "no section of '{name}' has '{}' in its heading{nearest}; `ftk help {name}` {list}",
            asked.escape_debug()
        )
    }

    /// Returns the headings of the sections.
    fn list(&self) -> String {
        let headings: String = self.sections().map(|(heading, _)| format!("  {heading}\n")).collect();
        let Self { name, about, .. } = self;
        format!(
            "{about}:\n\n{headings}\n`ftk help {name} WORD...` prints those whose headings have all WORDs, and `ftk \
             help {name} {ALL_SECTIONS}` everything.\n"
        )
    }

    /// Returns each section with its heading.
    fn sections(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        const MARK: &str = "\n## ";
        let starts = self.text.match_indices(MARK).map(|(at, _)| at + 1);
        starts.map(|start| {
            let section = &self.text[start..];
            let section = section.find(MARK).map_or(section, |end| &section[..end]).trim_end();
            let heading = section.lines().next().unwrap_or_default();
            (heading.strip_prefix("## ").unwrap_or(heading), section)
        })
    }
}

/// Returns the words of a text in lower case, without punctuation.
fn plain_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns how many letters of the words differ from the most similar words of a heading.
fn distance(words: &[String], heading: &str) -> usize {
    let of_heading: Vec<_> = plain_words(heading).collect();
    let nearest =
        |word: &String| of_heading.iter().map(|other| edits(word, other)).min().unwrap_or(word.len());
    words.iter().map(nearest).sum()
}

/// Returns the number of letters to add, remove or replace that make one word of the other.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<_> = b.chars().collect();
    let mut row: Vec<_> = (0..=b.len()).collect();
    for letter in a.chars() {
        let mut diagonal = row[0];
        row[0] += 1;
        for (nth, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[nth + 1];
            row[nth + 1] = replaced.min(row[nth] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str) -> Document {
        Document::ALL.into_iter().find(|document| document.name == name).unwrap()
    }

    #[test]
    fn every_section_is_printed_by_its_heading_and_by_a_part_of_it() {
        for document in Document::ALL {
            let (mut sections, mut bytes) = (0, 0);
            for (heading, section) in document.sections() {
                let page = document.page(&heading.split(' ').collect::<Vec<_>>()).unwrap();
                assert!(page.contains(section), "{heading}");
                assert!(document.page(&[&heading.to_uppercase()]).unwrap().contains(section), "{heading}");
                assert!(section.starts_with("## ") && document.text.contains(section));
                (sections, bytes) = (sections + 1, bytes + section.len());
            }
            // Nothing but blank lines is between sections.
            let intro = document.text.find("\n## ").unwrap_or(document.text.len());
            assert!(document.text.len() - intro - bytes <= 4 * sections, "{}", document.name);
            assert_eq!(document.page(&["all"]).unwrap(), document.text);
        }
        let recipes = document("recipes");
        let page = recipes.page(&["NIGHT", "mail"]).unwrap();
        assert!(page.starts_with("## Check every night") && page.matches("\n## ").count() == 0, "{page}");
        assert!(recipes.page(&["disk"]).unwrap().matches("## ").count() > 2);
    }

    #[test]
    fn recipes_are_listed_and_other_documents_printed() {
        let recipes = document("recipes");
        let list = recipes.page(&[]).unwrap();
        for (heading, _) in recipes.sections() {
            assert!(list.contains(&format!("\n  {heading}\n")), "{list}");
        }
        assert!(list.lines().count() < 30, "{list}");
        assert_eq!(document("json").page(&[]).unwrap(), document("json").text);
    }

    #[test]
    fn an_unknown_section_names_the_most_similar_one() {
        for (words, heading) in [
            (&["nigth"][..], "Check every night, with mail about damage and changes"),
            (&["signn"], "Sign a manifest"),
            (&["bagg", "foldr"], "Turn a folder into a BagIt bag"),
        ] {
            let error = document("recipes").page(words).unwrap_err().to_string();
            assert!(error.contains(&format!("the most similar is '{heading}'")), "{error}");
        }
        for words in [&["\u{1b}[31m"][..], &[""], &["--"]] {
            _ = document("where").page(words);
        }
    }

    #[test]
    fn edits_are_those_of_levenshtein() {
        for (a, b, expected) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("night", "nigth", 2), ("\u{e9}", "e", 1)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
