//! Arguments of `ftk dup` that mean something else in fdupes, jdupes or rmlint.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{bail, ensure};
use ftk_record::quote;

use crate::line::CommandLine;

/// Rejects arguments of a search. `names` are the values of `--name`.
///
/// # Errors
/// If `-n` looks like the flag of fdupes: in a cluster such as `-nr`, or followed by a directory or an option. Or if a
/// PATH is `//`.
pub(crate) fn refuse_in_search(paths: &[OsString], names: &[OsString]) -> anyhow::Result<()> {
    let options =
        || CommandLine::of_process().words.iter().filter(|word| word.is_option()).map(|word| &word.text);
    // A cluster of fdupes, such as `-nr`. Users who mean a file name `r` can write `-n r`.
    let is_cluster = |word: &&OsString| {
        let letters = word.to_str().and_then(|word| word.strip_prefix("-n")).unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|byte| b"rRsHSAdN1qmfoIipv".contains(&byte))
    };
    if !names.is_empty()
        && let Some(word) = options().find(is_cluster)
    {
        let word = quote(word.as_encoded_bytes());
        bail!(
            "in ftk, -n is --name, and {word} selects files by name: drop the -n, since empty files are skipped \
             anyway; to select files by name, write --name"
        );
    }
    ensure!(
        !paths.iter().any(|path| path == "//"),
        "'//' is rmlint syntax: use ftk dup prune --reference DIR for the directories after it"
    );
    let is_long = |word: &OsString| word.as_encoded_bytes().starts_with(b"--name");
    for name in names {
        let is_option = name.as_encoded_bytes().starts_with(b"-");
        if (is_option || Path::new(name).is_dir()) && !options().any(is_long) {
            let name = quote(name.as_encoded_bytes());
            bail!(
                "in ftk, -n is --name, and {name} would be its value: drop the -n, since empty files are skipped \
                 anyway; to select files of that name, write --name"
            );
        }
    }
    Ok(())
}

/// Rejects a value of `-o` that is the name of a file in ftk, but means something else in fdupes or rmlint.
///
/// # Errors
/// If the value is a sort order of fdupes or a formatter of rmlint.
pub(crate) fn refuse_output(output: Option<&Path>) -> anyhow::Result<()> {
    const ORDERS: [&str; 3] = ["name", "time", "ctime"];
    const FORMATTERS: [&str; 11] = [
        "sh",
        "json",
        "csv",
        "py",
        "fdupes",
        "summary",
        "pretty",
        "progressbar",
        "equal",
        "uniques",
        "stats",
    ];
    let Some(file) = output.and_then(Path::to_str) else { return Ok(()) };
    let shown = quote(file.as_bytes());
    ensure!(
        !ORDERS.contains(&file),
        "in ftk, -o is --output, and {shown} is a sort order of fdupes: paths are always sorted; for a file of \
         that name, use -o ./{file}"
    );
    ensure!(
        !FORMATTERS.contains(&file.split(':').next().unwrap_or_default()),
        "in ftk, -o is --output, and {shown} is rmlint syntax: use --format; for a file of that name, use -o \
         ./{file}"
    );
    Ok(())
}
