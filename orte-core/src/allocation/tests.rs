//! Each manager's variables and files as its manual shows them, and the messages for malformed ones.

use super::*;
use alloc::format;
use alloc::string::ToString;

struct Given(&'static [(&'static str, &'static str)]);

impl Surroundings for Given {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    }

    fn file(&self, path: &str) -> Result<String, String> {
        self.variable(path).ok_or_else(|| "there is no such file".into())
    }
}

fn hosts(given: &'static [(&'static str, &'static str)]) -> Result<(ResourceManager, String), String> {
    let (manager, hosts) = allocation(&Given(given))?.expect("a manager is there");
    let words: Vec<String> = hosts.iter().map(|host| format!("{}:{}", host.name, host.slots)).collect();
    Ok((manager, words.join(" ")))
}

#[test]
fn lists_are_expanded() {
    let of = |list| expand(list).map(|hosts| hosts.join(" "));
    assert_eq!(of("login").unwrap(), "login");
    assert_eq!(of("n[1-3,7],x").unwrap(), "n1 n2 n3 n7 x");
    assert_eq!(of("n[008-011]").unwrap(), "n008 n009 n010 n011");
    assert_eq!(of("rack[1-2]node[3-4]-ib").unwrap(), "rack1node3-ib rack1node4-ib rack2node3-ib rack2node4-ib");
    assert_eq!(expand("n[1-65536]").unwrap().len(), HOSTS_MAX);
    for (list, word) in [
        ("", "empty"),
        ("a,,b", "empty"),
        ("n[1-2", "not closed"),
        ("n[[1]]", "in a bracket"),
        ("n[2-1]", "ends before"),
        ("n[a-b]", "`a`"),
        ("n[-3]", "``"),
        ("n[1-65537]", "more than"),
        ("n[1-999999999]m[1-999999999]", "more than"),
    ] {
        let why = of(list).unwrap_err();
        assert!(why.contains(word) && (list.is_empty() || why.contains(list)), "{list}: {why}");
    }
}

#[test]
fn every_manager_is_understood() {
    let slurm = hosts(&[
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "n[1-4]"),
        ("SLURM_TASKS_PER_NODE", "2(x3),1"),
        ("SLURM_JOB_CPUS_PER_NODE", "8(x4)"),
    ]);
    assert_eq!(slurm.unwrap(), (ResourceManager::Slurm, "n1:2 n2:2 n3:2 n4:1".to_string()));
    let processors = hosts(&[("SLURM_JOB_ID", "7"), ("SLURM_NODELIST", "n1,n9"), ("SLURM_JOB_CPUS_PER_NODE", "8(x2)")]);
    assert_eq!(processors.unwrap().1, "n1:8 n9:8");
    let shell = hosts(&[
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "n[1-2]"),
        ("SLURM_STEP_NODELIST", "n1"),
        ("SLURM_TASKS_PER_NODE", "1"),
        ("SLURM_JOB_CPUS_PER_NODE", "8(x2)"),
    ]);
    assert_eq!(shell.unwrap().1, "n1:8 n2:8");
    let pbs = hosts(&[("PBS_JOBID", "7.head"), ("PBS_NODEFILE", "/f"), ("/f", "a\na\nb\n\na\n")]);
    assert_eq!(pbs.unwrap(), (ResourceManager::Pbs, "a:3 b:1".to_string()));
    let engine = hosts(&[
        ("JOB_ID", "7"),
        ("PE_HOSTFILE", "/f"),
        ("/f", "a.site 2 all.q@a.site UNDEFINED\nb.site 4 all.q@b.site 0,0\na.site 1 big.q@a.site <NULL>\n"),
    ]);
    assert_eq!(engine.unwrap(), (ResourceManager::GridEngine, "a.site:3 b.site:4".to_string()));
    let lsf = hosts(&[("LSB_JOBID", "7"), ("LSB_MCPU_HOSTS", "a 2 b 4 ")]);
    assert_eq!(lsf.unwrap(), (ResourceManager::Lsf, "a:2 b:4".to_string()));
    let file = hosts(&[("LSB_JOBID", "7"), ("LSB_DJOB_HOSTFILE", "/f"), ("LSB_MCPU_HOSTS", "x 1"), ("/f", "a\na\nb")]);
    assert_eq!(file.unwrap().1, "a:2 b:1");
}

#[test]
fn without_a_manager_there_is_no_allocation() {
    assert_eq!(allocation(&Given(&[])), Ok(None));
    assert_eq!(allocation(&Given(&[("JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n1"), ("PBS_JOBID", "7")])), Ok(None));
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (given, words) in [
        (&[("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n[1-2]")][..], &["Slurm", "SLURM_TASKS_PER_NODE"][..]),
        (
            &[("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n[1-2]"), ("SLURM_TASKS_PER_NODE", "2")],
            &["`2` counts 1 hosts of 2"],
        ),
        (
            &[("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n1"), ("SLURM_TASKS_PER_NODE", "2(x999999999)")],
            &["more counts than 1"],
        ),
        (&[("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n1"), ("SLURM_TASKS_PER_NODE", "0")], &["no task"]),
        (&[("PBS_JOBID", "7"), ("PBS_NODEFILE", "/gone")], &["PBS", "/gone", "no such file"]),
        (&[("PBS_JOBID", "7"), ("PBS_NODEFILE", "/f"), ("/f", "\n\n")], &["/f", "no host"]),
        (&[("PBS_JOBID", "7"), ("PBS_NODEFILE", "/f"), ("/f", "a\nb 2\n")], &["/f", "line 2", "b 2"]),
        (&[("JOB_ID", "7"), ("PE_HOSTFILE", "/f"), ("/f", "a many q p")], &["/f", "line 1", "a many"]),
        (&[("LSB_JOBID", "7"), ("LSB_MCPU_HOSTS", "a 2 b")], &["LSB_MCPU_HOSTS", "`b`"]),
    ] {
        let sentence = hosts(given).unwrap_err();
        assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
    }
}
