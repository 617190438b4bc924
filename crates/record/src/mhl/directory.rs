//! The hashes of a directory in a list of ASC MHL 2.0.

use ftk_hash::{Algorithm, Digest, Hasher};

/// The entries of one directory, for its two hashes by one algorithm.
///
/// The content hash covers the contents of everything below the directory, and the structure hash also the names. Each is
/// the digest of the sorted hashes of the entries.
///
/// ```
/// use ftk_hash::Algorithm::Md5;
/// use ftk_record::MhlDirectory;
///
/// let mut directory = MhlDirectory::new(Md5);
/// directory.file(b"a.mov", &Md5.hash_one(b"one\n"));
/// let [content, structure] = directory.finish();
/// assert_eq!(content, Md5.hash_one(Md5.hash_one(b"one\n").as_bytes()));
/// assert_ne!(content, structure);
/// ```
#[derive(Clone, Debug)]
pub struct MhlDirectory {
    algorithm: Algorithm,
    /// The content hashes of all entries.
    content: Vec<u8>,
    /// The hashes of their names and structures.
    structure: Vec<u8>,
}

impl MhlDirectory {
    /// Creates a directory without entries.
    pub fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, content: Vec::new(), structure: Vec::new() }
    }

    /// Adds a file with this name and digest.
    ///
    /// # Panics
    /// If the digest is not of the algorithm's length.
    pub fn file(&mut self, name: &[u8], digest: &Digest) {
        self.directory(name, [digest; 2]);
    }

    /// Adds a directory with this name, content hash and structure hash.
    ///
    /// # Panics
    /// If a hash is not of the algorithm's length.
    pub fn directory(&mut self, name: &[u8], [content, structure]: [&Digest; 2]) {
        let len = self.algorithm.digest_len();
        assert!(
            [content, structure].iter().all(|it| it.as_bytes().len() == len),
            "a hash of another algorithm"
        );
        self.content.extend_from_slice(content.as_bytes());
        let mut hasher = Hasher::new(self.algorithm);
        hasher.update(name);
        hasher.update(structure.as_bytes());
        self.structure.extend_from_slice(hasher.finalize().as_bytes());
    }

    /// Returns the memory use in bytes.
    pub fn size_bytes(&self) -> usize {
        self.content.capacity() + self.structure.capacity()
    }

    /// Returns the content hash and the structure hash.
    pub fn finish(self) -> [Digest; 2] {
        [&self.content, &self.structure].map(|hashes| {
            let mut sorted: Vec<_> = hashes.chunks_exact(self.algorithm.digest_len()).collect();
            sorted.sort_unstable();
            let mut hasher = Hasher::new(self.algorithm);
            sorted.into_iter().for_each(|hash| hasher.update(hash));
            hasher.finalize()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of `ascmhl create -h md5` and `-h xxh128`.
    #[test]
    fn hashes_are_those_of_ascmhl() {
        for (algorithm, clips, root) in [
            (
                Algorithm::Md5,
                ["f14f35e6c20266bfeb12820e8308467b", "b4b83c5e85ce08a07ae53645249ec2ca"],
                ["758e1a177ad799576243b5182527f4f2", "ccb8471d040344abfa33ae8c3d634eb5"],
            ),
            (
                Algorithm::Xxh128,
                ["abdfa3cf4fa4a6170cb5c7b459ebbf95", "af8d676a0dd91eb7a9e21e5f5a04a20e"],
                ["ed5ce090234b043054d85c775bdfdd9e", "8b334a7cd8432fc970870d19d33ee412"],
            ),
        ] {
            let mut inner = MhlDirectory::new(algorithm);
            inner.file(b"b.mov", &algorithm.hash_one(b"two\n"));
            inner.file(b"a.mov", &algorithm.hash_one(b"one\n"));
            let inner = inner.finish();
            assert_eq!(inner.each_ref().map(ToString::to_string), clips);
            let mut outer = MhlDirectory::new(algorithm);
            outer.directory(b"Clips", inner.each_ref());
            outer.file(b"side & car.txt", &algorithm.hash_one(b"three\n"));
            assert_eq!(outer.finish().map(|it| it.to_string()), root);
        }
        assert_eq!(MhlDirectory::new(Algorithm::Md5).finish(), [Algorithm::Md5.hash_one(b""); 2]);
    }
}
