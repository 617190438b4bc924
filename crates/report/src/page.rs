//! The page: one HTML file with its style, script and data inside.

use askama::Template;
use data_encoding::BASE64;
use ftk_hash::Algorithm;

use crate::data::Data;

const STYLE: &str = include_str!("../assets/page.css");

/// The modules of the script, each after those that it imports.
const MODULES: [&str; 11] = [
    include_str!("../assets/text.js"),
    include_str!("../assets/sha256.js"),
    include_str!("../assets/squarify.js"),
    include_str!("../assets/tree.js"),
    include_str!("../assets/colours.js"),
    include_str!("../assets/treemap.js"),
    include_str!("../assets/space.js"),
    include_str!("../assets/decisions.js"),
    include_str!("../assets/duplicates.js"),
    include_str!("../assets/changes.js"),
    include_str!("../assets/health.js"),
];
const MAIN: &str = include_str!("../assets/main.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'d> {
    policy: String,
    title: &'d str,
    subtitle: String,
    style: &'static str,
    script: String,
    data: String,
    views: Vec<View>,
    problems: &'d [String],
    unreadable: u128,
    excluded: u128,
    has_space: bool,
    has_waste: bool,
    has_duplicates: bool,
    has_changes: bool,
    has_health: bool,
}

struct View {
    id: &'static str,
    title: &'static str,
}

/// Returns the page. It needs nothing from the network, and its content security policy forbids it: only the style and
/// the script in the page, which the policy names by their SHA-256, take effect.
pub fn page(data: &Data) -> String {
    let script = script();
    let views = [
        (data.space.is_some(), "space", "Space"),
        (data.duplicates.is_some(), "duplicates", "Duplicates"),
        (data.changes.is_some(), "changes", "Changes"),
        (data.health.is_some(), "health", "Health"),
    ];
    let page = Page {
        policy: format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            source(&script),
            source(STYLE)
        ),
        title: &data.title,
        subtitle: format!("ftk {}, from {}", data.program, data.inputs.join(" and ")),
        style: STYLE,
        script,
        data: embedded(data),
        views: views.into_iter().filter(|it| it.0).map(|(_, id, title)| View { id, title }).collect(),
        problems: &data.problems.messages,
        unreadable: data.problems.unreadable.0,
        excluded: data.problems.excluded.0,
        has_space: data.space.is_some(),
        has_waste: data.space.as_ref().is_some_and(|space| space.has_waste()),
        has_duplicates: data.duplicates.is_some(),
        has_changes: data.changes.is_some(),
        has_health: data.health.is_some(),
    };
    page.render().expect("writing to a string succeeds")
}

/// Joins the modules to one script, without their imports and exports: in one module all names are visible.
fn script() -> String {
    let mut script = String::from("\n");
    for line in MODULES.into_iter().chain([MAIN]).flat_map(str::lines) {
        if !line.starts_with("import ") {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

/// The JSON of the data, in which nothing can end the element that contains it.
///
/// The HTML standard (section 4.12.1.3) lets `</script` and `<!--` end or change a script; `<` occurs only in strings,
/// where JSON can escape it.
fn embedded(data: &Data) -> String {
    data.to_json().replace('<', "\\u003c")
}

/// The source expression of an inline element (Content Security Policy Level 3, section 2.3.1).
fn source(text: &str) -> String {
    let digest = Algorithm::Sha256.hash_one(text.as_bytes());
    format!("sha256-{}", BASE64.encode(digest.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Problems;

    #[test]
    fn hostile_names_are_data() {
        let evil = "</script><img src=x onerror=alert(1)><!--";
        let problems = Problems { messages: vec![evil.into()], ..Problems::default() };
        let data = Data { title: evil.into(), inputs: vec![evil.into()], problems, ..Data::default() };
        let page = page(&data);
        assert_eq!(page.matches("</script>").count(), 2);
        assert_eq!(page.matches("<img").count() + page.matches("<!--").count(), 0);
        let json = embedded(&data);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["title"], evil);
    }

    #[test]
    fn every_module_is_part_of_the_script_once() {
        let names = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).unwrap();
        let files: Vec<_> =
            names.map(|it| it.unwrap().path()).filter(|it| it.extension().unwrap() == "js").collect();
        assert_eq!(files.len(), MODULES.len() + 1);
        for (at, module) in MODULES.into_iter().chain([MAIN]).enumerate() {
            let known = &MODULES[..at.min(MODULES.len())];
            for name in module.lines().filter_map(|line| line.strip_prefix("import ")?.split("\"./").nth(1)) {
                let path = format!("{}/assets/{}", env!("CARGO_MANIFEST_DIR"), name.trim_end_matches("\";"));
                let imported = std::fs::read_to_string(path).unwrap();
                assert!(known.contains(&&*imported), "{name} comes after the module that imports it");
            }
        }
        let script = script();
        assert!(!script.contains("\nimport ") && !script.contains("\nexport ") && !script.contains("</"));
    }

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        let page = page(&Data::default());
        let between =
            |begin: &str, end: &str| page.split(begin).nth(1).unwrap().split(end).next().unwrap().to_owned();
        assert!(page.contains(&source(&between("<style>", "</style>"))));
        assert!(page.contains(&source(&between("<script type=\"module\">", "</script>"))));
    }
}
