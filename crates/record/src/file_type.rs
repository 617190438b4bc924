//! The names of file types in JSON: in manifests, in journals, and in what `find` and `cmp` print.

use ftk_file::FileType;

const TYPES: [(FileType, &str); 7] = [
    (FileType::Regular, "file"),
    (FileType::Directory, "directory"),
    (FileType::Symlink, "symlink"),
    (FileType::Fifo, "fifo"),
    (FileType::Socket, "socket"),
    (FileType::Block, "block_device"),
    (FileType::Char, "char_device"),
];

/// Returns the name of a type in JSON: `file`, `directory`, `symlink`, `fifo`, `socket`, `block_device` or `char_device`.
pub fn type_name(file_type: FileType) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == file_type).expect("every type has a name").1
}

/// Returns the type with this [name](type_name). `None` if no type has it.
pub fn type_of(name: &[u8]) -> Option<FileType> {
    TYPES.iter().find(|(_, known)| known.as_bytes() == name).map(|(file_type, _)| *file_type)
}
