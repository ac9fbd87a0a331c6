// Regions in C++: closed when their scope is left, also by an exception. Every other attempt below throws in
// the middle of its regions, and still none is left open.
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"

#include "example.h"

#include <iostream>
#include <memory>
#include <stdexcept>

namespace {

const int attempts = 100;
const uint32_t elements = 1 << 16, group_size = 256;

struct ProfilerCloser {
    void operator()(zt_profiler *profiler) const { zt_close(profiler); }
};
using Profiler = std::unique_ptr<zt_profiler, ProfilerCloser>;

// y += x
class Saxpy {
  public:
    explicit Saxpy(const gpu &on)
        : device(on), code(program_load(&on, "saxpy")), x(gpu_floats(&on, elements)),
          y(gpu_floats(&on, elements)) {
        const float factor = 1;
        for (uint32_t i = 0; i < elements; i++) {
            x[i] = static_cast<float>(i % 5);
            y[i] = 0;
        }
        SET_ARGUMENT(code.kernel, 0, y);
        SET_ARGUMENT(code.kernel, 1, x);
        SET_ARGUMENT(code.kernel, 2, factor);
        SET_ARGUMENT(code.kernel, 3, elements);
        CHECK(zeKernelSetGroupSize(code.kernel, group_size, 1, 1));
    }
    ~Saxpy() {
        zeMemFree(device.context, x);
        zeMemFree(device.context, y);
        program_unload(&code);
    }
    Saxpy(const Saxpy &) = delete;
    Saxpy &operator=(const Saxpy &) = delete;

    void launch(ze_command_list_handle_t list) const {
        const ze_group_count_t groups = {elements / group_size, 1, 1};
        CHECK(zeCommandListAppendLaunchKernel(list, code.kernel, &groups, nullptr, 0, nullptr));
        CHECK(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    }
    bool ran(int times) const {
        for (uint32_t i = 0; i < elements; i++)
            if (y[i] != static_cast<float>(times) * x[i])
                return false;
        return true;
    }

  private:
    const gpu &device;
    program code;
    float *x, *y;
};

// A region of the whole function, and one of a statement in it.
void attempt(zt_profiler *profiler, ze_command_list_handle_t list, const Saxpy &saxpy, bool fails) {
    ZT_SCOPE(profiler, list, "attempt");
    ZT_REGION(profiler, list, fails ? "fails" : "succeeds") {
        saxpy.launch(list);
        if (fails)
            throw std::runtime_error("thrown inside a region");
    }
}

bool are_all_closed(const zt_profiler *profiler) {
    const zt_counts counts = zt_get_info(profiler).counts;
    const uint64_t left_open = zt_get_info(profiler).causes[ZT_DROPPED_NOT_CLOSED].count;
    std::cout << counts.begun << " regions begun, " << counts.collected << " collected, " << left_open
              << " left open\n";
    return left_open == 0 && counts.in_flight == 0;
}

} // namespace

int main(int, char **argv) {
    gpu g = gpu_open(argv[0]);
    immediate work = immediate_open(&g);
    bool right, closed;
    {
        const Saxpy saxpy(g);
        const Profiler profiler(profiler_open(&g, nullptr));
        for (int i = 0; i < attempts; i++) {
            try {
                attempt(profiler.get(), work.list, saxpy, i % 2 == 1);
            } catch (const std::runtime_error &) {
                // the application's own affair; the regions are closed
            }
            immediate_wait(&work);
            zt_collect(profiler.get(), 0);
        }
        zt_collect(profiler.get(), TIMEOUT_NS);
        right = saxpy.ran(attempts);
        closed = are_all_closed(profiler.get());
        std::cout << "results: " << (right ? "right" : "WRONG") << "\n\n" << std::flush;
        zt_report(profiler.get(), "-");
        zt_release(profiler.get(), work.list);
    }
    immediate_close(&work);
    gpu_close(&g);
    return right && closed ? EXIT_SUCCESS : EXIT_FAILURE;
}
