//! `ftk hash --check`, compared with the tools whose lists it reads.

mod flags;
mod formats;
mod lists;
mod new;
mod oracles;
mod root;
mod unchecked;
