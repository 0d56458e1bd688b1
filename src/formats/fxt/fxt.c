/* The format as the engine sees it. */
#include "fxt.h"

#include "../../core/rule.h"

#define RULE(sym, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("fxt", id, severity, class, title, clause, explanation, repair)
static const struct tracemend_rule rules[] = {
#include "fxt_rules.def"
};
#undef RULE

static const char *const profiles[] = { "latest", "2022", NULL };

const char *const fxt_type_names[16] = {
	"metadata", "initialization", "string", "thread", "event", "blob", "userspace object", "kernel object", "scheduling",
	"log", "profiler", "unknown", "unknown", "unknown", "unknown", "large",
};

const char *const fxt_event_names[16] = {
	"instant", "counter", "duration begin", "duration end", "duration complete", "async begin", "async instant",
	"async end", "flow begin", "flow step", "flow end", "unknown", "unknown", "unknown", "unknown", "unknown",
};

const char *const fxt_argument_names[16] = {
	"null", "int32", "uint32", "int64", "uint64", "double", "string", "pointer", "koid", "bool", "blob", "unknown",
	"unknown", "unknown", "unknown", "unknown",
};

static struct bid bid(struct bundle *b, struct window *w)
{
	struct bid none = { 0, NULL };
	if (bundle_single(b) == NULL)
		return none;
	const uint8_t *p = window_at(w, 0, FXT_WORD);
	if (p != NULL && (load_u64(p, false) == FXT_MAGIC || load_u64(p, true) == FXT_MAGIC))
		return (struct bid){ 64, NULL };
	return none;
}

const struct format fxt_format = {
	.public = { .name = "fxt", .title = "Fuchsia trace format", .extension = ".fxt", .profiles = profiles,
		    .directory = false },
	.rules = rules,
	.rule_count = FXT_RULE_COUNT,
	.bid = bid,
	.scan = fxt_scan,
	.generate = fxt_generate,
};
