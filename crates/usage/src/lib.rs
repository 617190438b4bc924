//! Internal to ftk: adds up the space that trees use, by directory.
//!
//! Each worker of a walk fills a [`Part`] of its own through the visitor [`Count`]: the directories that it finds, and for
//! each directory that it lists one sum. Nothing is shared during the walk. [`Usage::merge`] joins the parts, counts each
//! inode with several hard links once, and adds the sum of each directory to those above it.
//! [`read_ncdu`] and callers that read other lists fill one part through the same methods.
//!
//! - A kept directory needs about 150 bytes, its name included, and a hard link about 60. Other files need no memory, unless
//!   [`Keep`] asks for them. Directories below [`Keep::depth`] need none either: they are added to the one above.
//! - The result does not depend on the number of workers, or on the order of their work. An inode with several links counts
//!   for the link whose path is first in byte order (see [`Usage::merge`]).
//! - Sums have 128 bits and cannot overflow.
//!
//! [`Usage::listing`] chooses and sorts what people look at. [`Difference`] finds out which directories grew or shrank
//! between two tables. [`Dump`] writes a whole tree in the JSON of ncdu.
//!
//! ```
//! use ftk_inventory::Budget;
//! use ftk_usage::{Facts, Keep, Part, Usage};
//!
//! let mut part = Part::new(0, &Keep::default(), &Budget::new(1 << 20));
//! let root = part.root(b"srv", true);
//! let photos = part.directory(root, b"photos");
//! part.add_file(photos, b"a.jpg", &Facts { apparent: 5, allocated: 4096, link: None }, || b"srv/photos/a.jpg".into());
//! let usage = Usage::merge(vec![part])?;
//! let root = usage.roots()[0];
//! assert_eq!((usage.sum(root).apparent, usage.sum(root).allocated), (5, 4096));
//! # Ok::<(), ftk_inventory::Full>(())
//! ```
#![forbid(unsafe_code)]

mod count;
mod difference;
mod dump;
mod exclusive;
mod facts;
mod keep;
mod leaves;
mod links;
mod listing;
mod load;
mod names;
mod part;
mod sum;
mod usage;

pub use count::Count;
pub use difference::{Change, ChangedRow, Difference, Shown, State};
pub use dump::{Dump, check_dump, write_dump};
pub use exclusive::{Exclusive, Flushed};
pub use facts::Facts;
pub use keep::{Keep, Measure};
pub use listing::{Listing, Rest, Row};
pub use load::{Loaded, read_ncdu};
pub use part::{Node, Part, Unknown};
pub use sum::Sum;
pub use usage::{DirId, Item, Usage};
