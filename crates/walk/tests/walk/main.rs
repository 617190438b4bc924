//! Tests of the walker on real trees.

mod api;
mod control;
mod extremes;
mod forms;
mod links;
mod oracle;
mod roots;
mod sharing;
mod support;
