#ifdef WITH_HEADER
#include "zetools.h"
#else
#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>
#endif
int main(void) {
    return 0;
}
