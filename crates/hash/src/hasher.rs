//! Digests of messages that arrive in pieces, of readers and of files.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use crate::message::Message;
use crate::{Algorithm, Digest, Platform, dispatch};

/// Computes the digest of one message whose pieces arrive in order.
///
/// It is also a writer: whatever writes into it is hashed, and no write fails. Its pieces may have any length. A clone
/// continues separately from the bytes hashed so far.
///
/// It hashes one message at a time. Many messages together are faster with [`Algorithm::hash_many`], or with an
/// [`Engine`](crate::Engine) if they arrive in pieces too.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use ftk_hash::{Algorithm, Hasher};
///
/// let mut hasher = Hasher::new(Algorithm::Md5);
/// hasher.update(b"The quick brown fox");
/// write!(hasher, " jumps over the {} dog", "lazy")?;
/// assert_eq!(hasher.finalize().to_string(), "9e107d9d372bb6826bd81d3542a419d6");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Hasher {
    algorithm: Algorithm,
    message: Box<dyn Message>,
}

impl Hasher {
    /// Creates the hasher of an empty message.
    pub fn new(algorithm: Algorithm) -> Self {
        Self::with_platform(algorithm, Platform::detect())
    }

    /// Creates the hasher of an empty message, with a kernel that `platform` allows.
    pub fn with_platform(algorithm: Algorithm, platform: Platform) -> Self {
        Self { algorithm, message: dispatch::message(algorithm, platform) }
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Hashes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.message.update(data);
    }

    /// Returns the digest of all bytes. Without any bytes it is the digest of the empty message.
    pub fn finalize(self) -> Digest {
        self.message.finish()
    }
}

impl Clone for Hasher {
    fn clone(&self) -> Self {
        Self { algorithm: self.algorithm, message: self.message.duplicate() }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl Write for Hasher {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of bytes of one read. For blocks of 128 KiB or more, glibc asks the kernel each time.
const READ_LEN: usize = 64 << 10;

/// Memory for reads. They begin at the second cache line of a page: some CPUs copy six times slower from the page cache to
/// an address a few bytes after the start of a page, where large allocations usually begin.
#[repr(C, align(4096))]
struct Buffer {
    _line: [u8; 64],
    bytes: [u8; READ_LEN],
}

impl Algorithm {
    /// Reads `reader` to its end, and returns the digest of all bytes. The reader may return fewer bytes than fit into the
    /// buffer. An empty reader has the digest of the empty message.
    ///
    /// # Errors
    /// The first error of the reader, except [`Interrupted`](ErrorKind::Interrupted), after which the read is repeated. An
    /// error is never followed by a digest of the part before it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Read;
    /// use ftk_hash::Algorithm;
    ///
    /// // The first 1000 bytes of an endless stream.
    /// let digest = Algorithm::Sha1.hash_reader(std::io::repeat(b'a').take(1000))?;
    /// assert_eq!(digest, Algorithm::Sha1.hash_one(&[b'a'; 1000]));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn hash_reader(self, mut reader: impl Read) -> io::Result<Digest> {
        let mut hasher = Hasher::new(self);
        let mut buffer = Box::new(Buffer { _line: [0; 64], bytes: [0; READ_LEN] });
        loop {
            match reader.read(&mut buffer.bytes) {
                Ok(0) => return Ok(hasher.finalize()),
                Ok(len) => hasher.update(&buffer.bytes[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens a file, reads it to its end, and returns the digest of its bytes.
    ///
    /// Symbolic links are followed. A FIFO is read until its writers have closed it; if there is none, this waits. Holes of
    /// sparse files are zeros.
    ///
    /// It does not notice that another program writes to the file meanwhile. The digest is then that of the bytes that were
    /// read, which may be those of no version of the file.
    ///
    /// # Errors
    /// If the file cannot be opened, is a directory, or cannot be read to its end. The error does not contain the path.
    ///
    /// # Examples
    ///
    /// ```
    /// use ftk_hash::Algorithm;
    ///
    /// let digest = Algorithm::Blake3.hash_file("Cargo.toml")?;
    /// assert_eq!(digest, Algorithm::Blake3.hash_one(&std::fs::read("Cargo.toml")?));
    /// assert!(Algorithm::Blake3.hash_file("no such file").is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn hash_file(self, path: impl AsRef<Path>) -> io::Result<Digest> {
        self.hash_reader(File::open(path)?)
    }
}
