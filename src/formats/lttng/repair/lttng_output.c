/* Whole files of the output. */
#include <stdio.h>
#include <stdlib.h>

#include "formats/lttng/repair/lttng_repair.h"

unsigned lttng_repair_output(struct lttng_trace *t, const struct lttng_file *f)
{
	const char *name = f->source->name;
	if (!f->flight || !f->metadata)
		return plan_output(t->s->plan, name);
	/* control/flight-facilities_0 becomes control/facilities_0 */
	size_t directory = (size_t)(f->base - name);
	char *plain = malloc(strlen(name) + 1);
	if (!plain) {
		(void)lttng_no_memory(t);
		return 0;
	}
	memcpy(plain, name, directory);
	memcpy(plain + directory, f->base + 7, strlen(f->base + 7) + 1);
	const char *used = bundle_find(t->s->in, TM_ROLE_INPUT, plain) ? name : plain;
	unsigned output = plan_output(t->s->plan, used);
	free(plain);
	return output;
}

/* Under a hidden name, which readers and we pass over; nothing of the file is lost, and nothing of it is read. */
static void output_aside(struct lttng_trace *t, struct lttng_file *f)
{
	const struct source *s = f->source;
	const char *slash = strrchr(s->name, '/');
	size_t directory = slash ? (size_t)(slash + 1 - s->name) : 0;
	char *name = malloc(strlen(s->name) + 2);

	if (!name) {
		(void)lttng_no_memory(t);
		return;
	}
	memcpy(name, s->name, directory);
	name[directory] = '.';
	memcpy(name + directory + 1, s->name + directory, strlen(s->name + directory) + 1);
	if (bundle_find(t->s->in, TM_ROLE_INPUT, name)) {
		plan_drop(t->s->plan, s, 0, s->size, f->aside_rule, f->aside_why);
	} else {
		plan_copy(t->s->plan, plan_output(t->s->plan, name), s, 0, s->size);
		plan_doubt(t->s->plan, s, 0, s->size, f->aside_why);
	}
	if (f->channel && s->size)
		plan_lost(t->s->plan, 0, TM_UNKNOWN_COUNT);
	free(name);
}

/* root/eventdefs/<name>.xml; NULL with t->status set. The caller frees it. */
static char *description_path(struct lttng_trace *t, const char *name)
{
	size_t room = t->files.root_length + strlen(name) + sizeof("eventdefs/.xml");
	char *path = malloc(room);
	if (path)
		(void)snprintf(path, room, "%.*seventdefs/%s.xml", (int)t->files.root_length, t->files.root, name);
	else
		(void)lttng_no_memory(t);
	return path;
}

void lttng_repair_description(struct lttng_trace *t, const char *name, struct source *s)
{
	char *path = description_path(t, name);
	if (path)
		plan_copy(t->s->plan, plan_output(t->s->plan, path), s, 0, s->size);
	free(path);
}

void lttng_repair_eventdefs(struct lttng_trace *t)
{
	static const char core[] = "<?xml version=\"1.0\"?>\n<facility name=\"core\">\n</facility>\n";
	char *path = description_path(t, "core");
	if (path)
		(void)plan_literal(t->s->plan, plan_output(t->s->plan, path), core, sizeof(core) - 1, LTTNG_RULE_eventdefs_missing,
				   "readers require the directory");
	free(path);
}

/* A tracefile that is copied and that no reader reads: it is empty, or its name is not that of a tracefile. */
static void output_unread(struct lttng_trace *t, const struct lttng_file *f)
{
	uint8_t head[LTTNG_HEADER_MAX];
	int major, minor;
	bool big;
	size_t n = f->source->size < sizeof(head) ? (size_t)f->source->size : sizeof(head);

	if (f->channel && f->empty)
		plan_lost(t->s->plan, 0, TM_UNKNOWN_COUNT);
	if (f->channel || !n || source_read(f->source, 0, head, n) != TM_OK || !lttng_identify(head, n, &big, &major, &minor))
		return;
	plan_doubt(t->s->plan, f->source, 0, f->source->size, "a tracefile by its content, and not by its name");
	plan_lost_other(t->s->plan);
}

/* A description without the bytes behind it, at which readers stop. */
static void output_cut(struct lttng_trace *t, const struct lttng_file *f)
{
	const unsigned rule = LTTNG_RULE_eventdefs_syntax;

	plan_copy(t->s->plan, lttng_repair_output(t, f), f->source, 0, f->kept_to);
	plan_drop(t->s->plan, f->source, f->kept_to, f->source->size - f->kept_to, rule, lttng_rules[rule].title);
	plan_lost_other(t->s->plan);
}

/* Everything that is not walked: copied, set aside or dropped. */
void lttng_repair_rest(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->files.count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files.list[i];
		if (f->channel && !f->aside && !f->empty && t->coding.layout)
			continue;
		if (f->aside && f->aside_why) {
			output_aside(t, f);
		} else if (f->aside) {
			(void)lttng_repair_output(t, f);
			plan_drop(t->s->plan, f->source, 0, f->source->size, f->aside_rule, lttng_rules[f->aside_rule].title);
			plan_lost(t->s->plan, 0, TM_UNKNOWN_COUNT);
		} else if (f->kept_to) {
			output_cut(t, f);
		} else {
			plan_copy(t->s->plan, lttng_repair_output(t, f), f->source, 0, f->source->size);
			output_unread(t, f);
		}
	}
}

void lttng_repair_extras(struct scan *s)
{
	for (size_t i = 0; i < s->in->count; i++) {
		const struct source *e = s->in->sources[i];
		if (e->role == TM_ROLE_EXTRA && e->kind == SOURCE_FILE)
			plan_drop(s->plan, e, 0, e->size, LTTNG_RULE_file_name_grammar, "this format has no extra pieces");
	}
}
