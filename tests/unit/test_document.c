/* core/document.h: every clause leads to a document that is known, and to a section that it has. */
#include "unit.h"

#include <ctype.h>

#include "core/document.h"
#include "tracemend.h"

/* The headings of the documents, as the documents have them. */
static const char *const fuchsia[] = { "32-bit-signed-integer-argument",
				       "32-bit-unsigned-integer-argument",
				       "64-bit-signed-integer-argument",
				       "64-bit-unsigned-integer-argument",
				       "archives",
				       "argument-header",
				       "argument-types",
				       "arguments",
				       "async-begin-event",
				       "async-end-event",
				       "async-instant-event",
				       "atoms",
				       "blob-record",
				       "boolean-argument",
				       "context-switch-record",
				       "counter-event",
				       "double-precision-floating-point-argument",
				       "duration-begin-event",
				       "duration-complete-event",
				       "duration-end-event",
				       "encoding-primitives",
				       "event-record",
				       "extend-the-format",
				       "flow-begin-event",
				       "flow-end-event",
				       "flow-step-event",
				       "initialization-record",
				       "instant-event",
				       "kernel-object-information",
				       "kernel-object-record",
				       "kernerl-object-id-argument",
				       "large-blob-record",
				       "large-record-header",
				       "log-record",
				       "magic-number-record",
				       "metadata-record",
				       "null-argument",
				       "pointer-argument",
				       "provider-event-metadata",
				       "provider-info-metadata",
				       "provider-section-metadata",
				       "record-header",
				       "records",
				       "string-argument",
				       "string-record",
				       "string-references",
				       "thread-record",
				       "thread-references",
				       "timestamps",
				       "trace-info-metadata",
				       "userspace-object-information",
				       "userspace-object-record",
				       "profiler-record",
				       "scheduling-record",
				       NULL };
static const char *const version_6[] = { "DESCRIPTION",
					 "INITIAL FORMAT",
					 "HEADER INFO FORMAT",
					 "FTRACE EVENT FORMATS",
					 "EVENT FORMATS",
					 "KALLSYMS INFORMATION",
					 "TRACE_PRINTK INFORMATION",
					 "PROCESS INFORMATION",
					 "REST OF TRACE-CMD HEADER",
					 "CPU DATA",
					 NULL };
static const char *const version_7[] = { "INITIAL FORMAT",
					 "FORMAT OF THE SECTION HEADER",
					 "COMPRESSION FORMAT OF THE FILE SECTIONS",
					 "COMPRESSION FORMAT OF THE TRACE DATA",
					 "OPTIONS SECTION",
					 "HEADER INFO SECTION",
					 "FTRACE EVENT FORMATS SECTION",
					 "EVENT FORMATS SECTION",
					 "KALLSYMS SECTION",
					 "TRACE_PRINTK SECTION",
					 "SAVED COMMAND LINES SECTION",
					 "BUFFER FLYRECORD SECTION",
					 "BUFFER TEXT SECTION",
					 "STRINGS SECTION",
					 "BTF FILE SECTION",
					 "MODULES FILE SECTION",
					 NULL };
static const char *const lttng[] = {
	"Trace format", "The block start/end header", "The trace header", "Event header", "System description", "Bookmarks", NULL
};

static const struct {
	const char *document;
	const char *const *headings;
} known[] = {
	{ "trace-format.md", fuchsia },
	{ "trace-cmd.dat.v6(5)", version_6 },
	{ "trace-cmd.dat.v7(5)", version_7 },
	{ "The LTTng trace format", lttng },
};

static bool listed(const char *const *list, const char *word, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length && !strncmp(*list, word, length))
			return true;
	return false;
}

/* The heading in quotes that a section begins with, as the list has it. */
static void heading_is_known(const char *id, const char *document, const char *section)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char heading[128];
		size_t length = 0;
		if (strcmp(known[i].document, document) != 0)
			continue;
		if (!strncmp(section, "introduction", 12))
			return;
		if (*section != '"')
			fail_msg("%s: no heading in quotes: %s", id, section);
		for (const char *p = section + 1; *p && *p != '"' && length + 1 < sizeof(heading); p++)
			heading[length++] = known[i].headings == fuchsia ? *p == ' ' ? '-' : (char)tolower((unsigned char)*p) : *p;
		heading[length] = '\0';
		char *bracket = known[i].headings == fuchsia ? strstr(heading, "-(") : NULL;
		if (!listed(known[i].headings, heading, bracket ? (size_t)(bracket - heading) : length))
			fail_msg("%s: %s has no section \"%s\"", id, document, heading);
	}
}

static void part_leads_somewhere(const char *id, const char *part)
{
	const char *section;
	size_t length;
	const struct document *d = document_of(part, &section, &length);

	if (!d)
		fail_msg("%s: unknown document: %s", id, part);
	if (d->kind != DOCUMENT_RFC && length < 4)
		fail_msg("%s: no section: %s", id, part);
	if (d->kind == DOCUMENT_SOURCES && (!memchr(section, '.', length) || !memchr(section, ',', length)))
		fail_msg("%s: a source file and what it has are expected: %s", id, part);
	heading_is_known(id, d->name, section);
}

static void every_clause_leads_to_a_section(void **state)
{
	(void)state;
	for (size_t i = 0; i < tracemend_rule_count(NULL); i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(NULL, i);
		for (const char *part = rule->clause; part; part = strchr(part, ';')) {
			part += strspn(part, "; ");
			part_leads_somewhere(rule->id, part);
		}
	}
}

static void addresses_are_whole(void **state)
{
	char url[512], small[24];
	(void)state;

	for (size_t i = 0; i < tracemend_rule_count(NULL); i++) {
		const struct tracemend_rule *rule = tracemend_rule_at(NULL, i);
		tracemend_rule_url(rule, url, sizeof(url));
		const struct document *d = document_of(rule->clause, NULL, NULL);
		assert_non_null(d);
		bool published = d->url;
		assert_int_equal(published, *url != '\0');
		assert_int_equal(strcspn(url, " \"<>\n"), strlen(url));
		if (published)
			assert_int_equal(strncmp(url, "https://", 8), 0);
		assert_true(strlen(url) + 1 < sizeof(url));
		tracemend_rule_url(rule, small, sizeof(small));
		assert_true(strlen(small) < sizeof(small));
	}
	assert_string_equal(document_url("trace-format.md, \"String record\"", url, sizeof(url)),
			    "https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format#string-record");
	assert_string_equal(document_url("trace-format.md, \"Scheduling record (revisions after 2022)\"", url, sizeof(url)),
			    "https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format#scheduling-record");
	assert_string_equal(document_url("trace-cmd.dat.v6(5), \"CPU DATA\"", url, sizeof(url)),
			    "https://man7.org/linux/man-pages/man5/trace-cmd.dat.v6.5.html#CPU_DATA");
	assert_string_equal(document_url("uftrace 0.13, utils/data-file.c, read_task_file()", url, sizeof(url)),
			    "https://github.com/namhyung/uftrace/blob/v0.13/utils/data-file.c");
	assert_string_equal(document_url("RFC 1952, \"Member format\"; RFC 8878", url, sizeof(url)),
			    "https://www.rfc-editor.org/rfc/rfc1952");
	assert_string_equal(document_url("ktrace(5), \"a 16-byte header\"", url, sizeof(url)),
			    "https://www.manpagez.com/man/5/ktrace/#:~:text=a%2016%2Dbyte%20header");
	assert_string_equal(document_url("an unknown book, page 3", url, sizeof(url)), "");
	assert_string_equal(document_url("", url, sizeof(url)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_clause_leads_to_a_section),
		cmocka_unit_test(addresses_are_whole),
	};
	return RUN(tests);
}
