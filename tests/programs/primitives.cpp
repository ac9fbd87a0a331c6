// A program that computes with oneDNN on the processor, and does some other work on the device. It was not built with
// zetools.
#include "steps.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

int main() {
    using dnnl::memory;
    open_solver();
    run_steps(1);
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const memory::dim width = 8;
    const memory::desc shape({width, width}, memory::data_type::f32, memory::format_tag::ab);
    std::vector<float> ones(64, 1), twos(64, 2), sums(64);
    memory a(shape, engine, ones.data()), b(shape, engine, twos.data()), c(shape, engine, sums.data());
#if DNNL_VERSION_MAJOR < 3
    const dnnl::matmul::primitive_desc product({shape, shape, shape}, engine);
#else
    const dnnl::matmul::primitive_desc product(engine, shape, shape, shape);
#endif
    const dnnl::matmul multiply(product);
    for (int i = 0; i < 5; i++)
        multiply.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
    stream.wait();
    run_steps(1);
    stepper_close(solver);
    return sums[0] == 16 ? 0 : 8;
}
