/* system.xml and bookmarks, which are read for information. */
#include <stdlib.h>

#include "formats/lttng/decode/lttng_xml.h"
#include "formats/lttng/scan/lttng_trace.h"

void lttng_info_report(struct lttng_trace *t, struct source *s)
{
	struct lttng_xml x = { 0 };
	char *text;

	if (s->size > LTTNG_XML_MAX)
		return;
	enum tracemend_status status = source_slurp(s, LTTNG_XML_MAX, &text, &x.length);
	if (status != TM_OK) {
		t->status = status;
		return;
	}
	x.text = text;
	struct lttng_xml_info info = lttng_xml_info(&x);
	struct finding *fd = finding_new(t->s->findings, LTTNG_RULE_legacy_info_files, s, 0, s->size);
	if (x.failed)
		finding_say(fd, "not well-formed: %s at byte %zu", x.why, x.failed_at);
	else if (!info.what)
		finding_say(fd, "neither a system description nor bookmarks are in it");
	else if (info.flaw)
		finding_say(fd, "a %s whose attribute %s is missing or invalid", info.what, info.flaw);
	else
		finding_say(fd, "a %s%s", info.what, info.locations ? "" : ", well-formed");
	free(text);
}
