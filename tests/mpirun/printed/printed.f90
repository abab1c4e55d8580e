! Prints a line, then is killed.
program printed
    use iso_c_binding
    implicit none
    interface
        integer(c_int) function c_raise(number) bind(c, name='raise')
            import :: c_int
            integer(c_int), value :: number
        end function
    end interface
    integer(c_int) :: outcome
    print '(a)', 'printed before'
    outcome = c_raise(9_c_int)
end program
