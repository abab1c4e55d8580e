"""Finds MPI's objects in the memory of a process or core, by what the library says of itself.

ompi-core/src/inspect.rs is the other half: a symbol that leads to tables of names and numbers. All is checked on the way, since a
handle may be any number and a core may lack pages.
"""

import re
import struct

import gdb

SYMBOL = "ompi_rs_inspected"
FORMAT = b"ompi-rs1"
# Nothing that is shown is longer.
LONGEST = 1 << 16


class Absent(Exception):
    """Nothing is known: no such memory, no such object. Its text goes on after the number of the handle."""


class Memory:
    """The memory of the process that gdb looks at."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()

    def bytes(self, address, length):
        if not 0 <= length <= LONGEST:
            raise Absent("its memory makes no sense")
        try:
            return bytes(self.inferior.read_memory(address, length)) if length else b""
        except (gdb.error, OverflowError):
            raise Absent("its memory cannot be read") from None

    def u8(self, address):
        return self.bytes(address, 1)[0]

    def u32(self, address):
        return struct.unpack("<I", self.bytes(address, 4))[0]

    def i32(self, address):
        return struct.unpack("<i", self.bytes(address, 4))[0]

    def word(self, address):
        return struct.unpack("<Q", self.bytes(address, 8))[0]

    def text(self, address, length):
        text = self.bytes(address, length).decode("utf-8", "replace")
        return "".join(c if c.isprintable() else "?" for c in text)


def root():
    """The address of the library's first table; `None` if the program has none."""
    try:
        # In a procedure of Fortran gdb would read it by the rules of that language.
        said = gdb.execute("with language c -- output/x (unsigned long) &" + SYMBOL, to_string=True)
    except gdb.error:
        return None
    return int(re.match(r"\s*(0x[0-9a-f]+)", said)[1], 16)


class Objects:
    """What the library says, and what follows from it. Made anew for each question: the process goes on in between."""

    def __init__(self):
        self.memory = Memory()
        self.facts = {}
        first = root()
        if first is None:
            raise Absent("no symbols of the library are here: the program was stripped, or does not run yet")
        if self.memory.bytes(first, 8) != FORMAT:
            raise Absent("this gdb.py is of another version of the library")
        tables, length, of_pml, pml_length = struct.unpack("<4Q", self.memory.bytes(first + 8, 32))
        self.read(tables, length)
        if of_pml:
            self.read(of_pml, pml_length)

    def read(self, tables, length):
        for at in range(tables, tables + 16 * length, 16):
            table, facts = struct.unpack("<2Q", self.memory.bytes(at, 16))
            for name, bytes_of_name, value in struct.iter_unpack("<3Q", self.memory.bytes(table, 24 * facts)):
                self.facts[self.memory.text(name, bytes_of_name)] = value

    def __getitem__(self, name):
        if name not in self.facts:
            raise Absent("MPI has not started")
        return self.facts[name]

    # Handles

    def slot(self, table, index):
        """Of an index of a table: generation and object, 0 where there is none; `None` where there never was one."""
        first = 1024
        chunk = index.bit_length() - first.bit_length()
        if not 0 <= chunk < self["handle.chunks"]:
            return None
        base = self.memory.word(self[table] + 8 * chunk)
        if not base:
            return None
        slot = base + (index - (first << chunk)) * self["handle.slot"]
        generation = self.memory.u32(slot + self["handle.slot.generation"])
        return generation, self.memory.word(slot + self["handle.slot.object"])

    def find(self, table, handle):
        """The address of the object behind a handle."""
        bits = self["handle.index_bits"]
        found = self.slot(table, handle & ((1 << bits) - 1)) if handle < 1 << 31 else None
        if found is None or found == (0, 0):
            raise Absent("no handle of this kind")
        generation, place = found
        if generation != handle >> bits:
            raise Absent("freed" if generation > handle >> bits else "no handle of this kind")
        if not place:
            raise Absent("no handle of this kind")
        return place

    def all(self, table):
        """The addresses of all objects of a table; of a very long one, of the first ones."""
        size, at = self["handle.slot"], self["handle.slot.object"]
        for chunk in range(min(self["handle.chunks"], 5)):
            base = self.memory.word(self[table] + 8 * chunk)
            if not base:
                return
            for block in range(1 << chunk):
                slots = self.memory.bytes(base + 1024 * size * block, 1024 * size)
                objects = (struct.unpack_from("<Q", slots, size * slot + at)[0] for slot in range(1024))
                yield from filter(None, objects)

    # Values of Rust's

    def arc(self, address):
        """Where an Arc leads; 0 where there is none."""
        place = self.memory.word(address)
        return place and place + self["arc.value"]

    def string(self, address):
        length = self.memory.word(address + self["vec.length"])
        return self.memory.text(self.memory.word(address + self["vec.elements"]), length)

    def optional_string(self, address):
        """`None` is told from a string by a capacity that none has."""
        return None if self.memory.word(address) >= 1 << 63 else self.string(address)

    def slice(self, address):
        """Address and length."""
        return self.memory.word(address), self.memory.word(address + self["slice.length"])

    def elements(self, vec, size):
        """Addresses of the elements of a Vec."""
        length = self.memory.word(vec + self["vec.length"])
        first = self.memory.word(vec + self["vec.elements"])
        return range(first, first + size * length, size) if length <= LONGEST else range(0)

    def sequence(self, address):
        """How many numbers, and a function from place to number."""
        memory = self.memory
        if memory.u32(address) == 0:
            first, step, length = memory.u32(address + 8), memory.u32(address + 12), memory.word(address + 16)
            return length, lambda place: (first + place * step) & 0xFFFFFFFF
        at, length = self.slice(address + 8)
        return length, lambda place: memory.u32(at + 4 * place)
