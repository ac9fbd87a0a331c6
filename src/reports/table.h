/* The table of regions. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

ZT__PRIVATE void zt__write_region_table(zt__document *document);
