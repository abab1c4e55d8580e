"""Shows MPI's handles and statuses in gdb: by the names of mpi.h, and what the program's own ones are.

    gdb -x DIST/share/ompi-rs/gdb.py PROGRAM

The program needs the types of its own -g; the library needs its table of symbols, which `strip` takes away. Constants are read from
the mpi.h beside this file. Handles of Fortran are integers there: `print $mpi_comm(comm)`, and likewise for the other kinds; those of
mpi_f08 are shown as they are.
"""

import os
import re
import sys

import gdb
import gdb.printing

HERE = os.path.dirname(os.path.realpath(os.path.expanduser(__file__)))
HEADER = os.path.normpath(os.path.join(HERE, "..", "..", "include", "mpi.h"))
sys.path.insert(0, os.path.join(HERE, "gdb"))

import ompi_rs_queues  # noqa: E402
import ompi_rs_words  # noqa: E402  (beside this file, where Python does not look by itself)

# Kinds of handles, as mpi.h declares them.
HANDLES = (
    "Comm", "Group", "Request", "Message", "Datatype", "Op", "Errhandler", "Info", "Session", "Win", "File",
    "T_enum", "T_cvar_handle", "T_pvar_session", "T_pvar_handle", "T_event_registration", "T_event_instance",
)


OF_FORTRAN = {"mpi_" + kind.lower(): kind for kind in HANDLES}


def constants():
    """By kind: the names of predefined handles; under "Integer" those of ranks and tags."""
    found = {}
    with open(HEADER, encoding="utf-8") as header:
        for line in header:
            handle = re.match(r"#define (MPI_\w+)\s+\(\(MPI_(\w+)\)\s*(0x[0-9a-fA-F]+|\d+)\)", line)
            if handle:
                # The first name stands: later ones are other spellings.
                found.setdefault(handle[2], {}).setdefault(int(handle[3], 0), handle[1])
            number = re.match(r"\s*#?(?:define )?(MPI_ANY_SOURCE|MPI_PROC_NULL|MPI_ROOT|MPI_ANY_TAG)\s+=?\s*\(?(-\d+)\)?", line)
            if number:
                found.setdefault("Integer", {})[number[1]] = int(number[2])
    return found


CONSTANTS = constants()


def source_words(number):
    for name in ("MPI_ANY_SOURCE", "MPI_PROC_NULL"):
        if CONSTANTS.get("Integer", {}).get(name) == number:
            return name
    return str(number)


class Handle:
    """A handle of some kind."""

    def __init__(self, value, kind):
        self.number, self.kind = int(value) & 0xFFFFFFFFFFFFFFFF, kind

    def to_string(self):
        known = CONSTANTS.get(self.kind, {}).get(self.number)
        if known:
            return known
        number = "MPI_{} {:#x}".format(self.kind, self.number)
        if self.kind not in ompi_rs_words.KINDS:
            return number
        return "{}: {}".format(number, ompi_rs_words.words(self.kind, self.number))


class Status:
    """What a receive has got: the count is in bytes, as MPI_Get_count with MPI_BYTE says it."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        low, high = (int(value["MPI_internal"][at]) & 0xFFFFFFFF for at in (0, 1))
        tag = int(value["MPI_TAG"])
        tag = "MPI_ANY_TAG" if CONSTANTS.get("Integer", {}).get("MPI_ANY_TAG") == tag else str(tag)
        return "source {}, tag {}, {} bytes, error {}".format(
            source_words(int(value["MPI_SOURCE"])), tag, high << 32 | low, int(value["MPI_ERROR"])
        )


class Printer(gdb.printing.PrettyPrinter):
    """Chooses by the name of the type, through typedefs."""

    def __call__(self, value):
        name = value.type.unqualified().strip_typedefs()
        if name.code == gdb.TYPE_CODE_PTR:
            target = name.target().unqualified().name or ""
            kind = target[len("MPI_ABI_"):] if target.startswith("MPI_ABI_") else ""
            return Handle(value, kind) if kind in HANDLES else None
        if name.code != gdb.TYPE_CODE_STRUCT or not name.name:
            return None
        if name.name == "MPI_Status":
            return Status(value)
        # Types of mpi_f08.
        kind = OF_FORTRAN.get(name.name.lower())
        return Handle(value["mpi_val"], kind) if kind else None


class InWords(gdb.Function):
    """What a handle of Fortran, or any other number, is."""

    def __init__(self, kind):
        super().__init__("mpi_" + kind.lower())
        self.kind = kind

    def invoke(self, value):
        return Handle(value, self.kind).to_string()


class Queues(gdb.Command):
    """Print posted receives, unexpected messages, and long and synchronous messages of this process of MPI."""

    def __init__(self):
        super().__init__("mpi-queues", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        for line in ompi_rs_queues.lines():
            print(line)


Queues()
for of_kind in ompi_rs_words.KINDS:
    InWords(of_kind)
gdb.printing.register_pretty_printer(gdb.current_objfile(), Printer("ompi-rs"), replace=True)
