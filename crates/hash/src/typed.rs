//! Hashers with the algorithm in their type, for code that is generic over the traits of the crate [`digest`].
//!
//! The non-cryptographic algorithms have no type here, since `digest` is for cryptographic hash functions.
//! [`Hasher`], whose algorithm is chosen at run time, has [`digest::Update`] and [`DynDigest`], with all algorithms.
//!
//! # Example
//!
//! ```
//! use ftk_hash::typed::Sha256;
//!
//! /// The hash of a leaf in a Merkle tree (RFC 6962, section 2.1).
//! fn leaf<D: digest::Digest>(data: &[u8]) -> digest::Output<D> {
//!     D::new_with_prefix([0]).chain_update(data).finalize()
//! }
//!
//! assert_eq!(leaf::<Sha256>(b"")[..4], [0x6e, 0x34, 0x0b, 0x9c]);
//! ```

use digest::consts::{U16, U20, U28, U32, U48, U64};
use digest::{
    DynDigest, FixedOutput, FixedOutputReset, HashMarker, InvalidBufferSize, Output, OutputSizeUser, Reset,
    Update,
};

use crate::{Algorithm, Hasher};

macro_rules! typed {
    ($($name:ident $size:ident)*) => {$(
        #[doc = concat!("Hashes one message with [`Algorithm::", stringify!($name), "`].")]
        #[derive(Clone, Debug)]
        pub struct $name(Hasher);

        impl Default for $name {
            fn default() -> Self {
                Self(Hasher::new(Algorithm::$name))
            }
        }

        impl HashMarker for $name {}

        impl OutputSizeUser for $name {
            type OutputSize = $size;
        }

        impl Update for $name {
            fn update(&mut self, data: &[u8]) {
                self.0.update(data);
            }
        }

        impl Reset for $name {
            fn reset(&mut self) {
                Reset::reset(&mut self.0);
            }
        }

        impl FixedOutput for $name {
            fn finalize_into(self, out: &mut Output<Self>) {
                out.copy_from_slice(self.0.finalize().as_bytes());
            }
        }

        impl FixedOutputReset for $name {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                out.copy_from_slice(self.0.restart().finalize().as_bytes());
            }
        }
    )*};
}

typed! {
    Sha256 U32
    Sha512 U64
    Sha1 U20
    Md5 U16
    Blake2b U64
    Blake3 U32
    Sha224 U28
    Sha384 U48
    Sha3_256 U32
    Sha3_512 U64
}

impl Hasher {
    /// Returns the hasher, and begins another message.
    fn restart(&mut self) -> Self {
        let empty = Self::new(self.algorithm());
        std::mem::replace(self, empty)
    }
}

impl Update for Hasher {
    fn update(&mut self, data: &[u8]) {
        self.update(data);
    }
}

impl Reset for Hasher {
    fn reset(&mut self) {
        self.restart();
    }
}

impl DynDigest for Hasher {
    fn update(&mut self, data: &[u8]) {
        self.update(data);
    }

    fn finalize_into(mut self, out: &mut [u8]) -> Result<(), InvalidBufferSize> {
        self.finalize_into_reset(out)
    }

    fn finalize_into_reset(&mut self, out: &mut [u8]) -> Result<(), InvalidBufferSize> {
        if out.len() != self.output_size() {
            return Err(InvalidBufferSize);
        }
        out.copy_from_slice(self.restart().finalize().as_bytes());
        Ok(())
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn output_size(&self) -> usize {
        self.algorithm().digest_len()
    }

    fn box_clone(&self) -> Box<dyn DynDigest> {
        Box::new(self.clone())
    }
}
