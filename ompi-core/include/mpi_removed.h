/*
 * What MPI 3.0 removed (MPI 5.0 section 17), for programs that still use it: inline over the functions that replaced it,
 * so that the library exports nothing but the standard's symbols. mpi.h includes this file, unless
 * OMPI_OMIT_MPI1_COMPAT_DECLS is defined as something else than 0.
 */
#ifndef MPI_REMOVED_H
#define MPI_REMOVED_H

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__GNUC__)
#define OMPI_REMOVED(instead) static __inline__ __attribute__((unused, deprecated("MPI 3.0 removed it: use " instead)))
#else
#define OMPI_REMOVED(instead) static inline
#endif

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* No datatypes: only MPI_Type_struct knows them, everything else refuses them as MPI_ERR_TYPE. */
#define MPI_LB                         ((MPI_Datatype)(intptr_t)-2)
#define MPI_UB                         ((MPI_Datatype)(intptr_t)-3)

/* Of constructors with integers of Fortran; MPI_Type_get_envelope never returns them. */
enum {
    MPI_COMBINER_HVECTOR_INTEGER         = -105,
    MPI_COMBINER_HINDEXED_INTEGER        = -107,
    MPI_COMBINER_STRUCT_INTEGER          = -110
};

OMPI_REMOVED("MPI_Get_address")
int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

OMPI_REMOVED("MPI_Type_create_hindexed")
int MPI_Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

OMPI_REMOVED("MPI_Type_create_hvector")
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

OMPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

OMPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}

OMPI_REMOVED("MPI_Type_get_extent")
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb, extent;
    int code = MPI_Type_get_extent(datatype, &lb, &extent);
    if (code == MPI_SUCCESS)
        *displacement = lb + extent;
    return code;
}

OMPI_REMOVED("MPI_Comm_create_errhandler")
int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}

OMPI_REMOVED("MPI_Comm_get_errhandler")
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}

OMPI_REMOVED("MPI_Comm_set_errhandler")
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}

#if defined(__GNUC__)
#define OMPI_REMOVED_PART static __inline__ __attribute__((unused))
#else
#define OMPI_REMOVED_PART static inline
#endif

/* The bounds of `datatype` with one more byte at `displacement`. */
OMPI_REMOVED_PART
int ompi_removed_bounds_with(MPI_Datatype datatype, MPI_Aint displacement, MPI_Aint *lb, MPI_Aint *ub)
{
    int code, lengths[2] = {1, 1};
    MPI_Aint displacements[2] = {0, 0}, extent;
    MPI_Datatype types[2], wider;
    types[0] = datatype;
    types[1] = MPI_BYTE;
    displacements[1] = displacement;
    code = MPI_Type_create_struct(2, lengths, displacements, types, &wider);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_get_extent(wider, lb, &extent);
    *ub = *lb + extent;
    MPI_Type_free(&wider);
    return code;
}

/*
 * MPI 1.1 section 3.12.3: the lowest MPI_LB is the lower bound, the highest MPI_UB the upper one. A bound that a member
 * brings along, by MPI_Type_create_resized or by a marker of its own, counts as a marker: it is one if a byte beyond it
 * does not move it.
 */
OMPI_REMOVED_PART
int ompi_removed_set_bounds(int count, const int *blocklengths, const MPI_Aint *displacements, const MPI_Datatype *types,
    MPI_Datatype *newtype)
{
    MPI_Datatype plain = *newtype;
    MPI_Aint lb, ub, extent, low, high, lower = 0, upper = 0;
    int i, any_lb = 0, any_ub = 0, code = MPI_Type_get_extent(plain, &lb, &extent);
    ub = lb + extent;
    for (i = 0; i < count; i++) {
        if (blocklengths[i] > 0 && types[i] == MPI_LB) {
            lower = any_lb && lower < displacements[i] ? lower : displacements[i];
            any_lb = 1;
        } else if (blocklengths[i] > 0 && types[i] == MPI_UB) {
            MPI_Aint end = displacements[i];
            upper = any_ub && upper > end ? upper : end;
            any_ub = 1;
        }
    }
    if (code == MPI_SUCCESS && any_lb) {
        code = ompi_removed_bounds_with(plain, lb - 1, &low, &high);
        lb = code == MPI_SUCCESS && low == lb && lb < lower ? lb : lower;
    }
    if (code == MPI_SUCCESS && any_ub) {
        code = ompi_removed_bounds_with(plain, ub, &low, &high);
        ub = code == MPI_SUCCESS && high == ub && ub > upper ? ub : upper;
    }
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_resized(plain, lb, ub - lb, newtype);
    MPI_Type_free(&plain);
    return code;
}

OMPI_REMOVED("MPI_Type_create_struct, and MPI_Type_create_resized instead of MPI_LB and MPI_UB")
int MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types, MPI_Datatype *newtype)
{
    int i, markers = 0, code;
    void *room;
    MPI_Datatype *others;
    int *lengths;
    for (i = 0; i < count; i++)
        markers += types[i] == MPI_LB || types[i] == MPI_UB;
    if (markers == 0)
        return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
    code = MPI_Alloc_mem(count * (MPI_Aint)(sizeof *others + sizeof *lengths), MPI_INFO_NULL, &room);
    if (code != MPI_SUCCESS)
        return code;
    others = (MPI_Datatype *)room;
    lengths = (int *)(others + count);
    for (i = 0; i < count; i++) {
        int marker = types[i] == MPI_LB || types[i] == MPI_UB;
        others[i] = marker ? MPI_BYTE : types[i];
        lengths[i] = marker ? 0 : blocklengths[i];
    }
    code = MPI_Type_create_struct(count, lengths, displacements, others, newtype);
    MPI_Free_mem(room);
    if (code == MPI_SUCCESS)
        code = ompi_removed_set_bounds(count, blocklengths, displacements, types, newtype);
    return code;
}

#undef OMPI_REMOVED
#undef OMPI_REMOVED_PART

#if defined(__cplusplus)
}
#endif

#endif
