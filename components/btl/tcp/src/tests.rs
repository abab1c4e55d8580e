//! White-box tests.
