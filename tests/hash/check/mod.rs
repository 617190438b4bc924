//! `ftk hash --check`, held against the tools whose lists it reads.

mod flags;
mod lists;
mod new;
mod oracles;
mod root;
