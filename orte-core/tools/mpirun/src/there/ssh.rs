//! plm/ssh: the agents that start daemons on other hosts, ssh or whatever `plm_ssh_agent` names.

use super::settings::Settings;
use crate::agent::{Agent, is_there};
use crate::refusal::Refusal;
use orte_core::oob::Daemons;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// How to start daemons.
pub struct Agents {
    /// The agent's program and options.
    words: Vec<String>,
    /// So many hosts one logs in to; 0: mpirun to all.
    radix: u32,
    /// What runs on the other host.
    command: OsString,
}

impl Agents {
    /// Finds the agent. `prefix` is where ompi-rs lies on the other hosts, if not where it lies here.
    pub fn new(settings: &Settings, prefix: Option<&std::path::Path>) -> Result<Agents, Refusal> {
        let mut tried = Vec::new();
        for text in settings.agent.split(':').map(str::trim).filter(|text| !text.is_empty()) {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if is_there(&words[0]) {
                words.extend(settings.arguments.split_whitespace().map(str::to_owned));
                let program = match prefix {
                    Some(prefix) => prefix.join("bin/mpirun"),
                    None => own_program()?,
                };
                let mut command = quoted(program.as_os_str().as_bytes());
                command.push(" ");
                command.push(crate::daemon::ARGUMENT);
                return Ok(Agents { words, radix: settings.radix, command });
            }
            tried.push(words[0].clone());
        }
        Err(Refusal::usage(format!(
            "no agent starts daemons on other hosts: {} {} not in PATH; install an ssh client, or name another agent with \
             --mca plm_ssh_agent",
            tried.join(" and "),
            if tried.len() == 1 { "is" } else { "are" }
        )))
    }

    /// Starts the daemon of a host, and hands it the invitation.
    pub fn start(&self, host: &str, invitation: &str) -> Result<Agent, Refusal> {
        Agent::for_host(&self.words, &self.command, host, invitation)
            .map_err(|error| Refusal::system(&format!("starting {} for {host}", self.words[0]), error))
    }

    /// So many hosts one logs in to; 0: mpirun to all.
    pub fn radix(&self) -> u32 {
        self.radix
    }

    /// What a daemon needs to start further ones.
    pub fn of_daemons(&self) -> Daemons {
        let (words, command) = (self.words.clone(), self.command.as_bytes().to_vec());
        Daemons { radix: self.radix, words, command, ..Daemons::default() }
    }

    /// The command that starts a daemon, for people.
    pub fn line(&self, host: &str) -> String {
        format!("{} {host} {}", self.words.join(" "), self.command())
    }

    /// The agent's program, for messages.
    pub fn name(&self) -> &str {
        self.words[0].rsplit('/').next().unwrap_or(&self.words[0])
    }

    /// What runs on the other host, for messages.
    pub fn command(&self) -> std::path::Display<'_> {
        std::path::Path::new(&self.command).display()
    }
}

/// This program.
pub fn own_program() -> Result<PathBuf, Refusal> {
    std::env::current_exe().map_err(|error| Refusal::system("finding mpirun's own program", error))
}

/// As one word of a shell.
fn quoted(word: &[u8]) -> OsString {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@%,=".contains(byte);
    if word.iter().all(is_plain) {
        return OsString::from_vec(word.to_vec());
    }
    let mut text = b"'".to_vec();
    for byte in word {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
    OsString::from_vec(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(quoted(b"/opt/ompi-rs/bin/mpirun"), "/opt/ompi-rs/bin/mpirun");
        assert_eq!(quoted(b"/a b/it's"), r"'/a b/it'\''s'");
    }

    #[test]
    fn an_agent_is_searched() {
        let settings = |agent: &str| Settings { agent: agent.to_owned(), ..Settings::default() };
        let agents = Agents::new(&settings("no-such-agent : sh -c x"), None).unwrap();
        assert_eq!(agents.words, ["sh", "-c", "x"]);
        let sentence = Agents::new(&settings("no-such-agent"), None).err().unwrap().sentence;
        assert!(sentence.contains("no-such-agent is not in PATH") && sentence.contains("plm_ssh_agent"), "{sentence}");
    }
}
