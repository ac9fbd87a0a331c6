/* A translation unit that only includes the header. */
#include "zetools.h"
