// Prints a line, then is killed.
#include <csignal>
#include <iostream>

int main()
{
    std::cout << "printed before\n";
    std::raise(SIGKILL);
}
