//! What a process of a large job keeps of all the others. The program is `tests/memory/main.rs`.
