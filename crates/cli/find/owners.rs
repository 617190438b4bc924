//! Looks up the names of users and groups, each once.

use std::collections::HashMap;

use nix::unistd::{Gid, Group, Uid, User};

/// A cache of names. Users and groups without a name are shown by their number, as in `ls` and `find`.
#[derive(Default)]
pub(super) struct Owners {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Owners {
    pub(super) fn user(&mut self, uid: u32) -> &str {
        self.users.entry(uid).or_insert_with(|| match User::from_uid(Uid::from_raw(uid)) {
            Ok(Some(user)) => user.name,
            _ => uid.to_string(),
        })
    }

    pub(super) fn group(&mut self, gid: u32) -> &str {
        self.groups.entry(gid).or_insert_with(|| match Group::from_gid(Gid::from_raw(gid)) {
            Ok(Some(group)) => group.name,
            _ => gid.to_string(),
        })
    }
}
