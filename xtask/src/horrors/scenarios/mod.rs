//! The scenarios, one table for each kind of tool.

mod compare;
mod duplicates;
mod find;
mod manifests;
mod sums;
mod views;

use super::scenario::Family;

/// All tables, in the order of the page. A static, because reports identify scenarios by their address.
pub(crate) static FAMILIES: &[Family] =
    &[duplicates::FAMILY, views::FAMILY, sums::FAMILY, manifests::FAMILY, compare::FAMILY, find::FAMILY];
