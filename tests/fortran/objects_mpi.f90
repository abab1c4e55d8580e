! ranks: 1 2 4
! Datatypes, topologies, groups, windows, buffers and files through module mpi.
program main
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ierr, rank, size, i, n

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call datatypes()
  call topologies()
  call groups()
  call windows()
  call buffers()
  call files()
  call MPI_Finalize(ierr)

contains

  subroutine datatypes()
    integer :: matrix(4, 6), column(6), row, struct, types(2), lengths(2), status(MPI_STATUS_SIZE), combiner, na, ni, nd
    integer :: integers(10), contents(4), position
    integer(kind=MPI_ADDRESS_KIND) :: places(2), addresses(1), lb, extent
    type :: pair
      sequence
      double precision :: x
      integer :: k
    end type pair
    type(pair) :: mine, other
    character(len=64) :: packed
    matrix = reshape([(i, i = 1, 24)], [4, 6])
    call MPI_Type_vector(6, 1, 4, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    call MPI_Sendrecv(matrix(2, 1), 1, row, rank, 1, column, 6, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, status, ierr)
    call check(all(column == [(4 * i - 2, i = 1, 6)]), 1)
    call MPI_Type_get_envelope(row, ni, na, nd, combiner, ierr)
    call check(combiner == MPI_COMBINER_VECTOR .and. ni == 3 .and. nd == 1, 2)
    call MPI_Type_get_contents(row, ni, na, nd, integers, addresses, contents, ierr)
    call check(integers(1) == 6 .and. integers(3) == 4 .and. contents(1) == MPI_INTEGER, 3)
    call MPI_Type_free(row, ierr)
    call check(row == MPI_DATATYPE_NULL, 4)
    call MPI_Get_address(mine%x, places(1), ierr)
    call MPI_Get_address(mine%k, places(2), ierr)
    places(2) = MPI_Aint_diff(places(2), places(1))
    call check(places(2) == 8, 5)
    call check(MPI_Aint_add(places(1), 8_MPI_ADDRESS_KIND) == places(1) + 8, 6)
    ! With absolute addresses and MPI_BOTTOM.
    places(2) = places(1) + places(2)
    types = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
    lengths = 1
    call MPI_Type_create_struct(2, lengths, places, types, struct, ierr)
    call MPI_Type_commit(struct, ierr)
    mine = pair(1.5d0, rank)
    ! The compiler cannot know that the calls use it.
    call MPI_F_sync_reg(mine)
    position = 0
    call MPI_Pack(MPI_BOTTOM, 1, struct, packed, 64, position, MPI_COMM_WORLD, ierr)
    call check(position == 12, 7)
    other = mine
    mine = pair(0, 0)
    call MPI_F_sync_reg(mine)
    position = 0
    call MPI_Unpack(packed, 64, position, MPI_BOTTOM, 1, struct, MPI_COMM_WORLD, ierr)
    call MPI_F_sync_reg(mine)
    call check(mine%x == other%x .and. mine%k == other%k, 8)
    call MPI_Type_get_extent(struct, lb, extent, ierr)
    call check(extent == 16, 9)
    call MPI_Type_free(struct, ierr)
    call MPI_Type_create_f90_real(15, 300, n, ierr)
    call MPI_Type_size(n, ni, ierr)
    call check(ni == 8, 10)
    call MPI_Sizeof(mine%k, n, ierr)
    call check(n == 4, 11)
  end subroutine datatypes

  subroutine topologies()
    integer :: cart, dims(2), coords(2), from, to, graph, sources(1), degrees(1), destinations(1), weights(1), nin, nout
    logical :: periods(2), weighted, found(2)
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierr)
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierr)
    call MPI_Cart_get(cart, 2, dims, found, coords, ierr)
    call check(found(1) .and. .not. found(2), 20)
    call MPI_Cart_shift(cart, 0, 1, from, to, ierr)
    call check(from >= 0 .and. to >= 0, 21)
    call MPI_Comm_free(cart, ierr)
    sources = rank
    degrees = 1
    destinations = mod(rank + 1, size)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, degrees, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
      graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, nin, nout, weighted, ierr)
    call check(nin == 1 .and. nout == 1 .and. .not. weighted, 22)
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED, ierr)
    call check(sources(1) == mod(rank + size - 1, size), 23)
    call MPI_Comm_free(graph, ierr)
    weights = 5
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, destinations, weights, MPI_INFO_NULL, .false., &
      graph, ierr)
    call MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, destinations, degrees, ierr)
    call check(weights(1) == 5 .and. degrees(1) == 5, 24)
    block
      integer :: sent(1), received(1), counts(1), types(1)
      integer(kind=MPI_ADDRESS_KIND) :: displs(1)
      sent = rank
      counts = 1
      types = MPI_INTEGER
      displs = 0
      call MPI_Neighbor_alltoallw(sent, counts, displs, types, received, counts, displs, types, graph, ierr)
      call check(received(1) == mod(rank + size - 1, size), 25)
    end block
    call MPI_Comm_free(graph, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, destinations, MPI_WEIGHTS_EMPTY, &
      MPI_INFO_NULL, .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, nin, nout, weighted, ierr)
    call check(nin == 0 .and. weighted, 26)
    call MPI_Comm_free(graph, ierr)
  end subroutine topologies

  subroutine groups()
    integer :: group, other, ranges(3, 1), translated(1)
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierr)
    ranges(:, 1) = [size - 1, 0, -1]
    call MPI_Group_range_incl(group, 1, ranges, other, ierr)
    call MPI_Group_translate_ranks(group, 1, [0], other, translated, ierr)
    call check(translated(1) == size - 1, 30)
    call MPI_Group_compare(group, other, n, ierr)
    call check(n == merge(MPI_IDENT, MPI_SIMILAR, size == 1), 31)
    call MPI_Group_free(group, ierr)
    call MPI_Group_free(other, ierr)
    call check(group == MPI_GROUP_NULL, 32)
  end subroutine groups

  subroutine windows()
    integer :: win, got
    integer(kind=MPI_ADDRESS_KIND) :: base, bytes
    type(c_ptr) :: place
    integer, pointer :: memory(:)
    logical :: flag
    call MPI_Win_allocate(40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, place, win, ierr)
    call c_f_pointer(place, memory, [10])
    memory = rank
    call MPI_Win_fence(0, win, ierr)
    call MPI_Get(got, 1, MPI_INTEGER, mod(rank + 1, size), 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call check(got == mod(rank + 1, size), 40)
    call MPI_Accumulate(1, 1, MPI_INTEGER, 0, 9_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    if (rank == 0) call check(memory(10) == size, 41)
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag, ierr)
    call check(flag .and. bytes == 40, 42)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, bytes, flag, ierr)
    call check(flag .and. bytes == 4, 43)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, base, flag, ierr)
    call check(flag .and. base == transfer(place, base), 44)
    call MPI_Win_free(win, ierr)
    call check(win == MPI_WIN_NULL, 45)
  end subroutine windows

  subroutine buffers()
    integer :: attached(MPI_BSEND_OVERHEAD), bytes, got, unused
    call MPI_Buffer_attach(attached, 4 * MPI_BSEND_OVERHEAD, ierr)
    call MPI_Bsend(rank, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Buffer_detach(unused, bytes, ierr)
    call check(got == rank .and. bytes == 4 * MPI_BSEND_OVERHEAD, 50)
  end subroutine buffers

  subroutine files()
    integer :: file, mode, got, status(MPI_STATUS_SIZE), etype, filetype
    integer(kind=MPI_OFFSET_KIND) :: bytes, offset
    character(len=40) :: name, datarep
    write (name, '(a,i0)') '/tmp/ompi-rs-fortran-', size
    call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, MPI_MODE_DELETE_ON_CLOSE)), MPI_INFO_NULL, &
      file, ierr)
    call check(ierr == MPI_SUCCESS, 60)
    offset = 4 * rank
    call MPI_File_write_at_all(file, offset, rank + 100, 1, MPI_INTEGER, status, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_get_size(file, bytes, ierr)
    call check(bytes == 4 * size, 61)
    offset = 4 * (size - 1)
    call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_get_view(file, bytes, etype, filetype, datarep, ierr)
    call check(bytes == offset .and. etype == MPI_INTEGER .and. datarep == 'native', 62)
    call MPI_File_read_at(file, 0_MPI_OFFSET_KIND, got, 1, MPI_INTEGER, status, ierr)
    call check(got == size + 99, 63)
    call MPI_File_get_amode(file, mode, ierr)
    call check(iand(mode, MPI_MODE_RDWR) /= 0, 64)
    call MPI_File_close(file, ierr)
    call check(file == MPI_FILE_NULL, 65)
    call MPI_File_open(MPI_COMM_SELF, '/no/such/place', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
    call check(ierr /= MPI_SUCCESS, 66)
  end subroutine files

  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    print *, 'check', number, 'failed'
    stop 1
  end subroutine check
end program main
