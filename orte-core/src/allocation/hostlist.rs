//! Slurm's compressed lists: `n[01-03,7],login,rack[1-2]node[1-4]` and `2(x3),1`.

use super::HOSTS_MAX;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The hosts of a list, in its order. Numbers keep the zeros in front that the first number of a range has.
pub fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    for item in outside(list, ',')? {
        if item.is_empty() {
            return Err(format!("`{list}` has an empty name"));
        }
        one(item, "", &mut hosts).map_err(|why| format!("`{list}`: {why}"))?;
    }
    Ok(hosts)
}

/// All that one item with brackets means: the first brackets vary slowest.
fn one(rest: &str, before: &str, hosts: &mut Vec<String>) -> Result<(), String> {
    let Some((literal, behind)) = rest.split_once('[') else {
        if hosts.len() >= HOSTS_MAX {
            return Err(format!("more than {HOSTS_MAX} hosts"));
        }
        hosts.push(format!("{before}{rest}"));
        return Ok(());
    };
    let (ranges, after) = behind.split_once(']').ok_or("a bracket is not closed")?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (low, high) = (number(first)?, number(last)?);
        if high < low {
            return Err(format!("`{range}` ends before it begins"));
        }
        for number in low..=high {
            one(after, &format!("{before}{literal}{number:0width$}", width = first.len()), hosts)?;
        }
    }
    Ok(())
}

/// Counts in Slurm's form, one for each host: `2(x3),1` is 2, 2, 2, 1.
pub fn counts(text: &str, hosts: usize) -> Result<Vec<u32>, String> {
    let mut counts = Vec::new();
    for item in text.split(',') {
        let (count, times) = match item.split_once("(x") {
            Some((count, times)) => (count, number(times.strip_suffix(')').ok_or("a parenthesis is not closed")?)?),
            None => (item, 1),
        };
        let count = number(count)?;
        if count == 0 || times as usize > hosts - counts.len() {
            let why =
                if count == 0 { "a host has no task".to_string() } else { format!("more counts than {hosts} hosts") };
            return Err(format!("`{text}`: {why}"));
        }
        counts.extend((0..times).map(|_| count));
    }
    if counts.len() == hosts { Ok(counts) } else { Err(format!("`{text}` counts {} hosts of {hosts}", counts.len())) }
}

/// Parts of a text between separators that stand outside of brackets.
fn outside(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' if inside => return Err(format!("`{text}`: a bracket stands in a bracket")),
            '[' => inside = true,
            ']' => inside = false,
            _ if letter == separator && !inside => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn number(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    match digits {
        true => text.parse().map_err(|_| format!("`{text}` is no number")),
        false => Err(format!("`{text}` is no number")),
    }
}
