//! Tests of the walker on real trees.

mod control;
mod extremes;
mod links;
mod oracle;
mod roots;
mod support;
