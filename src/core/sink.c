#include "core/sink.h"

#include <stdio.h>
#include <string.h>

static void sink_clear(struct sink_record *r, const struct source *s, uint64_t offset, uint64_t length)
{
	text_sanitise(r->file, sizeof(r->file), s ? s->name : "");
	r->public = (struct tracemend_record){ .file = r->file,
					       .offset = offset,
					       .length = length,
					       .kind = r->kind,
					       .track = r->track,
					       .unit = "",
					       .name = r->name,
					       .arguments = r->arguments };
	r->used = 0;
	r->kind[0] = r->track[0] = r->name[0] = r->arguments[0] = '\0';
}

void sink_flush(struct sink *sink)
{
	if (sink->holds)
		sink->take(sink->ctx, &sink->held.public);
	sink->holds = false;
	for (unsigned i = 0; i < sink->damages; i++) {
		const struct sink_damage *d = &sink->damage[i];
		sink_clear(&sink->held, d->source, d->offset, d->length);
		sink->held.public.rule = d->rule;
		sink->take(sink->ctx, &sink->held.public);
	}
	sink->damages = 0;
}

struct sink_record *sink_begin(struct sink *sink, const struct source *s, uint64_t offset, uint64_t length, const char *kind)
{
	struct sink_record *r = &sink->held;

	sink_flush(sink);
	sink->holds = true;
	sink_clear(r, s, offset, length);
	text_sanitise(r->kind, sizeof(r->kind), kind);
	return r;
}

void sink_time(struct sink_record *r, uint64_t time, const char *unit)
{
	r->public.timed = true;
	r->public.time = time;
	r->public.unit = unit;
}

void sink_track(struct sink_record *r, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	text_format(r->track, sizeof(r->track), format, arguments);
	va_end(arguments);
}

void sink_name(struct sink_record *r, const void *name, size_t length)
{
	text_quote(r->name, name, length);
}

void sink_argument(struct sink_record *r, const void *name, size_t length, const char *format, ...)
{
	static const char more[] = " ...";
	const size_t room = sizeof(r->arguments) - sizeof(more);
	char quoted[TEXT_QUOTE_SIZE], value[SINK_ARGUMENTS_MAX];
	va_list arguments;

	if (r->used > room)
		return;
	va_start(arguments, format);
	text_format(value, sizeof(value), format, arguments);
	va_end(arguments);
	text_quote(quoted, name, length);
	size_t wanted = (r->used ? 1 : 0) + strlen(quoted) + 1 + strlen(value);
	if (r->used + wanted > room) {
		memcpy(r->arguments + r->used, more, sizeof(more));
		r->used = room + 1;
		return;
	}
	snprintf(r->arguments + r->used, wanted + 1, "%s%s=%s", r->used ? " " : "", quoted, value);
	r->used += wanted;
}

void sink_retract(struct sink *sink)
{
	sink->holds = false;
}

void sink_damaged(struct sink *sink, const struct source *s, uint64_t offset, uint64_t length, const struct tracemend_rule *rule)
{
	if (sink->damages == SINK_DAMAGE_MAX)
		sink_flush(sink);
	sink->damage[sink->damages++] = (struct sink_damage){ s, offset, length, rule };
}
