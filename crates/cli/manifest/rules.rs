//! Options for what is compared.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use ftk_manifest::{Field, Mode};

#[derive(Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct RulesArgs {
    /// What to compare
    ///
    /// `strict`: content and metadata; `content`: type, size and content; `metadata`: everything except content, and no
    /// file is read.
    #[arg(long, value_name = "MODE", value_enum, default_value_t = ModeArg::Strict)]
    pub(super) mode: ModeArg,

    /// Accept names in another Unicode normal form
    ///
    /// Names that differ only in their normal form, such as those of a copy on HFS+, are one name. By default, they are
    /// a difference, and what is below them is compared in any case. Selection options, also recorded ones, match
    /// names exactly: `-E é` skips one spelling.
    #[arg(long)]
    pub(super) normalize_names: bool,

    /// Fields that may differ, such as mtime,owner; repeatable
    ///
    /// The fields are type, size, mode (permissions), uid, gid, owner (both), target (of a link), device (its number),
    /// digest, xattrs (extended attributes, if recorded) and mtime (not of directories).
    ///
    /// The inode, its file system and device, the number of hard links, ctime, the space on the disk and the time of
    /// birth are recorded but never compared: an exact copy verifies.
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    ignore: Vec<Fields>,
}

impl RulesArgs {
    /// Returns the fields that may differ.
    pub(super) fn ignored(&self) -> Vec<Field> {
        self.ignore.iter().flat_map(|fields| &fields.0).copied().collect()
    }
}

/// The value of `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeArg {
    Strict,
    Content,
    Metadata,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Strict => Self::Strict,
            ModeArg::Content => Self::Content,
            ModeArg::Metadata => Self::Metadata,
        }
    }
}

/// The fields of one word of `--ignore`.
#[derive(Clone, Debug)]
struct Fields(Vec<Field>);

impl FromStr for Fields {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if word == "owner" {
            return Ok(Self(vec![Field::Uid, Field::Gid]));
        }
        let field = word.parse();
        let names = "expected mtime, mode, owner, uid, gid, size, target, device, xattrs, type or digest";
        field.map(|field| Self(vec![field])).map_err(|_| names.into())
    }
}
