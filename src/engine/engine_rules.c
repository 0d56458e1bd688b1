/* Formats and rules, as tables. */
#include <string.h>

#include "core/container.h"
#include "core/document.h"
#include "core/neighbour.h"
#include "engine/engine.h"

/* The tables of rules in the order in which they are listed: archives, then the formats. */
static size_t rule_set(size_t index, const struct tracemend_rule **rules, const char **name)
{
	if (!index) {
		*rules = container_rules;
		*name = "container";
		return CONTAINER_RULE_COUNT;
	}
	*rules = formats[index - 1]->rules;
	*name = formats[index - 1]->public.name;
	return formats[index - 1]->rule_count;
}

const struct tracemend_feature *tracemend_feature_at(const char *format, size_t index)
{
	const struct format *f = format ? format_find(format) : NULL;
	return f && index < f->feature_count ? &f->features[index] : NULL;
}

size_t tracemend_rule_count(const char *format)
{
	size_t count = 0;
	for (size_t i = 0; i <= formats_count; i++) {
		const struct tracemend_rule *rules;
		const char *name;
		size_t n = rule_set(i, &rules, &name);
		if (!format || !strcmp(format, name))
			count += n;
	}
	return count;
}

const struct tracemend_rule *tracemend_rule_at(const char *format, size_t index)
{
	for (size_t i = 0; i <= formats_count; i++) {
		const struct tracemend_rule *rules;
		const char *name;
		size_t n = rule_set(i, &rules, &name);
		if (format && strcmp(format, name) != 0)
			continue;
		if (index < n)
			return &rules[index];
		index -= n;
	}
	return NULL;
}

/* Whether the id is one of a format: its name, a slash, and what the rule is about. */
static bool id_is_of(const char *id, const char *name)
{
	const size_t n = strlen(name);
	return !strncmp(id, name, n) && id[n] == '/';
}

const struct tracemend_rule *tracemend_rule_find(const char *id)
{
	for (size_t i = 0; i <= formats_count && id; i++) {
		const struct tracemend_rule *rules;
		const char *name;
		size_t n = rule_set(i, &rules, &name);
		for (size_t j = 0; j < n && id_is_of(id, name); j++)
			if (!strcmp(rules[j].id, id))
				return &rules[j];
	}
	return NULL;
}

const char *tracemend_rule_url(const struct tracemend_rule *rule, char *out, size_t size)
{
	if (!out || !size)
		return "";
	*out = '\0';
	return rule ? document_url(rule->clause, out, size) : out;
}

const char *tracemend_severity_name(enum tracemend_severity severity)
{
	switch (severity) {
	case TM_IGNORE:
		return "ignore";
	case TM_NOTE:
		return "note";
	case TM_WARNING:
		return "warning";
	case TM_ERROR:
		return "error";
	}
	return "";
}

const char *tracemend_damage_name(enum tracemend_damage damage)
{
	static const char *const names[TM_DAMAGE_COUNT] = { "none",    "truncate",  "hole",   "zero-tail",
							    "bitflip", "duplicate", "insert", "delete" };
	return (unsigned)damage < TM_DAMAGE_COUNT ? names[damage] : "";
}

const struct tracemend_format *const *tracemend_formats(size_t *count)
{
	if (count)
		*count = formats_count;
	return formats_public;
}

const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < formats_count && name; i++)
		if (!strcmp(formats[i]->public.name, name))
			return formats[i];
	return NULL;
}

static struct bid format_bid(struct bundle *b, const struct format *f)
{
	struct window w;
	window_open(&w, bundle_single(b));
	struct bid bid = f->bid(b, &w);
	window_close(&w);
	return bid;
}

/* The format whose magic number the file begins with, with few damaged bits at most; NULL: none, or it cannot be read. */
static const struct format *format_of_magic(struct bundle *b)
{
	const struct format *best = NULL;
	unsigned bits = BID_FOUND - 1;
	struct window w;

	if (!bundle_single(b))
		return NULL;
	window_open(&w, bundle_single(b));
	for (size_t i = 0; i < formats_count; i++) {
		unsigned known = formats[i]->magic ? formats[i]->magic(&w) : 0;
		if (known > bits) {
			bits = known;
			best = formats[i];
		}
	}
	bool failed = w.status != TM_OK;
	window_close(&w);
	return failed ? NULL : best;
}

/* A format chosen by name is used even if it does not recognise the file, which may be badly damaged. But a format of directories
 * cannot read a file, nor the other way round. */
static const struct format *format_forced(struct bundle *b, const char *name, struct tracemend_error *error)
{
	const struct format *f = format_find(name);
	if (!f) {
		(void)fault_set(error, TM_USAGE, "unknown format: %s", name);
		return NULL;
	}
	if ((b->directory || f->public.directory || !bundle_single(b)) && !format_bid(b, f).bits) {
		if (b->error.status != TM_OK)
			(void)fault_set(error, b->error.status, "%s", b->error.message);
		else
			(void)fault_set(error, TM_UNRECOGNISED, "%s: not a capture of format %s%s%s", b->path, name,
					*b->damage ? "; unpacking it failed: " : "", b->damage);
		return NULL;
	}
	return f;
}

/* What the file is instead of a capture, or what a file of the directory says about it; NULL: unknown. */
static const char *neighbour_of(struct bundle *b)
{
	uint8_t head[NEIGHBOUR_BYTES];
	struct source *s = bundle_single(b);

	if (!s)
		s = bundle_find(b, TM_ROLE_INPUT, "metadata"); /* of a CTF trace */
	if (!s || s->kind != SOURCE_FILE || !s->size)
		return NULL;
	size_t length = s->size < sizeof(head) ? (size_t)s->size : sizeof(head);
	return source_read(s, 0, head, length) == TM_OK ? neighbour_name(head, length) : NULL;
}

static void report_unrecognised(struct bundle *b, struct tracemend_error *error)
{
	const char *name = *b->damage ? NULL : neighbour_of(b);

	if (b->error.status != TM_OK)
		(void)fault_set(error, b->error.status, "%s", b->error.message);
	else if (name)
		(void)fault_set(error, TM_UNRECOGNISED, "%s: not an fxt, uftrace, tracedat, ktrace or lttng capture, but %s",
				b->path, name);
	else
		(void)fault_set(error, TM_UNRECOGNISED,
				"%s: not a capture of a known format (fxt, uftrace, tracedat, ktrace, lttng)%s%s", b->path,
				*b->damage ? "; unpacking it failed: " : "", b->damage);
}

const struct format *format_recognise(struct bundle *b, const struct tracemend_options *options, struct tracemend_error *error)
{
	const struct format *best = NULL;
	const struct source *single = bundle_single(b);
	unsigned bits = 0;

	if (single && !single->size) {
		(void)fault_set(error, TM_UNRECOGNISED, "%s: is empty", b->path);
		return NULL;
	}
	if (options && options->format)
		return format_forced(b, options->format, error);
	if ((best = format_of_magic(b)) != NULL)
		return best;
	for (size_t i = 0; i < formats_count; i++) {
		struct bid bid = format_bid(b, formats[i]);
		if (b->error.status != TM_OK) {
			(void)fault_set(error, b->error.status, "%s", b->error.message);
			return NULL;
		}
		if (bid.declined) {
			(void)fault_set(error, TM_UNRECOGNISED, "%s: %s", b->path, bid.declined);
			return NULL;
		}
		if (bid.bits > bits && (bid.bits >= BID_FOUND || !options || !options->found || b->directory)) {
			bits = bid.bits;
			best = formats[i];
		}
		if (bits >= BID_CERTAIN)
			break;
	}
	if (!best)
		report_unrecognised(b, error);
	return best;
}

const char *format_profile(const struct format *f, const char *wanted, struct tracemend_error *error)
{
	const char *const *profiles = f->public.profiles;
	if (!profiles)
		return NULL;
	for (size_t i = 0; wanted && profiles[i]; i++)
		if (!strcmp(profiles[i], wanted))
			return profiles[i];
	if (wanted)
		(void)fault_set(error, TM_USAGE, "format %s has no profile %s", f->public.name, wanted);
	return profiles[0];
}
