"""Runs modules of mpi4py's own tests on every rank of a job, and says in one line per rank what became of each.

    suite.py [--compare FILE] TESTS SECONDS TIMES MODULE…

TESTS is the folder of mpi4py's tests. Each module runs TIMES times; of MODULE!NAME the tests whose name has NAME in it
are left out, because they ask for what this MPI does not have yet. If one takes more than SECONDS, every rank writes
where it is, who waits for whom, and the job ends. A line reads `suite: MODULE ran N failed N skipped N rank N`.

With --compare several MPIs are compared: what mpi4py knows this one to fail at is left out, a failed test makes no bad
status, and rank 0 says in a line `suite: version …` which MPI it is. Only tests that FILE names run; if there is no FILE
yet, rank 0 names those that ran in lines `ran: NAME`.
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

    said, version, place = MPI.Get_library_version(), os.environ["WANTED_VERSION"], os.environ["WANTED_LIBRARY"]
    with open("/proc/self/maps") as maps:
        mapped = {line.split()[-1] for line in maps if "libmpi" in line}
    if not said.startswith(version) or not mapped or not all(path.startswith(place) for path in mapped):
        sys.exit(f"suite: this runs on `{said}` from {mapped}, not on {version} from {place}")
    return MPI


def flat(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


class Run:
    """One module, once; unittest wants something that makes its runner."""

    def __init__(self, program, module, comparison):
        self.result = None
        self.only = comparison.only if comparison else None
        module, *self.without = module.split("!")
        skips = [] if comparison else ["--no-skip-mpi"]
        with contextlib.suppress(SystemExit):
            program(module=None, argv=["main", *skips, "--no-numpy", "-q", module], testRunner=self)

    def wants(self, name):
        return not any(part in name for part in self.without) and (self.only is None or name in self.only)

    def run(self, tests):
        where = io.StringIO()
        tests = unittest.TestSuite(test for test in flat(tests) if self.wants(test.id()))
        names = {test.id() for test in flat(tests)}
        self.result = unittest.TextTestRunner(stream=where, verbosity=0, warnings="ignore").run(tests)
        self.text = where.getvalue()
        self.ran = names - {test.id() for test, _ in self.result.skipped}
        return self.result


class Comparison:
    """Of several MPIs: the tests that all of them run, once that is known."""

    def __init__(self, file):
        self.only = None
        if os.path.exists(file):
            with open(file) as names:
                self.only = set(names.read().split("\n"))


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


def main(*words):
    faulthandler.enable()
    MPI = library()
    rank = MPI.COMM_WORLD.Get_rank()
    comparison = None
    if words[0] == "--compare":
        comparison, words = Comparison(words[1]), words[2:]
        if rank == 0:
            print("suite: version", MPI.Get_library_version().splitlines()[0].rstrip("\0 "))
    tests, seconds, times, *modules = words
    sys.path.insert(0, tests)
    from main import main as program

    bad = 0
    for module in modules * int(times):
        with watched(float(seconds)):
            run = Run(program, module, comparison)
        result = run.result
        failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
        lines = [f"suite: {module} ran {result.testsRun} failed {failed} skipped {len(result.skipped)} rank {rank}"]
        if failed:
            bad = 1
            lines += [f"[{rank}] {line}" for line in run.text.splitlines()]
        if comparison and comparison.only is None and rank == 0:
            lines += [f"ran: {name}" for name in sorted(run.ran)]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    sys.exit(0 if comparison else bad)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(*sys.argv[1:])
