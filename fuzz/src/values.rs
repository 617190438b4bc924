//! The values of options, and the file of constants.

use ftk_hash::{Algorithm, Simd};
use ftk_manifest::Field;
use ftk_sched::Constants;
use ftk_select::{Links, Owner, ParseError, Perm, Size, Time, Types, parse_bytes};
use ftk_walk::FileType;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::Value;

/// Uses the input as the value of every option with a special syntax. It must be refused with a position
/// inside it, or read as a simpler reader reads it.
pub fn values(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let bytes = refused_inside(text, parse_bytes(text));
    assert_eq!(bytes, by_hand(text), "{text:?}");
    let size = refused_inside(text, text.parse::<Size>());
    assert_eq!(size.map(|size| is_match(|bytes| size.matches(bytes))), bound(text, by_hand), "{text:?}");
    let links = refused_inside(text, text.parse::<Links>());
    assert_eq!(links.map(|links| is_match(|number| links.matches(number))), bound(text, number), "{text:?}");
    types(text, refused_inside(text, text.parse()));
    perm(text, refused_inside(text, text.parse()));
    time(text);
    // User and group names depend on the machine, so only numbers are tested.
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'!' | b'+' | b'-')) {
        owner(text, refused_inside(text, text.parse()));
    }
    if let Ok(algorithm) = text.parse::<Algorithm>() {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    if let Ok(simd) = text.parse::<Simd>() {
        assert!(simd.to_string().parse() == Ok(simd), "{text:?}");
    }
    if let Ok(field) = text.parse::<Field>() {
        assert!(field.name().parse() == Ok(field), "{text:?}");
    }
}

fn refused_inside<T>(text: &str, parsed: Result<T, ParseError>) -> Option<T> {
    parsed
        .inspect_err(|error| {
            assert!(!error.problem.is_empty() && text.is_char_boundary(error.at), "{text:?}: {error:?}");
        })
        .ok()
}

/// Parses a number of bytes like [`parse_bytes`], by long multiplication.
fn by_hand(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let scale = scale(unit)?;
    let mut carry = 0;
    let mut product = String::new();
    let zeros = std::iter::repeat_n(b'0', 20); // for the digits of the carry
    for digit in fraction.bytes().rev().chain(whole.bytes().rev()).chain(zeros) {
        carry += u128::from(digit - b'0') * u128::from(scale);
        product.insert(0, char::from(b'0' + (carry % 10) as u8));
        carry /= 10;
    }
    let (bytes, rest) = product.split_at(product.len() - fraction.len());
    if rest.bytes().all(|digit| digit == b'0') { number(bytes) } else { None }
}

fn scale(unit: &str) -> Option<u64> {
    let power = |letter: char| Some("kmgtp".find(letter.to_ascii_lowercase())? as u32 + 1);
    match unit.chars().collect::<Vec<_>>()[..] {
        [] => Some(1),
        [letter] | [letter @ 'A'..='Z', 'i', 'B'] => Some(1024_u64.pow(power(letter)?)),
        [letter @ ('k' | 'M' | 'G' | 'T' | 'P'), 'B'] => Some(1000_u64.pow(power(letter)?)),
        _ => None,
    }
}

fn number(text: &str) -> Option<u64> {
    let add = |number: u64, digit: char| number.checked_mul(10)?.checked_add(digit.to_digit(10)?.into());
    if text.is_empty() { None } else { text.chars().try_fold(0, add) }
}

/// Returns the results of a test for the numbers at which it may change.
fn is_match(test: impl Fn(u64) -> bool) -> Vec<bool> {
    let powers = (0..64).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    powers.chain((0..2000).map(|number| number * 512)).chain([u64::MAX]).map(test).collect()
}

/// The same for a number after `+`, `-` or neither.
fn bound(text: &str, number: fn(&str) -> Option<u64>) -> Option<Vec<bool>> {
    match text.split_at_checked(1) {
        Some(("+", text)) => number(text).map(|number| is_match(|it| it > number)),
        Some(("-", text)) => number(text).map(|number| is_match(|it| it < number)),
        _ => number(text).map(|number| is_match(|it| it == number)),
    }
}

fn types(text: &str, parsed: Option<Types>) {
    let all = [
        ("f", FileType::Regular),
        ("d", FileType::Directory),
        ("l", FileType::Symlink),
        ("p", FileType::Fifo),
        ("s", FileType::Socket),
        ("b", FileType::Block),
        ("c", FileType::Char),
    ];
    let letters: Vec<_> = text.split(',').collect();
    let is_known = letters.iter().all(|letter| all.iter().any(|(known, _)| known == letter));
    assert_eq!(parsed.is_some(), is_known, "{text:?}");
    for (letter, file_type) in all {
        assert!(parsed.is_none_or(|types| types.matches(file_type) == letters.contains(&letter)), "{text:?}");
    }
}

fn perm(text: &str, parsed: Option<Perm>) {
    let mode = text.strip_prefix(['-', '/']).unwrap_or(text);
    let add = |bits: u32, digit: char| Some(bits * 8 + digit.to_digit(8)?).filter(|bits| *bits <= 0o7777);
    let bits = |is_directory| match mode.chars().next()? {
        '0'..='9' => mode.chars().try_fold(0, add),
        _ => mode.split(',').try_fold(0, |bits, clause| changed(clause, bits, is_directory)),
    };
    for is_directory in [false, true] {
        let bits = bits(is_directory);
        assert_eq!(parsed.is_some(), bits.is_some(), "{text:?}");
        let (Some(perm), Some(bits)) = (parsed, bits) else { return };
        for mode in 0..=0o7777 {
            let expected = match text.as_bytes()[0] {
                b'-' => !mode & bits == 0,
                b'/' => bits == 0 || mode & bits > 0,
                _ => mode == bits,
            };
            assert_eq!(perm.matches(mode, is_directory), expected, "{text:?} {mode:o}");
        }
    }
}

/// Changes bits as one clause of a symbolic mode says, bit by bit.
fn changed(clause: &str, before: u32, is_directory: bool) -> Option<u32> {
    let rest = clause.trim_start_matches(['u', 'g', 'o', 'a']);
    let classes = &clause[..clause.len() - rest.len()];
    let is_operator = |c: char| "+-=".contains(c);
    if !rest.starts_with(is_operator) {
        return None;
    }
    let mut bits = before;
    for part in rest.char_indices().filter(|(_, c)| is_operator(*c)).map(|(at, _)| &rest[at..]) {
        let letters = part[1..].split(is_operator).next().unwrap_or_default();
        let is_copy = matches!(letters, "u" | "g" | "o");
        if !is_copy && !letters.chars().all(|c| "rwxXst".contains(c)) {
            return None;
        }
        let has = |letter: char| letters.contains(letter);
        let any_x = is_directory || bits & 0o111 > 0;
        let old = bits;
        for (nth, (class, letter)) in [
            ('o', 'x'),
            ('o', 'w'),
            ('o', 'r'),
            ('g', 'x'),
            ('g', 'w'),
            ('g', 'r'),
            ('u', 'x'),
            ('u', 'w'),
            ('u', 'r'),
            ('o', 't'),
            ('g', 's'),
            ('u', 's'),
        ]
        .into_iter()
        .enumerate()
        {
            if !(classes.is_empty() || classes.contains(class) || classes.contains('a')) {
                continue;
            }
            let bit = 1 << nth;
            let copied = |from: u32| nth < 9 && old >> (from + nth as u32 % 3) & 1 == 1;
            let named = match letters {
                "u" => copied(6),
                "g" => copied(3),
                "o" => copied(0),
                _ => has(letter) || letter == 'x' && has('X') && any_x,
            };
            let stays = is_directory && letter == 's' && !named;
            match part.as_bytes()[0] {
                b'+' if named => bits |= bit,
                b'-' if named => bits &= !bit,
                b'=' if named => bits |= bit,
                b'=' if !stays => bits &= !bit,
                _ => {}
            }
        }
    }
    Some(bits)
}

fn owner(text: &str, parsed: Option<Owner>) {
    let Some(owner) = parsed else { return };
    let parts: Vec<_> = text.split(':').collect();
    let is_match = |part: Option<&&str>, id: u32| match part.map(|part| part.split_at_checked(1)) {
        None | Some(None) => true,
        Some(Some(("!", number))) => number.parse() != Ok(id),
        _ => part.is_some_and(|part| part.parse() == Ok(id)),
    };
    for (uid, gid) in [(0, 0), (0, 1), (1, 0), (1, 1), (u32::MAX, 12)] {
        assert_eq!(
            owner.matches(uid, gid),
            is_match(parts.first(), uid) && is_match(parts.get(1), gid),
            "{text:?}"
        );
    }
}

fn time(text: &str) {
    let now = Zoned::new(Timestamp::UNIX_EPOCH, TimeZone::UTC);
    let parsed = refused_inside(text, Time::parse(text, &now));
    if let Some(seconds) = text.strip_prefix('@') {
        let digits = seconds.strip_prefix('-').unwrap_or(seconds);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let part = Some(format!("{part:0<9}")).filter(|part| part.len() == 9).and_then(|part| number(&part));
        let ns = number(whole)
            .filter(|whole| *whole <= i64::MAX as u64)
            .and_then(|whole| Some(i128::from(whole) * 1_000_000_000 + i128::from(part?)));
        let expected = ns.map(|ns| if seconds == digits { ns } else { -ns });
        assert_eq!(parsed.map(|time| time.0), expected, "{text:?}");
    } else if let Some(Time(ns)) = parsed {
        let moment = Timestamp::from_nanosecond(ns).expect("a moment that a clock can show");
        let again = Time::parse(&moment.to_string(), &now);
        // Only years of four digits can begin a date.
        assert!(again == Ok(Time(ns)) || !(-62_167_219_200..).contains(&moment.as_second()), "{text:?}");
    }
}

/// Fuzzes constants as JSON. Plausible constants are written and read back unchanged, and no member is ignored.
pub fn constants(data: &[u8]) {
    let Ok(constants) = serde_json::from_slice::<Constants>(data) else { return };
    if constants.check().is_ok() {
        let json = serde_json::to_value(&constants).unwrap();
        assert_eq!(serde_json::from_value::<Constants>(json.clone()).unwrap(), constants);
        let given: Value = serde_json::from_slice(data).unwrap();
        if let Value::Object(given) = given {
            assert_eq!(given.len(), json.as_object().unwrap().len(), "no member is ignored");
        }
    }
}
