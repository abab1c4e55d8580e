//! Many further jobs, from ranks, threads, sessions and processes that nobody launched; names between jobs; process sets.

use super::case::{JobCase, LIMIT, run};
use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::{Session, Verdict, deadline};
use std::process::Command;

/// The rest of `dynamic/…`.
pub fn cases(session: &mut Session) {
    for case in CASES {
        let verdict = |session: &mut Session| run(session, SOURCE, case).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{}", case.name), verdict);
    }
    for (name, script) in SCRIPTS {
        let verdict = |session: &mut Session| scripted(session, SOURCE, name, script).unwrap_or_else(Verdict::from);
        session.case(&format!("dynamic/{name}"), verdict);
    }
    if session.options.all {
        for case in WHOLE {
            let verdict = |session: &mut Session| run(session, SOURCE, case).unwrap_or_else(Verdict::from);
            session.case(&format!("dynamic/{}", case.name), verdict);
        }
    }
}

const SOURCE: &str = "tests/dynamic/robust.c";

const CASES: &[JobCase] = &[
    well("soak", &["-n", "1"], &["soak", "60"]),
    well("at-once", &["-n", "8"], &["at-once"]),
    well("threads", &["-n", "1"], &["threads"]),
    well("child-dies-during-init", &["-n", "2"], &["half-dies"]),
    well("session", &["-n", "1"], &["session"]),
    well("alone", &[], &["alone"]),
    well("alone-by-session", &[], &["session"]),
    JobCase {
        name: "alone-child-fails",
        options: &[],
        arguments: &["child-fails"],
        // SIGTERM, of the companion.
        status: None,
        says: &["job 2, which process", "spawned, ended with status 3"],
    },
];

/// What takes minutes.
const WHOLE: &[JobCase] =
    &[well("soak-whole", &["-n", "1"], &["soak", "1000"]), well("at-once-whole", &["-n", "50"], &["at-once"])];

const fn well(name: &'static str, options: &'static [&'static str], arguments: &'static [&'static str]) -> JobCase {
    JobCase { name, options, arguments, status: Some(0), says: &["all is well"] }
}

/// Each has mpirun as `$0`, the program as `$1` and a folder as `$2`, and says in the end that all is well.
const SCRIPTS: &[(&str, &str)] = &[
    ("process-sets", r#""$0" -n 2 --pset left:0,2 "$1" sets : -n 1 --pset late "$1" sets"#),
    // Whoever starts first serves the names of both; each order is tried, and processes that nobody launched.
    (
        "names-of-other-jobs",
        r#"
        set -e
        name="robust $$"
        "$0" -n 2 "$1" serve "$name" & "$0" -n 1 "$1" ask "$name"; wait $!
        "$0" -n 1 "$1" ask "$name b" & "$1" serve "$name b"; wait $!
        "$1" serve "$name c" & "$1" ask "$name c"; wait $!
        "#,
    ),
    // Jobs that know the same server know each other's names and no others, of whatever user they are.
    (
        "name-server",
        r#"
        set -e
        file="$2/server" name="robust $$"
        rm -f "$file"
        "$0" --name-server "$file" & server=$!
        until test -e "$file"; do sleep 0.05; done
        test "$(stat -c %a "$file")" = 600
        "$0" -n 2 --ompi-server "file:$file" "$1" serve "$name" & job=$!
        "$0" -n 1 --ompi-server "$(cat "$file")" "$1" ask "$name"; wait $job
        OMPI_MCA_oob_name_server="file:$file" "$1" serve "$name b" & job=$!
        "$0" -n 1 --ompi-server "file:$file" "$1" ask "$name b"; wait $job
        "$0" -n 1 "$1" serve "$name c" & job=$!
        "$0" -n 1 --ompi-server "file:$file" "$1" ask-once "$name c" && exit 1
        "$0" -n 1 "$1" ask "$name c"; wait $job
        if test "$(id -u)" = 0; then
            cp "$1" "$2/program"; chmod a+rx "$2/program"; chmod a+r "$file"
            other="setpriv --reuid=65534 --regid=65534 --clear-groups"
            if $other env HOME=/ "$0" -n 1 "$2/program" null 2> /dev/null; then
                "$0" -n 2 --ompi-server "file:$file" "$1" serve "$name d" & job=$!
                $other env HOME=/ "$0" -n 1 --ompi-server "file:$file" "$2/program" ask "$name d"; wait $job
            fi
        fi
        "$0" --name-server "$file" && exit 1
        "$0" -n 1 --name-server "$file" "$1" null && exit 1
        kill -STOP $server
        "$0" -n 1 --ompi-server "file:$file" "$1" ask-once "$name e" > "$2/stopped" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/stopped" | grep 'the name server has said nothing for 5 s'
        text=$(cat "$file")
        kill -CONT $server; kill $server; wait $server
        test ! -e "$file"
        "$0" -n 1 --ompi-server "file:$file" "$1" ask-once "$name f" > "$2/gone" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/gone" | grep "file:$file: No such file"
        "$0" -n 1 --ompi-server "$text" "$1" ask-once "$name g" > "$2/gone" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/gone" | grep 'the name server .*nobody listens there any more'
        "$0" --name-server /dev/null && exit 1
        "$0" --name-server "$2/none/server" && exit 1
        echo all is well
        "#,
    ),
    // Several call at once, and are taken one after the other; there is nobody for one more.
    (
        "clients-at-one-port",
        r#"
        rm -f "$2/port"
        "$0" -n 1 "$1" door "$2/port" 4 > "$2/server" & server=$!
        until test -e "$2/port"; do sleep 0.05; done
        clients=
        for each in 1 2 3; do "$0" -n 1 "$1" knock "$2/port" > "$2/client.$each" & clients="$clients $!"; done
        "$1" knock "$2/port" > "$2/client.4" && wait $server || exit 1
        for each in $clients; do wait $each || exit 1; done
        grep -l 'all is well' "$2/server" "$2"/client.? | wc -l | grep -qx 5 || exit 1
        "$0" -n 1 "$1" knock "$2/port" > "$2/late" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/late" | grep 'MPI_ERR_PORT.*nobody listens there any more' && echo all is well
        "#,
    ),
    (
        "mpirun-is-stopped",
        r#"
        rm -f "$2/port"
        "$0" -n 1 "$1" door "$2/port" 1 > "$2/server" & server=$!
        until test -e "$2/port"; do sleep 0.05; done
        "$0" -n 1 --mca mpi_connect_timeout_s 1 "$1" knock "$2/port" stops > "$2/client" 2> "$2/said" && wait $server || exit 1
        tr -s ' \n' ' ' < "$2/said" | grep 'mpirun did not answer within 1 s' && grep 'all is well' "$2/client"
        "#,
    ),
    // Neither program nor companion can be killed so that anything is left.
    (
        "alone-killed",
        r#"
        # A companion is in a session of its own; this word tells ours from others.
        export OMPI_TEST_ALONE=$$
        companion() {
            for one in $(pgrep -f '^mpirun --ompi-rs-companion$'); do
                tr '\0' '\n' < /proc/$one/environ | grep -qx "OMPI_TEST_ALONE=$$" && echo $one
            done
        }
        for victim in program companion; do
            "$1" child-stays > "$2/out" 2>&1 & program=$!
            until grep -q 'the child stays' "$2/out"; do sleep 0.1; done
            if [ $victim = program ]; then kill -9 $program; else kill -9 $(companion); fi
            until ! pgrep -f "^$1 child stays" > /dev/null; do sleep 0.1; done
            kill -9 $program 2> /dev/null
        done
        echo all is well
        "#,
    ),
    (
        "alone-without-mpirun",
        r#"
        export OMPI_MCA_ess_singleton_launcher
        OMPI_MCA_ess_singleton_launcher=/bin/true; "$1" alone > "$2/out" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/out" | grep 'is it the mpirun of this library?' || exit 1
        OMPI_MCA_ess_singleton_launcher=/nowhere/mpirun; "$1" alone > "$2/out" 2>&1 && exit 1
        tr -s ' \n' ' ' < "$2/out" | grep '/nowhere/mpirun) cannot be started' && echo all is well
        "#,
    ),
    // The secrets of ports stand in memory only.
    (
        "secrets",
        r#"
        "$0" -n 1 sh -c 'tr "\0" "\n" < /proc/$$/environ' > "$2/out"
        grep -q OMPI_RS_SEGMENT "$2/out" && ! grep -q 'ompi-rs:[0-9a-f]*:[0-9a-f]*:' "$2/out" && echo all is well
        "#,
    ),
];

/// Runs a script on a test program.
pub fn scripted(session: &mut Session, source: &str, name: &str, script: &str) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join(source), &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("dynamic").join(name);
    crate::shell::folder(&folder)?;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(dist.join("bin/mpirun")).arg(program).arg(&folder);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &folder.join("log"))?;
    Ok(match ended.ended_with(0) && ended.out.contains("all is well") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(ended.story()),
    })
}
