//! What a host and a wire cost, from a text of names and numbers.

/// In ns; a KiB is 1024 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants(Vec<(String, u64)>);

impl Constants {
    /// Reads lines such as `login_us 300000`; a mark starts a comment. `Err` with a sentence.
    pub fn read(text: &str) -> Result<Constants, String> {
        let mut known = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let mut words = line.split_whitespace();
            let Some(name) = words.next() else { continue };
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            let (Some(number), None) = (number, words.next()) else {
                return Err(format!("`{line}`: a line is a name and a whole number, such as login_us 300000"));
            };
            if !NAMES.contains(&name) {
                return Err(format!("`{line}`: there is no constant {name}; write one of {}", NAMES.join(", ")));
            }
            known.push((name.to_owned(), number));
        }
        match NAMES.iter().find(|name| known.iter().filter(|(known, _)| known == *name).count() != 1) {
            Some(name) => Err(format!("{name} is missing, or there twice")),
            None => Ok(Constants(known)),
        }
    }

    /// One of them in ns, or ns for each KiB.
    ///
    /// # Panics
    /// For a name that is none.
    pub fn ns(&self, name: &str) -> u64 {
        let found = self.0.iter().find(|(known, _)| known == name);
        let number = found.unwrap_or_else(|| panic!("{name} was read")).1;
        if name.ends_with("_us") { number * 1000 } else { number }
    }

    /// The same with one of them `times` as large.
    pub fn scaled(&self, name: &str, times: f64) -> Constants {
        let scale = |(known, number): &(String, u64)| {
            let number = if known == name { (*number as f64 * times) as u64 } else { *number };
            (known.clone(), number)
        };
        Constants(self.0.iter().map(scale).collect())
    }
}

/// All of them.
pub const NAMES: [&str; 10] = [
    "login_us",
    "agent_us",
    "daemon_us",
    "rank_us",
    "init_us",
    "handshake_us",
    "frame_us",
    "handle_per_kib_ns",
    "latency_us",
    "wire_per_kib_ns",
];

/// Those of `constants.txt`.
pub const GIVEN: &str = include_str!("../constants.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(Constants::read(GIVEN).unwrap().ns("login_us"), 300_000_000);
        for (text, words) in
            [("login_us x", "whole number"), ("what 1", "no constant what"), ("", "login_us is missing")]
        {
            let sentence = Constants::read(text).unwrap_err();
            assert!(sentence.contains(words), "{sentence}");
        }
        let twice = format!("{GIVEN}\nlogin_us 1\n");
        assert!(Constants::read(&twice).unwrap_err().contains("there twice"));
    }

    #[test]
    fn one_is_scaled() {
        let given = Constants::read(GIVEN).unwrap();
        let scaled = given.scaled("wire_per_kib_ns", 0.5);
        assert_eq!((scaled.ns("wire_per_kib_ns"), scaled.ns("login_us")), (410, given.ns("login_us")));
    }
}
