# MUMPS in double precision with its own ordering. ScaLAPACK, which Debian has for other MPIs alone, would factorise the last front
# in parallel; in its place stand the routines that MUMPS brings for programs without it. They stop a program that calls them.
awk '/^C     BLACS/ { found = 1 } found' libseq/mpi.f > libseq/absent.f
mpif90 -O0 -w -c libseq/absent.f -o libseq/absent.o
rm -f libseq/absent.a examples/dsimpletest
ar rcs libseq/absent.a libseq/absent.o
cat > Makefile.inc <<'END'
LPORDDIR = $(topdir)/PORD/lib/
IPORD = -I$(topdir)/PORD/include/
LPORD = -L$(LPORDDIR) -lpord
ORDERINGSF = -Dpord
ORDERINGSC = $(ORDERINGSF)
LORDERINGS = $(LPORD)
IORDERINGSF =
IORDERINGSC = $(IPORD)
PLAT =
LIBEXT = .a
LIBEXT_SHARED = .so
OUTC = -o #
OUTF = -o #
RM = rm -f
CC = mpicc
FC = mpif90
FL = mpif90
AR = ar crs #
RANLIB = ranlib
LIBPAR = $(topdir)/libseq/absent.a
LIBBLAS = -lopenblas
LIBOTHERS = -lpthread
CDEFS = -DAdd_
OPTF = -O0 -w -fallow-argument-mismatch
OPTL = -O0
OPTC = -O0 -w
INCS =
LIBS = $(LIBPAR)
LIBSEQNEEDED =
END
make -s -j2 d
