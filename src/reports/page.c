/* run.html: a page that shows the document of run.json. */

#include "reports/page.h"

#include "base/compiler.h"
#include "base/writer.h"
#include "reports/facts.h"
#include "reports/json.h"
#include "reports/page_timeline.h"

ZT__PRIVATE void zt__write_html(zt__document *document) {
    zt__writer *writer = &document->writer;
    uint32_t i, count;
    const char *const *page = zt__get_page(&count);
    for (i = 0; i < count; i++) {
        if (strcmp(page[i], "@DATA@\n") == 0) {
            writer->is_in_html = 1;
            zt__write_json_members(document);
            zt__write_page_timeline(document);
            zt__write_text(writer, "}\n");
            writer->is_in_html = 0;
        } else {
            zt__write_text(writer, page[i]);
        }
    }
}
