//! `-a` and `FTK_SIMD`: the algorithms of digests, and the instruction sets that compute them.

use std::env;
use std::ffi::OsStr;

use anyhow::Context as _;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use ftk_hash::{Algorithm, Platform, Simd, Tuning};
use ftk_sched::{Constants, Kernel};

/// Parses the name of an algorithm. The error for an unknown name lists all algorithms and suggests the most
/// similar one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlgorithmName;

impl TypedValueParser for AlgorithmName {
    type Value = Algorithm;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Algorithm, Error> {
        if let Some(algorithm) = value.to_str().and_then(|name| name.parse().ok()) {
            return Ok(algorithm);
        }
        let name =
            PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)).parse_ref(command, arg, value)?;
        Ok(name.parse().expect("a name from the list"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new(Algorithm::ALL.into_iter().map(|algorithm| PossibleValue::new(algorithm.name()))))
    }
}

/// What `ftk hash` prints of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigestKind {
    Algorithm(Algorithm),
    /// The `ETag` of S3, which depends on the size of the parts.
    S3Etag,
}

impl DigestKind {
    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Algorithm(algorithm) => Some(algorithm),
            Self::S3Etag => None,
        }
    }
}

/// Parses the name of an algorithm, or `s3-etag`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigestName;

impl TypedValueParser for DigestName {
    type Value = DigestKind;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<DigestKind, Error> {
        if value == S3_ETAG {
            return Ok(DigestKind::S3Etag);
        }
        AlgorithmName.parse_ref(command, arg, value).map(DigestKind::Algorithm)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        let algorithms = AlgorithmName.possible_values()?;
        Some(Box::new(algorithms.chain([PossibleValue::new(S3_ETAG)])))
    }
}

/// The name of the `ETag` of S3 on the command line and in JSON.
pub(crate) const S3_ETAG: &str = "s3-etag";

/// Returns the algorithms to compute: the given ones without duplicates, in the order of the command line, or
/// SHA-256 if none is given.
pub(crate) fn wanted(asked: &[Algorithm]) -> Vec<Algorithm> {
    if asked.is_empty() {
        return vec![Algorithm::Sha256];
    }
    let mut wanted = Vec::new();
    for &algorithm in asked {
        if !wanted.contains(&algorithm) {
            wanted.push(algorithm);
        }
    }
    wanted
}

/// Returns the instruction sets to use: those of this CPU, limited to the one that `FTK_SIMD` names. Tests reach
/// every kernel on one machine with this variable. Without it, each algorithm uses the kernel that `ftk calibrate` has
/// found to be the fastest.
///
/// # Errors
/// If the variable names an unknown instruction set, or one that this CPU lacks.
pub(crate) fn platform(constants: &Constants) -> anyhow::Result<Platform> {
    let limited = |name: &str| anyhow::Ok(Platform::up_to(name.parse::<Simd>()?)?);
    match env::var_os("FTK_SIMD") {
        Some(name) => limited(&name.to_string_lossy()).context("bad value of FTK_SIMD"),
        None => Ok(constants.kernels.iter().fold(Platform::detect(), tuned)),
    }
}

/// Tunes an algorithm. Unknown names change nothing: they are from a file that was edited.
fn tuned(platform: Platform, (algorithm, kernel): (&String, &Kernel)) -> Platform {
    match (algorithm.parse(), kernel.simd.parse()) {
        (Ok(algorithm), Ok(simd)) => platform.tuned(algorithm, Tuning { simd, few: kernel.few }),
        _ => platform,
    }
}
