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

/*
 * MPI 1.1 section 3.12.3: the lowest MPI_LB is the lower bound, the highest MPI_UB the upper one. Only MPI_Type_struct and
 * MPI_Type_create_struct know them, everything else refuses them as MPI_ERR_TYPE.
 */
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

OMPI_REMOVED("MPI_Type_create_struct, and MPI_Type_create_resized instead of MPI_LB and MPI_UB")
int MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types, MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}

#undef OMPI_REMOVED

#if defined(__cplusplus)
}
#endif

#endif
