//! The packages, how each is built, and what says whether it works.

use super::program::PackagedProgram;
use crate::test::debian::DebianSource;

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

fn coarrays(out: &str) -> std::result::Result<String, String> {
    match out.lines().find(|line| line.contains("% tests passed")) {
        Some("100% tests passed, 0 tests failed out of 84") => Ok("84 tests".to_owned()),
        other => Err(format!("not all of 84 tests passed: {other:?}")),
    }
}

/// Each script of tests leaves a file of what it found wrong: an empty one.
fn hypre(out: &str) -> std::result::Result<String, String> {
    let (good, bad): (Vec<&str>, Vec<&str>) = out
        .lines()
        .map(str::trim)
        .filter(|line| line.ends_with(".err") || line.contains(".err  ("))
        .partition(|line| line.starts_with("OK :"));
    match (good.len(), bad.is_empty()) {
        (_, false) => Err(format!("{bad:?}")),
        (0..44, _) => Err(format!("only {} scripts ran", good.len())),
        (scripts, _) => Ok(format!("{scripts} scripts")),
    }
}

fn scotch(out: &str) -> std::result::Result<String, String> {
    let programs = out.lines().filter(|line| line.starts_with("mpirun -n")).count();
    match (programs, out.contains("all of them passed")) {
        (15.., true) => Ok(format!("{programs} launches")),
        (programs, _) => Err(format!("only {programs} programs ran")),
    }
}

fn boost(out: &str) -> std::result::Result<String, String> {
    match out.lines().filter(|line| line.starts_with("passed: ")).count() {
        launches @ 70.. => Ok(format!("{launches} launches")),
        launches => Err(format!("only {launches} launches passed")),
    }
}

pub const PACKAGES: &[PackagedProgram] = &[
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "mumps",
            archive: "mumps_5.5.1.orig.tar.gz",
            sha256: "1abff294fa47ee4cfd50dfd5c595942b72ebfcedce08142a75a99ab35014fa15",
            folder: "MUMPS_5.5.1",
        },
        title: "MUMPS, sparse equations (Fortran 90, mpif.h)",
        what: "its example, and 1728 equations with a known solution",
        wants: &[("gfortran", "gfortran"), ("make", "make"), ("libopenblas.so", "libopenblas-dev")],
        build: include_str!("mumps_build.sh"),
        run: include_str!("mumps_run.sh"),
        ranks: &[1, 2, 4],
        check: mumps,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "pnetcdf",
            archive: "pnetcdf_1.12.3.orig.tar.xz",
            sha256: "8f54023ffbbd3c8137e5422b44e32324113d5690f1da0cb7ecd5842c2de850a9",
            folder: "pnetcdf-1.12.3",
        },
        title: "PnetCDF, files in parallel (C, Fortran 77 and 90)",
        what: "its 78 parallel tests; one skips itself",
        wants: &[
            ("gfortran", "gfortran"),
            ("make", "make"),
            ("autoreconf", "autoconf"),
            ("aclocal", "automake"),
            ("libtoolize", "libtool"),
        ],
        build: include_str!("pnetcdf_build.sh"),
        run: "cd built && make ptest TESTMPIRUN='mpirun -n NP'",
        // Its own choice.
        ranks: &[4],
        check: pnetcdf,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "espresso",
            archive: "espresso_6.7.orig.tar.gz",
            sha256: "8f06ea31ae52ad54e900a2f51afd5c70f78096d9dcf39c86c2b17dccb1ec9c87",
            folder: "qe-6.7",
        },
        title: "Quantum ESPRESSO, electrons by plane waves (`use mpi`)",
        what: "pw.x: total energies of silicon against its test suite's",
        wants: &[("gfortran", "gfortran"), ("make", "make"), ("libopenblas.so", "libopenblas-dev")],
        build: include_str!("espresso_build.sh"),
        run: include_str!("espresso_run.sh"),
        ranks: &[1, 2, 4],
        check: espresso,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "sundials",
            archive: "sundials_6.4.1+dfsg1.orig.tar.xz",
            sha256: "c61157f1d4be06c704bea40cb131eb63ba2dada161989071604d0a0959cdf04a",
            folder: "sundials-6.4.1",
        },
        title: "SUNDIALS, differential equations (Fortran 2003, CMake)",
        what: "tests of three kinds of vectors; a reaction against its printed reference",
        wants: &[("gfortran", "gfortran"), ("make", "make"), ("cmake", "cmake")],
        build: include_str!("sundials_build.sh"),
        run: include_str!("sundials_run.sh"),
        // Its reference is that of four.
        ranks: &[4],
        check: sundials,
    },
    PackagedProgram {
        source: DebianSource {
            release: Some("trixie"),
            package: "open-coarrays",
            archive: "open-coarrays_2.10.2+ds.orig.tar.xz",
            sha256: "840cd63695f50e9f8963126cec317b420b3a0251db010778682d1979fb863887",
            folder: "open-coarrays-2.10.2+ds",
        },
        title: "OpenCoarrays, gfortran's coarrays over windows (Fortran 2018, CMake)",
        what: "its 84 tests",
        wants: &[("gfortran", "gfortran"), ("g++", "g++"), ("cmake", "cmake"), ("make", "make")],
        build: include_str!("coarrays_build.sh"),
        run: "cd built && ctest --timeout 120",
        ranks: &[32],
        check: coarrays,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "hypre",
            archive: "hypre_2.26.0.orig.tar.gz",
            sha256: "c214084bddc61a06f3758d82947f7f831e76d7e3edeac2c78bb82d597686e05d",
            folder: "hypre-2.26.0",
        },
        title: "hypre, linear equations on grids (C)",
        what: "its scripts for structured and semi-structured grids, which compare what different numbers of ranks compute",
        wants: &[("make", "make"), ("bash", "bash")],
        build: include_str!("hypre_build.sh"),
        run: include_str!("hypre_run.sh"),
        ranks: &[9],
        check: hypre,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "scotch",
            archive: "scotch_7.0.3.orig.tar.xz",
            sha256: "09b582e75df3cf91313e8dd83306bc9d59385fa358d6d4052e5bbf8c75a83348",
            folder: "scotch-7.0.3",
        },
        title: "PT-Scotch, partitions of graphs (C, threads in MPI)",
        what: "the part of its checks that is parallel",
        wants: &[("make", "make"), ("flex", "flex"), ("bison", "bison"), ("zlib.h", "zlib1g-dev")],
        build: include_str!("scotch_build.sh"),
        run: include_str!("scotch_run.sh"),
        ranks: &[4],
        check: scotch,
    },
    PackagedProgram {
        source: DebianSource {
            release: None,
            package: "boost1.74",
            archive: "boost1.74_1.74.0+ds1.orig.tar.xz",
            sha256: "192f5df504d282cb81288f88232d8af45b64a9ab531e1c7cf8ae955f16f6bb28",
            folder: "boost",
        },
        title: "Boost.MPI (C++)",
        what: "its tests at the numbers of ranks that it names",
        wants: &[],
        build: include_str!("boost_build.sh"),
        run: include_str!("boost_run.sh"),
        ranks: &[48],
        check: boost,
    },
];
