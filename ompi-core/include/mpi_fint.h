/*
 * Handles and statuses of Fortran in C, MPI 5.0 sections 19.3.4 and 19.3.5: inline over the functions of the standard ABI
 * (section 20.4), which has no MPI_Fint. An INTEGER of Fortran is an int here. mpi.h includes this file, unless
 * OMPI_OMIT_FINT_DECLS is defined as something else than 0, or MPI_Fint is a macro: programs that were made for the plain
 * ABI are compiled with -DMPI_Fint=int.
 */
#ifndef MPI_FINT_H
#define MPI_FINT_H

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__GNUC__)
#define OMPI_FINT static __inline__ __attribute__((unused))
#else
#define OMPI_FINT static inline
#endif

typedef int MPI_Fint;

/* TYPE(MPI_Status) of module mpi_f08: the same integers. */
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

/*
 * Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE stand in a common block of each program that names them, and of
 * libmpi_abi_fortran. Without either the address is null, which no Fortran program passes.
 */
#if defined(__GNUC__)
extern MPI_Fint mpi_fortran_sentinels_[] __attribute__((weak));
#define OMPI_FINT_SENTINELS mpi_fortran_sentinels_
#else
#define OMPI_FINT_SENTINELS ((MPI_Fint *)0)
#endif

OMPI_FINT MPI_Fint *ompi_fint_sentinel(int at)
{
    MPI_Fint *block = OMPI_FINT_SENTINELS;
    return block == 0 ? 0 : block + at;
}

#define MPI_F_STATUS_IGNORE            (ompi_fint_sentinel(3))
#define MPI_F_STATUSES_IGNORE          (ompi_fint_sentinel(11))
#define MPI_F08_STATUS_IGNORE          ((MPI_F08_status *)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE        ((MPI_F08_status *)MPI_F_STATUSES_IGNORE)

OMPI_FINT MPI_Fint MPI_Comm_c2f(MPI_Comm comm)
{
    return MPI_Comm_toint(comm);
}

OMPI_FINT MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    return MPI_Comm_fromint(comm);
}

OMPI_FINT MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler)
{
    return MPI_Errhandler_toint(errhandler);
}

OMPI_FINT MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler)
{
    return MPI_Errhandler_fromint(errhandler);
}

OMPI_FINT MPI_Fint MPI_File_c2f(MPI_File file)
{
    return MPI_File_toint(file);
}

OMPI_FINT MPI_File MPI_File_f2c(MPI_Fint file)
{
    return MPI_File_fromint(file);
}

OMPI_FINT MPI_Fint MPI_Group_c2f(MPI_Group group)
{
    return MPI_Group_toint(group);
}

OMPI_FINT MPI_Group MPI_Group_f2c(MPI_Fint group)
{
    return MPI_Group_fromint(group);
}

OMPI_FINT MPI_Fint MPI_Info_c2f(MPI_Info info)
{
    return MPI_Info_toint(info);
}

OMPI_FINT MPI_Info MPI_Info_f2c(MPI_Fint info)
{
    return MPI_Info_fromint(info);
}

OMPI_FINT MPI_Fint MPI_Message_c2f(MPI_Message message)
{
    return MPI_Message_toint(message);
}

OMPI_FINT MPI_Message MPI_Message_f2c(MPI_Fint message)
{
    return MPI_Message_fromint(message);
}

OMPI_FINT MPI_Fint MPI_Op_c2f(MPI_Op op)
{
    return MPI_Op_toint(op);
}

OMPI_FINT MPI_Op MPI_Op_f2c(MPI_Fint op)
{
    return MPI_Op_fromint(op);
}

OMPI_FINT MPI_Fint MPI_Request_c2f(MPI_Request request)
{
    return MPI_Request_toint(request);
}

OMPI_FINT MPI_Request MPI_Request_f2c(MPI_Fint request)
{
    return MPI_Request_fromint(request);
}

OMPI_FINT MPI_Fint MPI_Session_c2f(MPI_Session session)
{
    return MPI_Session_toint(session);
}

OMPI_FINT MPI_Session MPI_Session_f2c(MPI_Fint session)
{
    return MPI_Session_fromint(session);
}

OMPI_FINT MPI_Fint MPI_Type_c2f(MPI_Datatype datatype)
{
    return MPI_Type_toint(datatype);
}

OMPI_FINT MPI_Datatype MPI_Type_f2c(MPI_Fint datatype)
{
    return MPI_Type_fromint(datatype);
}

OMPI_FINT MPI_Fint MPI_Win_c2f(MPI_Win win)
{
    return MPI_Win_toint(win);
}

OMPI_FINT MPI_Win MPI_Win_f2c(MPI_Fint win)
{
    return MPI_Win_fromint(win);
}

/* Copies one status. A status to be ignored has nothing to copy, which is an erroneous call (MPI 5.0 section 19.3.5). */
OMPI_FINT int ompi_fint_copy(const void *from, void *to)
{
    int i;
    if (from == NULL || from == MPI_F_STATUS_IGNORE || from == MPI_F_STATUSES_IGNORE || to == NULL ||
        to == MPI_F_STATUS_IGNORE || to == MPI_F_STATUSES_IGNORE) {
        MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_ARG);
        return MPI_ERR_ARG;
    }
    for (i = 0; i < MPI_F_STATUS_SIZE; i++)
        ((MPI_Fint *)to)[i] = ((const MPI_Fint *)from)[i];
    return MPI_SUCCESS;
}

OMPI_FINT int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    return ompi_fint_copy(c_status, f_status);
}

OMPI_FINT int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    return ompi_fint_copy(f_status, c_status);
}

OMPI_FINT int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return ompi_fint_copy(c_status, f08_status);
}

OMPI_FINT int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return ompi_fint_copy(f08_status, c_status);
}

OMPI_FINT int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return ompi_fint_copy(f_status, f08_status);
}

OMPI_FINT int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return ompi_fint_copy(f08_status, f_status);
}

#undef OMPI_FINT

#if defined(__cplusplus)
}
#endif

#endif
