//! Prints a line, then is killed.

fn main() {
    println!("printed before");
    let id = std::process::id().to_string();
    let _ = std::process::Command::new("kill").args(["-s", "KILL", &id]).status();
}
