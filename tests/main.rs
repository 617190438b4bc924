//! Integration tests of the ftk binary.
