//! The system calls for extended attributes, where the system has them.

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub use rustix::fs::{
    XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr, lgetxattr, listxattr, llistxattr,
    removexattr, setxattr,
};
use rustix::io::Errno;

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub use self::missing::*;

/// Whether ftk can read and set extended attributes on this system. FreeBSD has other calls for them.
pub const HAS_ATTRIBUTES: bool = cfg!(any(target_os = "linux", target_vendor = "apple"));

/// The error for an attribute that does not exist.
#[cfg(target_os = "linux")]
pub const NO_ATTRIBUTE: Errno = Errno::NODATA;
/// The error for an attribute that does not exist.
#[cfg(not(target_os = "linux"))]
pub const NO_ATTRIBUTE: Errno = Errno::NOATTR;

/// The same functions, which always fail.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod missing {
    use std::os::fd::AsFd;

    use rustix::io::{Errno, Result};
    use rustix::path::Arg;

    /// Flags of [`setxattr`].
    #[derive(Clone, Copy, Debug)]
    pub struct XattrFlags;

    impl XattrFlags {
        /// Returns no flags.
        pub fn empty() -> Self {
            Self
        }
    }

    macro_rules! fail {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
            /// Fails.
            ///
            /// # Errors
            /// Always.
            pub fn $name($($argument: $type),*) -> Result<$result> {
                $(_ = $argument;)*
                Err(Errno::OPNOTSUPP)
            }
        )*};
    }

    fail! {
        fgetxattr(file: impl AsFd, name: impl Arg, value: &mut [u8]) -> usize;
        flistxattr(file: impl AsFd, names: &mut [u8]) -> usize;
        fremovexattr(file: impl AsFd, name: impl Arg) -> ();
        fsetxattr(file: impl AsFd, name: impl Arg, value: &[u8], flags: XattrFlags) -> ();
        getxattr(path: impl Arg, name: impl Arg, value: &mut [u8]) -> usize;
        lgetxattr(path: impl Arg, name: impl Arg, value: &mut [u8]) -> usize;
        listxattr(path: impl Arg, names: &mut [u8]) -> usize;
        llistxattr(path: impl Arg, names: &mut [u8]) -> usize;
    }
}
