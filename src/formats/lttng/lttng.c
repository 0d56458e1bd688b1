/* The format as the engine sees it, and what its parts share. */
#include "formats/lttng/lttng.h"

#include <stdlib.h>

static const char *const profiles[] = { "wire", "literal", NULL };

bool lttng_no_memory(struct lttng_trace *t)
{
	t->status = fault_memory(&t->in->error);
	return false;
}

void *lttng_table_alloc(struct lttng_trace *t, size_t size)
{
	if (t->status != TM_OK)
		return NULL;
	if (size > LTTNG_TABLE_BYTES_MAX - t->table_bytes) {
		t->status = scan_limit(t->scan, "the trace declares more than %u bytes of channels and event types",
				       LTTNG_TABLE_BYTES_MAX);
		return NULL;
	}
	void *p = calloc(1, size ? size : 1);
	if (!p)
		(void)lttng_no_memory(t);
	else
		t->table_bytes += size;
	return p;
}

/* ---- recognition ---- */

/* Files that are looked into; the answer is nearly always in the first. */
#define BID_FILES_MAX 64u
#define BID_BYTES 96u

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

static bool is_metadata_name(const char *name)
{
	const char *base = base_name(name);
	int64_t cpu;
	bool loose;
	size_t n = lttng_name_split(base, &cpu, &loose);
	return (n == 8 && !memcmp(base, "metadata", 8)) || (n == 10 && !memcmp(base, "facilities", 10));
}

/* Bits of the content of a file that match, 0 if none do. */
static unsigned bid_file(struct source *s)
{
	uint8_t head[BID_BYTES];
	bool big;
	int major, minor;
	size_t n = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);
	if (n < 24 || source_read(s, 0, head, n) != TM_OK)
		return 0;
	return lttng_identify(head, n, &big, &major, &minor) ? 48 : major >= 0 && major <= 2 ? 40 : 0;
}

static struct bid bid(struct bundle *b, struct window *w)
{
	struct bid best = { 0, NULL };
	struct source *single = bundle_single(b);
	(void)w;
	if (single) {
		best.bits = bid_file(single);
		return best;
	}
	unsigned looked = 0;
	bool metadata = false, prehistoric = false;
	for (size_t i = 0; i < b->count && best.bits < 48; i++) {
		struct source *s = b->sources[i];
		int64_t cpu;
		bool loose;
		if (s->kind != SOURCE_FILE || s->role != TM_ROLE_INPUT)
			continue;
		prehistoric |= !strcmp(s->name, "cpu/0");
		if (!lttng_name_split(base_name(s->name), &cpu, &loose))
			continue;
		metadata |= is_metadata_name(s->name);
		if (looked++ < BID_FILES_MAX || is_metadata_name(s->name)) {
			unsigned bits = looked <= 2 * BID_FILES_MAX ? bid_file(s) : 0;
			best.bits = bits > best.bits ? bits : best.bits;
		}
	}
	/* A trace whose headers are all gone is still told by its names. */
	if (!best.bits && metadata)
		best.bits = 4;
	if (!best.bits && prehistoric && bundle_find(b, TM_ROLE_INPUT, "info/system.xml"))
		best.declined = "a trace of the original LTT, before tracefiles had block headers; LTTng 0.6 to 2.6 are checked";
	return best;
}

const struct format lttng_format = {
	.public = { .name = "lttng",
		    .title = "legacy LTTng/LTTV trace, before CTF",
		    .extension = "",
		    .profiles = profiles,
		    .directory = true,
		    .donor = "descriptions of facilities (0.6 to 0.8) are taken where the trace has none and the donor's has the "
			     "checksum "
			     "that was recorded; markers (1.0 and later) are numbered anew in every recording, and nothing would "
			     "show that "
			     "the numbers of another one are wrong" },
	.rules = lttng_rules,
	.rule_count = LTTNG_RULE_COUNT,
	.bid = bid,
	.scan = lttng_scan,
	.generate = lttng_generate,
	.outline = lttng_outline,
};
