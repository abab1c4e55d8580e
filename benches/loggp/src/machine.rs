//! The machine: the cost of messages, copies and reductions, within a node and between nodes.
//!
//! LogGP (Alexandrov, Ionescu, Schauser, Scheiman: LogGP: Incorporating Long Messages into the LogP Model,
//! <https://doi.org/10.1006/jpdc.1997.1346>), once for each of the two levels, with a rendezvous for long messages, and one
//! network adapter per node that all its ranks share in each direction. Times are picoseconds, so that sums are exact.

use std::collections::BTreeMap;

/// Picoseconds.
pub type Time = u64;

/// What messages cost between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// From the moment a message leaves a rank to the moment its first byte is there.
    pub latency: Time,
    /// Of a processor, for sending one and for receiving one.
    pub overhead: Time,
    /// Between the beginnings of two messages through the adapter of a node.
    pub gap: Time,
    /// Per byte of a message that is sent at once.
    pub per_byte: Time,
    /// Longer messages wait for their receiver.
    pub eager_limit: u64,
    /// Per byte of those.
    pub long_per_byte: Time,
}

/// A machine of equal nodes, filled one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Ranks of a node.
    pub per_node: u32,
    /// Between ranks of a node: the processors move the bytes.
    pub within: Level,
    /// Between nodes: the adapters move them.
    pub between: Level,
    /// Of a copy.
    pub copy_per_byte: Time,
    /// Of a reduction.
    pub reduce_per_byte: Time,
}

impl Machine {
    /// The machine of `constants.txt`, with so many ranks per node.
    pub fn usual(per_node: u32) -> Machine {
        Machine::from_text(CONSTANTS, per_node).expect("constants.txt is checked by a test")
    }

    /// Reads lines `name value`; `#` begins a comment. Every constant must be there once, and no other.
    pub fn from_text(text: &str, per_node: u32) -> Result<Machine, String> {
        let mut values = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
            let at = format!("line {}", index + 1);
            match words[..] {
                [] => (),
                [name, value] => {
                    let value: u64 = value.parse().map_err(|_| format!("{at}: {value} is not a whole number"))?;
                    if values.insert(name.to_owned(), value).is_some() {
                        return Err(format!("{at}: {name} stands there twice"));
                    }
                }
                _ => return Err(format!("{at}: expected a name and a number")),
            }
        }
        let machine = Machine {
            per_node,
            within: Level::take(&mut values, "within")?,
            between: Level::take(&mut values, "between")?,
            copy_per_byte: take(&mut values, "copy_per_byte_ps")?,
            reduce_per_byte: take(&mut values, "reduce_per_byte_ps")?,
        };
        match values.keys().next() {
            Some(name) => Err(format!("{name} is no constant of this model")),
            None => Ok(machine),
        }
    }

    /// The node of a rank.
    pub fn node(&self, rank: u32) -> u32 {
        rank / self.per_node
    }
}

impl Level {
    fn take(values: &mut BTreeMap<String, u64>, level: &str) -> Result<Level, String> {
        let mut one = |name: &str| take(values, &format!("{level}_{name}"));
        Ok(Level {
            latency: one("latency_ps")?,
            overhead: one("overhead_ps")?,
            gap: one("gap_ps")?,
            per_byte: one("per_byte_ps")?,
            eager_limit: one("eager_limit_bytes")?,
            long_per_byte: one("long_per_byte_ps")?,
        })
    }
}

fn take(values: &mut BTreeMap<String, u64>, name: &str) -> Result<u64, String> {
    values.remove(name).ok_or_else(|| format!("{name} is missing"))
}

/// The constants that the project publishes.
pub const CONSTANTS: &str = include_str!("../constants.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_constants_are_complete() {
        let machine = Machine::usual(64);
        assert!(machine.within.latency < machine.between.latency);
        assert_eq!((machine.node(63), machine.node(64)), (0, 1));
    }

    #[test]
    fn what_is_wrong_with_constants_is_said() {
        let wrong = |text: &str| Machine::from_text(text, 1).unwrap_err();
        assert_eq!(wrong("copy_per_byte_ps fast"), "line 1: fast is not a whole number");
        assert_eq!(wrong("\ncopy_per_byte_ps 1 2"), "line 2: expected a name and a number");
        assert_eq!(wrong("a 1\na 2"), "line 2: a stands there twice");
        assert_eq!(wrong(""), "within_latency_ps is missing");
        assert_eq!(wrong(&format!("{CONSTANTS}\nwithin_speed 3")), "within_speed is no constant of this model");
    }
}
