//! Which entries are meant: the options that all commands share.

mod flags;
mod gnu;
mod ignore;
mod refused;
mod starts;
