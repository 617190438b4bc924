//! Symbolic names for paths.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::case::Pipeline;

/// Symbolic names for paths, so that a record contains no paths of this machine.
#[derive(Clone, Default)]
pub(crate) struct Roles(Vec<(PathBuf, String)>);

/// Maximum number of words shown of a command. In longer commands the middle is omitted.
const SHOWN_WORDS: usize = 24;

impl Roles {
    /// Shows `path`, and paths below it, with the name `role`. Add an inner path before the one that contains it.
    pub(crate) fn add(&mut self, path: &Path, role: &str) {
        self.0.push((path.to_owned(), role.to_owned()));
    }

    /// Returns the pipeline as one would type it.
    pub(crate) fn show(&self, pipeline: &Pipeline) -> String {
        pipeline.stages.iter().map(|words| self.stage(words)).collect::<Vec<_>>().join(" | ")
    }

    /// Replaces every path with a symbolic name in a text.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (path, role)| text.replace(&*path.to_string_lossy(), role))
    }

    fn stage(&self, words: &[OsString]) -> String {
        let mut shown: Vec<String> = words.iter().map(|word| self.word(word)).collect();
        if shown.len() > SHOWN_WORDS {
            let omitted = format!("...{} more...", shown.len() - SHOWN_WORDS / 2);
            shown.splice(SHOWN_WORDS / 4..words.len() - SHOWN_WORDS / 4, [omitted]);
        }
        shown.join(" ")
    }

    fn word(&self, word: &OsStr) -> String {
        let below = |(path, role): &(PathBuf, String)| {
            let rest = Path::new(word).strip_prefix(path).ok()?;
            Some(if rest.as_os_str().is_empty() {
                role.clone()
            } else {
                format!("{role}/{}", rest.display())
            })
        };
        if let Some(shown) = self.0.iter().find_map(below) {
            return shown;
        }
        // A variable of the environment, such as `XDG_CACHE_HOME=/path`.
        match word.as_bytes().iter().position(|&byte| byte == b'=') {
            Some(at) if word.as_bytes()[at + 1..].starts_with(b"/") => {
                let (name, path) = word.as_bytes().split_at(at + 1);
                quoted(OsStr::from_bytes(name)) + &self.word(OsStr::from_bytes(path))
            }
            _ => quoted(word),
        }
    }
}

/// Quotes the word if a shell would interpret it.
fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:+%".contains(byte);
    let text = word.display().to_string();
    if word.as_bytes().iter().all(is_plain) && !word.is_empty() { text } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::words;

    #[test]
    fn commands_contain_no_paths_of_the_machine() {
        let mut roles = Roles::default();
        roles.add(Path::new("/m/tools/fd"), "fd");
        roles.add(Path::new("/m/trees/small"), "$SMALL");
        roles.add(Path::new("/m/trees"), "$SCRATCH");
        let pipeline =
            Pipeline::new(words!["/m/tools/fd", "-g", "*e*", "/m/trees/small", "/m/trees/small/d"])
                .pipe(words!["wc", "-l", "/m/trees/tiny"]);
        assert_eq!(roles.show(&pipeline), "fd -g '*e*' $SMALL $SMALL/d | wc -l $SCRATCH/tiny");
        let variable = Pipeline::new(words!["env", "HOME=/m/trees/store", "A=b", "/m/tools/fd"]);
        assert_eq!(roles.show(&variable), "env HOME=$SCRATCH/store A=b fd");
    }

    #[test]
    fn reasons_contain_no_paths_of_the_machine() {
        let mut roles = Roles::default();
        roles.add(Path::new("/m/tools/rg"), "rg");
        roles.add(Path::new("/m/trees"), "$SCRATCH");
        assert_eq!(roles.hide("/m/tools/rg ended; only here: /m/trees/a"), "rg ended; only here: $SCRATCH/a");
    }

    #[test]
    fn long_commands_are_shortened() {
        let words: Vec<OsString> = (0..1_000).map(|n| n.to_string().into()).collect();
        let shown = Roles::default().show(&Pipeline::new(words));
        assert_eq!(shown, "0 1 2 3 4 5 ...988 more... 994 995 996 997 998 999");
    }
}
