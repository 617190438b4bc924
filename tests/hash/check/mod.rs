//! `ftk hash --check`, compared with the tools whose lists it reads.

mod bags;
mod flags;
mod formats;
mod found;
mod hashdeep;
mod lists;
mod new;
mod only;
mod oracles;
mod root;
mod unchecked;
