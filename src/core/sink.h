/* The records of a walk, one after the other, for whoever asked for them (tracemend_options.record). A format begins one for each
 * record that it counts, in the order of the walk, which then takes no fast path. */
#ifndef CORE_SINK_H
#define CORE_SINK_H

#include "core/bundle.h"
#include "core/text.h"

/* Bytes of the texts of one record; what does not fit is cut, and ends in "...". */
#define SINK_KIND_MAX 64u
#define SINK_TRACK_MAX 96u
#define SINK_ARGUMENTS_MAX 2048u
/* Errors that wait until it is certain that the record in front of them stays. */
#define SINK_DAMAGE_MAX 16u

/* A record with the memory of its texts. */
struct sink_record {
	struct tracemend_record public;
	size_t used; /* of arguments */
	char file[FINDING_TEXT_MAX], kind[SINK_KIND_MAX], track[SINK_TRACK_MAX], name[TEXT_QUOTE_SIZE],
		arguments[SINK_ARGUMENTS_MAX];
};

struct sink_damage {
	const struct source *source;
	uint64_t offset, length;
	const struct tracemend_rule *rule;
};

struct sink {
	void (*take)(void *ctx, const struct tracemend_record *record);
	void *ctx;
	bool arguments;				    /* they are wanted */
	bool holds;				    /* `held` is a record: it is given away when the next one begins */
	struct sink_record held;		    /* a walk may find out that it is a part of the damage behind it */
	struct sink_damage damage[SINK_DAMAGE_MAX]; /* behind it */
	unsigned damages;
};

/* Begins the record of these bytes, which the functions below fill, and gives away the one before. */
struct sink_record *sink_begin(struct sink *sink, const struct source *s, uint64_t offset, uint64_t length, const char *kind);
/* unit: of the time, static. */
void sink_time(struct sink_record *r, uint64_t time, const char *unit);
/* What its events are in order on: "cpu 3", "thread 4/17". Escaped here. */
void sink_track(struct sink_record *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* Bytes of the input, or a text of the format. */
void sink_name(struct sink_record *r, const void *name, size_t length);
/* One more argument, as "name=value". The value is escaped here, but bytes of the input go through text_quote() first. */
void sink_argument(struct sink_record *r, const void *name, size_t length, const char *format, ...) PRINTF_LIKE(4, 5);
/* The last record is not one. */
void sink_retract(struct sink *sink);
/* An error of this rule was found there. */
void sink_damaged(struct sink *sink, const struct source *s, uint64_t offset, uint64_t length, const struct tracemend_rule *rule);
/* The walk is over. */
void sink_flush(struct sink *sink);

#endif
