/* Figures for Prometheus, as OpenMetrics text. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

ZT__PRIVATE void zt__write_openmetrics(zt__document *document);
