//! Comparisons of whole inputs, checked against a loop over bytes.

mod changing;
mod oracle;
mod random;
mod same_result;
mod sparse;
mod streams;
