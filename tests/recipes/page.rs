//! The pages whose commands are run.

use crate::harness::Page;

pub(super) const RECIPES: Page = Page(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recipes.md"));
pub(super) const README: Page = Page(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
pub(super) const CLUSTER: Page = Page(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cluster.md"));
