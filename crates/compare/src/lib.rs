//! Byte-exact comparison: the kernel, two files by several workers, two trees.
