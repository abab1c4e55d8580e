//! Agents of resource managers: Grid Engine's qrsh and LSF's blaunch start a program on a host of the job without a login, so that the
//! manager counts and ends what runs there. They are called as qrsh(1) and blaunch(1) say; scripts stand in for them in the tests.

use super::settings::Settings;
use crate::agent::is_there;
use crate::cli::Own;
use orte_core::allocation::{ResourceManager, allocation};

/// The settings with the agent of the manager whose allocation holds all of these hosts, unless somebody named an agent, or there is
/// none.
pub fn with_agent(settings: &Settings, hosts: &[String]) -> Settings {
    let Ok(Some((manager, given))) = allocation(&Own) else { return settings.clone() };
    let agent = match manager {
        ResourceManager::GridEngine => "qrsh -inherit",
        ResourceManager::Lsf => "blaunch",
        // srun starts all daemons (plm/slurm). What PBS has (pbsdsh) passes no standard input on.
        ResourceManager::Slurm | ResourceManager::Pbs => return settings.clone(),
    };
    let is_given = |host: &String| given.iter().any(|its| its.name == *host);
    let is_asked = settings.component == "auto" && !settings.has_agent;
    let program = agent.split(' ').next().unwrap_or(agent);
    if !is_asked || !hosts.iter().all(is_given) || !is_there(program) {
        return settings.clone();
    }
    // The options are ssh's, and a manager starts nothing for what it started itself.
    Settings { agent: agent.to_owned(), arguments: String::new(), radix: 0, ..settings.clone() }
}
