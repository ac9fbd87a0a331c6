/* The timeline of a page: what ran on each queue, and the phases that it was submitted in. */

#pragma once

#include "base/compiler.h"
#include "reports/facts.h"

/* Writes the member "timeline" with the newest samples. There are not more than 100,000, because nobody could tell them
   apart in a page. Nothing is written if there are none. */
ZT__PRIVATE void zt__write_page_timeline(zt__document *document);
