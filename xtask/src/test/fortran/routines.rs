//! Every routine by every interface, and what a wrong call is told.

use super::wrapper::{ABSENT, compiled, wrapper};
use crate::api::data::Data;
use crate::api::fortran::every::{self, Interface};
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::programs::own_choice;
use crate::test::{Session, Verdict, deadline};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// `fortran/every-routine …`, `fortran/wrong-call …`.
pub fn cases(session: &mut Session) {
    for (interface, name, head) in INTERFACES {
        session.case(&format!("fortran/every-routine {name}"), |session| {
            every_routine(session, interface, name).unwrap_or_else(Verdict::from)
        });
        for flags in [&[][..], &["-static-mpi"]] {
            let words = [&[*name], flags].concat().join(" ");
            session.case(&format!("fortran/wrong-call {words}"), |session| {
                wrong_call(session, interface, name, head, flags).unwrap_or_else(Verdict::from)
            });
        }
    }
}

/// All routines link and return, before MPI_Init.
fn every_routine(session: &mut Session, interface: &Interface, name: &str) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped(ABSENT.to_owned()));
    }
    let root = session.tree.root.clone();
    let data = Data::read(&root.join("ompi-core/api"))?;
    let (text, count) = every::program(&root, &data, *interface)?;
    let source = written(session, &format!("every_{}.f90", file_name(name)), &text)?;
    // The older interfaces take the same buffers of any type.
    let flags = ["-ffree-line-length-none", "-fallow-argument-mismatch", "-w"];
    let program = compiled(session, &source, &flags)?;
    let mut command = mpirun(session)?;
    command.args(["-n", "1", "--mca", "mpi_initial_errhandler", "mpi_errors_return"]).arg(program);
    let ended = deadline::run(&mut command, LIMIT, &source.with_extension("log"))?;
    let says = format!("{count} routines");
    Ok(match ended.out.lines().any(|line| line == says) && ended.ended_with(0) {
        true => Verdict::Passed(says),
        false => Verdict::Failed(format!("`{says}` and status 0 are expected\n{}", ended.story())),
    })
}

/// The message names Fortran's routine, whole arrays and sections alike, and C's function where C has called.
fn wrong_call(session: &mut Session, interface: &Interface, name: &str, head: &str, flags: &[&str]) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped(ABSENT.to_owned()));
    }
    let is_modern = *interface == Interface::Modern;
    let of = if is_modern { " of mpi_f08" } else { "" };
    let send =
        format!("Fortran's MPI_Send(buf, count, datatype, dest, tag, comm, ierror){of} on MPI_COMM_WORLD failed");
    let mut calls = vec![
        ("whole", "call MPI_Send(b, 4, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, ierror)", send.clone()),
        (
            "no-buffer",
            "call MPI_Comm_rank(MPI_COMM_NULL, b(1), ierror)",
            "Fortran's MPI_Comm_rank(comm, rank, ierror)".to_owned(),
        ),
        (
            "text",
            "call MPI_Info_get_valuelen(MPI_INFO_NULL, 'key', b(1), flag, ierror)",
            "Fortran's MPI_Info_get_valuelen(info, key, valuelen, flag, ierror)".to_owned(),
        ),
    ];
    if is_modern {
        calls.push((
            "section",
            "call MPI_Send(b(1:31:2), 4, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, ierror)",
            send.clone(),
        ));
        // What the procedures find themselves.
        let short = "argument buf: the array section is shorter than what counts and datatypes reach";
        let class = "MPI_ERR_COUNT: invalid count argument";
        calls.push((
            "short",
            "call MPI_Send(b(1:31:2), 17, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)",
            format!("{send}: {class} {short}"),
        ));
        calls.push((
            "short-copy",
            "call MPI_Allreduce(MPI_IN_PLACE, b(1:31:2), 17, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)",
            format!(
                "Fortran's MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror){of} on MPI_COMM_WORLD failed: {class} {}",
                short.replace("buf", "recvbuf")
            ),
        ));
        calls.push((
            "large",
            "call MPI_Send(b, 4_MPI_COUNT_KIND, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, ierror)",
            send.clone(),
        ));
    }
    for (what, call, says) in calls {
        let text = format!(
            "program wrong\n{head}\n  integer :: b(32) = 0, ierror\n  logical :: flag\n  call MPI_Init(ierror)\n  {call}\n  stop 0\nend program\n"
        );
        let source = written(session, &format!("wrong_{}_{what}.f90", file_name(name)), &text)?;
        let program = compiled(session, &source, flags)?;
        let mut command = mpirun(session)?;
        command.args(["-n", "1"]).arg(program);
        let ended = deadline::run(&mut command, LIMIT, &source.with_extension("log"))?;
        if ended.ended_with(0) || !crate::test::jobs::says(&ended, &says) {
            return Ok(Verdict::Failed(format!("{what}: `{says}` is expected\n{}", ended.story())));
        }
    }
    Ok(Verdict::Passed(String::new()))
}

fn written(session: &mut Session, name: &str, text: &str) -> Result<PathBuf> {
    let folder = session.scratch().join("fortran/made");
    shell::folder(&folder)?;
    let file = folder.join(name);
    shell::write(&file, text)?;
    Ok(file)
}

fn mpirun(session: &mut Session) -> Result<Command> {
    // The wrapper is looked for first: without it the reason is a better one.
    wrapper(session)?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    own_choice(&mut command);
    Ok(command)
}

fn file_name(name: &str) -> String {
    name.replace('.', "_")
}

const INTERFACES: &[(Interface, &str, &str)] = &[
    (Interface::Header, "mpif.h", "  implicit none\n  include 'mpif.h'"),
    (Interface::Older, "mpi", "  use mpi\n  implicit none"),
    (Interface::Modern, "mpi_f08", "  use mpi_f08\n  implicit none"),
];

const LIMIT: Duration = Duration::from_secs(60);
