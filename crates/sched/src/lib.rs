//! Workers, a stop flag, and a model of what work costs. Knows nothing of files beyond their number and size.
#![forbid(unsafe_code)]

mod constants;
mod model;
mod stop;
mod team;

pub use constants::Constants;
pub use model::{Backend, Choice, Limits, Model, Reason, Sample, Threads};
pub use stop::Stop;
pub use team::Team;
