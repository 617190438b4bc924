//! The test for users and groups that have no name.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use nix::unistd::{Gid, Group, Uid, User};

/// What the user database says about ids. Each is looked up once.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownIds(Arc<RwLock<HashMap<u32, bool>>>);

/// Users or groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    Users,
    Groups,
}

impl KnownIds {
    /// Returns whether an id has a name.
    ///
    /// # Errors
    /// If the database cannot be asked: then the id is not unknown.
    pub(crate) fn has_name(&self, ids: Ids, id: u32) -> io::Result<bool> {
        if let Some(has_name) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(*has_name);
        }
        let has_name = match ids {
            Ids::Users => User::from_uid(Uid::from_raw(id))?.is_some(),
            Ids::Groups => Group::from_gid(Gid::from_raw(id))?.is_some(),
        };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, has_name);
        Ok(has_name)
    }
}
