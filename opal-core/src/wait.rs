//! Waiting for something to happen: spin, yield or sleep as the machine's load allows.
