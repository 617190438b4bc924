//! The columns of the page's tree.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;

use super::nodes::{Node, Totals};
use super::types::Types;
use crate::Count;

/// A tree in columns: each has one value for each node. Node 0 is the root, and a directory comes before its entries.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Space {
    name: Vec<String>,
    /// The number of the node's directory; 0 for the root.
    parent: Vec<usize>,
    kind: Vec<Kind>,
    allocated_bytes: Vec<Count>,
    apparent_bytes: Vec<Count>,
    /// Bytes of content that are equal to those of other files.
    waste_bytes: Vec<Count>,
    /// Everything but directories.
    files: Vec<Count>,
    /// The newest time of modification of any file, in seconds since 1970; absent without files.
    newest_s: Vec<Option<i64>>,
    /// The type of the largest file, as a number in `types`.
    r#type: Vec<usize>,
    /// The owner of the largest file, as a number in `owners`.
    owner: Vec<usize>,
    types: Vec<String>,
    owners: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum Kind {
    #[serde(rename = "d")]
    Directory,
    #[serde(rename = "f")]
    File,
    /// The smaller entries of a directory.
    #[serde(rename = "r")]
    Rest,
}

impl Space {
    pub(super) fn new(nodes: &[Node], types: &Types, mut owner: impl FnMut(u32) -> String) -> Self {
        let mut space = Self::default();
        let (mut types_here, mut owners_here) = (Numbers::new(), Numbers::new());
        let mut push = |name: String, parent, kind, totals: &Totals| {
            space.name.push(name);
            space.parent.push(parent);
            space.kind.push(kind);
            space.allocated_bytes.push(Count(totals.allocated));
            space.apparent_bytes.push(Count(totals.apparent));
            space.waste_bytes.push(Count(totals.waste));
            space.files.push(totals.files.into());
            space.newest_s.push((totals.files > 0).then_some(totals.newest_s));
            space.r#type.push(types_here.of(totals.file_type()));
            space.owner.push(owners_here.of(totals.uid()));
        };
        for node in nodes {
            let kind = if node.is_dir { Kind::Directory } else { Kind::File };
            push(node.name.to_string(), node.parent, kind, &node.totals);
        }
        for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.rest_entries > 0) {
            let plural = if node.rest_entries == 1 { "entry" } else { "entries" };
            push(format!("{} smaller {plural}", node.rest_entries), number, Kind::Rest, &node.rest);
        }
        space.types = types_here.values.into_iter().map(|number| types.name(number).to_owned()).collect();
        space.owners =
            owners_here.values.into_iter().map(|uid| uid.map_or("unknown".into(), &mut owner)).collect();
        space
    }

    /// Returns whether any file has an equal one.
    pub(crate) fn has_waste(&self) -> bool {
        self.waste_bytes.first().is_some_and(|waste| waste.0 > 0)
    }
}

/// Different values, numbered in the order in which they first occur.
struct Numbers<T> {
    values: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Copy + Eq + Hash> Numbers<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    fn of(&mut self, value: T) -> usize {
        *self.numbers.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
}
