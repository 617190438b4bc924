//! Duplicates: the funnel that finds them, and the rules that say which stay. Read-only.
