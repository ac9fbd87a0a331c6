/* A program that computes with Debian's oneDNN, on the processor, and does some other work on the device. */
#include "steps.h"

#include <oneapi/dnnl/dnnl.h>

enum { WIDTH = 8 };

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        if ((call) != dnnl_success)                                                                          \
            return 6;                                                                                        \
    } while (0)

static float a[WIDTH * WIDTH], b[WIDTH * WIDTH], c[WIDTH * WIDTH];

/* c = a b */
static int multiply(dnnl_engine_t engine, dnnl_stream_t stream, int count) {
    const dnnl_dims_t sizes = {WIDTH, WIDTH};
    dnnl_memory_desc_t memory;
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[3] = {{DNNL_ARG_SRC, NULL}, {DNNL_ARG_WEIGHTS, NULL}, {DNNL_ARG_DST, NULL}};
    float *places[] = {a, b, c};
    TRY(dnnl_memory_desc_init_by_tag(&memory, 2, sizes, dnnl_f32, dnnl_ab));
    TRY(dnnl_matmul_desc_init(&matmul, &memory, &memory, NULL, &memory));
    TRY(dnnl_primitive_desc_create(&description, &matmul, NULL, engine, NULL));
    TRY(dnnl_primitive_create(&primitive, description));
    for (int i = 0; i < 3; i++)
        TRY(dnnl_memory_create(&arguments[i].memory, &memory, engine, places[i]));
    for (int i = 0; i < count; i++)
        TRY(dnnl_primitive_execute(primitive, stream, 3, arguments));
    TRY(dnnl_stream_wait(stream));
    for (int i = 0; i < 3; i++)
        TRY(dnnl_memory_destroy(arguments[i].memory));
    TRY(dnnl_primitive_destroy(primitive));
    TRY(dnnl_primitive_desc_destroy(description));
    return 0;
}

int main(void) {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    int status;
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        a[i] = 1;
        b[i] = 2;
    }
    open_solver();
    run_steps(1);
    TRY(dnnl_engine_create(&engine, dnnl_cpu, 0));
    TRY(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    status = multiply(engine, stream, 5);
    run_steps(1);
    TRY(dnnl_stream_destroy(stream));
    TRY(dnnl_engine_destroy(engine));
    stepper_close(solver);
    return status ? status : c[0] == 2 * WIDTH ? 0 : 8;
}
