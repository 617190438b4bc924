//! Every list ftk reads or writes goes through here.
