"""What a debugger of parallel programs does with mpirun (MPIR, MPI Forum 2018): starts it, finds the ranks, lets them go on.

    gdb -nx -batch -x mpir.py --args mpirun -n 2 PROGRAM
"""

import struct
import time

import gdb

gdb.execute("set confirm off")
gdb.execute("starti")
gdb.execute("set variable *(int *)&MPIR_being_debugged = 1")
gdb.execute("break MPIR_Breakpoint")
gdb.execute("continue")
memory = gdb.selected_inferior().read_memory


def number(name):
    return int(gdb.parse_and_eval("*(int *)&" + name))


def text(address):
    read = b""
    while not read.endswith(b"\0"):
        read += bytes(memory(address + len(read), 1))
    return read[:-1].decode()


def state(pid):
    with open("/proc/{}/stat".format(pid), encoding="utf-8") as stat:
        return stat.read().rpartition(")")[2].split()[0]


table = int(gdb.parse_and_eval("*(long *)&MPIR_proctable"))
print("state {}, {} ranks".format(number("MPIR_debug_state"), number("MPIR_proctable_size")))
for rank in range(number("MPIR_proctable_size")):
    host, program, pid = struct.unpack("qqi", memory(table + 24 * rank, 20))
    # The keeper stops it while mpirun stands here.
    until = time.monotonic() + 20
    while state(pid) != "T" and time.monotonic() < until:
        time.sleep(0.01)
    print("rank {}: {} runs {}, {}".format(rank, text(host), text(program), "stopped" if state(pid) == "T" else "not stopped"))
gdb.execute("continue")
