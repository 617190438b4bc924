//! Tests of the funnel against an oracle that reads everything, and of the guarantees of plans.

mod compare;
mod dirs;
mod equal;
mod oracle;
mod plans;
mod properties;
mod recorded;
mod tree;
mod unread;
