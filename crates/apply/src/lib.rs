//! The action engine: the only code that changes a user's tree.
