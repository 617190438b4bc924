//! The staged evaluation, compared with a naive one.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::bound::Bound;
use crate::expression::{Expr, Leaf, Stamp, Term};
use crate::glob::Pattern;
use crate::roots::Roots;

/// An entry with all its properties.
#[derive(Clone, Debug)]
struct Facts {
    name: &'static [u8],
    path: &'static [u8],
    file_type: FileType,
    depth: u32,
    is_ignored: bool,
    metadata: Metadata,
}

fn facts() -> impl Strategy<Value = Facts> {
    let names = [(&b"a"[..], &b"a"[..]), (b"b.c", b"a/b.c"), (b".h", b"x/.h"), (b"\xff.C", b"\xff.C")];
    let types = [FileType::Regular, FileType::Symlink, FileType::Fifo];
    let place = (select(names.to_vec()), select(types.to_vec()), 0_u32..3, any::<bool>());
    let numbers = (0_u64..3, 0_u64..3, -1_i128..2, 0_u32..3, select(vec![0o644, 0o755, 0]));
    (place, numbers).prop_map(
        |(((name, path), file_type, depth, is_ignored), (size, nlink, time, id, mode))| Facts {
            name,
            path,
            file_type,
            depth,
            is_ignored,
            metadata: {
                let mut metadata = Metadata::new(file_type);
                (metadata.mode, metadata.uid, metadata.gid) = (mode, id, 2 - id);
                (metadata.dev, metadata.ino, metadata.nlink) = (1, size, nlink);
                (metadata.size, metadata.mtime_ns, metadata.ctime_ns) = (size, time, -time);
                metadata.birth_ns = Some(time + 1);
                metadata
            },
        },
    )
}

fn term() -> impl Strategy<Value = Term> {
    let ordering = || select(vec![Ordering::Less, Ordering::Equal, Ordering::Greater]);
    let bound = move || (ordering(), 0_u64..3).prop_map(|(ordering, value)| Bound { ordering, value });
    let glob = (select(vec!["a", "*.c", "?.c", ".*", "*"]), any::<bool>());
    let glob = glob.prop_map(|(glob, ignore_case)| Pattern { glob: glob.into(), ignore_case });
    let path = select(vec!["a/*", "*c", "x"]);
    let path = path.prop_map(|glob| Pattern { glob: glob.into(), ignore_case: false });
    let stamp = select(vec![Stamp::Modified, Stamp::Changed, Stamp::Accessed, Stamp::Born]);
    prop_oneof![
        glob.prop_map(Term::Name),
        path.prop_map(Term::Path),
        select(vec!["^b", "c$"]).prop_map(|regex| Term::NameRegex(regex.into())),
        select(vec!["^a/", "h$"]).prop_map(|regex| Term::PathRegex(regex.into())),
        Just(Term::Extension(b"c"[..].into())),
        select(vec!["f", "f,l", "p"]).prop_map(|types| Term::Type(types.parse().unwrap())),
        bound().prop_map(Term::Depth),
        Just(Term::Hidden),
        Just(Term::Ignored),
        bound().prop_map(Term::Size),
        bound().prop_map(Term::Links),
        (stamp, ordering(), -1_i128..2)
            .prop_map(|(stamp, ordering, value)| Term::Time(stamp, Bound { ordering, value })),
        select(vec!["0", ":2", "!1:1"]).prop_map(|owner| Term::Owner(owner.parse().unwrap())),
        select(vec!["644", "-111", "/222"]).prop_map(|perm| Term::Perm(perm.parse().unwrap())),
        (0_u64..3).prop_map(|ino| Term::SameFile(1, ino)),
        Just(Term::Empty),
        bound().prop_map(Term::Inode),
        select(vec!["-u+w", "/a+X", "u=rw,go=r"]).prop_map(|perm| Term::Perm(perm.parse().unwrap())),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = (any::<bool>(), vec(term(), 1..3))
        .prop_map(|(negated, terms)| Expr::Leaf(Leaf { negated, terms, span: 0..0 }));
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Expr::All),
            vec(inner.clone(), 0..4).prop_map(Expr::Any),
            inner.prop_map(|part| Expr::Not(Box::new(part))),
        ]
    })
}

/// Evaluates an expression as it is written.
fn naive(expr: &Expr, facts: &Facts) -> bool {
    match expr {
        Expr::All(parts) => parts.iter().all(|part| naive(part, facts)),
        Expr::Any(parts) => parts.iter().any(|part| naive(part, facts)),
        Expr::Not(part) => !naive(part, facts),
        Expr::Leaf(leaf) => leaf.terms.iter().any(|term| naive_term(term, facts)) != leaf.negated,
    }
}

fn naive_term(term: &Term, facts: &Facts) -> bool {
    let Facts { name, path, metadata, .. } = facts;
    let glob = |pattern: &Pattern, text: &[u8]| crate::glob::Globs::new([pattern]).unwrap().matches(text);
    let regex = |regex: &String, text: &[u8]| {
        regex::bytes::RegexBuilder::new(regex).unicode(false).build().unwrap().is_match(text)
    };
    match term {
        Term::Name(pattern) => glob(pattern, name),
        Term::Path(pattern) => glob(pattern, path),
        Term::NameRegex(pattern) => regex(pattern, name),
        Term::PathRegex(pattern) => regex(pattern, path),
        Term::Extension(_) => name.len() > 2 && name.to_ascii_lowercase().ends_with(b".c"),
        Term::Type(types) => types.matches(facts.file_type),
        Term::Depth(bound) => u64::from(facts.depth).cmp(&bound.value) == bound.ordering,
        Term::Hidden => name[0] == b'.',
        Term::Ignored => facts.is_ignored,
        Term::Size(bound) => metadata.size.cmp(&bound.value) == bound.ordering,
        Term::Links(bound) => metadata.nlink.cmp(&bound.value) == bound.ordering,
        Term::Time(stamp, bound) => {
            let time = match stamp {
                Stamp::Modified => metadata.mtime_ns,
                Stamp::Changed => metadata.ctime_ns,
                Stamp::Accessed => metadata.atime_ns,
                Stamp::Born => metadata.birth_ns.unwrap(),
            };
            time.cmp(&bound.value) == bound.ordering
        }
        Term::Owner(owner) => owner.matches(metadata.uid, metadata.gid),
        Term::Perm(perm) => perm.matches(metadata.mode, metadata.file_type == FileType::Directory),
        Term::SameFile(dev, ino) => (metadata.dev, metadata.ino) == (*dev, *ino),
        Term::Empty => facts.file_type == FileType::Regular && metadata.size == 0,
        Term::Inode(bound) => metadata.ino.cmp(&bound.value) == bound.ordering,
        _ => unreachable!("not among the terms above"),
    }
}

/// Writes an expression as text.
fn text(expr: &Expr) -> String {
    let join = |parts: &[Expr], word: &str| {
        let parts: Vec<_> = parts.iter().map(|part| format!("({})", text(part))).collect();
        parts.join(word)
    };
    match expr {
        Expr::All(parts) if parts.is_empty() => "depth >= 0".into(),
        Expr::Any(parts) if parts.is_empty() => "depth < 0".into(),
        Expr::All(parts) => join(parts, " and "),
        Expr::Any(parts) => join(parts, " or "),
        Expr::Not(part) => format!("not ({})", text(part)),
        Expr::Leaf(leaf) => leaf.to_string(),
    }
}

proptest! {
    #[test]
    fn verdicts_are_those_of_a_naive_evaluation(expr in expr(), facts in facts()) {
        let expected = Verdict::from(naive(&expr, &facts));
        let node = Node::compile(&expr, &Roots::none()).unwrap();
        let seen = Seen {
            name: facts.name,
            path: facts.path,
            is_ignored: facts.is_ignored,
            root: 0,
            file_type: facts.file_type,
            doubt: Doubt::None,
            depth: facts.depth,
            metadata: None,
        };
        let first = node.decide(&seen);
        match first {
            Verdict::Needs(needs) => prop_assert!(!needs.fields.is_empty() && !needs.calls),
            decided => prop_assert_eq!(decided, expected),
        }
        prop_assert_eq!(node.decide(&seen.with(&facts.metadata)), expected);
        // A term that decides nothing more is not asked for: with the fields that were needed, and unlikely values
        // for all others, the result is the same.
        if let Verdict::Needs(needs) = first {
            let known = only(&facts.metadata, needs.fields);
            prop_assert_eq!(node.decide(&seen.with(&known)), expected);
        }
    }

    #[test]
    fn text_and_tree_mean_the_same(expr in expr(), facts in facts()) {
        prop_assume!(!expr.has(|term| matches!(term, Term::SameFile(..))));
        let now = jiff::Zoned::now();
        let context = crate::ExpressionContext { now: &now, file: &|_| unreachable!() };
        let text = text(&expr);
        let parsed = crate::Expression::parse(text.as_bytes(), &context);
        prop_assert!(parsed.is_ok(), "{text}: {parsed:?}");
        prop_assert_eq!(naive(parsed.unwrap().tree(), &facts), naive(&expr, &facts), "{}", text);
    }
}

#[test]
fn a_megabyte_is_parsed_and_compiled_or_refused() {
    let now = jiff::Zoned::now();
    let context = crate::ExpressionContext { now: &now, file: &|_| unreachable!() };
    let parse = |text: String| crate::Expression::parse(text.as_bytes(), &context);
    for (part, end) in [("name = a or size > 9 and ", "empty"), ("not ", "empty"), ("hidden and ", "empty")] {
        let expression = parse(part.repeat((1 << 20) / part.len()) + end).unwrap();
        assert!(Node::compile(expression.tree(), &Roots::none()).is_ok(), "{part}");
    }
    let expression = parse(format!("name in ({}b)", "\"*a\", ".repeat(1 << 17))).unwrap();
    assert!(Node::compile(expression.tree(), &Roots::none()).is_ok());
    for part in ["(", "not(", "name in (", "a ", "=", "\"", "name = a "] {
        assert!(parse(part.repeat((1 << 20) / part.len())).is_err(), "{part}");
    }
}

/// Returns metadata in which only these fields have their value.
fn only(metadata: &Metadata, fields: Fields) -> Metadata {
    let mut known = *metadata;
    (known.mode, known.uid, known.gid) = (0o1234, 77, 77);
    (known.ino, known.nlink, known.size) = (77, 77, 77);
    (known.mtime_ns, known.ctime_ns, known.atime_ns) = (77, 77, 77);
    known.birth_ns = Some(77);
    let mut copy = |field, copy: fn(&mut Metadata, &Metadata)| {
        if fields.contains(field) {
            copy(&mut known, metadata);
        }
    };
    copy(Fields::MODE, |to, from| to.mode = from.mode);
    copy(Fields::UID, |to, from| to.uid = from.uid);
    copy(Fields::GID, |to, from| to.gid = from.gid);
    copy(Fields::INO, |to, from| to.ino = from.ino);
    copy(Fields::NLINK, |to, from| to.nlink = from.nlink);
    copy(Fields::SIZE, |to, from| to.size = from.size);
    copy(Fields::MTIME, |to, from| to.mtime_ns = from.mtime_ns);
    copy(Fields::CTIME, |to, from| to.ctime_ns = from.ctime_ns);
    copy(Fields::ATIME, |to, from| to.atime_ns = from.atime_ns);
    copy(Fields::BIRTH, |to, from| to.birth_ns = from.birth_ns);
    known
}
