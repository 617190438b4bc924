//! The names of other formats on the command line.

use clap::ValueEnum;
use ftk_manifest::Format;

/// A format to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// BSD mtree and bsdtar: all entries
    Mtree,
    /// hashdeep -k: files with sizes and digests
    Hashdeep,
    /// BagIt (RFC 8493): the manifest of a payload
    Bagit,
    /// sha256sum -c: files with digests
    Sha256,
    /// ncdu -f: names and sizes, to browse
    Ncdu,
    /// All members as comma-separated values, for spreadsheets
    Csv,
    /// ASC MHL 2.0: a new generation of the directory OUT
    Ascmhl,
}

impl From<ExportFormat> for Format {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Mtree => Self::Mtree,
            ExportFormat::Hashdeep => Self::Hashdeep,
            ExportFormat::Bagit => Self::Bagit,
            ExportFormat::Sha256 => Self::Sha256,
            ExportFormat::Ncdu => Self::Ncdu,
            ExportFormat::Csv => Self::Csv,
            ExportFormat::Ascmhl => Self::AscMhl,
        }
    }
}

/// A format to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ImportFormat {
    /// BSD mtree and bsdtar
    Mtree,
    /// hashdeep
    Hashdeep,
    /// BagIt (RFC 8493): the manifest of a payload
    Bagit,
    /// sha256sum and similar tools
    #[value(alias = "sha256")]
    Sums,
    /// Film hash lists: MHL 1.1, ASC MHL 2.0
    Mhl,
}
