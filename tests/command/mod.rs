//! What all commands share: help, bad usage, messages, output files, terminals, pipes.

mod help;
mod messages;
mod output;
mod terminal;
mod usage;
