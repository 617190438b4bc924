//! Arguments of `ftk dup` that mean something else in fdupes, jdupes or rmlint.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{bail, ensure};
use ftk_record::{quote, shell_argument};

use super::table::TABLE;
use super::{plain, see};
use crate::line::{CommandLine, Role, Word};

/// Rejects arguments of a search. `names` are the values of `--name`.
///
/// # Errors
/// If `-n` looks like the flag of fdupes: in a cluster such as `-nr`, or followed by a directory or an option. Or if a
/// PATH is `//`.
pub(crate) fn refuse_in_search(paths: &[OsString], names: &[OsString]) -> anyhow::Result<()> {
    let line = CommandLine::of_process;
    let options = || line().words.iter().filter(|word| word.is_option()).map(|word| &word.text);
    if !names.is_empty()
        && let Some(hint) = explained_cluster(line())
    {
        bail!(hint);
    }
    ensure!(
        !paths.iter().any(|path| path == "//"),
        "'//' is rmlint syntax: use ftk dup prune --reference DIR for the directories after it"
    );
    let is_long = |word: &OsString| word.as_encoded_bytes().starts_with(b"--name");
    for name in names {
        let is_option = name.as_encoded_bytes().starts_with(b"-");
        ensure!(!(is_option || Path::new(name).is_dir()) || options().any(is_long), name_hint(name));
    }
    Ok(())
}

/// Returns the hint for `-n` with this value, which fdupes has as a flag, and other tools for a dry run.
pub(super) fn name_hint(name: &OsStr) -> String {
    format!(
        "in ftk, -n is --name, and {} would be its value: drop the -n, since empty files are skipped anyway, and \
         nothing is changed without --yes; to select files of that name, write --name",
        quote(name.as_encoded_bytes())
    )
}

/// Letters that users of fdupes and jdupes put into one word, and the options of ftk for them.
const LETTERS: [(char, &[&str]); 21] = [
    ('r', &[]),
    ('R', &[]),
    ('n', &[]),
    ('S', &[]),
    ('t', &[]),
    ('H', &[]),
    ('p', &[]),
    ('i', &[]),
    ('1', &[]),
    ('D', &[]),
    ('P', &[]),
    ('Q', &[]),
    ('q', &["--quiet"]),
    ('m', &["--summary"]),
    ('A', &["--no-hidden"]),
    ('s', &["--follow"]),
    ('z', &["--min-size", "0"]),
    ('f', &["--action", "delete", "--list"]),
    ('d', &["--action", "delete"]),
    ('B', &["--action", "reflink"]),
    ('N', &["--yes"]),
];

/// Explains a cluster of fdupes or jdupes with a letter that ftk has not, or with another meaning: each letter, and the
/// whole command in ftk. A word that ends with `n` is not meant: a name may follow.
pub(super) fn explained_cluster(line: &CommandLine) -> Option<String> {
    let of = |letter: char| LETTERS.iter().find(|(known, _)| *known == letter);
    let is_cluster = |word: &&Word| {
        let letters = word.text.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
        let differs = word.role == Role::Unknown || letters.contains('n') && !letters.ends_with('n');
        word.is_option() && letters.len() > 1 && differs && letters.chars().all(|letter| of(letter).is_some())
    };
    let word =
        line.words.iter().find(is_cluster).filter(|_| ["dup", "dup prune"].contains(&&*line.command))?;
    let text = word.text.to_str()?;
    let (mut options, mut lines) = (Vec::new(), String::new());
    for (letter, ours) in text.chars().filter_map(of) {
        let key = format!("-{letter}");
        let row = TABLE.iter().find(|row| row.tool.contains("dupes") && row.key() == key);
        lines += &format!("\n     {key}: {}", row.map_or("the same in ftk".into(), |row| plain(row.here)));
        if !options.contains(ours) {
            options.push(*ours);
        }
    }
    if line.words.iter().any(|word| word.text.as_encoded_bytes().starts_with(b"--action")) {
        options.retain(|it| !it.contains(&"--action"));
    }
    // Without an action, nothing can be carried out.
    let acts = line.command == "dup prune" || options.iter().any(|it| it.contains(&"--action"));
    options.retain(|it| acts || *it != ["--yes"]);
    let mut words = vec![if acts { "ftk dup prune".into() } else { format!("ftk {}", line.command) }];
    words.extend(options.into_iter().flatten().map(|&it| it.into()));
    let others = line.words.iter().filter(|other| other.role != Role::Other && other.text != word.text);
    words.extend(others.map(|word| shell_argument(word.text.as_encoded_bytes())));
    Some(format!("'{text}' is fdupes syntax; in ftk: {}   ({}){lines}", words.join(" "), see("fdupes")))
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
