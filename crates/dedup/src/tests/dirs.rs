//! Random trees: groups of directories, and directories contained elsewhere, must agree with a model that reads
//! everything and compares all pairs.

mod contained;
mod groups;
mod model;
mod special;
