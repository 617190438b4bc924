//! Tests of the funnel against an oracle that reads everything, and of plans against what they promise.

mod compare;
mod equal;
mod oracle;
mod plans;
mod properties;
mod tree;
mod unread;
