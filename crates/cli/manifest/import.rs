//! `ftk manifest import LIST`: makes a manifest from a list of another tool.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_file::now_ns;
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Header, Import, begins_mtree};
use ftk_record::{BagFile, End, ListFormat, ListReader, ZstdReader, is_zstd, quote};

use crate::algorithm::AlgorithmName;
use crate::console::{Console, Outcome};
use crate::film::{FilmList, intact_history};
use crate::globals::Globals;
use crate::hash::reading::{ReadList, lack_of_asked, warn_of_text};
use crate::human;
use crate::input;
use crate::list::{List, named};
use crate::manifest::create::write;
use crate::manifest::format::ImportFormat;
use crate::manifest::output::OutputArgs;
use crate::stdout::Stdout;

/// Make a manifest from a list of another tool
///
/// What the list does not record is absent from the manifest, and is not compared: a list of digests has no times and
/// no owners. A manifest from such a list contains only regular files, and verify does not report anything else.
///
/// Reads the specifications of mtree and every list that `ftk hash --check` reads, in the same way; a list of CRCs
/// alone is refused. So is one with an absolute path, `..`, a digest that cannot be used, different digests of one
/// file, or a last line without its end. A LIST may be compressed with Zstandard.
///
/// Of a film hash list, LIST may also be the directory `ascmhl` of a history, or the one around it: for each file, by
/// each algorithm, the first digest counts that no failed check found. Generations that were edited are refused.
///
/// The paths in the list are those below the directory in which it was made. For bagit, LIST is a payload manifest, and
/// paths are those below `data`, so the tree to verify is the directory `data` of the bag.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// The list; `-`: standard input
    #[arg(value_name = "LIST")]
    list: OsString,

    /// The format, if its name and first lines do not show it
    ///
    /// A manifest of BagIt is recognised by its name, if a file `bagit.txt` is next to it.
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Input")]
    format: Option<ImportFormat>,

    /// Remove DIR, with which all paths in the list begin
    ///
    /// Without it, all paths must be relative. hashdeep writes absolute paths unless it is called with -l.
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    root: Option<OsString>,

    /// The algorithm of untagged digests [default: by their length]
    ///
    /// For a BagIt manifest, the default is the algorithm in its name.
    #[arg(short, long, value_name = "ALGO", value_parser = AlgorithmName, help_heading = "Input")]
    algorithm: Option<Algorithm>,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk manifest import SHA256SUMS -o archive.jsonl
  b3sum -- * | ftk manifest import -a blake3 - -o archive.jsonl
  mtree -c -K sha256 -p /archive | ftk manifest import --format mtree -
  ftk manifest import --root /archive hashdeep.txt -o archive.jsonl
  ftk manifest verify /archive archive.jsonl
                        moved files are found too";

pub(super) fn run(args: &ImportArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.output.check()?;
    let name = || quote(args.list.as_bytes());
    if let Some(film) = FilmList::of(&args.list).filter(|film| film.is_history)
        && matches!(args.format, None | Some(ImportFormat::Mhl))
    {
        ensure!(
            args.root.is_none() && args.algorithm.is_none(),
            "--root and --algorithm cannot be used with a history: it says both"
        );
        let budget = Budget::new(globals.memory());
        let stdout = Stdout::default();
        let output = named(args.output.output.as_deref());
        let written = List::create(output, &stdout)?;
        let history = intact_history(&film.root, &budget).with_context(name)?;
        let import = Import::history(&history, &budget).with_context(name)?;
        return args.write(&import, written, output, console);
    }
    let file = input::open(&args.list).with_context(|| format!("cannot open {}", name()))?;
    let mut list = BufReader::with_capacity(1 << 16, file);
    let start = list.fill_buf().with_context(|| format!("cannot read {}", name()))?;
    if is_zstd(start) {
        let list = ZstdReader::new(list).with_context(name)?;
        return import(BufReader::with_capacity(1 << 16, list), args, globals, console);
    }
    import(list, args, globals, console)
}

fn import(
    mut list: impl BufRead,
    args: &ImportArgs,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let name = || quote(args.list.as_bytes());
    if let Some(what) = input::foreign(&mut list) {
        bail!("{} is {what}: not a list of files", name());
    }
    let start = list.fill_buf().with_context(|| format!("cannot read {}", name()))?;
    let format = args.format_of(start)?;
    let stdout = Stdout::default();
    let output = named(args.output.output.as_deref());
    let written = List::create(output, &stdout)?;
    let budget = Budget::new(globals.memory());
    let root = args.root.as_ref().map(|root| root.as_bytes());
    let import = match format {
        None if args.algorithm.is_some() => {
            bail!("--algorithm is for lists of digests: mtree names its algorithms")
        }
        None => {
            let import = Import::mtree(list, root, &budget).with_context(name)?;
            let excluded = import.options().len() as u64;
            if excluded > 0 {
                let paths = human::count(excluded, "path");
                console.summary(format_args!("{paths} with `optional` or `ignore`: not verified"));
            }
            import
        }
        Some(format) => {
            let mut read = ReadList { name: name(), ..ReadList::default() };
            let is_bag = matches!(format, ListFormat::Bag(_));
            let reader = ListReader::open(list, format, End::Newline, args.algorithm.as_slice())
                .with_context(|| format!("cannot read {}", name()))?;
            let import = Import::list(reader, is_bag, root, &budget, |number, why| read.note(number, why))
                .with_context(name)?;
            if let Some(lack) = lack_of_asked(&read.name, import.algorithms(), args.algorithm.as_slice()) {
                bail!(lack);
            }
            warn_of_text(std::iter::once(&read), console);
            if !import.assumed().is_empty() {
                let assumed: Vec<_> = import.assumed().iter().map(|it| it.name()).collect();
                let assumed = assumed.join(", ");
                console.summary(format_args!(
                    "the list names no algorithm: {assumed} assumed from the length of its digests (--algorithm names \
                     another)"
                ));
            }
            import
        }
    };
    args.write(&import, written, output, console)
}

impl ImportArgs {
    /// Writes the manifest of the imported entries.
    fn write(
        &self,
        import: &Import,
        written: List<'_>,
        output: Option<&Path>,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let root = self.root.as_ref().map_or(b".".to_vec(), |root| root.as_bytes().to_vec());
        let options = import.options().to_vec();
        let header = Header { options, ..Header::of_list(root, import.algorithms().to_vec(), now_ns()) };
        let entries = write(&header, written, output, |writer| import.write(writer))?;
        console.summary(format_args!("{} imported", human::entries(entries)));
        Ok(Outcome::Success)
    }

    /// Returns the format of a list that begins with `start`, or `None` for mtree.
    fn format_of(&self, start: &[u8]) -> anyhow::Result<Option<ListFormat>> {
        let path = Path::new(&self.list);
        let path = if path.extension().is_some_and(|it| it == "zst") {
            path.with_extension("")
        } else {
            path.into()
        };
        let of_name =
            || BagFile::of(path.file_name().unwrap_or_default().as_bytes()).map(|file| file.algorithm);
        Ok(match self.format {
            Some(ImportFormat::Mtree) => None,
            Some(ImportFormat::Hashdeep) => Some(ListFormat::Hashdeep),
            Some(ImportFormat::Sums) => Some(ListFormat::Sums),
            Some(ImportFormat::Mhl) => Some(ListFormat::Mhl),
            Some(ImportFormat::Bagit) => {
                let given = self.algorithm.map(|algorithm| algorithm.name().to_owned());
                let algorithm = given.or_else(of_name).with_context(|| {
                    format!(
                        "{} is not named manifest-ALGORITHM.txt: give --algorithm",
                        quote(self.list.as_bytes())
                    )
                })?;
                Some(ListFormat::Bag(algorithm))
            }
            None if begins_mtree(start) => None,
            None => match ListFormat::of(path.as_os_str(), start) {
                // Its names may be percent-encoded, and begin with `data/`.
                ListFormat::Sums if of_name().is_some() => {
                    bail!(
                        "{} is named like the manifest of a BagIt bag: add --format bagit if it is one, or --format \
                         sums for a list of sha256sum and the like",
                        quote(self.list.as_bytes())
                    )
                }
                format => Some(format),
            },
        })
    }
}
