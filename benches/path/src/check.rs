pub fn run(_seed: u64) {}
