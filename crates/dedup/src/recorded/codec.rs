//! The bytes of recorded files, as they are sorted.

use ftk_file::{FileSystem, FsId, Inode};
use ftk_hash::Digest;

use super::member::{RecordedFile, RecordedMember};

/// What a file is known by: names with equal bytes are names of one file.
///
/// - 0: identity of the file system and inode number. Other manifests may have the same file.
/// - 1: device and inode number, and both times, for file systems without an identity. These are equal by chance
///   only if files have the same number on different file systems and were changed in the same nanosecond.
/// - 2: manifest and entry, if less is known. Every name is a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity(Vec<u8>);

impl Identity {
    pub(super) fn of(file: &RecordedFile<'_>) -> Self {
        let RecordedMember { manifest, fs, ino, mtime_ns, ctime_ns, .. } = file.member;
        let mut bytes = Vec::with_capacity(50);
        match (Inode::new(*fs, file.dev, *ino), mtime_ns, ctime_ns) {
            (Some(Inode { file_system: FileSystem::Id(fs), ino }), ..) => {
                bytes.push(0);
                bytes.extend_from_slice(fs.as_bytes());
                bytes.extend_from_slice(&ino.to_be_bytes());
            }
            (Some(Inode { file_system: FileSystem::Dev(dev), ino }), Some(mtime), Some(ctime)) => {
                bytes.push(1);
                [ino, dev].iter().for_each(|number| bytes.extend_from_slice(&number.to_be_bytes()));
                [mtime, ctime].iter().for_each(|time| bytes.extend_from_slice(&time.to_be_bytes()));
            }
            _ => {
                bytes.push(2);
                bytes.extend_from_slice(&(*manifest as u64).to_be_bytes());
                bytes.extend_from_slice(&file.entry.to_be_bytes());
            }
        }
        Self(bytes)
    }

    /// Whether the file may have been recorded in different states, and these can be recognised.
    pub(super) fn is_lasting(&self) -> bool {
        self.0[0] == 0
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Appends bytes with their length before them, so that they can be read back.
pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends the fields that no order depends on.
pub(super) fn push_details(out: &mut Vec<u8>, member: &RecordedMember) {
    let RecordedMember { fs, ino, nlink, allocated, mtime_ns, ctime_ns, .. } = member;
    let known = [
        fs.is_some(),
        ino.is_some(),
        nlink.is_some(),
        allocated.is_some(),
        mtime_ns.is_some(),
        ctime_ns.is_some(),
    ];
    out.push((0..).zip(known).map(|(bit, is_known)| u8::from(is_known) << bit).sum());
    fs.iter().for_each(|fs| out.extend_from_slice(fs.as_bytes()));
    [ino, nlink, allocated].into_iter().flatten().for_each(|it| out.extend_from_slice(&it.to_be_bytes()));
    [mtime_ns, ctime_ns].into_iter().flatten().for_each(|it| out.extend_from_slice(&it.to_be_bytes()));
}

/// Reads what this module wrote.
///
/// # Panics
/// If the bytes are others. They come from this process, through files that have no name.
pub(super) struct Decoder<'b>(pub(super) &'b [u8]);

impl<'b> Decoder<'b> {
    pub(super) fn take(&mut self, n: usize) -> &'b [u8] {
        self.0.split_off(..n).expect("the record was written by this process")
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().expect("so many bytes were taken")
    }

    pub(super) fn number(&mut self) -> u64 {
        u64::from_be_bytes(self.array())
    }

    pub(super) fn small(&mut self) -> u32 {
        u32::from_be_bytes(self.array())
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(super) fn bytes(&mut self) -> &'b [u8] {
        let len = self.small();
        self.take(len as usize)
    }

    /// Reads up to a NUL, which paths do not contain.
    pub(super) fn path(&mut self) -> &'b [u8] {
        let len = self.0.iter().position(|&byte| byte == 0).expect("paths end with NUL");
        let path = self.take(len);
        self.take(1);
        path
    }

    pub(super) fn digest(&mut self, width: usize) -> Digest {
        Digest::from_bytes(self.take(width))
    }

    pub(super) fn details(&mut self, manifest: usize, path: Vec<u8>) -> RecordedMember {
        let known = self.byte();
        let is_known = |bit: u8| known & (1 << bit) != 0;
        RecordedMember {
            manifest,
            path,
            fs: is_known(0).then(|| FsId::from_bytes(self.array())),
            ino: is_known(1).then(|| self.number()),
            nlink: is_known(2).then(|| self.number()),
            allocated: is_known(3).then(|| self.number()),
            mtime_ns: is_known(4).then(|| i128::from_be_bytes(self.array())),
            ctime_ns: is_known(5).then(|| i128::from_be_bytes(self.array())),
        }
    }
}
