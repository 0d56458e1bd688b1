/* Latency output with a line that was hit: which other lines are doubtful. The kernel writes process, CPU and time in front of each
 * event (Linux 5.10, kernel/trace/trace_output.c, trace_print_lat_context()), so that lines of something else are seen. */
#include "formats/tracedat/salvage/tracedat_salvage.h"

/* Bytes of a line in which process, CPU and time stand. */
#define SHAPE_MAX 96u

/* Lines that are read one behind the other. */
struct latency_lines {
	struct tracedat_walk *w;
	bool listing;		 /* the second time: doubts are listed */
	uint64_t shaped, others; /* lines of events, and lines that are neither these nor headings */
	uint64_t at, before;	 /* where the line begins, and the one before it */
	uint64_t from, to;	 /* the range of doubts that is open */
	bool odd_before;	 /* the line before is doubtful of itself */
	size_t length;		 /* of `begin` */
	char begin[SHAPE_MAX + 1];
};

static const char *digits_skip(const char *p)
{
	while (*p >= '0' && *p <= '9')
		p++;
	return p;
}

static const char *blanks_skip(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* "-42 0d..3 4us+: ", which stands behind the name of the process; `p` is at the minus. */
static bool context_is(const char *p)
{
	const char *next = digits_skip(p + 1);
	if (next == p + 1 || *next != ' ')
		return false;
	p = blanks_skip(next);
	next = digits_skip(p);
	if (next == p)
		return false;
	/* Flags of interrupts and preemption follow the CPU. */
	next += strcspn(next, " ");
	p = blanks_skip(next);
	if (*next != ' ' || *p < '0' || *p > '9')
		return false;
	next = p + strcspn(p, " ");
	return next > p + 1 && next[-1] == ':';
}

/* "process pid cpu flags [time] ...: ", the verbose form: at least three numbers behind the name. */
static bool verbose_is(const char *p)
{
	unsigned numbers = 0;
	for (p = blanks_skip(p) + strcspn(blanks_skip(p), " "); *p == ' ' && numbers < 3; numbers++) {
		const char *next = digits_skip(p = blanks_skip(p));
		if (next == p || *next != ' ')
			return false;
		p = next;
	}
	return numbers == 3;
}

static bool line_shaped(const char *line)
{
	if (!strncmp(line, " => ", 4))
		return true;
	for (const char *p = strchr(line, '-'); p; p = strchr(p + 1, '-'))
		if (context_is(p))
			return true;
	return verbose_is(line);
}

static void doubt_close(struct latency_lines *l)
{
	if (l->to > l->from)
		plan_doubt(
			l->w->s->plan, l->w->source, l->from, l->to - l->from,
			"lines of the latency output were hit, and this is not a line as the kernel writes it, or is beside one");
	l->to = l->from;
}

/* The line in [l->at, end) is complete. */
static void line_end(struct latency_lines *l, uint64_t end)
{
	l->begin[l->length] = 0;
	bool heading = l->begin[0] == '#', shaped = !heading && line_shaped(l->begin), odd = !heading && !shaped;

	l->shaped += shaped;
	l->others += odd;
	if (l->listing && (odd || l->odd_before)) {
		/* What is in front of it may have lost its end, and what is behind it its beginning. */
		uint64_t from = odd ? l->before : l->at;
		if (from > l->to) {
			doubt_close(l);
			l->from = from;
		}
		l->to = end;
	}
	l->odd_before = odd;
	l->before = l->at;
	l->at = end;
	l->length = 0;
}

static void lines_walk(struct latency_lines *l, uint64_t from, uint64_t to)
{
	l->at = l->before = l->from = l->to = from;
	l->length = 0;
	l->odd_before = false;
	for (uint64_t at = from; at < to && l->w->status == TM_OK;) {
		size_t got;
		const uint8_t *p = window_upto(&l->w->window, at, to - at < 65536 ? (size_t)(to - at) : 65536, &got);
		if (!p || !got)
			break;
		for (size_t i = 0; i < got;) {
			const uint8_t *lf = memchr(p + i, '\n', got - i);
			size_t length = (lf ? (size_t)(lf - p) : got) - i, room = SHAPE_MAX - l->length;
			memcpy(l->begin + l->length, p + i, length < room ? length : room);
			l->length += length < room ? length : room;
			i += length + (lf != NULL);
			if (lf)
				line_end(l, at + i);
		}
		at += got;
	}
	if (l->listing)
		doubt_close(l);
}

void tracedat_latency_doubt(struct tracedat_walk *w, uint64_t from, uint64_t to)
{
	struct latency_lines l = { .w = w };

	lines_walk(&l, from, to);
	/* Tracers whose lines are others show nothing. */
	l.listing = l.shaped > l.others;
	if (l.listing)
		lines_walk(&l, from, to);
}
