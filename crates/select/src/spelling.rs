//! One spelling for all spellings of a path.
//!
//! `./a//b/.` and `a/b/` lead to the same directory as `a/b`, so rules with these paths are one rule.

/// A glob without what only spells it differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The glob without slashes at its beginning and its end, without names that are `.`, and with one slash between
    /// two names. `*/` at the beginning is `**/`, which also matches nothing.
    pub(crate) glob: Vec<u8>,
    /// Whether it is a glob for a path, and not for a name at any depth.
    pub(crate) is_path: bool,
    /// Whether it is for directories only: it ended in `/` or `/.`.
    pub(crate) only_dirs: bool,
}

impl Spelling {
    /// Normalises a glob. Slashes in brackets and braces belong to the glob and stay.
    pub(crate) fn of(glob: &[u8]) -> Self {
        let parts = split(glob, b'/');
        let is_empty = |part: &&[u8]| matches!(**part, [] | [b'.']);
        let only_dirs = parts.len() > 1 && parts.last().is_some_and(is_empty);
        let is_anchored = parts.len() > 1 && is_empty(&parts[0]);
        let mut names = match parts.len() {
            // A single name, even if it is `.`.
            1 => parts,
            _ => parts.into_iter().filter(|part| !is_empty(part)).collect(),
        };
        // In `find`, it matches the starting point, too.
        if !is_anchored && matches!(*names, [b"*", _, ..]) {
            names[0] = b"**";
        }
        let glob = names.join(&b'/');
        Self { is_path: is_anchored || glob.contains(&b'/'), glob, only_dirs }
    }

    /// Whether the glob is about what is below something, even if it also matches a single name: it begins with `**/`.
    pub(crate) fn is_below(&self) -> bool {
        self.glob.starts_with(b"**/")
    }

    /// Returns the directory that everything that the glob matches is in: the names before the first one with a special
    /// character, unescaped. If no name has one, this is the only path that the glob matches, and the second value is
    /// `true`.
    pub(crate) fn place(&self) -> (Vec<u8>, bool) {
        let parts = split(&self.glob, b'/');
        let fixed: Vec<_> = parts.iter().map_while(|part| literal(part)).collect();
        (fixed.join(&b'/'), fixed.len() == parts.len())
    }

    /// Returns the names from the first one with a special character on.
    pub(crate) fn after_place(&self) -> Vec<u8> {
        let parts = split(&self.glob, b'/');
        parts.into_iter().skip_while(|part| literal(part).is_some()).collect::<Vec<_>>().join(&b'/')
    }
}

/// Normalises a path that is no glob.
pub fn normalise_path(path: &[u8]) -> Vec<u8> {
    let names = path.split(|&byte| byte == b'/').filter(|name| !matches!(name, [] | [b'.']));
    let joined = names.collect::<Vec<_>>().join(&b'/');
    match path.first() {
        Some(b'/') => [b"/", &*joined].concat(),
        _ if joined.is_empty() => b".".to_vec(),
        _ => joined,
    }
}

/// Normalises a glob for whole paths: removes `./`, `/.`, repeated slashes and a slash at the end. A slash at the
/// beginning stays.
pub fn normalise_glob(glob: &[u8]) -> Vec<u8> {
    let normal = Spelling::of(glob).glob;
    if glob.starts_with(b"/") { [b"/", &*normal].concat() } else { normal }
}

/// Returns the text with each backslash and the character after it replaced by this character. A backslash at the end
/// is dropped.
pub(crate) fn unescape(glob: &[u8]) -> Vec<u8> {
    let (mut text, mut bytes) = (Vec::with_capacity(glob.len()), glob.iter());
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => text.extend(bytes.next()),
            byte => text.push(byte),
        }
    }
    text
}

/// Returns the glob that matches only this text.
pub fn escape_glob(text: &[u8]) -> Vec<u8> {
    let is_special = |byte: u8| matches!(byte, b'\\' | b'*' | b'?' | b'[' | b']' | b'{' | b'}');
    text.iter().flat_map(|&byte| is_special(byte).then_some(b'\\').into_iter().chain([byte])).collect()
}

/// Returns the text that a glob matches if all its special characters are escaped.
pub(crate) fn literal(glob: &[u8]) -> Option<Vec<u8>> {
    let (mut text, mut bytes) = (Vec::with_capacity(glob.len()), glob.iter());
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => text.push(*bytes.next()?),
            b'*' | b'?' | b'[' | b'{' | b'}' => return None,
            byte => text.push(byte),
        }
    }
    Some(text)
}

/// Splits a glob at this character, but not in brackets and braces. An escaped slash is a slash; any other escaped
/// character is part of the glob.
pub(crate) fn split(glob: &[u8], at: u8) -> Vec<&[u8]> {
    let (mut parts, mut start, mut next) = (Vec::new(), 0, 0);
    while let Some(&byte) = glob.get(next) {
        let end = next;
        next = match byte {
            byte if byte == at => next + 1,
            b'\\' if at == b'/' && glob.get(next + 1) == Some(&b'/') => next + 2,
            byte => {
                next = after(glob, next, byte);
                continue;
            }
        };
        parts.push(&glob[start..end]);
        start = next;
    }
    parts.push(&glob[start..]);
    parts
}

/// Returns globs for the two parts of a path, divided at a slash, so that the whole path matches the glob if and only if both
/// parts match for one of the divisions. The second part is empty if the first one is the whole path.
pub(crate) fn divisions(glob: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (mut divisions, mut at) = (vec![(glob.to_vec(), Vec::new())], 0);
    while let Some(&byte) = glob.get(at) {
        match byte {
            b'/' => divisions.push((glob[..at].to_vec(), glob[at + 1..].to_vec())),
            // It matches the slash, too.
            b'*' => divisions.push((glob[..=at].to_vec(), glob[at..].to_vec())),
            _ => {}
        }
        at = after(glob, at, byte);
    }
    divisions
}

/// Returns the globs without braces that a glob stands for; only the glob itself if there are too many.
pub(crate) fn expand(glob: &[u8]) -> Vec<Vec<u8>> {
    const MOST: usize = 256;
    let (mut expanded, mut waiting) = (Vec::new(), vec![glob.to_vec()]);
    while let Some(next) = waiting.pop() {
        let Some((start, end)) = first_braces(&next) else {
            expanded.push(next);
            continue;
        };
        let parts = split(&next[start + 1..end - 1], b',').into_iter().rev();
        waiting.extend(parts.map(|part| [&next[..start], part, &next[end..]].concat()));
        if expanded.len() + waiting.len() > MOST {
            return vec![glob.to_vec()];
        }
    }
    expanded
}

/// Returns the place of the first alternatives, with their braces.
fn first_braces(glob: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while let Some(&byte) = glob.get(at) {
        let next = after(glob, at, byte);
        if byte == b'{' && next > at + 1 {
            return Some((at, next));
        }
        at = next;
    }
    None
}

/// Returns where the glob goes on after the character at `at`, or after the brackets or braces that begin there.
fn after(glob: &[u8], at: usize, byte: u8) -> usize {
    match byte {
        b'\\' => at + 2,
        b'[' => after_class(glob, at).unwrap_or(at + 1),
        b'{' => after_braces(glob, at).unwrap_or(at + 1),
        _ => at + 1,
    }
}

/// Returns the end of the bracket expression that begins at `start`, or `None` if it does not end.
fn after_class(glob: &[u8], start: usize) -> Option<usize> {
    let negation = usize::from(matches!(glob.get(start + 1), Some(b'!' | b'^')));
    // The first character is literal, even if it is `]`.
    let first = start + 1 + negation;
    let len = glob.get(first + 1..)?.iter().position(|&byte| byte == b']')?;
    Some(first + 1 + len + 1)
}

/// Returns the end of the alternatives that begin at `start`, or `None` if they do not end.
fn after_braces(glob: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_u32, start);
    loop {
        at = match glob.get(at)? {
            b'{' => {
                depth += 1;
                at + 1
            }
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => {
                depth -= 1;
                at + 1
            }
            b'\\' => at + 2,
            b'[' => after_class(glob, at).unwrap_or(at + 1),
            _ => at + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(glob: &str) -> (String, bool, bool) {
        let Spelling { glob, is_path, only_dirs } = Spelling::of(glob.as_bytes());
        (String::from_utf8(glob).unwrap(), is_path, only_dirs)
    }

    #[test]
    fn spellings_of_a_path_are_one() {
        let path = |glob: &str, only_dirs| (glob.to_owned(), true, only_dirs);
        for glob in ["a/b", "./a/b", "/a/b", "a//b", "a/./b", ".//a/././b", "//a/b", "/./a/b", "a\\/b"] {
            assert_eq!(spelling(glob), path("a/b", false), "{glob}");
        }
        for glob in ["a/b/", "a/b/.", "./a//b//", "a/b/./", "/a/b/././/"] {
            assert_eq!(spelling(glob), path("a/b", true), "{glob}");
        }
        for glob in ["/a", "./a", "//a", "/./a"] {
            assert_eq!(spelling(glob), path("a", false), "{glob}");
        }
        for glob in ["/", "./", "//", "/.", ".//."] {
            assert_eq!(spelling(glob), path("", true), "{glob}");
        }
    }

    #[test]
    fn a_star_for_the_first_name_may_be_the_starting_point() {
        for (glob, normal) in [
            ("*/a", "**/a"),
            ("*//./a/b", "**/a/b"),
            ("**/a", "**/a"),
            ("*/*/a", "**/*/a"),
            ("./*/a", "*/a"),
            ("/*/a", "*/a"),
            ("?*/a", "?*/a"),
            ("a/*/b", "a/*/b"),
        ] {
            assert_eq!(spelling(glob), (normal.to_owned(), true, false), "{glob}");
        }
        assert_eq!(spelling("*/"), ("*".to_owned(), false, true));
    }

    #[test]
    fn a_name_stays_a_name() {
        let name = |glob: &str, only_dirs| (glob.to_owned(), false, only_dirs);
        assert_eq!(spelling("a"), name("a", false));
        assert_eq!(spelling("."), name(".", false));
        assert_eq!(spelling(""), name("", false));
        for glob in ["a/", "a/.", "a//", "a/./"] {
            assert_eq!(spelling(glob), name("a", true), "{glob}");
        }
    }

    #[test]
    fn slashes_in_brackets_and_braces_belong_to_the_glob() {
        for glob in ["[/./]x", "{a//b,./c}", "x[]/./]y", "{[}]/./,b}", "[!/./]x", "{{a,/./},b}"] {
            assert_eq!(spelling(glob), (glob.to_owned(), true, false), "{glob}");
        }
        // These do not end, so they are characters.
        assert_eq!(spelling("[a//b").0, "[a/b");
        assert_eq!(spelling("{a/./b").0, "{a/b");
        assert_eq!(spelling("\\{a/./b}").0, "\\{a/b}");
        assert_eq!(spelling("a/[").0, "a/[");
        assert_eq!(spelling("a/\\").0, "a/\\");
    }

    #[test]
    fn plain_paths_are_normalised_too() {
        for (path, normal) in [
            ("a//b/./c/", "a/b/c"),
            ("./a", "a"),
            (".", "."),
            ("./", "."),
            ("/", "/"),
            ("//a/.", "/a"),
            ("..", ".."),
            ("[a", "[a"),
        ] {
            assert_eq!(normalise_path(path.as_bytes()), normal.as_bytes(), "{path}");
        }
        for (glob, normal) in [("./p/keep/*", "p/keep/*"), ("//p/./*", "/p/*"), ("*/x/", "**/x")] {
            assert_eq!(normalise_glob(glob.as_bytes()), normal.as_bytes(), "{glob}");
        }
    }

    #[test]
    fn the_place_of_a_glob_is_before_its_first_special_character() {
        for (glob, place, is_whole) in [
            ("a/b", "a/b", true),
            ("a/*.c", "a", false),
            ("a/b\\*/c?", "a/b*", false),
            ("*/a", "", false),
            ("a/{b,c}/d", "a", false),
        ] {
            assert_eq!(
                Spelling::of(glob.as_bytes()).place(),
                (place.as_bytes().to_vec(), is_whole),
                "{glob}"
            );
        }
    }

    #[test]
    fn globs_are_divided_where_paths_are() {
        let divided = |glob: &str| {
            let text = |part: Vec<u8>| String::from_utf8(part).unwrap();
            divisions(glob.as_bytes()).into_iter().map(|(a, b)| (text(a), text(b))).collect::<Vec<_>>()
        };
        let pairs = |pairs: &[(&str, &str)]| -> Vec<_> {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        assert_eq!(divided("a?/[/]"), pairs(&[("a?/[/]", ""), ("a?", "[/]")]));
        assert_eq!(divided("*/c"), pairs(&[("*/c", ""), ("*", "*/c"), ("*", "c")]));
        assert_eq!(divided("a*c\\*"), pairs(&[("a*c\\*", ""), ("a*", "*c\\*")]));
    }

    #[test]
    fn braces_are_expanded() {
        for (glob, expanded) in [
            ("a/b", &["a/b"][..]),
            ("{a,b}/c", &["a/c", "b/c"]),
            ("x{,/y{1,2}}z", &["xz", "x/y1z", "x/y2z"]),
            ("{a\\,b,[,}]}{c}", &["a\\,bc", "[,}]c"]),
            ("{a,b", &["{a,b"]),
            ("\\{a,b}", &["\\{a,b}"]),
        ] {
            let found = expand(glob.as_bytes());
            assert_eq!(found, expanded.iter().map(|it| it.as_bytes().to_vec()).collect::<Vec<_>>(), "{glob}");
        }
        let many = "{a,b}".repeat(9);
        assert_eq!(expand(many.as_bytes()), [many.as_bytes()]);
    }

    #[test]
    fn escaped_text_matches_itself() {
        let text = b"a*?[b]{c,d}\\\xff";
        assert_eq!(literal(&escape_glob(text)).unwrap(), text);
    }

    #[test]
    fn escaped_characters_stand_for_themselves() {
        for (glob, text) in [("a\\*b", "a*b"), ("\\[x]", "[x]"), ("a\\\\b", "a\\b"), ("a\\", "a")] {
            assert_eq!(unescape(glob.as_bytes()), text.as_bytes());
        }
    }
}
