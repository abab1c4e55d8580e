//! A program that calls every routine once, made of the data. It does so before MPI_Init, where nothing but an error can come back,
//! so that it needs no arguments that fit: what is proved is that each routine links, takes what its interface says, and returns.

use super::procedure::{Argument, Class, Procedure, Rank, Supplement, all};
use crate::api::data::Data;
use crate::failure::Result;
use std::fmt::Write;
use std::path::Path;

/// How a program sees MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// `include 'mpif.h'`.
    Header,
    /// `use mpi`.
    Older,
    /// `use mpi_f08`.
    Modern,
}

/// The program, and how many calls it makes. `root` is the folder of the tree.
pub fn program(root: &Path, data: &Data, interface: Interface) -> Result<(String, usize)> {
    let supplement = Supplement::read(&root.join("ompi-core/api"))?;
    let procedures = all(data, &supplement)?;
    let (mut calls, mut linked) = (String::new(), String::new());
    let (mut count, mut pointers) = (0, Vec::new());
    for procedure in procedures.iter().filter(|procedure| is_there(procedure, interface)) {
        let call = call(procedure, interface, &mut pointers);
        if ACTS.contains(&procedure.name.as_str()) {
            linked += &call;
            continue;
        }
        count += 1;
        calls += &call;
        if procedure.fails {
            _ = writeln!(calls, "  if (ierror == unset) call missing('{}')", procedure.name);
        }
    }
    let mut text = match interface {
        Interface::Header => "program every\n  implicit none\n  include 'mpif.h'\n".to_owned(),
        Interface::Older => {
            "program every\n  use mpi\n  use ompi_types, only : MPI_Status\n  implicit none\n".to_owned()
        }
        Interface::Modern => {
            "program every\n  use mpi_f08\n  use, intrinsic :: iso_c_binding\n  implicit none\n".to_owned()
        }
    };
    text += DECLARATIONS;
    match interface {
        Interface::Modern => {
            text += "  type(MPI_Status) :: st(32,16)\n  type(C_PTR) :: p(16) = C_NULL_PTR\n";
            for handle in super::procedure::HANDLES {
                _ = writeln!(text, "  type(MPI_{handle}) :: h_{}(32,16)", handle.to_lowercase());
            }
            for kind in &pointers {
                _ = writeln!(text, "  procedure({kind}), pointer :: to_{}", kind.to_lowercase());
            }
        }
        Interface::Header | Interface::Older => {
            text += "  integer :: st(MPI_STATUS_SIZE,32,16) = 0, h(32,16) = 0\n  integer(kind=MPI_ADDRESS_KIND) :: p(16) = 0\n";
            text += if interface == Interface::Older { "  type(MPI_Status) :: f08(1)\n" } else { "" };
        }
    }
    text += "  external :: nothing\n";
    for kind in &pointers {
        _ = writeln!(text, "  call c_f_procpointer(c_funloc(nothing), to_{})", kind.to_lowercase());
    }
    text += &calls;
    // What would change the state of MPI is linked, and not called.
    _ = writeln!(text, "  if (calls < 0) then\n{linked}  end if");
    text += END;
    let resets = match interface {
        Interface::Modern => super::procedure::HANDLES
            .iter()
            .map(|handle| format!("    h_{}%MPI_VAL = 0\n", handle.to_lowercase()))
            .collect(),
        Interface::Header | Interface::Older => "    h = 0\n".to_owned(),
    };
    text += &resets;
    text += "  end subroutine\nend program\n\nsubroutine nothing()\nend subroutine\n";
    Ok((text, count))
}

fn is_there(procedure: &Procedure, interface: Interface) -> bool {
    let has_modern_status = procedure.arguments.iter().any(|argument| argument.name == "f08_status");
    match interface {
        Interface::Header => !procedure.large && procedure.name != "MPI_Sizeof" && !has_modern_status,
        Interface::Older => !procedure.large,
        Interface::Modern => !procedure.is_older() && !procedure.hidden,
    }
}

fn call(procedure: &Procedure, interface: Interface, pointers: &mut Vec<String>) -> String {
    // A large twin has the name of its plain procedure.
    let name = match &procedure.generic {
        Some(name) if interface == Interface::Modern => name,
        _ => &procedure.name,
    };
    let mut values: Vec<String> = Vec::new();
    for (argument, place) in procedure.arguments.iter().zip(1..) {
        if let (Class::Procedure(kind), Interface::Modern) = (&argument.class, interface)
            && !pointers.contains(kind)
        {
            pointers.push(kind.clone());
        }
        values.push(value(argument, place, interface));
    }
    values.extend(procedure.fails.then(|| "ierror".to_owned()));
    let list = values.join(", &\n      ");
    let verb = match procedure.result {
        Some("DOUBLE PRECISION") => "seconds = ",
        Some(_) => "address = ",
        None => "call ",
    };
    format!("  call begin()\n  {verb}{name}({list})\n")
}

/// A variable of the right type and shape for the argument at a place, which no other one has.
fn value(argument: &Argument, place: usize, interface: Interface) -> String {
    let is_modern = interface == Interface::Modern;
    let variable = match (&argument.class, is_modern) {
        (Class::Integer, _) => "i".to_owned(),
        (Class::Logical, _) => "l".to_owned(),
        (Class::Address, _) => "a".to_owned(),
        (Class::Count, _) => "c".to_owned(),
        (Class::Offset, _) => "o".to_owned(),
        (Class::Text, _) if argument.shape == Rank::Table => return format!("tt(:,:,{place})"),
        (Class::Text, _) => "t".to_owned(),
        (Class::Buffer, _) => return format!("b(:,{place})"),
        (Class::Pointer, _) => return format!("p({place})"),
        (Class::Integers, _) => return format!("ii(:,{place})"),
        (Class::Status, false) if argument.name == "f08_status" => return "f08(1)".to_owned(),
        (Class::Status, false) if argument.shape == Rank::Scalar => return format!("st(:,1,{place})"),
        (Class::Status, false) => return format!("st(:,:,{place})"),
        (Class::Status, true) => "st".to_owned(),
        (Class::Handle(of), true) => format!("h_{}", of.to_lowercase()),
        (Class::Handle(_), false) => "h".to_owned(),
        (Class::Procedure(kind), true) => return format!("to_{}", kind.to_lowercase()),
        (Class::Procedure(_), false) => return "nothing".to_owned(),
    };
    match argument.shape {
        Rank::Scalar => format!("{variable}(1,{place})"),
        Rank::Ranges => format!("ranges(:,:,{place})"),
        Rank::Array | Rank::Table => format!("{variable}(:,{place})"),
    }
}

/// Routines that would begin or end something.
const ACTS: &[&str] = &["MPI_Abort", "MPI_Init", "MPI_Init_thread", "MPI_Session_init"];

const END: &str = "  print '(i0,a)', calls, ' routines'
  if (failed) stop 1
contains
  subroutine missing(name)
    character(len=*) :: name
    print *, name, ' has not set ierror'
    failed = .true.
  end subroutine
  ! What calls before have written is no count of this one.
  subroutine begin()
    calls = calls + 1
    ierror = unset
    i = 0
    a = 0
    c = 0
    o = 0
    ranges = 0
    t = ' '
    tt = ' '
";

const DECLARATIONS: &str = "  integer, parameter :: unset = -77
  integer :: calls = 0, ierror, i(32,16) = 0, b(32,16) = 0, ii(8,16) = 0, ranges(3,8,16) = 0
  logical :: l(32,16) = .false., failed = .false.
  integer(kind=MPI_ADDRESS_KIND) :: a(32,16) = 0, address
  integer(kind=MPI_COUNT_KIND) :: c(32,16) = 0
  integer(kind=MPI_OFFSET_KIND) :: o(32,16) = 0
  character(len=512) :: t(4,16) = ' ', tt(4,4,16) = ' '
  double precision :: seconds
";
