//! Internal to ftk: a browser of nested lists in the terminal, for disk usage and for groups of duplicates.
//!
//! A [`Source`] has the rows, and decides what can be marked. The [`Browser`] is the model: it moves the cursor, sorts, and
//! asks for the word that carries out the plan for the marked rows. It changes nothing itself: [`Browser::press`] returns a
//! [`Request`], and only the typed word makes it [`Request::Act`]. [`draw`] shows the model in a buffer of any size, and
//! [`run`] connects both with the terminal, which it leaves as it was, whatever happens.
//!
//! Every text of a source must be harmless on a terminal already.
//!
//! ```
//! use ftk_browse::{Browser, Key, Plan, Request, Row, Source, Total, Word};
//!
//! /// One file, which can be deleted.
//! #[derive(Default)]
//! struct One(bool);
//!
//! impl Source for One {
//!     fn rows(&mut self, _: Option<u64>) -> Result<Vec<Row>, String> {
//!         Ok(vec![Row { id: 7, name: "big.iso".into(), size: "4.7 GB".into(), ..Row::default() }])
//!     }
//!     fn is_marked(&self, _: u64) -> bool { self.0 }
//!     fn mark(&mut self, _: u64) -> Result<(), String> { self.0 ^= true; Ok(()) }
//!     fn marked(&self) -> Total { Total { rows: self.0.into(), size: "4.7 GB".into() } }
//!     fn plan(&mut self) -> Plan {
//!         Plan { lines: vec!["delete big.iso".into()], words: vec![Word { word: "delete", what: "cannot be undone".into() }] }
//!     }
//! }
//!
//! let mut browser = Browser::new(One::default(), "/srv".into());
//! browser.press(Key::Char(' '));
//! browser.press(Key::Char('d'));
//! for letter in "delete".chars() {
//!     assert_eq!(browser.press(Key::Char(letter)), Request::Nothing);
//! }
//! assert_eq!(browser.press(Key::Enter), Request::Act("delete"));
//! ```
#![forbid(unsafe_code)]

mod browser;
mod keys;
mod screen;
mod source;
mod terminal;

pub use browser::{Browser, Request};
pub use keys::Key;
pub use screen::draw;
pub use source::{Plan, Row, Source, Total, Word};
pub use terminal::{run, wait_for_key};
