//! One contestant: how its programs are compiled and launched, and the proof that they ran on its library.

use super::rows::{Row, Transport};
use super::sample::Output;
use crate::failure::{At, Result, fail, refuse};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A library, or the bare machine.
#[derive(Clone, Debug)]
pub struct Library {
    /// As the tables name it.
    pub name: String,
    /// What kind of launcher and settings it wants.
    pub kind: Kind,
    /// Compiles C programs.
    pub compiler: PathBuf,
    /// Launches them.
    pub launcher: PathBuf,
    /// Where its library must lie.
    pub home: PathBuf,
    /// Environment of every launch.
    pub environment: Vec<(String, String)>,
}

/// Families of libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This one.
    Ours,
    /// Open MPI since 5.
    OpenMpi,
    /// Open MPI 4, where shared memory has another name.
    OpenMpi4,
    /// MPICH with Hydra.
    Mpich,
    /// Intel MPI with Hydra.
    Intel,
    /// No MPI at all: the program starts its second process by itself.
    Raw,
}

impl Library {
    /// A product of `cargo xtask build`.
    pub fn ours(name: &str, dist: PathBuf) -> Result<Library> {
        let dist = dist.canonicalize().map_err(|error| refuse(format!("{}: {error}", dist.display())))?;
        let (compiler, launcher) = (dist.join("bin/mpicc"), dist.join("bin/mpirun"));
        if !compiler.is_file() || !launcher.is_file() {
            return Err(refuse(format!(
                "{} has no bin/mpicc and bin/mpirun: fill it with `cargo xtask build --out`",
                dist.display()
            )));
        }
        Ok(Library { name: name.to_owned(), kind: Kind::Ours, compiler, launcher, home: dist, environment: Vec::new() })
    }

    /// The machine itself.
    pub fn raw() -> Library {
        let nothing = PathBuf::new;
        let (name, kind) = ("raw".to_owned(), Kind::Raw);
        Library { name, kind, compiler: "cc".into(), launcher: nothing(), home: nothing(), environment: Vec::new() }
    }

    /// Compiles one of the programs into `folder`.
    pub fn compile(&self, sources: &Path, program: &str, folder: &Path) -> Result<PathBuf> {
        let source = sources.join(format!("{program}.c"));
        let fortran = in_fortran(sources, program);
        let made = folder.join(&self.name).join(program);
        shell::folder(&folder.join(&self.name))?;
        let compiler = if fortran.exists() { self.fortran() } else { self.compiler.clone() };
        let mut command = Command::new(compiler);
        command.args(["-O2", "-g"]).arg(&source);
        if fortran.exists() {
            command.arg(&fortran).arg("-J").arg(folder.join(&self.name));
        }
        command.arg("-o").arg(&made).arg("-lm");
        self.prepare(&mut command);
        let outcome = shell::outcome(&mut command, COMPILE_LIMIT)?;
        match outcome.status.success() {
            true => Ok(made),
            false => Err(fail(format!("{}`{}` failed", outcome.stderr, shell::line(&command)))),
        }
    }

    /// Whether the program wants a wrapper for Fortran that this library does not have.
    pub fn lacks_fortran(&self, sources: &Path, program: &str) -> bool {
        let wrapper = self.fortran();
        let is_there = wrapper.exists() || shell::which(&wrapper.to_string_lossy()).is_some();
        in_fortran(sources, program).exists() && !is_there
    }

    /// `mpifort` for `mpicc`, which compiles C as well.
    fn fortran(&self) -> PathBuf {
        let name = self.compiler.file_name().unwrap_or_default().to_string_lossy().replace("mpicc", "mpifort");
        self.compiler.with_file_name(name)
    }

    /// The launch of a row's program.
    pub fn launch(&self, row: &Row, program: &Path, arguments: &[String]) -> Command {
        let crowded = is_crowded(row);
        let mut command = match self.kind {
            Kind::Raw => Command::new(program),
            _ => Command::new(&self.launcher),
        };
        command.args(self.options(row.transport, crowded));
        if self.kind != Kind::Raw {
            command.args(["-n", &row.ranks.to_string()]).arg(program);
        }
        command.args(arguments);
        self.prepare(&mut command);
        command.envs(self.variables(row.transport, crowded));
        command
    }

    /// One line per transport: everything that a reader needs to launch it likewise.
    pub fn settings(&self) -> Vec<String> {
        let line = |name: &str, transport: Transport| {
            // Without where things lie on this machine.
            let variables = own_variables(self.kind, transport).iter();
            let mut words: Vec<String> = variables.map(|(name, value)| format!("{name}={value}")).collect();
            words.extend(self.launcher.file_name().map(|name| name.to_string_lossy().into_owned()));
            words.extend(self.options(transport, false));
            format!("{name}: {}", words.join(" "))
        };
        let mut lines = vec![line("shared memory", Transport::Sm), line("TCP", Transport::Tcp)];
        if self.kind == Kind::Ours {
            lines.push(line("shared memory, checksums", Transport::SmChecked));
            lines.extend([line("TCP, proved", Transport::TcpAuth), line("TCP, encrypted", Transport::TcpEncrypt)]);
        }
        lines
    }

    /// Arguments of the launcher. Nobody binds: each program pins its ranks itself, the same way for all.
    fn options(&self, transport: Transport, crowded: bool) -> Vec<String> {
        let words: &[&str] = match (self.kind, transport) {
            (Kind::Ours, Transport::Sm) | (Kind::Raw | Kind::Mpich | Kind::Intel, _) => &[],
            (Kind::Ours, Transport::SmChecked) => &["--mca", "pml_ob1_checksum", "1"],
            (Kind::Ours, Transport::Tcp) => &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map"],
            (Kind::Ours, Transport::TcpAuth) => {
                &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map", "--mca", "btl_tcp_protect", "auth"]
            }
            (Kind::Ours, Transport::TcpEncrypt) => {
                &["--mca", "btl", "self,tcp", "--mca", "smsc", "^cma,map", "--mca", "btl_tcp_protect", "encrypt"]
            }
            (Kind::OpenMpi, Transport::Sm | Transport::SmChecked) => {
                &["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]
            }
            (Kind::OpenMpi4, Transport::Sm | Transport::SmChecked) => {
                &["--mca", "pml", "ob1", "--mca", "btl", "self,vader"]
            }
            (Kind::OpenMpi | Kind::OpenMpi4, _) => {
                &["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]
            }
        };
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if matches!(self.kind, Kind::OpenMpi | Kind::OpenMpi4) {
            words.extend(["--allow-run-as-root", "--bind-to", "none"].map(str::to_owned));
            match (crowded, self.kind) {
                (true, Kind::OpenMpi) => words.extend(["--map-by", ":OVERSUBSCRIBE"].map(str::to_owned)),
                (true, _) => words.push("--oversubscribe".to_owned()),
                _ => {}
            }
        }
        words
    }

    /// Environment of a launch.
    fn variables(&self, transport: Transport, crowded: bool) -> Vec<(String, String)> {
        let yields = if crowded && self.kind == Kind::Intel { INTEL_YIELDS } else { &[] };
        let own = own_variables(self.kind, transport).iter().chain(yields);
        let own = own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        own.chain(self.environment.iter().cloned()).collect()
    }

    /// What the user has set for other purposes must not reach a measurement.
    fn prepare(&self, command: &mut Command) {
        let theirs = |name: &str| FOREIGN.iter().any(|prefix| name.starts_with(prefix));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(theirs) {
                command.env_remove(name);
            }
        }
    }

    /// Whether every rank ran on this library; the version it names, or what is wrong.
    pub fn verify(&self, output: &Output, ranks: u32) -> std::result::Result<String, String> {
        if self.kind == Kind::Raw {
            return Ok(String::new());
        }
        let mut seen: Vec<u32> = output.ranks.iter().map(|rank| rank.rank).collect();
        seen.sort_unstable();
        if seen != (0..ranks).collect::<Vec<_>>() {
            return Err(format!("ranks {seen:?} said which library they run on, not 0 to {}", ranks - 1));
        }
        for rank in &output.ranks {
            let (start, mapped) = (self.kind.version(), &rank.mapped);
            if !rank.library.starts_with(start) {
                return Err(format!("rank {} runs on `{}`, not on {start}", rank.rank, rank.library));
            }
            let inside = |path: &str| Path::new(path).canonicalize().is_ok_and(|path| path.starts_with(&self.home));
            if let Some(other) = mapped.split(':').find(|path| !path.is_empty() && !inside(path)) {
                return Err(format!(
                    "rank {} has {other} mapped, which is not below {}",
                    rank.rank,
                    self.home.display()
                ));
            }
            // Ours may be linked into the program; the others come as shared libraries.
            if mapped.is_empty() && self.kind != Kind::Ours {
                return Err(format!("rank {} has no libmpi mapped", rank.rank));
            }
        }
        Ok(output.ranks[0].library.clone())
    }
}

impl Kind {
    /// How its version string begins.
    pub fn version(self) -> &'static str {
        match self {
            Kind::Ours => "ompi-rs",
            Kind::OpenMpi => "Open MPI v5",
            Kind::OpenMpi4 => "Open MPI v4",
            Kind::Mpich => "MPICH",
            Kind::Intel => "Intel(R) MPI",
            Kind::Raw => "",
        }
    }
}

/// More ranks than cores: by default it spins, and four ranks of two cores take fifty times as long.
const INTEL_YIELDS: &[(&str, &str)] = &[("I_MPI_THREAD_YIELD", "2")];

fn own_variables(kind: Kind, transport: Transport) -> &'static [(&'static str, &'static str)] {
    match (kind, transport) {
        (Kind::Intel, Transport::Sm | Transport::SmChecked) => &[("I_MPI_PIN", "0"), ("I_MPI_FABRICS", "shm")],
        (Kind::Intel, _) => &[("I_MPI_PIN", "0"), ("I_MPI_FABRICS", "ofi"), ("FI_PROVIDER", "tcp")],
        (Kind::Mpich, Transport::Tcp | Transport::TcpAuth | Transport::TcpEncrypt) => {
            // One is read by builds with libfabric, the other by builds with UCX.
            &[
                ("MPIR_CVAR_NOLOCAL", "1"),
                ("MPIR_CVAR_CH4_NETMOD", "ofi"),
                ("FI_PROVIDER", "tcp"),
                ("UCX_TLS", "tcp,self"),
            ]
        }
        _ => &[],
    }
}

/// More ranks than cores, or more of their threads.
pub fn is_crowded(row: &Row) -> bool {
    (row.ranks * row.threads) as usize > std::thread::available_parallelism().map_or(1, usize::from)
}

/// Bytes that the loopback has carried, for everybody on this machine.
pub fn loopback_bytes() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/net/dev").at("read /proc/net/dev")?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("lo:"));
    let field = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    field.ok_or_else(|| fail("/proc/net/dev does not list the loopback interface lo; bring it up: ip link set lo up"))
}

const COMPILE_LIMIT: Duration = Duration::from_secs(300);
const FOREIGN: &[&str] = &[
    "OMPI_",
    "OPAL_",
    "PMIX_",
    "PRTE_",
    "PMI_",
    "MPICC_",
    "MPICXX_",
    "MPICH_",
    "MPIR_",
    "HYDRA_",
    "I_MPI_",
    "FI_",
    "UCX_",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
];

/// The part of a program that is in Fortran, if it has one.
fn in_fortran(sources: &Path, program: &str) -> PathBuf {
    sources.with_file_name("fortran").join(format!("{program}.f90"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample::Identity;

    fn output(library: &str, mapped: &str) -> Output {
        let rank = |rank| Identity { rank, library: library.to_owned(), mapped: mapped.to_owned() };
        Output { ranks: vec![rank(0), rank(1)], sizes: Vec::new() }
    }

    #[test]
    fn another_library_is_noticed() {
        let home = PathBuf::from("/nowhere");
        let mut library = Library::raw();
        assert!(library.verify(&Output::default(), 2).is_ok());
        (library.kind, library.home) = (Kind::Mpich, home);
        assert!(library.verify(&output("MPICH Version: 5.0.2", ""), 2).unwrap_err().contains("no libmpi"));
        assert!(library.verify(&output("Open MPI v5", ""), 2).unwrap_err().contains("runs on"));
        assert!(library.verify(&output("MPICH", "/proc/self/exe"), 2).unwrap_err().contains("mapped"));
        library.kind = Kind::Ours;
        assert_eq!(library.verify(&output("ompi-rs 0.1", ""), 2).as_deref(), Ok("ompi-rs 0.1"));
        assert!(library.verify(&output("ompi-rs 0.1", ""), 3).is_err());
        assert!(library.verify(&output("ompi-rs 0.1", "/proc/self/exe"), 2).is_err());
    }
}
