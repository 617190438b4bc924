//! Whole programs and recipes. This module has no items.

pub mod examples;
pub mod recipes;
