//! All rules over the files of this repository.

use std::process::ExitCode;

use anyhow::Result;

use super::tree::{Finding, Tree};
use super::{
    architecture, documents, file_types, guarantees, horrors, manifests, release, repository, sources, words,
};

/// All rules.
const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    sources::module_docs,
    sources::silent_libraries,
    sources::tree_changes,
    sources::file_length,
    sources::comment_width,
    file_types::new_types_are_noticed,
    manifests::inherited_fields,
    manifests::library_dependencies,
    manifests::default_members,
    manifests::unused_dependencies,
    release::internal_packages,
    release::versions,
    architecture::every_edge_is_listed,
    documents::index_is_complete,
    documents::links_lead_somewhere,
    guarantees::name_their_tests,
    repository::licences,
    repository::licences_of_crates,
    repository::changelog,
    repository::machine_paths,
    horrors::every_horror_is_tested,
    horrors::gaps_are_published,
    words::plain_words,
];

/// Prints all findings; the status is 1 if there are any.
pub(crate) fn run() -> Result<ExitCode> {
    Ok(if is_clean()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints all findings and returns whether there are none.
pub(crate) fn is_clean() -> Result<bool> {
    let tree = Tree::of_repository()?;
    let findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} files, {} rules, {} findings", tree.len(), RULES.len(), findings.len());
    Ok(findings.is_empty())
}
