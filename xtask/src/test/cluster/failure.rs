//! What is killed, stopped or cut off while a job runs on test hosts, at points that a seed chooses: the job ends soon, mpirun says
//! what died where, and nothing is left on any host.

use super::super::deadline;
use super::hosts::said;
use super::rig::{Rig, contains, expect, run};
use super::waiting::{WaitingCase, Workplace};
use crate::cluster::hosts::{Cluster, Life, Manager};
use crate::failure::{Result, fail};
use crate::shell;
use std::time::{Duration, Instant};

/// What is done to a job.
struct Blow {
    name: &'static str,
    /// Where, and a script that does it; it says nothing on standard output if what it is for is not there yet.
    host: &'static str,
    script: &'static str,
    /// One of these is in what mpirun says; none: it is dead itself.
    words: &'static [&'static str],
    /// mpirun speaks with h1 alone, that with h2, and that with h3: what is struck stands between.
    is_between: bool,
    /// Only the heartbeat tells.
    is_silent: bool,
    /// The hosts are not what they were.
    breaks_hosts: bool,
}

const fn kill(name: &'static str, host: &'static str, script: &'static str, words: &'static [&'static str]) -> Blow {
    Blow { name, host, script, words, is_between: false, is_silent: false, breaks_hosts: false }
}

const BLOWS: [Blow; 11] = [
    kill("rank", "h2", r#"p=$(pgrep -n -f "^[^ ]*places sleep") && kill -KILL $p && echo done"#, &["on h2"]),
    kill("daemon", "h2", KILL_DAEMON, NO_DAEMON),
    kill("keeper", "h2", r#"p=$(pgrep -x mpirun-keeper) && kill -KILL $p && echo done"#, &["keeper", "h2"]),
    kill("mpirun", "head", r#"p=$(pgrep -o -f "bin/mpirun --host") && kill -KILL $p && echo done"#, &[]),
    kill("agent", "head", r#"p=$(pgrep -o -f "^ssh h2 ") && kill -KILL $p && echo done"#, &["h2"]),
    Blow {
        breaks_hosts: true,
        ..kill(
            "host",
            "head",
            r#"pgrep -f "^ssh h2 " >/dev/null && kill -KILL $(cat /run/cluster/h2.pid) && echo done"#,
            &["h2"],
        )
    },
    Blow { is_silent: true, breaks_hosts: true, ..kill("link", "head", CUT, &["h2"]) },
    Blow { is_silent: true, ..kill("stopped_daemon", "h2", STOP_DAEMON, &["its daemon is stopped", "h2"]) },
    Blow { is_between: true, ..kill("daemon_between", "h2", KILL_DAEMON, NO_DAEMON) },
    Blow { is_between: true, is_silent: true, breaks_hosts: true, ..kill("link_between", "head", CUT, &["h2"]) },
    Blow {
        is_between: true,
        is_silent: true,
        ..kill("stopped_between", "h2", STOP_DAEMON, &["its daemon is stopped", "h2"])
    },
];

const KILL_DAEMON: &str = r#"p=$(pgrep -o -x mpirun) && kill -KILL $p && echo done"#;
const STOP_DAEMON: &str = r#"p=$(pgrep -o -x mpirun) && kill -STOP $p && echo done"#;
const CUT: &str = r#"pgrep -f "^ssh h2 " >/dev/null && ip link set h2 down && echo done"#;
/// "its daemon ended", or "no daemon started there" if it had not said that it is ready.
const NO_DAEMON: &[&str] = &["host h2", "daemon"];

/// `cluster/failure…`; 30 points each in the full tier.
pub fn waiting(is_full: bool) -> Vec<WaitingCase> {
    let blows = BLOWS.iter().map(|blow| {
        // Silence takes as long as it takes.
        let sampled = if blow.is_silent { 1 } else { 3 };
        let points = if is_full { 30 } else { sampled };
        WaitingCase::with_hosts(format!("failure_{}", blow.name), move |place, name| all(place, name, blow, points))
    });
    let stopped = [
        WaitingCase::on_hosts("failure_stopped_mpirun", 2, stopped_mpirun),
        WaitingCase::on_hosts("failure_stopped_rank", 2, stopped_rank),
    ];
    stopped.into_iter().chain(blows).collect()
}

/// The blow at so many points.
fn all(place: &Workplace, name: &str, blow: &Blow, points: u64) -> Result<String> {
    let (rig, folder) = place.own(name)?;
    let (mut longest, mut cluster) = (Duration::ZERO, None);
    for seed in 1..=points {
        let hosts = match cluster.take() {
            Some(hosts) => hosts,
            None => Cluster::up(&place.tree, &folder, 3, Manager::None, Life::OfThisThread)?,
        };
        let result = at_point(&rig, &hosts, blow, seed);
        match (result.is_ok(), blow.breaks_hosts) {
            (true, false) => cluster = Some(hosts),
            _ => hosts.down()?,
        }
        longest = longest.max(result.map_err(|failure| fail(format!("seed {seed}: {}", failure.text)))?);
    }
    if let Some(hosts) = cluster {
        hosts.down()?;
    }
    Ok(format!("{points} points, the longest end took {:.2} s", longest.as_secs_f64()))
}

/// Strikes a job as soon as what is struck is there, and a while after that: how long its end takes.
fn at_point(rig: &Rig, cluster: &Cluster, blow: &Blow, seed: u64) -> Result<Duration> {
    let wait = Duration::from_micros(mixed(seed) % 250_000);
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    // Only silence needs these, and they make a case short: a host may be cut off before its daemon has called.
    command.args(["--host", "h1:2,h2:2,h3:1", "--mca", "oob_tcp_silence_timeout_s", SILENCE]);
    if blow.is_between {
        command.args(["--mca", "plm_tree_radix", "1"]);
    }
    if blow.is_silent {
        command.args(["--mca", "plm_start_timeout_s", "5"]);
    }
    command.arg(&rig.places).arg("sleep");
    let log = rig.log.with_extension("failure");
    let mut struck = None;
    let ended = deadline::run_while(&mut command, LIMIT, &log, |_, _| {
        let end = Instant::now() + LIMIT;
        while struck.is_none() && Instant::now() < end {
            let script = format!("sleep {:.6}; {}", wait.as_secs_f64(), blow.script);
            let tried = cluster.command(blow.host, &["sh", "-c", &script]);
            let outcome = tried.and_then(|mut tried| shell::outcome(&mut tried, LIMIT));
            if outcome.is_ok_and(|outcome| outcome.stdout.contains("done")) {
                struck = Some(Instant::now());
            }
        }
    })?;
    let took = struck.ok_or_else(|| fail(format!("nothing was there to strike:\n{}", ended.story())))?.elapsed();
    let silence = if blow.is_silent { Duration::from_secs(5) } else { Duration::ZERO };
    let limit = silence + Duration::from_secs_f64(2.0 * load());
    if ended.status.is_none() || ended.ended_with(0) || took > limit {
        return Err(fail(format!(
            "{:.2} s after it, with a limit of {:.2}:\n{}",
            took.as_secs_f64(),
            limit.as_secs_f64(),
            ended.story()
        )));
    }
    blow.words.iter().try_for_each(|words| contains(&ended.err, words))?;
    nothing_left(cluster, blow, limit)?;
    Ok(took)
}

/// On each host that is there.
fn nothing_left(cluster: &Cluster, blow: &Blow, limit: Duration) -> Result<()> {
    if blow.script == STOP_DAEMON {
        // Whoever stopped it lets it go on; then it sees that mpirun is gone.
        said(cluster, "h2", "pkill -CONT -x mpirun; true")?;
    }
    let is_there = |host: &&str| blow.name != "host" || *host != "h2";
    let hosts: Vec<&str> = ["head", "h1", "h2", "h3"].into_iter().filter(is_there).collect();
    all_gone(cluster, &hosts, limit)
}

/// No process of a job is left on these hosts, no memory and no file.
pub fn all_gone(cluster: &Cluster, hosts: &[&str], limit: Duration) -> Result<()> {
    let end = Instant::now() + limit;
    loop {
        let mut left = Vec::new();
        for host in hosts {
            let text = said(cluster, host, LEFT)?;
            if !text.is_empty() {
                left.push(format!("{host}: {text}"));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(fail(format!("left {:.2} s after the end: {}", limit.as_secs_f64(), left.join("; "))));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A rank that is stopped keeps the others waiting, and nothing else: the job goes on with it.
fn stopped_rank(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let mut command = cluster.command("head", &[rig.dist.join("bin/mpirun").display().to_string()])?;
    command.args(["--host", "h1:1,h2:1", "--mca", "oob_tcp_silence_timeout_s", SILENCE]);
    command.args(["--mca", "btl_tcp_silence_timeout_s", SILENCE]);
    command.arg(&rig.pairs).args(["1048576", "200"]);
    let mut stopped = false;
    let ended = deadline::run_while(&mut command, LIMIT, &rig.log.with_extension("stopped"), |_, _| {
        let script = "until p=$(pgrep -x two_pairs); do :; done; kill -STOP $p; sleep 5; kill -CONT $p && echo done";
        let outcome = cluster.command("h2", &["sh", "-c", script]).and_then(|mut it| shell::outcome(&mut it, LIMIT));
        stopped = outcome.is_ok_and(|outcome| outcome.stdout.contains("done"));
    })?;
    expect(&ended, 0)?;
    if stopped { Ok(()) } else { Err(fail("the rank was gone before it could go on")) }
}

/// mpirun is stopped for longer than a host may be silent, and then ranks write much: they wait, the job goes on with mpirun, and nothing
/// is lost. The hosts are such that mpirun speaks with, and one behind these.
fn stopped_mpirun(rig: &Rig, cluster: &Cluster) -> Result<()> {
    let folder = rig.log.with_file_name("stopped_mpirun");
    let (place, mpirun) = (folder.display(), rig.dist.join("bin/mpirun").display().to_string());
    for radix in [64, 1] {
        let _ = std::fs::remove_dir_all(&folder);
        shell::folder(&folder)?;
        let rank = format!(
            "touch {place}/rank.$OMPI_COMM_WORLD_RANK
             until test -e {place}/go; do sleep 0.01; done
             yes | head -c 20000000"
        );
        shell::write(&folder.join("rank"), &rank)?;
        let options =
            format!("--mca oob_tcp_silence_timeout_s {SILENCE} --mca plm_tree_radix {radix} --host h1:1,h2:1");
        let script = format!(
            "(sh -c 'echo $$ > {place}/pid; exec {mpirun} {options} sh {place}/rank'; echo status $? >&2) | grep -cx y &
             until test -e {place}/rank.0 && test -e {place}/rank.1; do sleep 0.01; done
             kill -STOP $(cat {place}/pid) && touch {place}/go && sleep 6 && kill -CONT $(cat {place}/pid) && echo went on >&2
             wait"
        );
        let ended = run(rig, &mut cluster.command("head", &["sh", "-c", &script])?)?;
        expect(&ended, 0)?;
        contains(&ended.err, "went on")?;
        contains(&ended.err, "status 0")?;
        contains(&ended.out, "20000000")?;
    }
    Ok(())
}

/// How many times longer than alone everything takes here now.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(1.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    (running / cores).max(1.0)
}

/// Splitmix64.
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What of a job is left on a host. The head sees the processes of all; in its /tmp stand folders that hosts were made with.
const LEFT: &str = "ps -eo comm= | grep -x -e places -e mpirun -e mpirun-keeper -e ssh; ls -A /dev/shm /tmp | grep -v -e : -e '^$' -e '^h[0-9]*$'; true";
const SILENCE: &str = "2";
const LIMIT: Duration = Duration::from_secs(60);
