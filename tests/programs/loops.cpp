// A program that computes with Kokkos on the processor, and does some other work on the device in a region. It was not
// built with zetools.
#include "steps.h"

#include <Kokkos_Core.hpp>

static int compute() {
    const int count = 100;
    Kokkos::View<double *> values("values", count);
    auto mirror = Kokkos::create_mirror(values);
    double sum = 0;
    Kokkos::Profiling::pushRegion("time step");
    Kokkos::parallel_for(
        "fill", count, KOKKOS_LAMBDA(int i) { values(i) = i; });
    run_steps(1);
    Kokkos::parallel_reduce(
        "sum up", count, KOKKOS_LAMBDA(int i, double &part) { part += values(i); }, sum);
    Kokkos::deep_copy(mirror, values);
    Kokkos::fence();
    Kokkos::Profiling::popRegion();
    return sum == 4950 && mirror(99) == 99 ? 0 : 8;
}

int main(int argc, char **argv) {
    Kokkos::initialize(argc, argv);
    open_solver();
    const int status = compute();
    stepper_close(solver);
    Kokkos::finalize();
    return status;
}
