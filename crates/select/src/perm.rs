//! The test for permission bits.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// A test for the permission bits, including set-user-ID, set-group-ID and sticky.
///
/// The text is octal or symbolic, as for `find -perm`: `644` matches exactly these bits, `-111` all of these bits and any
/// others, `/222` at least one of these bits. `/0` matches everything. A symbolic mode such as `u=rw,go=r` is a change of
/// no bits, as by `chmod` with the umask 0: `o+w` is `002`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perm {
    bits: u32,
    /// For directories, which `X` makes executable.
    bits_of_directories: u32,
    test: Test,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Exactly,
    All,
    Any,
}

impl Perm {
    /// Returns whether a mode matches. The mode is at most `0o7777`.
    pub fn matches(self, mode: u32, is_directory: bool) -> bool {
        let bits = if is_directory { self.bits_of_directories } else { self.bits };
        match self.test {
            Test::Exactly => mode == bits,
            Test::All => mode & bits == bits,
            Test::Any => mode & bits != 0 || bits == 0,
        }
    }
}

impl fmt::Display for Perm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.test {
            Test::Exactly => "",
            Test::All => "-",
            Test::Any => "/",
        };
        match self.bits_of_directories == self.bits {
            true => write!(f, "{sign}{:o}", self.bits),
            false => write!(f, "{sign}{}", self.symbolic()),
        }
    }
}

impl Perm {
    /// Returns a symbolic mode for bits that directories have besides those of files: `u+s,u=` keeps only theirs, and `X`
    /// is only for them as long as nothing is executable.
    fn symbolic(self) -> String {
        const CLASSES: [(char, u32, u32); 3] = [('u', 6, 0o4000), ('g', 3, 0o2000), ('o', 0, 0o1000)];
        let only = self.bits_of_directories & !self.bits;
        let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
        for (class, shift, special) in CLASSES {
            if only & special != 0 {
                first.push(format!("{class}+s,{class}="));
            }
            if only >> shift & 1 != 0 {
                second.push(format!("{class}+X"));
            }
            let letters = [(4, 'r'), (2, 'w'), (1, 'x')].into_iter();
            let mut letters: String =
                letters.filter(|(bit, _)| self.bits >> shift & bit != 0).map(|(_, letter)| letter).collect();
            if self.bits & special != 0 {
                letters.push(if class == 'o' { 't' } else { 's' });
            }
            if !letters.is_empty() {
                third.push(format!("{class}+{letters}"));
            }
        }
        [first, second, third].concat().join(",")
    }
}

impl FromStr for Perm {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (test, at) = match text.as_bytes().first() {
            Some(b'-') => (Test::All, 1),
            Some(b'/') => (Test::Any, 1),
            _ => (Test::Exactly, 0),
        };
        let mode = &text[at..];
        let bits = |is_directory| match mode.as_bytes().first() {
            None => Err(ParseError::new(0, "a mode is missing, such as 644 or u+w")),
            Some(b'0'..=b'9') => octal(mode),
            Some(_) => symbolic(mode.as_bytes(), is_directory),
        };
        let bits = |is_directory| bits(is_directory).map_err(|error| error.offset_by(at));
        Ok(Self { bits: bits(false)?, bits_of_directories: bits(true)?, test })
    }
}

const ALL: u32 = 0o7777;

fn octal(digits: &str) -> Result<u32, ParseError> {
    if let Some(at) = digits.find(|digit| !matches!(digit, '0'..='7')) {
        let digit = digits[at..].chars().next().unwrap_or_default();
        return Err(ParseError::new(at, format!("`{digit}` is not an octal digit")));
    }
    match u32::from_str_radix(digits, 8) {
        Ok(bits @ 0..=ALL) => Ok(bits),
        _ => Err(ParseError::new(0, format!("`{digits}` is more than 7777"))),
    }
}

/// Returns the bits that a symbolic mode gives to a file or directory without any, as `mode_adjust` of GNU find does.
fn symbolic(mode: &[u8], is_directory: bool) -> Result<u32, ParseError> {
    let (mut bits, mut at) = (0, 0);
    let shown = |at: usize| String::from_utf8_lossy(&mode[at..]).chars().next().map(|c| format!("`{c}`"));
    let unexpected = |at, what: &str| {
        let found = shown(at).unwrap_or_else(|| "the end".into());
        ParseError::new(at, format!("{found} instead of {what}"))
    };
    loop {
        let mut affected = 0;
        while let Some(class) = mode.get(at).copied().and_then(class) {
            affected |= class;
            at += 1;
        }
        let mut operators = 0;
        while let Some(&operator @ (b'+' | b'-' | b'=')) = mode.get(at) {
            (operators, at) = (operators + 1, at + 1);
            let (value, next) = permissions(mode, at, bits, is_directory);
            at = next;
            // Without a class, all classes are affected.
            let value = if affected == 0 { value } else { value & affected };
            // `=` does not clear the set-ID bits of a directory, unless it names them.
            let kept = if is_directory { 0o6000 & !value } else { 0 };
            let cleared = if affected == 0 { ALL } else { affected };
            bits = match operator {
                b'+' => bits | value,
                b'-' => bits & !value,
                _ => bits & (!cleared | kept) | value,
            };
        }
        if operators == 0 {
            return Err(unexpected(at, "u, g, o, a, +, - or ="));
        }
        match mode.get(at) {
            None => return Ok(bits),
            Some(b',') => at += 1,
            Some(_) => return Err(unexpected(at, "r, w, x, X, s, t or a comma")),
        }
    }
}

/// Returns all bits that belong to a class of users.
fn class(letter: u8) -> Option<u32> {
    match letter {
        b'u' => Some(0o4700),
        b'g' => Some(0o2070),
        b'o' => Some(0o1007),
        b'a' => Some(ALL),
        _ => None,
    }
}

/// Returns the bits of the permissions after an operator, and where they end. A class stands for what it has.
fn permissions(mode: &[u8], mut at: usize, bits: u32, is_directory: bool) -> (u32, usize) {
    let copied = match mode.get(at) {
        Some(b'u') => Some(bits >> 6 & 7),
        Some(b'g') => Some(bits >> 3 & 7),
        Some(b'o') => Some(bits & 7),
        _ => None,
    };
    if let Some(copied) = copied {
        return (copied * 0o111, at + 1);
    }
    let mut value = 0;
    while let Some(letter) = mode.get(at) {
        value |= match letter {
            b'r' => 0o444,
            b'w' => 0o222,
            b'x' => 0o111,
            b'X' if is_directory || bits & 0o111 != 0 => 0o111,
            b'X' => 0,
            b's' => 0o6000,
            b't' => 0o1000,
            _ => break,
        };
        at += 1;
    }
    (value, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_all_and_any() {
        let is_match = |text: &str| {
            [0, 0o644, 0o755, 0o4755].map(|mode| text.parse::<Perm>().unwrap().matches(mode, false))
        };
        assert_eq!(is_match("755"), [false, false, true, false]);
        assert_eq!(is_match("00"), [true, false, false, false]);
        assert_eq!(is_match("-111"), [false, false, true, true]);
        assert_eq!(is_match("-0"), [true; 4]);
        assert_eq!(is_match("/4022"), [false, false, false, true]);
        assert_eq!(is_match("/444"), [false, true, true, true]);
        assert_eq!(is_match("/0"), [true; 4]);
    }

    #[test]
    fn symbolic_modes_change_no_bits() {
        for (text, octal) in [
            ("u=rw,go=r", "644"),
            ("-o+w", "-2"),
            ("/u+s,g+s", "/6000"),
            ("a+rx", "555"),
            ("+w", "222"),
            ("=", "0"),
            ("u+t,o+t", "1000"),
            ("u+rwx-x", "600"),
            ("u=rw,g=u,o=g-w", "664"),
            ("ug=rwxs", "6770"),
            ("u+x,a+X", "111"),
        ] {
            assert_eq!(text.parse::<Perm>(), octal.parse(), "{text}");
        }
        let perm = "-u+r,a+X".parse::<Perm>().unwrap();
        assert!(perm.matches(0o400, false) && !perm.matches(0o400, true) && perm.matches(0o511, true));
        assert_eq!(perm.to_string(), "-u+X,g+X,o+X,u+r");
        assert!("u+s,u=r".parse::<Perm>().unwrap().matches(0o4400, true));
        for text in ["-u+r,a+X", "u+s,u=r", "/ug+s,a=s", "/a+X,o+t", "u=rwx,go+X,g+s,g="] {
            let perm = text.parse::<Perm>().unwrap();
            assert_eq!(perm.to_string().parse(), Ok(perm), "{text}: {perm}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "a mode is missing, such as 644 or u+w (at byte 1)"),
            ("/", "a mode is missing, such as 644 or u+w (at byte 2)"),
            ("648", "`8` is not an octal digit (at byte 3)"),
            ("-u", "the end instead of u, g, o, a, +, - or = (at byte 3)"),
            ("u+w,", "the end instead of u, g, o, a, +, - or = (at byte 5)"),
            ("-u+wq", "`q` instead of r, w, x, X, s, t or a comma (at byte 5)"),
            ("u+w0", "`0` instead of r, w, x, X, s, t or a comma (at byte 4)"),
            ("\u{e9}+w", "`\u{e9}` instead of u, g, o, a, +, - or = (at byte 1)"),
            ("10000", "`10000` is more than 7777 (at byte 1)"),
            ("77777777777777777", "`77777777777777777` is more than 7777 (at byte 1)"),
        ] {
            assert_eq!(text.parse::<Perm>().unwrap_err().to_string(), message);
        }
    }
}
