//! Fortran's coarrays: OpenCoarrays' library, which communicates by windows, compiled by our mpicc, and programs of its unit tests by our
//! mpifort; they check themselves. A sample, and all with `--all`.

use crate::failure::{Result, fail};
use crate::shell;
use crate::test::debian::DebianSource;
use crate::test::programs::{own_choice, stem};
use crate::test::{Session, Verdict, deadline};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `one_sided/coarrays/…`.
pub fn tier(session: &mut Session) {
    for (program, images) in PROGRAMS {
        let name = stem(Path::new(program));
        if !session.options.all && !SAMPLE.contains(&name.as_str()) {
            continue;
        }
        // Over shared memory, and by messages.
        for components in [None, Some("am")] {
            if components == Some("am") && READS_TOO_SOON.contains(&name.as_str()) {
                continue;
            }
            let how = components.map_or(String::new(), |components| format!(" {components}"));
            session.case(&format!("one_sided/coarrays/{name}@{images}{how}"), |session| {
                run(session, program, *images, components).unwrap_or_else(Verdict::from)
            });
        }
    }
}

fn run(session: &mut Session, program: &str, images: u32, components: Option<&str>) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped("gfortran is not installed: apt-get install gfortran".to_owned()));
    }
    let source = match SOURCE.unpacked(&session.tree.target) {
        Ok(source) => source,
        Err(verdict) => return Ok(verdict),
    };
    let bin = session.library().map_err(fail)?.dist.join("bin");
    let scratch = session.scratch().join("one_sided/coarrays");
    shell::folder(&scratch)?;
    let objects = library(&source, &bin, &scratch)?;
    let compiled = scratch.join(stem(Path::new(program)));
    let mut compiler = Command::new(bin.join("mpifort"));
    own_choice(&mut compiler);
    compiler.args(["-fcoarray=lib", "-O1", "-w"]).arg(source.join("src/tests/unit").join(program));
    shell::run(compiler.args(objects).arg("-o").arg(&compiled).current_dir(&scratch), false)?;
    let mut job = Command::new(bin.join("mpirun"));
    own_choice(&mut job);
    job.args(["-n", &images.to_string()]);
    if let Some(components) = components {
        job.args(["--mca", "osc", components]);
    }
    let log = format!("{}-{}.log", stem(Path::new(program)), components.unwrap_or("all"));
    let ended = deadline::run(job.arg(compiled).current_dir(&scratch), LIMIT, &scratch.join(log))?;
    Ok(match ended.ended_with(0) && ended.out.contains("Test passed") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(ended.story()),
    })
}

/// What every program is linked with.
fn library(source: &Path, bin: &Path, scratch: &Path) -> Result<Vec<PathBuf>> {
    let mut objects = Vec::new();
    for file in ["mpi/mpi_caf.c", "common/caf_auxiliary.c"] {
        let object = scratch.join(format!("{}.o", stem(Path::new(file))));
        let mut compiler = Command::new(bin.join("mpicc"));
        own_choice(&mut compiler);
        compiler.args(["-O1", "-w", "-c", "-DPREFIX_NAME=_gfortran_caf_", "-DGCC_GE_7", "-DGCC_GE_8"]).arg("-I");
        compiler
            .arg(source.join("src/application-binary-interface"))
            .arg(source.join("src/runtime-libraries").join(file));
        shell::run(compiler.arg("-o").arg(&object), false)?;
        objects.push(object);
    }
    Ok(objects)
}

const LIMIT: Duration = Duration::from_secs(120);

const SOURCE: DebianSource = DebianSource {
    release: Some("trixie"),
    package: "open-coarrays",
    archive: "open-coarrays_2.10.2+ds.orig.tar.xz",
    sha256: "840cd63695f50e9f8963126cec317b420b3a0251db010778682d1979fb863887",
    folder: "open-coarrays-2.10.2+ds",
};

const SAMPLE: &[&str] = &["get_array_test", "send_convert_nums", "testAtomics"];

/// `_gfortran_caf_sendget` converts what MPI_Get is to read before it unlocks the window, where MPI 5.0 section 12.3 lets a get come as late
/// as that. By messages it does.
const READS_TOO_SOON: &[&str] = &["sendget_convert_char_array", "sendget_convert_nums"];

/// Of its unit tests, with as many images as it asks for. Without send-strided-self, which fails with Debian's Open MPI, too.
const PROGRAMS: &[(&str, u32)] = &[
    ("events/allocatable_p2p_event_post.f90", 4),
    ("events/static_event_post_issue_293.f90", 3),
    ("init_register/allocate_as_barrier.f90", 2),
    ("init_register/allocate_as_barrier_proc.f90", 8),
    ("init_register/async_comp_alloc.f90", 6),
    ("init_register/async_comp_alloc_2.f90", 2),
    ("init_register/comp_allocated_1.f90", 2),
    ("init_register/comp_allocated_2.f90", 2),
    ("init_register/register.f90", 2),
    ("init_register/register_alloc_comp_1.f90", 2),
    ("init_register/register_alloc_comp_2.f90", 2),
    ("init_register/register_alloc_comp_3.f90", 2),
    ("init_register/register_alloc_vector.f90", 2),
    ("init_register/register_vector.f90", 2),
    ("send-get/alloc_comp_get_convert_nums.f90", 2),
    ("send-get/alloc_comp_send_convert_nums.f90", 2),
    ("send-get/get_array_test.f90", 2),
    ("send-get/get_convert_char_array.f90", 2),
    ("send-get/get_convert_nums.f90", 2),
    ("send-get/get_static_array.f90", 2),
    ("send-get/get_with_offset_1d.f90", 2),
    ("send-get/get_with_vector_index.f90", 4),
    ("send-get/send_array_test.f90", 2),
    ("send-get/send_convert_char_array.f90", 2),
    ("send-get/send_convert_nums.f90", 2),
    ("send-get/send_with_vector_index.f90", 2),
    ("send-get/sendget_convert_char_array.f90", 3),
    ("send-get/sendget_convert_nums.f90", 3),
    ("send-get/strided_get.f90", 2),
    ("send-get/strided_sendget.f90", 3),
    ("send-get/whole_get_array.f90", 2),
    ("simple/random_init.f90", 4),
    ("simple/testAtomics.f90", 8),
    ("sync/duplicate_syncimages.f90", 8),
    ("sync/syncall.f90", 8),
    ("sync/syncimages.f90", 8),
    ("sync/syncimages2.f90", 8),
    ("sync/syncimages_status.f90", 8),
];
