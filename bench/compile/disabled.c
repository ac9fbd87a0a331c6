/* Compiled twice: with regions and ZETOOLS_DISABLE, and with PLAIN, which has none. The code has to be the
 * same. */
#ifdef PLAIN
#define ZT_REGION(profiler, list, name)
#define ZT_SCOPE(profiler, list, name)
#else
#define ZETOOLS_DISABLE
#define ZETOOLS_IMPLEMENTATION
#include "zetools.h"
#endif

void launch(void *list, int kernel);
int work(void *context, void *device, void *list, int count);

int work(void *context, void *device, void *list, int count) {
    int sum = 0;
#ifndef PLAIN
    zt_config config = {0};
    zt_profiler *profiler;
    config.groups = "ComputeBasic";
    zt_open(context, device, &config, &profiler);
#else
    (void)context, (void)device;
#endif
    for (int i = 0; i < count; i++) {
        ZT_SCOPE(profiler, list, "step");
        ZT_REGION(profiler, list, "launch") {
            launch(list, i);
            sum += i;
        }
    }
#ifndef PLAIN
    zt_region region = zt_begin(profiler, list, "tail");
    zt_end(&region);
    zt_collect(profiler, 0);
    zt_report(profiler, "-");
    zt_close(profiler);
#endif
    return sum;
}
