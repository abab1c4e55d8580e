"""Runs modules of mpi4py's own tests on every rank of a job, and says in one line per rank what became of each.

    suite.py TESTS SECONDS TIMES MODULE…

TESTS is the folder of mpi4py's tests. Each module runs TIMES times; of MODULE!NAME the tests whose name has NAME in it
are left out, because they ask for what this MPI does not have yet. If one takes more than SECONDS, every rank writes
where it is, who waits for whom, and the job ends. A line reads `suite: MODULE ran N failed N skipped N rank N`.
"""

import contextlib
import faulthandler
import io
import os
import sys
import threading
import unittest


def library():
    """Another MPI may be installed and be found first: by its own words and by what this process has mapped."""
    from mpi4py import MPI

    said, wanted = MPI.Get_library_version(), os.environ["WANTED_LIBRARY"]
    with open("/proc/self/maps") as maps:
        mapped = {line.split()[-1] for line in maps if "libmpi" in line}
    if not said.startswith("ompi-rs") or mapped != {wanted}:
        sys.exit(f"suite: this runs on `{said}` from {mapped}, not on ompi-rs from {wanted}")
    return MPI


def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


class Run:
    """One module, once; unittest wants something that makes its runner."""

    def __init__(self, program, module):
        self.result = None
        module, *self.without = module.split("!")
        with contextlib.suppress(SystemExit):
            program(module=None, argv=["main", "--no-skip-mpi", "--no-numpy", "-q", module], testRunner=self)

    def run(self, tests):
        where = io.StringIO()
        tests = unittest.TestSuite(test for test in flat(tests) if not any(name in test.id() for name in self.without))
        self.result = unittest.TextTestRunner(stream=where, verbosity=0, warnings="ignore").run(tests)
        self.text = where.getvalue()
        return self.result


@contextlib.contextmanager
def watched(seconds):
    """faulthandler needs no interpreter that answers; the others shall have written, too, before the job ends."""
    faulthandler.dump_traceback_later(seconds)
    end = threading.Timer(seconds + 5, os._exit, [3])
    end.daemon = True
    end.start()
    yield
    end.cancel()
    faulthandler.cancel_dump_traceback_later()


def without_files(MPI):
    """What test_subclass does as it is imported must fail in the one way that it expects of an MPI without files."""

    class File(MPI.File):
        @classmethod
        def Open(cls, *arguments):
            raise NotImplementedError

    return File


def main(tests, seconds, times, *modules):
    faulthandler.enable()
    MPI = library()
    rank = MPI.COMM_WORLD.Get_rank()
    sys.path.insert(0, tests)
    from main import main as program

    bad = 0
    for module in modules * int(times):
        file = MPI.File
        if module.split("!")[0] == "test_subclass":
            MPI.File = without_files(MPI)
        with watched(float(seconds)):
            run = Run(program, module)
        MPI.File = file
        result = run.result
        failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
        lines = [f"suite: {module} ran {result.testsRun} failed {failed} skipped {len(result.skipped)} rank {rank}"]
        if failed:
            bad = 1
            lines += [f"[{rank}] {line}" for line in run.text.splitlines()]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    sys.exit(bad)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(*sys.argv[1:])
