//! Workers, a stop flag, and a model of what work costs. Knows nothing of files beyond their number and size.
#![forbid(unsafe_code)]

mod constants;
mod cpus;
mod fields;
mod machine;
mod model;
mod stop;
mod store;
mod team;
mod text;
mod usage;
mod work;

pub use constants::Constants;
pub use cpus::{logical_cpus, physical_cores};
pub use fields::Implausible;
pub use model::{Backend, COLD_WORKERS, Choice, Limits, Model, Reason, Sample, Threads};
pub use stop::Stop;
pub use store::NotLoaded;
pub use team::Team;
pub use text::{ParseError, Problem};
pub use usage::voluntary_switches;
