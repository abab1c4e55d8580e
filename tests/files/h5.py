"""h5py with the driver mpio: all ranks write one file, together and each for itself, and read what the others wrote. Argument: a folder."""
import os
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
ROWS, COLUMNS = 12, 30
path = os.path.join(sys.argv[1], f"h5-{ranks}.h5")
assert h5py.get_config().mpi, "h5py was built without MPI"


def row(number):
    return np.arange(COLUMNS) * 7.0 + number * 1000


def mine(of):
    return range(of, ROWS * ranks, ranks)


with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    assert file.driver == "mpio"
    plain = file.create_dataset("plain", (ROWS * ranks, COLUMNS), dtype="f8")
    chunked = file.create_dataset("chunked", (ROWS * ranks, COLUMNS), dtype="f8", chunks=(5, 7))
    zipped = file.create_dataset("zipped", (ROWS * ranks, COLUMNS), dtype="f8", chunks=(4, COLUMNS), compression="gzip")
    file.attrs["ranks"] = ranks
    # Interleaved rows, together: a filter allows nothing else.
    for dataset in (plain, chunked, zipped):
        with dataset.collective:
            dataset[rank::ranks, :] = np.stack([row(number) for number in mine(rank)])
    # One row of the last rank, alone.
    if rank == ranks - 1:
        plain[0, :] = row(-5)
    file.atomic = True
    assert file.atomic

with h5py.File(path, "r", driver="mpio", comm=comm) as file:
    assert file.attrs["ranks"] == ranks
    next_rank = (rank + 1) % ranks
    for name in ("plain", "chunked", "zipped"):
        wanted = np.stack([row(number) for number in mine(next_rank)])
        if name == "plain" and next_rank == 0:
            wanted[0] = row(-5)
        with file[name].collective:
            together = file[name][next_rank::ranks, :]
        alone = file[name][next_rank::ranks, :]
        assert (together == wanted).all() and (alone == wanted).all(), f"rank {rank}: {name} has other values"

# Nobody but MPI wrote it, and a file without MPI is the same.
comm.Barrier()
if rank == 0:
    with h5py.File(path, "r") as file:
        assert (file["chunked"][ROWS * ranks - 1] == row(ROWS * ranks - 1)).all()
    os.remove(path)
print(f"ok h5 {rank}", flush=True)
