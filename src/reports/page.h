/* The page that run.html is. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* The lines of the page, which stand at the end of the header. The document of ZT_FORMAT_JSON replaces the line @DATA@. */
ZT__PRIVATE const char *const *zt__get_page(uint32_t *count);

ZT__PRIVATE void zt__write_html(zt__document *document);
