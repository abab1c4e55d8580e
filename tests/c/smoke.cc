// covers: MPI_Init MPI_Allreduce MPI_Sendrecv MPI_Finalize
/*
 * The C interface from C++ (MPI 5.0 section 19.3: there are no C++ bindings any more): the header must compile as C++11,
 * its functions have C linkage, handles work in containers, and an exception may cross the program's own frames.
 */
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

class World {
  public:
    World(int *argc, char ***argv) { MPI_Init(argc, argv); }
    ~World() { MPI_Finalize(); }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    int rank() const
    {
        int r = -1;
        MPI_Comm_rank(MPI_COMM_WORLD, &r);
        return r;
    }
    int size() const
    {
        int n = -1;
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        return n;
    }
};

extern "C" void keep_larger(void *in, void *inout, int *length, MPI_Datatype *)
{
    const double *x = static_cast<const double *>(in);
    double *y = static_cast<double *>(inout);
    for (int i = 0; i < *length; ++i)
        y[i] = x[i] > y[i] ? x[i] : y[i];
}

void expect(bool right, const char *what)
{
    if (!right)
        throw std::runtime_error(what);
}

void run(const World &world)
{
    const int rank = world.rank(), size = world.size();
    std::vector<double> mine(1000), sum(1000), most(1000);
    std::iota(mine.begin(), mine.end(), rank);
    MPI_Allreduce(mine.data(), sum.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; ++i)
        expect(sum[i] == size * i + size * (size - 1) / 2, "MPI_Allreduce with MPI_SUM");

    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(keep_larger, 1, &op);
    MPI_Allreduce(mine.data(), most.data(), 1000, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    for (int i = 0; i < 1000; ++i)
        expect(most[i] == i + size - 1, "MPI_Allreduce with an operation of the program");

    int got = -1;
    MPI_Status status;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    expect(got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 5, "MPI_Sendrecv");

    std::vector<MPI_Comm> comms(3, MPI_COMM_NULL);
    for (MPI_Comm &c : comms)
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (MPI_Comm &c : comms)
        MPI_Comm_free(&c);
    expect(comms == std::vector<MPI_Comm>(3, MPI_COMM_NULL), "MPI_Comm_free");
}

} // namespace

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int rank = world.rank();
    try {
        run(world);
    } catch (const std::exception &e) {
        std::printf("FAIL smoke rank %d: %s\n", rank, e.what());
        return 1;
    }
    if (rank == 0)
        std::printf("ok smoke\n");
    return 0;
}
