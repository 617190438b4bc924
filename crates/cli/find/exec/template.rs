//! Commands with placeholders for paths.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use anyhow::bail;

use crate::find::parts;

/// The program and the arguments of a command, with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::find) struct Template(Vec<Vec<Piece>>);

/// A piece of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Path,
    Name,
    Dir,
    WithoutExtension,
    Stem,
}

/// The placeholders and their meaning.
const PLACES: [(&[u8], Piece); 5] = [
    (b"{}", Piece::Path),
    (b"{/}", Piece::Name),
    (b"{//}", Piece::Dir),
    (b"{.}", Piece::WithoutExtension),
    (b"{/.}", Piece::Stem),
];

impl Template {
    /// Parses a command. Other text in braces is not changed. If there is no placeholder, the path is
    /// appended as the last argument.
    pub(super) fn new(arguments: &[OsString]) -> Self {
        let has_place = has_place(arguments);
        let mut arguments: Vec<_> = arguments.iter().map(|argument| pieces(argument.as_bytes())).collect();
        if !has_place {
            arguments.push(vec![Piece::Path]);
        }
        Self(arguments)
    }

    /// Returns the command for one path.
    pub(super) fn fill(&self, path: &[u8]) -> Vec<OsString> {
        let path = protected(path);
        self.0.iter().map(|argument| fill(argument, &path)).collect()
    }

    /// Whether the program is the same for every path.
    pub(super) fn has_fixed_program(&self) -> bool {
        is_fixed(&self.0[0])
    }

    /// Turns the command into one for many paths.
    ///
    /// # Errors
    /// If there are placeholders in several arguments, or in the program.
    pub(super) fn for_batches(self) -> anyhow::Result<BatchTemplate> {
        let places: Vec<_> = (0..self.0.len()).filter(|&nth| !is_fixed(&self.0[nth])).collect();
        match places[..] {
            [0, ..] => bail!(
                "--exec-batch: the command must begin with the name of a program, not with a placeholder"
            ),
            [place] => Ok(BatchTemplate { template: self, place }),
            _ => bail!("--exec-batch: only one argument may contain a placeholder such as `{{}}`"),
        }
    }
}

/// A command in which one argument is repeated for each path.
#[derive(Clone, Debug)]
pub(in crate::find) struct BatchTemplate {
    template: Template,
    place: usize,
}

impl BatchTemplate {
    pub(super) fn fill(&self, paths: &[Vec<u8>]) -> Vec<OsString> {
        let (before, rest) = self.template.0.split_at(self.place);
        let fixed = |argument: &Vec<Piece>| fill(argument, b"");
        let repeated = paths.iter().map(|path| self.argument(path));
        before.iter().map(fixed).chain(repeated).chain(rest[1..].iter().map(fixed)).collect()
    }

    /// Returns the argument for one path.
    pub(super) fn argument(&self, path: &[u8]) -> OsString {
        fill(&self.template.0[self.place], &protected(path))
    }
}

/// Whether a command has a placeholder.
pub(super) fn has_place(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| !is_fixed(&pieces(argument.as_bytes())))
}

fn pieces(argument: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = argument;
    while let Some((&byte, after)) = rest.split_first() {
        if let Some((place, piece)) = PLACES.iter().find(|(place, _)| rest.starts_with(place)) {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(piece.clone());
            rest = &rest[place.len()..];
        } else {
            text.push(byte);
            rest = after;
        }
    }
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

fn is_fixed(argument: &[Piece]) -> bool {
    argument.iter().all(|piece| matches!(piece, Piece::Text(_)))
}

fn fill(argument: &[Piece], path: &[u8]) -> OsString {
    let mut filled = Vec::new();
    for piece in argument {
        filled.extend_from_slice(match piece {
            Piece::Text(text) => text,
            Piece::Path => path,
            Piece::Name => parts::name(path),
            Piece::Dir => parts::parent(path),
            Piece::WithoutExtension => parts::split_extension(path).0,
            Piece::Stem => parts::split_extension(parts::name(path)).0,
        });
    }
    OsString::from_vec(filled)
}

/// Puts `./` before a path that begins with a dash, so that no program treats it as an option. A path can
/// begin with a dash only if its starting point does.
fn protected(path: &[u8]) -> Cow<'_, [u8]> {
    if path.starts_with(b"-") { [b"./", path].concat().into() } else { path.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(arguments: &[&str], path: &str) -> Vec<String> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        let filled = Template::new(&arguments).fill(path.as_bytes());
        filled.into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn placeholders_are_replaced() {
        let all = ["x", "{}", "{/}", "{//}", "{.}", "{/.}"];
        assert_eq!(filled(&all, "a/b.tar.gz"), ["x", "a/b.tar.gz", "b.tar.gz", "a", "a/b.tar", "b.tar"]);
        assert_eq!(filled(&all, "."), ["x", ".", ".", ".", ".", "."]);
        assert_eq!(filled(&all, "/"), ["x", "/", "/", "/", "/", "/"]);
        assert_eq!(filled(&["mv", "{}", "{.}.b{/.}{}"], "a"), ["mv", "a", "a.baa"]);
        assert_eq!(filled(&["{}"], "./run"), ["./run"]);
    }

    #[test]
    fn without_a_placeholder_the_path_comes_last() {
        assert_eq!(filled(&["wc", "-l"], "a"), ["wc", "-l", "a"]);
        assert_eq!(filled(&["x", ""], "a"), ["x", "", "a"]);
    }

    #[test]
    fn other_braces_are_not_changed() {
        let arguments = ["awk", "{print {{x}} }}", "{ }", "{", "}", "{/", "{///}", "{..}", "{}"];
        let mut expected = arguments.map(String::from);
        expected[8] = "a".into();
        assert_eq!(filled(&arguments, "a"), expected);
    }

    #[test]
    fn paths_never_look_like_options() {
        assert_eq!(filled(&["rm"], "-rf"), ["rm", "./-rf"]);
        assert_eq!(filled(&["rm", "{//}/x", "{.}"], "-d/-f.x"), ["rm", "./-d/x", "./-d/-f"]);
    }

    #[test]
    fn batches_repeat_one_argument() {
        let template = |arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
            Template::new(&arguments).for_batches()
        };
        let paths = [b"a/b".to_vec(), b"-c".to_vec()];
        assert_eq!(
            template(&["x", "-i", "{}", "to"]).unwrap().fill(&paths),
            ["x", "-i", "a/b", "./-c", "to"]
        );
        assert_eq!(template(&["x", "--of={/}"]).unwrap().fill(&paths), ["x", "--of=b", "--of=-c"]);
        assert_eq!(template(&["x"]).unwrap().fill(&paths), ["x", "a/b", "./-c"]);
        assert!(template(&["{}"]).is_err());
        assert!(template(&["x", "{}", "{/}"]).is_err());
    }
}
