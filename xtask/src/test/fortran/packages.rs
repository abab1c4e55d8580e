//! Programs that people use, in Fortran: built from the source of Debian's packages by our mpifort, and checked by what they check
//! themselves. Only in the full tier; docs/programs.md lists them.

use super::wrapper::ABSENT;
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::debian::DebianSource;
use crate::test::programs::own_choice;
use crate::test::{Session, Verdict, deadline};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A package and what is done with it.
struct Package {
    source: DebianSource,
    /// Programs and libraries that the build wants, and the packages that bring them.
    wants: &'static [(&'static str, &'static str)],
    /// A script of sh, run in the unpacked folder with our wrappers first in PATH. What it has made before may stay.
    build: &'static str,
    /// A script likewise, which gets the number of ranks and runs the program.
    run: &'static str,
    ranks: &'static [u32],
    /// What is wrong with the output of that script, if anything is; otherwise what it did.
    check: fn(&str) -> std::result::Result<String, String>,
}

/// `fortran/NAME@RANKS`.
pub fn cases(session: &mut Session) {
    if !session.options.all {
        return;
    }
    for package in PACKAGES {
        for ranks in package.ranks {
            let name = format!("fortran/{}@{ranks}", package.source.package);
            session.case(&name, |session| package.verdict(session, *ranks).unwrap_or_else(|verdict| verdict));
        }
    }
}

impl Package {
    fn verdict(&self, session: &mut Session, ranks: u32) -> std::result::Result<Verdict, Verdict> {
        if shell::which("gfortran").is_none() {
            return Err(Verdict::Skipped(ABSENT.to_owned()));
        }
        for (thing, package) in self.wants {
            if !is_there(thing)? {
                return Err(Verdict::Skipped(format!("{thing} is not there: apt-get install {package}")));
            }
        }
        let folder = self.source.unpacked(&session.tree.target)?;
        let log = session.scratch().join("fortran/packages").join(self.source.package);
        let built = deadline::run(&mut script(session, self.build, &folder, ranks)?, BUILD_LIMIT, &log.join("build"))?;
        if !built.ended_with(0) {
            return Err(Verdict::Failed(format!("it does not build\n{}", built.story())));
        }
        let run = script(session, self.run, &folder, ranks)?;
        let ended = deadline::run(&mut { run }, RUN_LIMIT, &log.join(format!("run@{ranks}")))?;
        if !ended.ended_with(0) {
            return Err(Verdict::Failed(ended.story()));
        }
        match (self.check)(&ended.out) {
            Ok(what) => Ok(Verdict::Passed(what)),
            Err(why) => Err(Verdict::Failed(format!("{why}\n{}", ended.story()))),
        }
    }
}

fn script(session: &mut Session, text: &str, folder: &Path, ranks: u32) -> Result<Command> {
    let bin = session.library().map_err(fail)?.dist.join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-e", "-c", text]).current_dir(folder);
    command.env("PATH", format!("{}:{path}", bin.display())).env("RANKS", ranks.to_string()).env("BIN", bin);
    own_choice(&mut command);
    Ok(command)
}

/// A program in PATH, or a library that the compiler finds.
fn is_there(thing: &str) -> Result<bool> {
    if !thing.ends_with(".so") {
        return Ok(shell::which(thing).is_some());
    }
    let place = shell::output(Command::new("gcc").arg(format!("-print-file-name={thing}")))?;
    Ok(PathBuf::from(place.trim()).is_absolute())
}

/// Its systems of equations have known solutions: 1 to 5, and ones in a cube of 12³ places.
fn mumps(out: &str) -> std::result::Result<String, String> {
    let solutions: Vec<Vec<f64>> = out
        .split("Solution is")
        .skip(1)
        .map(|text| text.split_whitespace().map_while(|word| word.parse().ok()).collect())
        .collect();
    let [small, cube] = solutions.as_slice() else {
        return Err(format!("it printed {} solutions instead of 2", solutions.len()));
    };
    let far = |all: &[f64], wanted: &dyn Fn(usize) -> f64| {
        all.iter().enumerate().find(|(at, value)| (*value - wanted(*at)).abs() > 1e-9).map(|(at, value)| (at, *value))
    };
    if small.len() != 5 || cube.len() != 12 * 12 * 12 {
        return Err(format!("the solutions have {} and {} numbers", small.len(), cube.len()));
    }
    match far(small, &|at| at as f64 + 1.0).or_else(|| far(cube, &|_| 1.0)) {
        Some((at, value)) => Err(format!("number {at} of a solution is {value}")),
        None => Ok("2 systems solved".to_owned()),
    }
}

fn pnetcdf(out: &str) -> std::result::Result<String, String> {
    let tests: Vec<&str> = out.lines().filter(|line| line.starts_with("*** TESTING")).collect();
    let wrong: Vec<&&str> =
        tests.iter().filter(|line| !line.trim_end().ends_with("pass") && !line.trim_end().ends_with("skip")).collect();
    match (tests.len(), wrong.is_empty()) {
        (0..70, true) => Err(format!("only {} tests ran", tests.len())),
        (count, true) => Ok(format!("{count} tests")),
        _ => Err(format!("{wrong:?}")),
    }
}

/// The total energies of its own reference, in Rydberg.
fn espresso(out: &str) -> std::result::Result<String, String> {
    let mut compared = 0;
    for line in out.lines().filter_map(|line| line.strip_prefix("energy ")) {
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match numbers.as_slice() {
            [ours, reference] if (ours - reference).abs() < 1e-5 => compared += 1,
            _ => return Err(format!("total energy and its reference: {line}")),
        }
    }
    match compared {
        3.. => Ok(format!("{compared} energies as in its reference")),
        _ => Err(format!("only {compared} energies were computed")),
    }
}

/// Its vectors' own tests, and a reaction whose printed solution is that of its reference.
fn sundials(out: &str) -> std::result::Result<String, String> {
    let passed = out.lines().filter(|line| line.contains("SUCCESS - all unit tests passed")).count();
    match (passed, out.contains("the solution is that of the reference")) {
        (3, true) => Ok("3 programs of tests, 1 solution as in its reference".to_owned()),
        (passed, solved) => Err(format!("{passed} of 3 programs of tests passed; as in its reference: {solved}")),
    }
}

const BUILD_LIMIT: Duration = Duration::from_secs(3600);
const RUN_LIMIT: Duration = Duration::from_secs(900);

const PACKAGES: &[Package] = &[
    Package {
        source: DebianSource {
            package: "mumps",
            archive: "mumps_5.5.1.orig.tar.gz",
            sha256: "1abff294fa47ee4cfd50dfd5c595942b72ebfcedce08142a75a99ab35014fa15",
            folder: "MUMPS_5.5.1",
        },
        wants: &[("make", "make"), ("libopenblas.so", "libopenblas-dev")],
        build: include_str!("packages/mumps_build.sh"),
        run: include_str!("packages/mumps_run.sh"),
        ranks: &[1, 2, 4],
        check: mumps,
    },
    Package {
        source: DebianSource {
            package: "pnetcdf",
            archive: "pnetcdf_1.12.3.orig.tar.xz",
            sha256: "8f54023ffbbd3c8137e5422b44e32324113d5690f1da0cb7ecd5842c2de850a9",
            folder: "pnetcdf-1.12.3",
        },
        wants: &[("make", "make"), ("autoreconf", "autoconf"), ("aclocal", "automake"), ("libtoolize", "libtool")],
        build: include_str!("packages/pnetcdf_build.sh"),
        run: "cd built && make ptest TESTMPIRUN='mpirun -n NP'",
        // Its own choice.
        ranks: &[4],
        check: pnetcdf,
    },
    Package {
        source: DebianSource {
            package: "espresso",
            archive: "espresso_6.7.orig.tar.gz",
            sha256: "8f06ea31ae52ad54e900a2f51afd5c70f78096d9dcf39c86c2b17dccb1ec9c87",
            folder: "qe-6.7",
        },
        wants: &[("make", "make"), ("libopenblas.so", "libopenblas-dev")],
        build: include_str!("packages/espresso_build.sh"),
        run: include_str!("packages/espresso_run.sh"),
        ranks: &[1, 2, 4],
        check: espresso,
    },
    Package {
        source: DebianSource {
            package: "sundials",
            archive: "sundials_6.4.1+dfsg1.orig.tar.xz",
            sha256: "c61157f1d4be06c704bea40cb131eb63ba2dada161989071604d0a0959cdf04a",
            folder: "sundials-6.4.1",
        },
        wants: &[("make", "make"), ("cmake", "cmake")],
        build: include_str!("packages/sundials_build.sh"),
        run: include_str!("packages/sundials_run.sh"),
        // Its reference is that of four.
        ranks: &[4],
        check: sundials,
    },
];
