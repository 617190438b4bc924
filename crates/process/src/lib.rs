//! The driver that hash, dup and manifest share.
