//! Behaviour that all commands share: help, usage errors, messages, progress, statistics, output files,
//! terminals, pipes.

mod browser;
mod completions;
mod config;
mod definition;
mod descriptors;
mod files;
mod help;
mod log;
mod messages;
mod metrics;
mod old_kernels;
mod output;
mod polite;
mod progress;
mod query;
mod quiet;
mod stats;
mod streams;
mod terminal;
mod times;
mod usage;
