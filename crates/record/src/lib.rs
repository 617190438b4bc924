//! Internal to ftk: reading and writing of lists, and of the file names in them.
//!
//! A Unix file name is any sequence of bytes without NUL and `/`. So each text format needs an encoding for
//! unusual names, and reading must return exactly the bytes that were written. This crate contains all these
//! encodings, so that every list that ftk reads or writes uses the same code:
//!
//! - [`SumFormat`] writes and [`SumLine`] reads checksum lines, as `sha256sum` and similar tools print them.
//!   [`SumReader`] reads whole lists.
//! - [`write_hashdeep_line`] and [`HashdeepReader`] write and read lists of `hashdeep`.
//! - [`write_bag_line`] and [`BagReader`] write and read the manifests of BagIt bags, [`read_bag_tags`] and
//!   [`FetchLine`] their other files.
//! - [`write_sfv_line`] and [`SfvReader`] write and read lists of CRC-32.
//! - [`MhlReader`] reads film hash lists: MHL 1.1 and ASC MHL 2.0. [`push_xml`] and [`MhlDirectory`] help to write them.
//! - [`ListReader`] reads a list of digests in any of these formats.
//! - [`EditableList`] adds, removes and changes lines of a list, and keeps the others as they are.
//! - [`changes()`] compares two lists.
//! - [`write_path`] and [`read_path`] write and read names in JSON. [`Object`] accepts JSON objects and
//!   refuses arrays.
//! - [`Seal`] and [`SealedReader`] add and check a footer that proves that a file of lines is complete.
//! - [`sanitize`] and [`quote`] escape names for terminals.
//! - [`ZstdReader`] and [`ZstdWriter`] decompress and compress.
//! - [`Output`] is an output file that appears under its name only when it is complete.
//!
//! This crate never repairs input. Input in none of the documented forms is an error with an explanation.
//!
//! ```
//! use ftk_record::{End, Style, SumFormat, SumLine};
//!
//! let format = SumFormat::new("SHA256", Style::Untagged, End::Newline);
//! let mut list = Vec::new();
//! format.write_line(&mut list, &[0x12, 0xab], b"two\nlines");
//! assert_eq!(list, b"\\12ab  two\\nlines\n");
//!
//! let line = SumLine::parse(list.strip_suffix(b"\n").unwrap(), End::Newline)?;
//! assert_eq!((line.digest, &*line.name), (&b"12ab"[..], &b"two\nlines"[..]));
//! # Ok::<(), ftk_record::SumError>(())
//! ```
#![forbid(unsafe_code)]

mod bag;
mod bag_tags;
mod c4;
mod changes;
mod decompress;
mod file_type;
mod hashdeep;
mod json;
mod lines;
mod list;
mod list_edit;
mod list_name;
mod magic;
mod mhl;
mod ncdu;
mod ncdu_reader;
mod object;
mod output;
mod parse;
mod reader;
mod seal;
mod sealed;
mod sfv;
mod sum;
mod sums;
mod tar;
mod target;
mod temp;
mod terminal;
mod zstd;

pub use bag::{
    BagError, BagLine, BagNameError, BagReader, BagRecord, check_bag_name, decode_bag_path, write_bag_line,
};
pub use bag_tags::{
    FetchError, FetchLine, check_bag_declaration, check_bag_info, read_bag_tags, replace_payload_oxum,
};
pub use changes::{Change, changes};
pub use decompress::Decompressed;
pub use file_type::{type_name, type_of};
pub use hashdeep::{
    HASHDEEP_HEADER, HashdeepError, HashdeepLine, HashdeepNameError, HashdeepReader, HashdeepRecord,
    write_hashdeep_header, write_hashdeep_line,
};
pub use json::{
    PathError, RecordWriter, path_member, read_base64, read_path, write_path, write_record, write_string,
};
pub use lines::{MAX_LINE, MAX_NESTED_PATH, read_line};
pub use list::{BagFile, ListError, ListFormat, ListLine, ListReader, ListRecord, Unusable};
pub use list_edit::{EditError, EditableList, Edits, ListedLine};
pub use list_name::{likely_algorithms, named_algorithm, names_a_list};
pub use magic::Magic;
pub use mhl::{
    ASC_MHL, LEGACY_MHL, MhlDigest, MhlDirectory, MhlError, MhlItem, MhlKind, MhlReader, MhlRecord,
    MhlUnusable, XmlNameError, begins_mhl, push_mhl_digest, push_xml, xml_name,
};
pub use ncdu::{NcduMissing, NcduObject, write_ncdu_object, write_ncdu_start};
pub use ncdu_reader::{NcduEntry, NcduError, NcduEvent, NcduFacts, NcduMade, NcduReader};
pub use object::Object;
pub use output::{Output, OutputId};
pub use parse::{Encoding, SumError, SumLine};
pub use reader::{SumReader, SumRecord};
pub use seal::Seal;
pub use sealed::{SealError, SealedReader};
pub use sfv::{SfvError, SfvLine, SfvNameError, SfvReader, SfvRecord, check_sfv_name, write_sfv_line};
pub use sum::{End, Style, SumFormat, write_name};
pub use sums::{Conflict, SortedSums, Sums, SumsOfFile};
pub use tar::{MemberKind, TarEnd, TarMember, TarReader, TarXattr};
pub use terminal::{quote, sanitize, shell_argument, shell_word};
pub use zstd::{ZstdReader, ZstdWriter, is_zstd, is_zstd_name};
