/* run.html: a page that shows the document of run.json. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/facts.h"

/* Returns the page, in strings of several lines each, which src/join.py writes at the end of the header. The document
   of ZT_FORMAT_JSON replaces the string "@DATA@\n"; nothing is loaded from elsewhere. NULL with ZETOOLS_NO_PAGE. */
ZT__PRIVATE const char *const *zt__get_page(uint32_t *count);

ZT__PRIVATE void zt__write_html(zt__document *document);
