//! The lines while tests run, and the count at the end. Everything goes to standard output, so that nothing can
//! come behind the closing line.

use super::verdict::Verdict;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Counts and what is worth saying at the end.
pub struct Report {
    terminal: bool,
    require_all: bool,
    passed: Vec<String>,
    failed: Vec<String>,
    /// Failed once, and passed when they were run again.
    unsteady: Vec<String>,
    skipped: Vec<(String, String)>,
    tiers: Vec<Used>,
    /// Lines that wait until another report takes them, if they do not go out at once.
    held: Option<String>,
}

/// The time of one tier.
struct Used {
    name: &'static str,
    budget_minutes: f64,
    start: Instant,
    minutes: f64,
    /// Minutes of processors that its programs took, and those of tiers beside it: at the beginning those of the tiers before.
    processor_minutes: f64,
    /// Ran while others did.
    beside: bool,
}

impl Report {
    /// Nothing ran yet.
    pub fn new(require_all: bool) -> Report {
        let terminal = std::io::stdout().is_terminal() && std::env::var_os("CI").is_none();
        let (passed, failed, unsteady) = (Vec::new(), Vec::new(), Vec::new());
        let (skipped, tiers) = (Vec::new(), Vec::new());
        Report { terminal, require_all, passed, failed, unsteady, skipped, tiers, held: None }
    }

    /// From now on lines are kept for [`Report::absorb`]: another report writes meanwhile.
    pub fn holds_lines(&mut self) {
        (self.terminal, self.held) = (false, Some(String::new()));
    }

    /// Takes all that another report has: its lines go out now.
    pub fn absorb(&mut self, other: Report) {
        self.clear();
        print!("{}", other.held.unwrap_or_default());
        self.passed.extend(other.passed);
        self.failed.extend(other.failed);
        self.unsteady.extend(other.unsteady);
        self.skipped.extend(other.skipped);
        self.tiers.extend(other.tiers.into_iter().map(|tier| Used { beside: true, ..tier }));
    }

    /// A tier begins.
    pub fn tier(&mut self, name: &'static str, budget_minutes: f64) {
        let (start, processor_minutes) = (Instant::now(), processor_minutes());
        self.tiers.push(Used { name, budget_minutes, start, minutes: 0.0, processor_minutes, beside: false });
    }

    /// The tier that began last ends.
    pub fn tier_ends(&mut self) {
        if let Some(tier) = self.tiers.last_mut() {
            tier.minutes = tier.start.elapsed().as_secs_f64() / 60.0;
            tier.processor_minutes = processor_minutes() - tier.processor_minutes;
        }
    }

    /// On a terminal: what runs now, on a line that is written over.
    pub fn begins(&self, name: &str) {
        if self.terminal {
            let (passed, failed) = (self.passed.len(), self.failed.len());
            print!("\r\x1b[K{passed} passed, {failed} failed; {name} …");
            // A terminal that cannot be written to has nobody in front of it.
            let _ = std::io::stdout().flush();
        }
    }

    /// A test ended.
    pub fn result(&mut self, name: &str, time: Duration, verdict: Verdict) {
        let seconds = time.as_secs_f64();
        match verdict {
            Verdict::Passed(note) => {
                self.passed.push(name.to_owned());
                let colon = if note.is_empty() { "" } else { ": " };
                match self.terminal {
                    true => self.begins(name),
                    false => self.line(&format!("ok      {seconds:6.1} s  {name}{colon}{note}")),
                }
            }
            Verdict::Failed(why) => self.fails(name, seconds, &why),
            Verdict::Skipped(why) if self.require_all => {
                self.fails(name, seconds, &format!("{why}\n(--require-all: nothing may be skipped)"));
            }
            Verdict::Skipped(why) => {
                self.clear();
                self.line(&format!("skipped           {name}: {why}"));
                self.skipped.push((name.to_owned(), why));
            }
        }
    }

    /// Whether no test was met.
    pub fn is_empty(&self) -> bool {
        self.passed.is_empty() && self.failed.is_empty() && self.skipped.is_empty()
    }

    /// The names of those that failed.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }

    /// Whether the test of this name passed.
    pub fn has_passed(&self, name: &str) -> bool {
        self.passed.iter().any(|passed| passed == name)
    }

    /// These failed, and passed when they were run again: they count as passed, and [`Report::close`] names them.
    pub fn are_unsteady(&mut self, names: Vec<String>) {
        self.failed.retain(|name| !names.contains(name));
        self.passed.extend(names.iter().cloned());
        self.unsteady = names;
    }

    /// Says everything that is left to say; whether nothing failed.
    pub fn close(&mut self) -> bool {
        self.clear();
        if !self.failed.is_empty() {
            println!("\nFailed:");
            self.failed.iter().for_each(|name| println!("  cargo xtask test {name}"));
        }
        if !self.unsteady.is_empty() {
            println!("\nUnsteady, failed once and passed when run again (their first output is above):");
            self.unsteady.iter().for_each(|name| println!("  cargo xtask test {name}"));
        }
        if !self.skipped.is_empty() {
            println!("\nSkipped:");
            self.skipped.iter().for_each(|(name, why)| println!("  {name}: {why}"));
        }
        self.minutes();
        println!("{} passed, {} failed, {} skipped", self.passed.len(), self.failed.len(), self.skipped.len());
        self.failed.is_empty()
    }

    fn minutes(&self) {
        println!("\nMinutes:              processors'");
        for Used { name, minutes, budget_minutes, processor_minutes, beside, .. } in &self.tiers {
            let processors = if *beside { "beside".to_owned() } else { format!("{processor_minutes:6.1}") };
            let over = if minutes > budget_minutes && !beside { "  over its budget" } else { "" };
            println!("  {name:9} {minutes:5.1} of {budget_minutes:4.1} {processors}{over}");
        }
        let total = |part: fn(&Used) -> f64| self.tiers.iter().filter(|tier| !tier.beside).map(part).sum::<f64>();
        let (minutes, budget) = (total(|tier| tier.minutes), total(|tier| tier.budget_minutes));
        let processors = total(|tier| tier.processor_minutes);
        println!("  {:9} {minutes:5.1} of {budget:4.1} {processors:6.1}\n", "total");
    }

    fn fails(&mut self, name: &str, seconds: f64, why: &str) {
        self.clear();
        self.line(&format!("FAILED  {seconds:6.1} s  {name}"));
        tail(why, TAIL_LINES).lines().for_each(|line| self.line(&format!("    {line}")));
        self.line(&format!("    again: cargo xtask test {name}"));
        self.failed.push(name.to_owned());
    }

    fn line(&mut self, line: &str) {
        match &mut self.held {
            Some(held) => *held += &format!("{line}\n"),
            None => println!("{line}"),
        }
    }

    fn clear(&self) {
        if self.terminal {
            print!("\r\x1b[K");
        }
    }
}

/// What the programs that this process waited for have taken so far (proc(5), cutime and cstime); 0 where the system does not say.
fn processor_minutes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u32 = fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    f64::from(ticks) / TICKS_A_SECOND / 60.0
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    match all.len().checked_sub(lines) {
        None | Some(0) => all.join("\n"),
        Some(left_out) => format!("({left_out} lines before)\n{}", all[left_out..].join("\n")),
    }
}

/// Of Linux on x86-64.
const TICKS_A_SECOND: f64 = 100.0;
const TAIL_LINES: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails() {
        assert_eq!(tail("a\nb\n", 2), "a\nb");
        assert_eq!(tail("a\nb\nc\n", 2), "(1 lines before)\nb\nc");
        assert_eq!(tail("", 2), "");
    }

    #[test]
    fn programs_take_processors() {
        let before = processor_minutes();
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", spin]).status().unwrap().success());
        assert!(processor_minutes() > before);
    }

    #[test]
    fn a_report_takes_what_another_held() {
        let (mut report, mut beside) = (Report::new(true), Report::new(true));
        beside.holds_lines();
        beside.tier("x", 1.0);
        beside.result("x/good", Duration::ZERO, Verdict::Passed(String::new()));
        beside.result("x/bad", Duration::ZERO, Verdict::Failed("no z".to_owned()));
        assert!(beside.held.as_ref().is_some_and(|held| held.contains("x/good") && held.contains("    no z\n")));
        report.absorb(beside);
        assert!(report.has_passed("x/good") && report.failed() == ["x/bad"]);
        assert!(report.tiers.iter().all(|tier| tier.beside) && !report.close());
    }

    #[test]
    fn an_unsteady_test_is_none_that_failed() {
        let mut report = Report::new(true);
        for name in ["x/once", "x/always"] {
            report.result(name, Duration::ZERO, Verdict::Failed("no z".to_owned()));
        }
        report.are_unsteady(vec!["x/once".to_owned()]);
        assert!(report.has_passed("x/once") && !report.has_passed("x/always"));
        assert_eq!(report.failed(), ["x/always"]);
        assert!(!report.close());
        report.are_unsteady(vec!["x/always".to_owned()]);
        assert!(report.close());
    }

    #[test]
    fn a_skip_counts_as_failure_when_all_is_required() {
        for (require_all, good) in [(true, false), (false, true)] {
            let mut report = Report::new(require_all);
            report.result("x/y", Duration::ZERO, Verdict::Skipped("no z here".to_owned()));
            assert!(!report.is_empty());
            assert_eq!(report.failed.is_empty(), good);
            assert_eq!(report.close(), good);
        }
    }
}
