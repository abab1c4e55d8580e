//! `cargo xtask build`: a library with exactly the components that were asked for. It goes from the source tree through `components`,
//! `resolve`, `image`, `archive` and `dist` to `product`, which checks what is installed.

pub mod archive;
pub mod compile;
pub mod components;
mod dist;
pub mod fortran;
pub mod groups;
pub mod header;
pub mod image;
mod lock;
mod manual;
mod names;
mod product;
mod provenance;
pub mod resolve;
mod sizes;
pub mod tools;

use crate::bare;
use crate::failure::{At, Result};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use archive::{Link, MPI};
use components::Catalogue;
use dist::{Linking, Parts};
use fortran::Fortran;
use image::{Image, Lto};
use lock::Lock;
use product::Product;
use resolve::{Choice, Request};
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Options of `build`.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Components (btl/sm), groups (default, minimal, all) and folders of crates outside this tree (./my/btl-foo)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub components: Vec<String>,
    /// Components to leave out of what --components names
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Components to call directly instead of through their framework's table (pml/ob1,btl/sm)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub direct: Vec<String>,
    /// The folder that receives libraries, header and programs [default: dist in the source tree]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Thin link-time optimization: compiles faster, runs a little slower
    #[arg(long)]
    pub thin: bool,
    /// For tests of what other components do: no link-time optimization, so that of a further library only what differs is compiled.
    #[arg(skip)]
    pub variant: bool,
    /// The form of the library that mpicc links, unless its command line or OMPI_RS_LINK chooses one
    #[arg(long, value_enum, default_value_t)]
    pub link: Linking,
    /// The Fortran compiler that makes the modules mpi and mpi_f08, or none [default: gfortran, if it is installed]
    #[arg(long, value_name = "COMPILER")]
    pub fortran: Option<String>,
    /// Keep line tables in the libraries
    #[arg(long)]
    pub debug: bool,
    /// Make an image that boots without an operating system: x86_64-unknown-none; needs --app
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// The program in that image: one .rs or .c file
    #[arg(long, value_name = "FILE", requires = "target")]
    pub app: Option<PathBuf>,
    /// The form of that image's log
    #[arg(long, value_enum, default_value_t, requires = "target")]
    pub log: bare::log::Log,
    /// Compile that image with the host's target even where x86_64-unknown-none is installed
    #[arg(long)]
    pub bare_fallback: bool,
    /// Check the product before it is installed (the default)
    #[arg(long, overrides_with = "no_check")]
    pub check: bool,
    /// Install the product unchecked
    #[arg(long)]
    pub no_check: bool,
    /// Print the bytes of the shared library by crate, and its largest functions
    #[arg(long, conflicts_with = "target")]
    pub sizes: bool,
}

/// What a build left.
#[derive(Clone, Debug)]
pub struct Built {
    /// The source tree.
    pub tree: Tree,
    /// What is in the library.
    pub choice: Choice,
    /// Where the product lies.
    pub dist: PathBuf,
}

/// Builds into `--out`.
pub fn build(options: &Options, progress: &Progress) -> Result<Built> {
    build_into(options, |tree| tree.root.join("dist"), progress)
}

/// Builds into `--out`, or if that was not said, into `place`.
pub fn build_into(options: &Options, place: fn(&Tree) -> PathBuf, progress: &Progress) -> Result<Built> {
    let tree = Tree::open()?;
    let catalogue = Catalogue::read(&tree)?;
    let request = Request {
        components: options.components.clone(),
        exclude: options.exclude.clone(),
        direct: options.direct.clone(),
        bare: false,
    };
    let choice = resolve::resolve(&catalogue, &request)?;
    archive::check_tools()?;
    choice.notes.iter().for_each(|note| progress.note(note));
    let out = options.out.clone().unwrap_or_else(|| place(&tree));
    let work = Work { tree: &tree, choice: &choice, options, progress };
    work.build(&out)?;
    if options.sizes {
        sizes::show(&out)?;
    }
    Ok(Built { tree, choice, dist: out })
}

impl Options {
    fn lto(&self) -> Lto {
        match (self.variant, self.thin) {
            (true, _) => Lto::Off,
            (false, true) => Lto::Thin,
            (false, false) => Lto::Fat,
        }
    }
}

struct Work<'a> {
    tree: &'a Tree,
    choice: &'a Choice,
    options: &'a Options,
    progress: &'a Progress,
}

impl Work<'_> {
    fn build(&self, out: &Path) -> Result<()> {
        let image = Image::new(self.tree, self.choice, self.options.lto());
        shell::folder(&image.folder)?;
        let _lock = Lock::take(&self.tree.target.join("image"), self.progress)?;

        let fortran = Fortran::find(self.tree, self.options.fortran.as_deref())?;
        let count = self.choice.components.len();
        let raw = self.progress.phase(&format!("compile the library with {count} components"), || {
            Ok((image.archive(self.progress)?, String::new()))
        })?;
        let (tools, info) = self.progress.phase("compile its tools", || {
            Ok(((tools::build(self.tree, self.progress)?, image.info(self.progress)?), String::new()))
        })?;
        let procedures = match &fortran {
            Some(fortran) => Some(self.progress.phase("compile Fortran's procedures", || {
                Ok((fortran.archive(self.progress)?, fortran.compiler.clone()))
            })?),
            None => None,
        };
        let names = names::exported(self.tree, self.choice)?;
        let inputs = tools.iter().map(|(_, path)| path.as_path()).chain(info.as_deref()).chain([raw.as_path()]);
        let inputs = inputs.chain(procedures.as_deref());
        let stamp = self.stamp(inputs, &names, fortran.as_ref())?;
        let installed = out.join("share/ompi-rs/build.stamp");
        if fs::read_to_string(&installed).is_ok_and(|old| old == stamp) {
            self.progress.note(&format!("{} is up to date", out.display()));
            return Ok(());
        }
        let stage = image.folder.join("stage");
        let _ = fs::remove_dir_all(&stage);
        self.progress.phase("link libmpi_abi.a and libmpi_abi.so.1", || {
            let (debug, verbose) = (self.options.debug, self.progress.verbose);
            let link = Link { files: &MPI, objects: &[], folder: &image.folder, names: &names, debug, verbose };
            link.libraries(&raw, &stage.join("lib"))?;
            Ok(((), String::new()))
        })?;
        if let (Some(fortran), Some(raw)) = (&fortran, &procedures) {
            self.progress.phase("link libmpi_abi_fortran and make the modules", || {
                fortran.install(raw, &image.folder, &stage, (self.options.debug, self.progress.verbose))?;
                Ok(((), String::new()))
            })?;
        }
        let (tree, choice, lto, link) = (self.tree, self.choice, self.options.lto(), self.options.link);
        let (info, fortran) = (info.as_deref(), fortran.is_some());
        dist::assemble(&Parts { tree, choice, lto, link, tools: &tools, info, fortran }, &stage)?;
        if !self.options.no_check {
            let product =
                Product { stage: &stage, folder: &image.folder.join("check"), names: &names, choice, fortran };
            product::check(&product, self.progress)?;
        }
        shell::write(&stage.join("share/ompi-rs/build.stamp"), &stamp)?;
        dist::install(&stage, out)?;
        self.progress.note(&format!("installed in {}", out.display()));
        Ok(())
    }

    /// Changes whenever the product could: what is linked and copied, how, and the program that does it.
    fn stamp<'p>(
        &self,
        inputs: impl Iterator<Item = &'p Path>,
        names: &BTreeSet<String>,
        fortran: Option<&Fortran>,
    ) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        let mut files: Vec<PathBuf> = inputs.map(Path::to_path_buf).collect();
        let include = self.tree.folder("ompi-core")?.join("include");
        files.extend(dist::HEADERS.map(|header| include.join(header)));
        files.extend(std::env::current_exe().ok());
        files.extend(fortran.iter().flat_map(|fortran| fortran.sources()));
        fortran.map(|fortran| &fortran.compiler).hash(&mut hasher);
        for file in files {
            let facts = fs::metadata(&file).at(format!("find {}", file.display()))?;
            (&file, facts.len(), facts.modified().ok()).hash(&mut hasher);
        }
        (names, &self.choice.direct, self.options.debug, self.options.no_check).hash(&mut hasher);
        (self.options.lto(), self.options.link).hash(&mut hasher);
        std::env::var_os(provenance::EPOCH).hash(&mut hasher);
        for component in &self.choice.components {
            component.name.hash(&mut hasher);
        }
        Ok(format!("{:016x}\n", hasher.finish()))
    }
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask build                                                       the default library, in dist
  cargo xtask build --components minimal --out /tmp/mpi                   the least that runs on one node, elsewhere
  cargo xtask build --components default,./my/btl-foo --exclude btl/tcp   with a component of your own and without TCP
  cargo xtask build --components minimal --sizes                          the same in dist, and where its bytes are
  cargo xtask build --direct pml/ob1,btl/sm                               calls these two components without their tables
  cargo xtask build --target x86_64-unknown-none --app examples/ring.rs   an image that boots without an operating system";
