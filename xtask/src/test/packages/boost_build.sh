# Headers of its libraries in one folder, as its own build has them.
[ -d include ] || { for folder in libs/*/include libs/numeric/*/include; do cp -rlf "$folder/." including; done; mv including include; }
mkdir -p objects programs
compile() { xargs -P 2 -I '{}' sh -e -c "$1"; }
ls libs/serialization/src/*.cpp libs/mpi/src/*.cpp | grep -v -e xml -e _w -e wide -e wpoly -e python |
    compile 'to=objects/$(basename {} .cpp).o; [ -e $to ] || mpicxx -std=c++14 -O1 -w -Iinclude -c {} -o $to'
ar rcs objects/libboost_mpi.a objects/*.o
ls libs/mpi/test/*.cpp libs/mpi/example/random_gather.cpp libs/mpi/example/random_scatter.cpp libs/mpi/example/cartesian_communicator.cpp |
    grep -v -e debugger -e version_test |
    compile 'to=programs/$(basename {} .cpp); [ -e $to ] || mpicxx -std=c++14 -O1 -w -Iinclude {} libs/mpi/test/debugger.cpp objects/libboost_mpi.a -o $to'
