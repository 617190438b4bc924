//! Which entries of a tree a command wants.
