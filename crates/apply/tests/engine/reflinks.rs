//! reflinks
