//! Sets of members.

use crate::Field;

/// A set of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(u32);

impl FieldSet {
    /// Returns whether the set contains a member.
    pub fn contains(self, field: Field) -> bool {
        self.0 & 1 << field as u32 != 0
    }

    /// Adds a member, and returns whether it was not in the set before.
    pub fn insert(&mut self, field: Field) -> bool {
        let is_new = !self.contains(field);
        self.0 |= 1 << field as u32;
        is_new
    }
}
