// oneDNN names its primitives for ITT, so they are phases without a name in the code. This program has two lines of its own
// for that: zt_trace_start, and the phase around them. Run it with libzt_auto.so as the collector of ITT:
//
//     make preload build/examples/onednn
//     INTEL_LIBITTNOTIFY64=$PWD/build/libzt_auto.so ONEDNN_ITT_TASK_LEVEL=1 build/examples/onednn
//
// or `make run-onednn`. A program that was not built with zetools needs LD_PRELOAD of the same file, as well. Debian's
// oneDNN computes on the processor: there, phases have host times. With an engine of a GPU, its kernels are inside them.
#define ZETOOLS_IMPLEMENTATION
#define ZETOOLS_TRACER
#include "zetools.h"

#include "example.h"

#include <iostream>
#include <oneapi/dnnl/dnnl.hpp>

namespace {

const dnnl::memory::dim width = 64;

// c = max(a b, 0), several times
void infer(const dnnl::engine &engine, dnnl::stream &stream) {
    using dnnl::memory;
    const memory::desc shape({width, width}, memory::data_type::f32, memory::format_tag::ab);
    memory a(shape, engine), b(shape, engine), c(shape, engine);
#if DNNL_VERSION_MAJOR < 3
    const dnnl::matmul::primitive_desc product({shape, shape, shape}, engine);
    const dnnl::eltwise_forward::primitive_desc positive(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, shape, 0, 0}, engine);
#else
    const dnnl::matmul::primitive_desc product(engine, shape, shape, shape);
    const dnnl::eltwise_forward::primitive_desc positive(engine, dnnl::prop_kind::forward_inference,
                                                         dnnl::algorithm::eltwise_relu, shape, shape);
#endif
    const dnnl::matmul multiply(product);
    const dnnl::eltwise_forward clip(positive);
    for (int layer = 0; layer < 10; layer++) {
        multiply.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
        clip.execute(stream, {{DNNL_ARG_SRC, c}, {DNNL_ARG_DST, c}});
    }
    stream.wait();
}

} // namespace

int main(int, char **argv) {
    gpu device = gpu_open(argv[0]);
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    zt_profiler *profiler;

    zt_open(device.context, device.device, nullptr, &profiler);
    zt_trace_start(profiler, nullptr);
    ZT_PHASE("infer") {
        infer(engine, stream);
    }
    if (zt_find_path(profiler, "infer;matmul") == UINT32_MAX)
        std::cout << "INTEL_LIBITTNOTIFY64 does not name libzt_auto.so: the primitives have no names.\n";
    zt_trace_stop(profiler);
    zt_report(profiler, "-");
    zt_close(profiler);
    gpu_close(&device);
    return EXIT_SUCCESS;
}
