//! Wrong options, parameters and components: one sentence, exit status 125 of mpirun and 2 of a
//! program that starts alone, the nearest name.

use super::super::{Session, Verdict, deadline, programs};
use crate::failure::{At, Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// What is typed and what the one sentence must say.
struct Words {
    /// `NAME=VALUE` before the program; the launcher's arguments; without any the program starts alone.
    environment: &'static [&'static str],
    mpirun: Option<&'static [&'static str]>,
    says: &'static [&'static str],
}

/// `bad_input/words`.
pub fn check(session: &mut Session) -> Verdict {
    match findings(session) {
        Ok(findings) if findings.is_empty() => Verdict::Passed(format!("{} command lines", ALL.len())),
        Ok(findings) => Verdict::Failed(findings.join("\n")),
        Err(failure) => failure.into(),
    }
}

fn findings(session: &mut Session) -> Result<Vec<String>> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("bad_input");
    std::fs::create_dir_all(&folder).at(format!("create {}", folder.display()))?;
    let (source, program) = (folder.join("starts.c"), folder.join("starts"));
    shell::write(&source, "#include <mpi.h>\nint main(void)\n{\n    MPI_Init(0, 0);\n    return MPI_Finalize();\n}\n")?;
    let mut compiler = Command::new(dist.join("bin/mpicc"));
    compiler.arg(&source).arg("-o").arg(&program);
    programs::own_choice(&mut compiler);
    shell::output(&mut compiler)?;
    let mut findings = Vec::new();
    for words in ALL {
        let mut command = match words.mpirun {
            Some(arguments) => {
                let mut mpirun = Command::new(dist.join("bin/mpirun"));
                mpirun.args(arguments).arg(&program);
                mpirun
            }
            None => Command::new(&program),
        };
        programs::own_choice(&mut command);
        command.envs(words.environment.iter().filter_map(|word| word.split_once('=')));
        let ended = deadline::run(&mut command, Duration::from_secs(30), &folder.join("words.log"))?;
        let lines = ended.err.trim().lines().count();
        let silent = words.says.iter().find(|part| !ended.err.contains(**part));
        let status = if words.mpirun.is_some() { 125 } else { 2 };
        if !ended.ended_with(status) || lines != 1 || silent.is_some() {
            let typed = (words.environment, words.mpirun);
            findings.push(format!(
                "{typed:?}: expected were status {status} and one line on standard error; missing in it: {silent:?}\n{}",
                ended.story()
            ));
        }
    }
    Ok(findings)
}

const ALL: &[Words] = &[
    Words { environment: &[], mpirun: Some(&["--npp", "2"]), says: &["no option --npp", "did you mean --np?"] },
    Words { environment: &[], mpirun: Some(&["-n", "none"]), says: &["-n none", "1 to 1048576"] },
    Words { environment: &[], mpirun: Some(&["--mca", "bttl", "sm"]), says: &["--mca bttl", "did you mean btl?"] },
    Words { environment: &[], mpirun: Some(&["--mca", "btl", "smm"]), says: &["no component smm", "did you mean sm?"] },
    Words { environment: &[], mpirun: Some(&["--mca", "pml", "ob2"]), says: &["--mca pml ob2", "did you mean ob1?"] },
    Words { environment: &[], mpirun: Some(&["--mca", "op", "list"]), says: &["framework op", "no component list"] },
    Words { environment: &[], mpirun: Some(&["--mca", "coll", "basik,self"]), says: &["did you mean basic?"] },
    Words {
        environment: &[],
        mpirun: Some(&["--mca", "btl_sm_eger_limit", "1"]),
        says: &["did you mean btl_sm_eager_limit?"],
    },
    Words { environment: &[], mpirun: Some(&["--mca", "btl_sm_eager_limit", "much"]), says: &["much", "number"] },
    Words { environment: &[], mpirun: Some(&["--mca", "mpi_show_components", "x"]), says: &["true or false"] },
    Words { environment: &["OMPI_MCA_btl=smm"], mpirun: Some(&["-n", "2"]), says: &["OMPI_MCA_btl=smm", "sm?"] },
    Words { environment: &["OMPI_MCA_btl=smm"], mpirun: None, says: &["no component smm (from environment)", "sm?"] },
    Words { environment: &["OMPI_MCA_op=scalr"], mpirun: None, says: &["framework op", "did you mean scalar?"] },
    Words { environment: &["OMPI_MCA_coll=basik"], mpirun: None, says: &["did you mean basic?"] },
    Words { environment: &["OMPI_MCA_=1", "OMPI_MCA_pml=x"], mpirun: None, says: &["framework pml", "ob1"] },
    Words {
        environment: &["OMPI_MCA_mpi_show_components=perhaps"],
        mpirun: None,
        says: &["mpi_show_components", "environment", "`perhaps`", "true or false"],
    },
];
