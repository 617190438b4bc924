//! Tests on the path below the starting point.

use ftk_walk::FileType;
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::{Error as SyntaxError, ParserBuilder};

use crate::glob::{Globs, Pattern};
use crate::{ParseError, PatternError};

/// Checks a glob for paths, and makes it one for the path below the starting point.
pub(crate) fn check_glob(pattern: Pattern) -> Result<Pattern, PatternError> {
    if pattern.glob.ends_with(b"/") {
        let problem = "paths do not end with `/`, so nothing would match: use a filter on types";
        let error = ParseError::new(pattern.glob.len() - 1, problem);
        return Err(PatternError::glob(&pattern.glob, error));
    }
    Ok(Pattern { glob: below_root(&pattern.glob).into(), ..pattern })
}

/// Compiles regular expressions, one of which must match.
pub(crate) fn compile_regexes(regexes: &[&str]) -> Result<RegexSet, PatternError> {
    // Parse each by itself to get the position of an error.
    for regex in regexes {
        let mut parser = ParserBuilder::new().unicode(false).utf8(false).dot_matches_new_line(true).build();
        parser.parse(regex).map_err(|error| PatternError::regex(regex, syntax(&error)))?;
    }
    RegexSetBuilder::new(regexes)
        .unicode(false)
        .dot_matches_new_line(true)
        .build()
        .map_err(|error| PatternError::regex(&regexes.join("|"), ParseError::new(0, error.to_string())))
}

fn syntax(error: &SyntaxError) -> ParseError {
    match error {
        SyntaxError::Parse(error) => ParseError::new(error.span().start.offset, error.kind().to_string()),
        SyntaxError::Translate(error) => ParseError::new(error.span().start.offset, error.kind().to_string()),
        other => ParseError::new(0, other.to_string()),
    }
}

/// Removes a leading `./` or `/`, which stands for the starting point.
fn below_root(glob: &[u8]) -> &[u8] {
    let glob = glob.strip_prefix(b".").filter(|rest| rest.starts_with(b"/")).unwrap_or(glob);
    glob.strip_prefix(b"/").unwrap_or(glob)
}

/// Globs of entries to skip with everything below them. A glob matches names, or paths if it contains a
/// slash.
#[derive(Clone, Debug)]
pub(crate) struct Excluded {
    any: NamesAndPaths,
    dirs: NamesAndPaths,
}

#[derive(Clone, Debug)]
struct NamesAndPaths {
    names: Globs,
    paths: Globs,
}

impl Excluded {
    /// Compiles the globs. A slash at the end of a glob restricts it to directories.
    pub(crate) fn new(globs: &[Vec<u8>]) -> Result<Self, PatternError> {
        let (dirs, any): (Vec<_>, Vec<_>) = globs.iter().partition(|glob| glob.ends_with(b"/"));
        Ok(Self { any: NamesAndPaths::new(&any)?, dirs: NamesAndPaths::new(&dirs)? })
    }

    /// Returns whether a glob matches this entry. `path` is its path below the starting point.
    pub(crate) fn matches(&self, name: &[u8], path: &[u8], file_type: FileType) -> bool {
        let by = |globs: &NamesAndPaths| globs.names.matches(name) || globs.paths.matches(path);
        by(&self.any) || (file_type == FileType::Directory && by(&self.dirs))
    }

    pub(crate) fn needs_paths(&self) -> bool {
        !self.any.paths.is_empty() || !self.dirs.paths.is_empty()
    }
}

impl NamesAndPaths {
    fn new(globs: &[&Vec<u8>]) -> Result<Self, PatternError> {
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        for glob in globs {
            let end = glob.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
            let glob = &glob[..end];
            let kind = if glob.contains(&b'/') { &mut paths } else { &mut names };
            kind.push(Pattern { glob: below_root(glob).into(), ignore_case: false });
        }
        Ok(Self { names: Globs::new(&names)?, paths: Globs::new(&paths)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(glob: &str, path: &str, file_type: FileType) -> bool {
        let name = path.rsplit('/').next().unwrap();
        Excluded::new(&[glob.into()]).unwrap().matches(name.as_bytes(), path.as_bytes(), file_type)
    }

    #[test]
    fn exclusions_match_names_unless_they_contain_a_slash() {
        let file = FileType::Regular;
        assert!(excludes("*.o", "a/b.o", file) && !excludes("*.o", "a.o/b", file));
        assert!(excludes("a/*.o", "a/b/c.o", file) && !excludes("a/*.o", "b/a/c.o", file));
        assert!(excludes("/b", "b", file) && !excludes("/b", "a/b", file));
        assert!(excludes("./b", "b", file) && !excludes("./b", "a/b", file));
        assert!(excludes("**/b", "b", file) && excludes("**/b", "a/b", file));
    }

    #[test]
    fn a_slash_at_the_end_matches_only_directories() {
        let (file, dir) = (FileType::Regular, FileType::Directory);
        assert!(excludes("b/", "a/b", dir) && !excludes("b/", "a/b", file));
        assert!(
            excludes("a/b/", "a/b", dir) && !excludes("a/b/", "a/b", file) && !excludes("a/b/", "c/a/b", dir)
        );
    }

    fn glob(glob: &str) -> Result<Pattern, PatternError> {
        check_glob(Pattern { glob: glob.into(), ignore_case: false })
    }

    fn is_match(globs: &[&str], regexes: &[&str], path: &[u8]) -> bool {
        let globs: Vec<_> = globs.iter().map(|text| glob(text).unwrap()).collect();
        (globs.is_empty() || Globs::new(&globs).unwrap().matches(path))
            && (regexes.is_empty() || compile_regexes(regexes).unwrap().is_match(path))
    }

    #[test]
    fn globs_match_whole_paths_and_regular_expressions_match_parts() {
        assert!(is_match(&["a/*.c"], &[], b"a/b/x.c") && !is_match(&["a/*.c"], &[], b"b/a/x.c"));
        assert!(
            is_match(&["/a"], &[], b"a") && is_match(&["./a"], &[], b"a") && !is_match(&["a"], &[], b"b/a")
        );
        assert!(is_match(&[], &["b/.*c$"], b"a/b/x.c") && !is_match(&[], &["^b"], b"a/b"));
        assert!(is_match(&["x", "a*"], &["q", "b"], b"a/b") && !is_match(&["x", "a*"], &["q"], b"a/b"));
    }

    #[test]
    fn regular_expressions_match_bytes() {
        assert!(is_match(&[], &["^a.b$"], b"a\xffb") && is_match(&[], &["^a.b$"], b"a\nb"));
        assert!(is_match(&[], &["(?i)^A"], b"a") && !is_match(&[], &["(?i)\u{e9}"], "\u{c9}".as_bytes()));
        assert!(is_match(&[], &[r"\xff"], b"\xff") && is_match(&[], &["\u{e9}"], "\u{e9}".as_bytes()));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (regex, message) in [
            ("a(b", "unclosed group (at byte 2)"),
            ("\u{e9}[", "unclosed character class (at byte 3)"),
            ("*", "repetition operator missing expression (at byte 1)"),
            (r"a\p{Greek}", "Unicode not allowed here (at byte 2)"),
        ] {
            let error = compile_regexes(&["ok", regex]).unwrap_err();
            assert_eq!((error.kind, &*error.pattern), ("regular expression", regex.as_bytes()));
            assert_eq!(error.source.to_string(), message);
        }
        let huge = compile_regexes(&["(a{1000}){1000}"]).unwrap_err();
        assert!(huge.source.problem.contains("size limit"), "{}", huge.source);
        let slash = glob("a/").unwrap_err();
        assert_eq!(slash.source.at, 1);
    }
}
