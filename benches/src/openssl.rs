//! Digests by OpenSSL's EVP interface.

use ftk_hash::Algorithm;
use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::md_ctx::MdCtx;

/// A context that is reused for each message, with a digest that was fetched once: the fastest way in OpenSSL
/// 3.
pub struct Context {
    context: MdCtx,
    digest: Md,
}

/// A digest: a buffer and the length used.
pub struct Output([u8; 64], usize);

impl Context {
    /// Creates a context, or returns `None` if OpenSSL does not have the algorithm.
    ///
    /// # Panics
    /// If OpenSSL lacks a digest that it should have, or memory is exhausted.
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        let name = match algorithm {
            Algorithm::Sha256 => "SHA256",
            Algorithm::Sha224 => "SHA224",
            Algorithm::Sha384 => "SHA384",
            Algorithm::Sha512 => "SHA512",
            Algorithm::Sha3_256 => "SHA3-256",
            Algorithm::Sha3_512 => "SHA3-512",
            Algorithm::Sha1 => "SHA1",
            Algorithm::Md5 => "MD5",
            Algorithm::Blake2b => "BLAKE2B-512",
            _ => return None,
        };
        let digest = Md::fetch(None, name, None).expect("the default provider has this digest");
        Some(Self { context: MdCtx::new().expect("memory for a context"), digest })
    }

    /// Returns the digest of a message.
    pub fn digest(&mut self, message: &[u8]) -> Output {
        digest(&mut self.context, &self.digest, message).expect("nothing in it can fail")
    }

    /// Returns SHA-256 of a message, by the old name of the digest, which OpenSSL 3 looks up each time.
    pub fn sha256_looked_up(&mut self, message: &[u8]) -> Output {
        digest(&mut self.context, Md::sha256(), message).expect("nothing in it can fail")
    }
}

impl AsRef<[u8]> for Output {
    fn as_ref(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

fn digest(context: &mut MdCtx, digest: &MdRef, message: &[u8]) -> Result<Output, ErrorStack> {
    let mut output = [0; 64];
    context.digest_init(digest)?;
    context.digest_update(message)?;
    let len = context.digest_final(&mut output)?;
    Ok(Output(output, len))
}
