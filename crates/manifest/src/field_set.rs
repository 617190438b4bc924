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

    /// Returns the members that only one of the sets contains.
    pub(crate) fn differences(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// Returns the members in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Field> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let field = Field::ALL.get(rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(*field)
        })
    }

    /// Removes a member.
    pub(crate) fn remove(&mut self, field: Field) {
        self.0 &= !(1 << field as u32);
    }

    /// Adds a member, and returns whether it was not in the set before.
    pub fn insert(&mut self, field: Field) -> bool {
        let is_new = !self.contains(field);
        self.0 |= 1 << field as u32;
        is_new
    }
}
