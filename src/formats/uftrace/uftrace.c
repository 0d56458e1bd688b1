/* The format as the engine sees it, and how it is recognised. */
#include "formats/uftrace/uftrace.h"

#include <string.h>

#include "core/format.h"
#include "core/rule.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/decode/uftrace_record.h"

#define RULE(sym, id, severity, class, title, clause, explanation, repair) \
	RULE_ROW("uftrace", id, severity, class, title, clause, explanation, repair)
static const struct tracemend_rule rules[] = {
#include "formats/uftrace/uftrace_rules.def"
};
#undef RULE

/* The name of a task's file: digits and ".dat". */
static bool name_is_task_file(const char *name)
{
	size_t n = 0;

	while (name[n] >= '0' && name[n] <= '9')
		n++;
	return n > 0 && !strcmp(name + n, ".dat");
}

static unsigned bid_file(struct source *s)
{
	uint8_t head[UFTRACE_RECORD_SIZE];

	if (s->kind != SOURCE_FILE || s->role != TM_ROLE_INPUT)
		return 0;
	if (!strcmp(s->name, "info") && s->size >= UFTRACE_MAGIC_SIZE) {
		if (source_read(s, 0, head, UFTRACE_MAGIC_SIZE) != TM_OK)
			return 0;
		return memcmp(head, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE) ? 8 : 64;
	}
	if (!strcmp(s->name, "default.opts"))
		return 8;
	if (!strncmp(s->name, "sid-", 4) || !strcmp(s->name, "task.txt"))
		return 8;
	if (name_is_task_file(s->name) && s->size >= UFTRACE_RECORD_SIZE) {
		if (source_read(s, 0, head, sizeof(head)) != TM_OK)
			return 0;
		return uftrace_word_magic(load_u64(head + 8, false)) == UFTRACE_RECORD_MAGIC ||
				       uftrace_word_magic(load_u64(head + 8, true)) == UFTRACE_RECORD_MAGIC
			       ? 6
			       : 1;
	}
	return 0;
}

/* Whether all files are buffers of shared memory: uftrace-<sid>-<tid>-<number>. */
static bool only_leftovers(const struct bundle *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->count; i++) {
		const char *name = b->sources[i]->name, *slash = strrchr(name, '/');
		if (strncmp(slash ? slash + 1 : name, "uftrace-", 8) != 0)
			return false;
		count++;
	}
	return count;
}

static struct bid bid(struct bundle *b, struct window *w)
{
	unsigned bits = 0, tasks = 0;

	(void)w;
	if (!b->directory)
		return (struct bid){ 0, NULL };
	for (size_t i = 0; i < b->count; i++) {
		unsigned found = bid_file(b->sources[i]);
		if (found >= 8)
			bits += found;
		else if (found > tasks)
			tasks = found;
	}
	if (!bits && !tasks && only_leftovers(b))
		return (struct bid){
			.declined = "shared-memory buffers of a uftrace recorder, without the recording they belong to; give "
				    "them to it: tracemend repair RECORDING -o OUT --extra PATH"
		};
	return (struct bid){ bits + tasks, NULL };
}

static const struct tracemend_feature features[] = {
#define FEATURE(symbol, name, host, text) { name, text, NULL, host },
#include "formats/uftrace/gen/uftrace_features.def"
#undef FEATURE
};

const struct format uftrace_format = {
	.public = { .name = "uftrace", .title = "uftrace data directory", .extension = "", .profiles = NULL, .directory = true },
	.rules = rules,
	.rule_count = UFTRACE_RULE_COUNT,
	.features = features,
	.feature_count = sizeof(features) / sizeof(features[0]),
	.fast = uftrace_fast_contract,
	.bid = bid,
	.scan = uftrace_scan,
	.generate = uftrace_generate,
	.outline = uftrace_outline,
};
