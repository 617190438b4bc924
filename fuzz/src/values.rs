//! The values of options, and the file of constants.

use ftk_sched::Constants;
use ftk_select::{Links, Owner, ParseError, Perm, Size, Time, Types, parse_bytes};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Takes the input for the value of every option that has a syntax of its own: refused with a place inside it,
/// or understood.
pub fn values(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let now = Zoned::new(Timestamp::UNIX_EPOCH, TimeZone::UTC);
    refused_inside(text, text.parse::<Size>());
    refused_inside(text, text.parse::<Types>());
    refused_inside(text, text.parse::<Links>());
    refused_inside(text, text.parse::<Perm>());
    refused_inside(text, Time::parse(text, &now));
    refused_inside(text, parse_bytes(text));
    // Names are looked up: whether there is such a user is not the question here.
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'!' | b'+' | b'-')) {
        refused_inside(text, text.parse::<Owner>());
    }
}

fn refused_inside<T>(text: &str, parsed: Result<T, ParseError>) {
    if let Err(error) = parsed {
        assert!(!error.to_string().is_empty(), "{text:?}");
    }
}

/// Takes the input for a file of constants: what is accepted is written and read back unchanged.
pub fn constants(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(constants) = Constants::parse(text) {
        assert_eq!(Constants::parse(&constants.to_string()).as_ref(), Ok(&constants));
    }
}
