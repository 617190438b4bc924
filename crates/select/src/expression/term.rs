//! The terms: their names, their operators, and how their values are parsed.

use std::cmp::Ordering;
use std::ffi::CString;
use std::ops::Range;

use super::token::{Comparison, Fault};
use super::value::Text;
use super::{Expr, ExpressionContext, Leaf, NamedFile, Stamp, Term};
use crate::bound::Bound;
use crate::glob::{Globs, Pattern};
use crate::paths::{check_glob, compile_regexes};
use crate::time::{Form, parse_form};
use crate::{PatternError, Types, parse_bytes};

/// A term of the language.
pub(super) struct Property {
    pub(super) name: &'static str,
    pub(super) comparisons: &'static [Comparison],
    /// How the value is parsed. `None` if the term has no value.
    pub(super) value: Option<ParseValue>,
    /// The term, if it has no value.
    flag: Option<Term>,
}

/// Parses the value of a comparison.
pub(super) type ParseValue = fn(Comparison, &Text<'_>, &ExpressionContext<'_>) -> Result<Value, Fault>;

/// A comparison with a value.
pub(super) struct Value {
    pub(super) negated: bool,
    pub(super) term: Term,
}

use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Matches, NotEqual};

const EQUALITY: &[Comparison] = &[Equal, NotEqual];
const PATTERN: &[Comparison] = &[Equal, NotEqual, Matches];
const ORDER: &[Comparison] = &[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual];

const fn with(name: &'static str, comparisons: &'static [Comparison], value: ParseValue) -> Property {
    Property { name, comparisons, value: Some(value), flag: None }
}

const fn flag(name: &'static str, term: Term) -> Property {
    Property { name, comparisons: &[], value: None, flag: Some(term) }
}

static PROPERTIES: [Property; 34] = [
    with("name", PATTERN, |comparison, text, _| name(comparison, text, false)),
    with("iname", EQUALITY, |comparison, text, _| name(comparison, text, true)),
    with("path", PATTERN, path),
    with("regex", PATTERN, |comparison, text, _| Ok(equality(comparison, Term::PathRegex(regex(text)?)))),
    with("extension", EQUALITY, |comparison, text, _| {
        let extension = text.bytes.strip_prefix(b".").unwrap_or(&text.bytes);
        Ok(equality(comparison, Term::Extension(extension.into())))
    }),
    with("type", EQUALITY, |comparison, text, _| Ok(equality(comparison, Term::Type(types(text)?)))),
    with("depth", ORDER, |comparison, text, _| Ok(number(comparison, text)?.map(Term::Depth))),
    flag("hidden", Term::Hidden),
    flag("ignored", Term::Ignored),
    with("size", ORDER, |comparison, text, _| {
        Ok(ordered(comparison, text.parse(parse_bytes)?).map(Term::Size))
    }),
    with("links", ORDER, |comparison, text, _| Ok(number(comparison, text)?.map(Term::Links))),
    with("mtime", ORDER, |comparison, text, context| time(Stamp::Modified, comparison, text, context)),
    with("ctime", ORDER, |comparison, text, context| time(Stamp::Changed, comparison, text, context)),
    with("atime", ORDER, |comparison, text, context| time(Stamp::Accessed, comparison, text, context)),
    with("birth", ORDER, |comparison, text, context| time(Stamp::Born, comparison, text, context)),
    with("newer", &[Equal], |_, text, context| {
        let than = Bound { ordering: Ordering::Greater, value: file(text, context)?.mtime_ns };
        Ok(Value { negated: false, term: Term::Time(Stamp::Modified, than) })
    }),
    with("owner", EQUALITY, |comparison, text, _| {
        Ok(equality(comparison, Term::Owner(text.parse(str::parse)?)))
    }),
    with("user", EQUALITY, |comparison, text, _| {
        if let Some(at) = text.str()?.find(':') {
            return Err(text.fault(at, "a user has no `:`: use owner for USER:GROUP"));
        }
        Ok(equality(comparison, Term::Owner(text.parse(str::parse)?)))
    }),
    with("group", EQUALITY, |comparison, text, _| {
        let group = |group: &str| format!(":{group}").parse();
        let owner = text.str().and_then(|name| {
            group(name).map_err(|mut error: crate::ParseError| {
                error.at = error.at.saturating_sub(1);
                text.fault_of(error)
            })
        });
        Ok(equality(comparison, Term::Owner(owner?)))
    }),
    with("perm", EQUALITY, |comparison, text, _| {
        Ok(equality(comparison, Term::Perm(text.parse(str::parse)?)))
    }),
    with("samefile", EQUALITY, |comparison, text, context| {
        let NamedFile { dev, ino, .. } = file(text, context)?;
        Ok(equality(comparison, Term::SameFile(dev, ino)))
    }),
    with("fstype", EQUALITY, |comparison, text, _| {
        Ok(equality(comparison, Term::FsType(text.bytes.to_vec().into())))
    }),
    flag("empty", Term::Empty),
    flag("readable", Term::Readable),
    flag("writable", Term::Writable),
    flag("executable", Term::Executable),
    flag("nouser", Term::NoUser),
    flag("nogroup", Term::NoGroup),
    flag("capable", Term::Capable),
    flag("broken", Term::Broken),
    with("target", EQUALITY, |comparison, text, _| Ok(equality(comparison, Term::Target(glob(text)?)))),
    with("xattr", EQUALITY, |comparison, text, _| Ok(equality(comparison, Term::Attribute(glob(text)?)))),
    with("inode", ORDER, |comparison, text, _| Ok(number(comparison, text)?.map(Term::Inode))),
    with("has", EQUALITY, |comparison, text, _| {
        if let Some(at) = text.bytes.iter().position(|&byte| byte == b'/') {
            return Err(text.fault(at, "a name cannot contain `/`"));
        }
        let name = CString::new(&*text.bytes);
        let name = name.map_err(|error| text.fault(error.nul_position(), "a name cannot contain NUL"))?;
        Ok(equality(comparison, Term::Has(name)))
    }),
];

/// Names of members of `ftk find --json` that differ from those of the terms.
const ALIASES: [(&[u8], &[u8]); 6] = [
    (b"size_bytes", b"size"),
    (b"nlink", b"links"),
    (b"mode", b"perm"),
    (b"uid", b"user"),
    (b"gid", b"group"),
    (b"ino", b"inode"),
];

/// Returns the term with this name, in upper or lower case.
pub(super) fn find(name: &[u8]) -> Option<&'static Property> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    PROPERTIES.iter().find(|property| property.name.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns the names of all terms.
pub(super) fn names() -> String {
    let names: Vec<_> = PROPERTIES.iter().map(|property| property.name).collect();
    format!("one of {}", names.join(" "))
}

impl Property {
    /// Makes the leaf of this term. `terms` is ignored if the term has no value.
    pub(super) fn leaf(&self, negated: bool, terms: Vec<Term>, span: Range<usize>) -> Expr {
        let terms = self.flag.clone().map_or(terms, |flag| vec![flag]);
        Expr::Leaf(Leaf { negated, terms, span })
    }

    /// Returns the operators that may follow.
    pub(super) fn operators(&self) -> String {
        let spell = |comparison: &Comparison| match comparison {
            Equal => "=",
            NotEqual => "!=",
            Less => "<",
            LessOrEqual => "<=",
            Greater => ">",
            GreaterOrEqual => ">=",
            Matches => "~",
        };
        let list: Vec<_> = self.comparisons.iter().map(spell).collect();
        format!("{} or in after {}", list.join(" "), self.name)
    }
}

/// A comparison with a bound, which is no term yet.
struct Ordered<T> {
    negated: bool,
    bound: Bound<T>,
}

impl<T> Ordered<T> {
    fn map(self, term: impl FnOnce(Bound<T>) -> Term) -> Value {
        Value { negated: self.negated, term: term(self.bound) }
    }
}

fn ordered<T>(comparison: Comparison, value: T) -> Ordered<T> {
    let (negated, ordering) = match comparison {
        Equal | Matches => (false, Ordering::Equal),
        NotEqual => (true, Ordering::Equal),
        Less => (false, Ordering::Less),
        LessOrEqual => (true, Ordering::Greater),
        Greater => (false, Ordering::Greater),
        GreaterOrEqual => (true, Ordering::Less),
    };
    Ordered { negated, bound: Bound { ordering, value } }
}

fn equality(comparison: Comparison, term: Term) -> Value {
    Value { negated: comparison == NotEqual, term }
}

fn number(comparison: Comparison, text: &Text<'_>) -> Result<Ordered<u64>, Fault> {
    let digits = text.str()?;
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(text.fault(0, format!("`{digits}` is not a whole number")));
    }
    let number = digits.parse().map_err(|_| text.fault(0, format!("`{digits}` is more than 2^64 - 1")))?;
    Ok(ordered(comparison, number))
}

fn name(comparison: Comparison, text: &Text<'_>, ignore_case: bool) -> Result<Value, Fault> {
    if comparison == Matches {
        return Ok(equality(comparison, Term::NameRegex(regex(text)?)));
    }
    let pattern = text.glob(ignore_case)?;
    if let Some(at) = pattern.glob.iter().position(|&byte| byte == b'/') {
        return Err(text.fault(at, "a name cannot contain `/`, so nothing would match: use path"));
    }
    Globs::check(&pattern).map_err(|error| pattern_fault(text, error))?;
    Ok(equality(comparison, Term::Name(pattern)))
}

/// Parses a glob for whole texts other than paths of entries.
fn glob(text: &Text<'_>) -> Result<Pattern, Fault> {
    let pattern = text.glob(false)?;
    Globs::check(&pattern).map_err(|error| pattern_fault(text, error))?;
    Ok(pattern)
}

fn path(comparison: Comparison, text: &Text<'_>, _: &ExpressionContext<'_>) -> Result<Value, Fault> {
    if comparison == Matches {
        return Ok(equality(comparison, Term::PathRegex(regex(text)?)));
    }
    let pattern = text.glob(false)?;
    check_glob(&pattern).map_err(|error| pattern_fault(text, error))?;
    Ok(equality(comparison, Term::Path(pattern)))
}

fn regex(text: &Text<'_>) -> Result<String, Fault> {
    let regex = text.regex()?;
    compile_regexes(&[&*regex]).map_err(|error| pattern_fault(text, error))?;
    Ok(regex)
}

fn pattern_fault(text: &Text<'_>, error: PatternError) -> Fault {
    text.fault_of(error.source)
}

/// Parses one type by name, or letters as in `--type`.
fn types(text: &Text<'_>) -> Result<Types, Fault> {
    let word = text.str()?;
    const NAMES: [(&str, &str); 7] = [
        ("file", "f"),
        ("directory", "d"),
        ("symlink", "l"),
        ("fifo", "p"),
        ("socket", "s"),
        ("block", "b"),
        ("char", "c"),
    ];
    let letter = NAMES.iter().find(|(name, _)| *name == word).map_or(word, |(_, letter)| letter);
    letter.parse().map_err(|error| text.fault_of(error))
}

/// Parses a time. A duration is compared with the age, anything else with the time itself.
fn time(
    stamp: Stamp,
    comparison: Comparison,
    text: &Text<'_>,
    context: &ExpressionContext<'_>,
) -> Result<Value, Fault> {
    let (time, form) = text.parse(|word| parse_form(word, context.now))?;
    let is_equality = matches!(comparison, Equal | NotEqual);
    let comparison = match form {
        Form::Age if is_equality => {
            return Err(text.fault(0, "no age is equal to a duration: use < or >"));
        }
        Form::Day if is_equality => {
            let problem = "a day is a range of times: use >= and <, or a time such as 2024-01-31T12:00";
            return Err(text.fault(0, problem));
        }
        Form::Age => match comparison {
            Less => Greater,
            LessOrEqual => GreaterOrEqual,
            Greater => Less,
            _ => LessOrEqual,
        },
        Form::Day | Form::Moment => comparison,
    };
    Ok(ordered(comparison, time.0).map(|bound| Term::Time(stamp, bound)))
}

fn file(text: &Text<'_>, context: &ExpressionContext<'_>) -> Result<NamedFile, Fault> {
    (context.file)(&text.bytes).map_err(|cause| {
        let path = String::from_utf8_lossy(&text.bytes);
        text.fault(0, format!("cannot stat `{path}`: {cause}"))
    })
}
