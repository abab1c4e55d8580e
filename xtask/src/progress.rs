//! Progress for the user: one line per phase with the seconds it takes.

use crate::failure::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How to show progress.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Show the commands and their output.
    pub verbose: bool,
    /// Draw a spinner that counts seconds; else plain lines.
    animated: bool,
}

impl Progress {
    /// Spinners on a terminal, plain lines in a pipe or in CI.
    pub fn new(verbose: bool) -> Progress {
        let ci = std::env::var_os("CI").is_some();
        Progress { verbose, animated: std::io::stderr().is_terminal() && !ci && !verbose }
    }

    /// Does one thing and says what and how long; `work` returns what to add to the line.
    pub fn phase<T>(&self, what: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
        let start = Instant::now();
        let bar = self.spinner(what);
        let result = work();
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let seconds = start.elapsed().as_secs_f64();
        match &result {
            Ok((_, note)) if note.is_empty() => eprintln!("{seconds:6.1} s  {what}"),
            Ok((_, note)) => eprintln!("{seconds:6.1} s  {what}: {note}"),
            Err(_) => eprintln!("{seconds:6.1} s  {what}: FAILED"),
        }
        result.map(|(value, _)| value)
    }

    /// Says something between phases.
    pub fn note(&self, text: &str) {
        eprintln!("          {text}");
    }

    fn spinner(&self, what: &str) -> Option<ProgressBar> {
        if !self.animated {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // The template is a constant; indicatif's own style is as good if it ever stops parsing it.
        if let Ok(style) = ProgressStyle::with_template("{elapsed:>6} {spinner} {msg}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Some(bar)
    }
}
