//! `--map-by` and `--rank-by`: how many ranks a machine gets, and in which order they take its places.

use super::options::Options;
use super::output::nearest;
use crate::refusal::Refusal;
use std::path::PathBuf;

/// A part of a machine that processors belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One processor of the system.
    Hwthread,
    /// The hardware threads of one core.
    Core,
    /// Processors that share the cache of this level.
    Cache(u8),
    /// Processors that have memory near them.
    Numa,
    /// A chip.
    Package,
    /// The machine.
    Node,
}

/// What `--map-by` and its relatives ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Ranks are dealt to units of this kind in turn.
    pub unit: Unit,
    /// So many on each unit (`ppr:N:unit`), one unit after the other.
    pub per_unit: Option<u32>,
    /// Cores (or what `--bind-to` names) of each rank.
    pub processors: usize,
    /// `:PE=N` said so: ranks are bound.
    pub has_count: bool,
    /// Hardware threads count as cores.
    pub hwthreads: bool,
    /// Ranks are counted over one unit after the other.
    pub fill: bool,
    /// Only these processors are used.
    pub only: Option<Vec<usize>>,
    /// Each rank gets one of these, in this order.
    pub ordered: bool,
    /// More ranks than slots: allowed without a word, or refused.
    pub oversubscribe: Option<bool>,
    /// Where each rank runs stands in this file.
    pub rankfile: Option<PathBuf>,
    /// The lines of this file, or what names the hosts otherwise, are the hosts of the ranks, one after the other.
    pub sequence: Option<Option<PathBuf>>,
    /// Ranks are dealt to hosts in turn.
    pub by_node: bool,
    /// They are counted over the hosts in turn, or over one host after the other; `None`: as they are dealt.
    pub counted_by_node: Option<bool>,
}

impl Map {
    /// Reads the options.
    pub fn new(options: &Options) -> Result<Map, Refusal> {
        let mut map = Map {
            unit: Unit::Node,
            per_unit: None,
            processors: 1,
            has_count: false,
            hwthreads: false,
            fill: false,
            only: options.cpu_set.as_deref().map(|list| processors("--cpu-set", list)).transpose()?,
            ordered: false,
            oversubscribe: match (options.oversubscribe, options.nooversubscribe) {
                (false, false) => None,
                (allowed, _) => Some(allowed),
            },
            rankfile: options.rankfile.clone(),
            sequence: None,
            by_node: false,
            counted_by_node: None,
        };
        options.map_by.iter().try_for_each(|text| map.by(text))?;
        if let Some(text) = &options.rank_by {
            map.rank_by(text)?;
        }
        Ok(map)
    }

    fn by(&mut self, text: &str) -> Result<(), Refusal> {
        let mut words = text.split(':');
        let directive = words.next().unwrap_or_default();
        // Open MPI 4 parts modifiers by commas, too.
        let (directive, behind) = match directive.split_once(',') {
            Some((directive, behind)) if !directive.contains('=') => (directive, Some(behind)),
            _ => (directive, None),
        };
        let lower = directive.to_ascii_lowercase();
        match lower.split_once('=') {
            Some(("pe-list", list)) => self.only = Some(processors("--map-by", list)?),
            _ => self.directive(text, &lower, &mut words)?,
        }
        for word in behind.into_iter().chain(words) {
            self.modifier(text, word)?;
        }
        if lower == "seq" {
            self.sequence = Some(self.rankfile.take());
        }
        match (lower.as_str(), &self.rankfile) {
            ("rankfile", None) => Err(wrong(text, "rankfile:file=FILE names the file")),
            _ => Ok(()),
        }
    }

    fn directive<'a>(
        &mut self,
        text: &str,
        lower: &str,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), Refusal> {
        match lower {
            // Modifiers alone.
            "" if text.starts_with(':') => {}
            "slot" | "none" | "rankfile" => self.unit = Unit::Node,
            "ppr" => {
                let count = words.next().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
                self.per_unit = Some(count.ok_or_else(|| wrong(text, "that is no number of ranks per object"))?);
                let object = words.next().unwrap_or_default();
                self.unit = unit(object).ok_or_else(|| wrong(text, &format!("`{object}` is no object")))?;
            }
            "seq" => self.sequence = Some(None),
            "node" => (self.unit, self.by_node) = (Unit::Node, true),
            lower => self.unit = unit(lower).ok_or_else(|| wrong(text, &format!("`{lower}` is not known")))?,
        }
        Ok(())
    }

    fn modifier(&mut self, text: &str, word: &str) -> Result<(), Refusal> {
        for word in word.split(',') {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            match (nearest(name, MODIFIERS), value) {
                (Some("oversubscribe"), None) => self.oversubscribe = Some(true),
                (Some("nooversubscribe"), None) => self.oversubscribe = Some(false),
                (Some("span" | "inherit" | "noinherit"), None) => {}
                (Some("hwtcpus"), None) => self.hwthreads = true,
                (Some("corecpus"), None) => self.hwthreads = false,
                (Some("ordered"), None) => self.ordered = true,
                (Some("nolocal"), None) => {
                    return Err(wrong(
                        text,
                        "nolocal would leave no machine where no other one is named; leave this one out of --host or --hostfile",
                    ));
                }
                (Some("file"), Some(file)) if !file.is_empty() => self.rankfile = Some(file.into()),
                (Some("pe"), Some(count)) => {
                    let count = count.parse().ok().filter(|count| *count > 0);
                    self.has_count = true;
                    self.processors = count.ok_or_else(|| wrong(text, &format!("{word} is no number of cores")))?;
                }
                _ => return Err(wrong(text, &format!("`{word}` is not known"))),
            }
        }
        Ok(())
    }

    fn rank_by(&mut self, text: &str) -> Result<(), Refusal> {
        match nearest(text, &["slot", "node", "fill", "span"]) {
            Some("slot") => self.counted_by_node = Some(false),
            Some("node") => self.counted_by_node = Some(true),
            Some("fill") => self.fill = true,
            Some(_) => {}
            None => {
                let hint = unit(text).map_or("", |_| "; --map-by says which objects ranks are dealt to");
                return Err(Refusal::usage(format!("--rank-by {text}: slot, node, fill or span is wanted{hint}")));
            }
        }
        Ok(())
    }
}

/// A kind of unit by its name, upper or lower case.
pub fn unit(name: &str) -> Option<Unit> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "hwthread" => Unit::Hwthread,
        "core" => Unit::Core,
        "l1cache" | "l1" => Unit::Cache(1),
        "l2cache" | "l2" => Unit::Cache(2),
        "l3cache" | "l3" => Unit::Cache(3),
        "numa" => Unit::Numa,
        "package" | "socket" => Unit::Package,
        "node" | "board" | "machine" => Unit::Node,
        _ => return None,
    })
}

/// `0,2-3`.
pub fn processors(option: &str, list: &str) -> Result<Vec<usize>, Refusal> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last < 1 << 16).then_some(first..=last)
    };
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    let ranges = ranges.ok_or_else(|| Refusal::usage(format!("{option} {list}: a list such as 0,2-3 is wanted")))?;
    Ok(ranges.into_iter().flatten().collect())
}

fn wrong(text: &str, what: &str) -> Refusal {
    Refusal::usage(format!(
        "--map-by {text}: {what}; slot, hwthread, core, l1cache, l2cache, l3cache, numa, package, node, ppr:N:OBJECT, \
         seq, seq:file=FILE, rankfile:file=FILE or pe-list=LIST is wanted, with :PE=N, :OVERSUBSCRIBE, :NOOVERSUBSCRIBE, :HWTCPUS or :ORDERED"
    ))
}

const MODIFIERS: &[&str] = &[
    "pe",
    "span",
    "oversubscribe",
    "nooversubscribe",
    "nolocal",
    "hwtcpus",
    "corecpus",
    "inherit",
    "noinherit",
    "file",
    "ordered",
];
