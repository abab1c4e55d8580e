! Types that the modules mpi and mpi_f08 share. MPI 5.0 sections 2.5.2, 3.2.5 and 19.1.2. An MPI_VAL is the INTEGER of module mpi.
module ompi_types
  implicit none
  private

  type, bind(C), public :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm
  type, bind(C), public :: MPI_Datatype
    integer :: MPI_VAL
  end type MPI_Datatype
  type, bind(C), public :: MPI_Errhandler
    integer :: MPI_VAL
  end type MPI_Errhandler
  type, bind(C), public :: MPI_File
    integer :: MPI_VAL
  end type MPI_File
  type, bind(C), public :: MPI_Group
    integer :: MPI_VAL
  end type MPI_Group
  type, bind(C), public :: MPI_Info
    integer :: MPI_VAL
  end type MPI_Info
  type, bind(C), public :: MPI_Message
    integer :: MPI_VAL
  end type MPI_Message
  type, bind(C), public :: MPI_Op
    integer :: MPI_VAL
  end type MPI_Op
  type, bind(C), public :: MPI_Request
    integer :: MPI_VAL
  end type MPI_Request
  type, bind(C), public :: MPI_Session
    integer :: MPI_VAL
  end type MPI_Session
  type, bind(C), public :: MPI_Win
    integer :: MPI_VAL
  end type MPI_Win
  type, bind(C), public :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type MPI_Status

  public :: operator(==), operator(/=)

  interface operator(==)
    pure logical function ompi_comm_eq(a, b)
      import
      type(MPI_Comm), intent(in) :: a, b
    end function ompi_comm_eq
    pure logical function ompi_datatype_eq(a, b)
      import
      type(MPI_Datatype), intent(in) :: a, b
    end function ompi_datatype_eq
    pure logical function ompi_errhandler_eq(a, b)
      import
      type(MPI_Errhandler), intent(in) :: a, b
    end function ompi_errhandler_eq
    pure logical function ompi_file_eq(a, b)
      import
      type(MPI_File), intent(in) :: a, b
    end function ompi_file_eq
    pure logical function ompi_group_eq(a, b)
      import
      type(MPI_Group), intent(in) :: a, b
    end function ompi_group_eq
    pure logical function ompi_info_eq(a, b)
      import
      type(MPI_Info), intent(in) :: a, b
    end function ompi_info_eq
    pure logical function ompi_message_eq(a, b)
      import
      type(MPI_Message), intent(in) :: a, b
    end function ompi_message_eq
    pure logical function ompi_op_eq(a, b)
      import
      type(MPI_Op), intent(in) :: a, b
    end function ompi_op_eq
    pure logical function ompi_request_eq(a, b)
      import
      type(MPI_Request), intent(in) :: a, b
    end function ompi_request_eq
    pure logical function ompi_session_eq(a, b)
      import
      type(MPI_Session), intent(in) :: a, b
    end function ompi_session_eq
    pure logical function ompi_win_eq(a, b)
      import
      type(MPI_Win), intent(in) :: a, b
    end function ompi_win_eq
  end interface operator(==)

  interface operator(/=)
    pure logical function ompi_comm_ne(a, b)
      import
      type(MPI_Comm), intent(in) :: a, b
    end function ompi_comm_ne
    pure logical function ompi_datatype_ne(a, b)
      import
      type(MPI_Datatype), intent(in) :: a, b
    end function ompi_datatype_ne
    pure logical function ompi_errhandler_ne(a, b)
      import
      type(MPI_Errhandler), intent(in) :: a, b
    end function ompi_errhandler_ne
    pure logical function ompi_file_ne(a, b)
      import
      type(MPI_File), intent(in) :: a, b
    end function ompi_file_ne
    pure logical function ompi_group_ne(a, b)
      import
      type(MPI_Group), intent(in) :: a, b
    end function ompi_group_ne
    pure logical function ompi_info_ne(a, b)
      import
      type(MPI_Info), intent(in) :: a, b
    end function ompi_info_ne
    pure logical function ompi_message_ne(a, b)
      import
      type(MPI_Message), intent(in) :: a, b
    end function ompi_message_ne
    pure logical function ompi_op_ne(a, b)
      import
      type(MPI_Op), intent(in) :: a, b
    end function ompi_op_ne
    pure logical function ompi_request_ne(a, b)
      import
      type(MPI_Request), intent(in) :: a, b
    end function ompi_request_ne
    pure logical function ompi_session_ne(a, b)
      import
      type(MPI_Session), intent(in) :: a, b
    end function ompi_session_ne
    pure logical function ompi_win_ne(a, b)
      import
      type(MPI_Win), intent(in) :: a, b
    end function ompi_win_ne
  end interface operator(/=)
end module ompi_types
