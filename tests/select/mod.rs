//! The options that select entries, shared by all commands.

mod audits;
mod exclusions;
mod flags;
mod gnu;
mod ignore;
mod refused;
mod rules;
mod starts;
mod syntax;
mod where_gnu;
