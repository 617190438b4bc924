//! The words of mtree that are both written and read.

use ftk_walk::FileType;

/// The names of types in specifications.
const TYPES: [(FileType, &str); 7] = [
    (FileType::Regular, "file"),
    (FileType::Directory, "dir"),
    (FileType::Symlink, "link"),
    (FileType::Fifo, "fifo"),
    (FileType::Socket, "socket"),
    (FileType::Block, "block"),
    (FileType::Char, "char"),
];

pub(super) fn type_name(file_type: FileType) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == file_type).expect("every type has a name").1
}

pub(super) fn type_of(name: &[u8]) -> Option<FileType> {
    TYPES.iter().find(|(_, known)| known.as_bytes() == name).map(|(file_type, _)| *file_type)
}
