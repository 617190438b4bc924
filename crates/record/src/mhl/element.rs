//! The elements of film hash lists that ftk reads, by where they are.

/// What an element means at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// The list itself, of either version.
    HashList,
    /// The chain file itself.
    Chain,
    Hashes,
    ProcessInfo,
    References,
    Ignore,
    /// A file.
    Hash,
    DirectoryHash,
    RootHash,
    /// A generation in a chain file, or one of a nested history.
    Reference,
    Content,
    Structure,
    /// Text of the item around it.
    Path,
    PreviousPath,
    Size,
    Pattern,
    /// Perhaps a digest.
    Value,
    /// Something else, with everything in it.
    Other,
}

impl Element {
    /// Returns the meaning of an element `name` in `parent`. `None` if it cannot be the outermost one.
    pub(super) fn of(parent: Option<Self>, name: &str) -> Option<Self> {
        Some(match (parent, name) {
            (None, "hashlist") => Self::HashList,
            (None, "ascmhldirectory") => Self::Chain,
            (None, _) => return None,
            (Some(Self::HashList), "hashes") => Self::Hashes,
            (Some(Self::HashList | Self::Hashes), "hash") => Self::Hash,
            (Some(Self::Hashes), "directoryhash") => Self::DirectoryHash,
            (Some(Self::HashList), "processinfo") => Self::ProcessInfo,
            (Some(Self::ProcessInfo), "roothash") => Self::RootHash,
            (Some(Self::ProcessInfo), "ignore") => Self::Ignore,
            (Some(Self::Ignore), "pattern") => Self::Pattern,
            (Some(Self::HashList), "references") => Self::References,
            (Some(Self::References), "hashlistreference") | (Some(Self::Chain), "hashlist") => {
                Self::Reference
            }
            (Some(Self::DirectoryHash | Self::RootHash), "content") => Self::Content,
            (Some(Self::DirectoryHash | Self::RootHash), "structure") => Self::Structure,
            (Some(Self::Hash | Self::DirectoryHash | Self::Reference), "path")
            | (Some(Self::Hash), "file") => Self::Path,
            (Some(Self::Hash | Self::DirectoryHash), "previousPath") => Self::PreviousPath,
            (Some(Self::Hash), "size") => Self::Size,
            (Some(Self::Hash), "lastmodificationdate" | "creationdate" | "hashdate" | "metadata") => {
                Self::Other
            }
            (Some(Self::Hash | Self::Reference | Self::Content | Self::Structure), _) => Self::Value,
            (Some(_), _) => Self::Other,
        })
    }

    /// Returns whether the text of the element is used.
    pub(super) fn has_text(self) -> bool {
        matches!(self, Self::Path | Self::PreviousPath | Self::Size | Self::Pattern | Self::Value)
    }

    /// Returns whether the end of the element completes an item.
    pub(super) fn is_item(self) -> bool {
        matches!(self, Self::Hash | Self::DirectoryHash | Self::RootHash | Self::Reference | Self::Pattern)
    }
}
