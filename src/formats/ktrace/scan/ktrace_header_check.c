/* The header structure of version 3: its fields, its width, where it ends. */
#include "formats/ktrace/scan/ktrace_header_check.h"

#include <inttypes.h>

#include "formats/ktrace/repair/ktrace_odd.h"
#include "formats/ktrace/repair/ktrace_repair_v3.h"
#include "formats/ktrace/salvage/ktrace_header_shift.h"

/* Reports a field of the header structure. */
#define header_report(w, rule, ...) ((void)PLACE(rule), header_report_at((w), (rule), __VA_ARGS__))
static void header_report_at(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t offset, uint32_t length, const char *format,
			     ...) PRINTF_LIKE(5, 6);

static void header_report_at(struct ktrace_walk *w, enum ktrace_rule rule, uint64_t offset, uint32_t length, const char *format,
			     ...)
{
	struct finding *fd = finding_new_at(w->scan->findings, rule, w->in.source, 0, KTRACE_HEADER);
	va_list arguments;

	finding_path(fd, "file header");
	finding_field(fd, offset, length, "%s",
		      offset == KTRACE_AT_SIZE	  ? "header size"
		      : offset == KTRACE_AT_FLAGS ? "flags"
						  : "");
	if (!place_silenced())
		ktrace_odd_report(&w->repair, rule, 0, KTRACE_HEADER);
	w->header_odd |= ktrace_rules[rule].severity >= TM_WARNING && rule != KTRACE_RULE_kernel_v3_magic;
	w->header_hit |= ktrace_rule_casts_doubt(rule);
	/* Without it no time of an event means what it did. */
	if (!place_silenced() && (rule == KTRACE_RULE_timebase_zero || rule == KTRACE_RULE_timebase_implausible))
		w->clock.doubtful = true;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* Reports an issue of decode; `...`: the message. */
#define header_issue_report(w, issue, ...) \
	header_report_at((w), (enum ktrace_rule)(issue)->rule, (issue)->at, (issue)->length, __VA_ARGS__)

static void header_issue_say(struct ktrace_walk *w, const struct issue *issue)
{
	uint64_t got = issue->got;

	(void)PLACE(issue->rule);
	switch (issue->rule) {
	case KTRACE_RULE_kernel_v3_magic:
		header_issue_report(w, issue, "the magic number is 0x1000, as the kernel writes it, instead of 0x55aa0300");
		break;
	case KTRACE_RULE_bad_magic:
		header_issue_report(w, issue, "the magic number is 0x%08" PRIx64 " instead of 0x55aa0300", got);
		break;
	case KTRACE_RULE_header_major_unsupported:
		header_issue_report(w, issue, "the header has version %u.%u; 0 and 1 are known", (unsigned)(got >> 16),
				    (unsigned)(got & 0xffff));
		break;
	case KTRACE_RULE_header_minor_nonzero:
		header_issue_report(w, issue, "the minor version of the header is %" PRIu64 "; 0 is known", got);
		break;
	case KTRACE_RULE_timebase_implausible:
		header_issue_report(w, issue,
				    "a tick is %" PRIu64 "/%" PRIu64
				    " ns long; small numbers, and between 0.001 and 1,000,000 ns, are expected",
				    got >> 32, got & UINT32_MAX);
		break;
	case KTRACE_RULE_walltime_usec_range:
		header_issue_report(w, issue, "the microseconds of the wall time are %" PRIu64 "; they are below 1000000", got);
		break;
	case KTRACE_RULE_walltime_before_2000:
		header_issue_report(w, issue, "the wall time is %" PRIu64 " seconds after 1970, which is before 2000", got);
		break;
	case KTRACE_RULE_minutes_west_range:
		header_issue_report(w, issue, "the time zone is %" PRId64 " minutes west of Greenwich; -840 to 720 are expected",
				    (int64_t)got);
		break;
	case KTRACE_RULE_dst_range:
		header_issue_report(w, issue, "the daylight saving type is %" PRIu64 "; 0 to 6 are defined", got);
		break;
	default: /* KTRACE_RULE_flags_reserved_bits */
		header_issue_report(w, issue, "the flags are 0x%08" PRIx64 "; only bit 0 is defined", got);
		break;
	}
}

/* The magic number that was hit: the nearest one. The kernel's comes with version 1. */
static void header_magic_repair(struct ktrace_walk *w, const struct ktrace_header *h)
{
	const unsigned common = bytes_apart(h->magic, KTRACE_MAGIC), kernel = bytes_apart(h->magic, KTRACE_MAGIC_KERNEL);
	const bool is_kernel = kernel < common && h->major == 1;

	ktrace_repair_header_field(&w->repair, KTRACE_AT_MAGIC, is_kernel ? KTRACE_MAGIC_KERNEL : KTRACE_MAGIC,
				   KTRACE_RULE_bad_magic, "magic number");
	if ((is_kernel ? kernel : common) > 1)
		ktrace_repair_doubt(&w->repair, 0, KTRACE_HEADER, "a header whose magic number was hit");
}

/* What repair does about it. */
static void header_issue_repair(struct ktrace_walk *w, const struct issue *issue, const struct ktrace_header *h)
{
	if (issue->rule == KTRACE_RULE_bad_magic) {
		header_magic_repair(w, h);
	} else if (issue->rule == KTRACE_RULE_walltime_usec_range) {
		ktrace_repair_header_field(&w->repair, KTRACE_AT_USEC, h->usec % 1000000, KTRACE_RULE_walltime_usec_range,
					   "microseconds below a second");
		ktrace_repair_header_field(&w->repair, KTRACE_AT_SECONDS, h->seconds + h->usec / 1000000,
					   KTRACE_RULE_walltime_usec_range, "seconds carried over");
	}
}

/* The flag for 64-bit events against the first events there are. */
static void header_width_check(struct ktrace_walk *w, const struct ktrace_header *h, uint64_t first)
{
	w->in.is_64 = h->flags & KTRACE_FLAG_64;
	struct ktrace_width width = ktrace_header_width_find(&w->in, first);
	if (!width.other)
		return;
	header_report(w, KTRACE_RULE_flags_bitness_mismatch, KTRACE_AT_FLAGS, 4,
		      "the flags say %s-bit events; those at 0x%" PRIx64 " are valid only as %s-bit ones",
		      w->in.is_64 ? "64" : "32", width.events, w->in.is_64 ? "32" : "64");
	w->in.is_64 = !w->in.is_64;
	ktrace_repair_header_field(&w->repair, KTRACE_AT_FLAGS, h->flags ^ KTRACE_FLAG_64, KTRACE_RULE_flags_bitness_mismatch,
				   "width of the events");
}

static struct ktrace_header_end header_end_check(struct ktrace_walk *w, const struct ktrace_header *h, uint64_t first)
{
	struct ktrace_header_end end = ktrace_header_end_find(&w->in, h->size, first);

	if (w->header_odd)
		ktrace_foreign_find(w, KTRACE_AT_SIZE, KTRACE_HEADER);
	if (end.chunks > first)
		finding_report(w->scan->findings, KTRACE_RULE_header_size_64_structure, w->in.source, KTRACE_HEADER, 8,
			       "the first chunk must start at 56, where the header structure ends; it starts at 64, after 8 "
			       "surplus bytes");
	ktrace_repair_drop(&w->repair, first, end.chunks, KTRACE_RULE_header_size_64_structure,
			   "surplus bytes between the header structure and the first chunk");
	if (end.size_rule == KTRACE_RULE_COUNT)
		return end;
	ktrace_foreign_find(w, KTRACE_AT_SIZE, end.end);
	if (end.size_rule == KTRACE_RULE_header_size_past_eof) /* cut within its header, or the size is wrong */
		ktrace_repair_lost(&w->repair);
	header_report(w, end.size_rule, KTRACE_AT_SIZE, 8, "the header size is %" PRIu64 "; by the header chunks it is %" PRIu64,
		      h->size, end.end - (first - KTRACE_HEADER) - KTRACE_HEADER_UNCOUNTED);
	return end;
}

static void header_shift_report(struct ktrace_walk *w, const struct ktrace_header_shift *s)
{
	if (s->lost) {
		struct finding *fd = finding_report(w->scan->findings, KTRACE_RULE_header_shifted, w->in.source, 0,
						    s->first ? s->first : 1,
						    "there is no header structure: the first chunk is at %" PRIu64, s->first);
		finding_path(fd, "file header");
		return;
	}
	bool missing = s->first < KTRACE_HEADER;
	uint64_t bytes = missing ? KTRACE_HEADER - s->first : s->first - KTRACE_HEADER;
	struct finding *fd = finding_report(
		w->scan->findings, KTRACE_RULE_header_shifted, w->in.source, s->at, missing ? 1 : bytes,
		missing ? "%" PRIu64 " bytes are missing from the header structure here: the first chunk is at %" PRIu64
			: "%" PRIu64 " bytes are surplus in the header structure here: the first chunk is at %" PRIu64,
		bytes, s->first);
	finding_path(fd, "file header");
}

/* Whether bytes in front of a header are the beginning of another one. One byte is too few to tell. */
static bool header_begins(const uint8_t *bytes, uint64_t length)
{
	static const uint32_t magics[] = { KTRACE_MAGIC, KTRACE_MAGIC_KERNEL };
	uint8_t mark[4];

	for (unsigned i = 0; length > 1 && i < sizeof(magics) / sizeof(magics[0]); i++) {
		store_u32(mark, magics[i], false);
		if (!memcmp(bytes, mark, length < sizeof(mark) ? (size_t)length : sizeof(mark)))
			return true;
	}
	return false;
}

/* Whether the bytes that are surplus in the structure are the beginning of one, and a whole one follows. */
static bool is_second_header(struct ktrace_walk *w, const struct ktrace_header_shift *s, const uint8_t header[KTRACE_HEADER])
{
	const uint64_t at = s->first > KTRACE_HEADER && !s->lost ? s->first - KTRACE_HEADER : 0;
	uint8_t mark[4];

	return at && header_begins(header, at) && source_read(w->in.source, at, mark, sizeof(mark)) == TM_OK &&
	       header_begins(mark, sizeof(mark));
}

/* Bytes that were inserted into the structure, or removed, or all of it: header becomes what it was before, as far as it is known.
 * Returns where the first chunk is. */
static uint64_t header_shift_check(struct ktrace_walk *w, uint8_t header[KTRACE_HEADER])
{
	struct ktrace_header_shift s = ktrace_header_shift_find(&w->in, header);

	if (s.first == KTRACE_HEADER)
		return s.first;
	header_shift_report(w, &s);
	if (s.lost)
		ktrace_repair_lost(&w->repair);
	/* Behind bytes that are in front of it as a whole it is its own, unless these are what is left of another file. Else
	 * another file may begin where this one was cut. */
	bool whole = !s.lost && !s.at && s.first > KTRACE_HEADER;
	if (!s.lost)
		ktrace_foreign_find(w, 4, whole ? s.first - KTRACE_HEADER : s.first);
	ktrace_repair_header_anew(&w->repair, s.header, s.first);
	if (whole ? header_begins(header, s.first - KTRACE_HEADER) : is_second_header(w, &s, header))
		ktrace_foreign_doubt(w, s.first - KTRACE_HEADER);
	memcpy(header, s.header, KTRACE_HEADER);
	ktrace_foreign_find(w, KTRACE_AT_SIZE, whole ? s.first - KTRACE_HEADER : s.first);
	return s.first;
}

enum tracemend_status ktrace_header_check(struct ktrace_walk *w, struct ktrace_header *h, struct ktrace_header_end *end)
{
	struct issue list[KTRACE_HEADER_ISSUES];
	struct issues issues = { .list = list, .room = KTRACE_HEADER_ISSUES };
	uint8_t bytes[KTRACE_HEADER];
	enum tracemend_status status = source_read(w->in.source, 0, bytes, sizeof(bytes));

	if (status != TM_OK)
		return status;
	uint64_t first = header_shift_check(w, bytes);
	*h = ktrace_header_decode(bytes, &issues);
	for (uint32_t i = 0; i < issues.count; i++) {
		header_issue_say(w, &list[i]);
		header_issue_repair(w, &list[i], h);
	}
	w->clock.header_time = h->time;
	w->clock.numer = h->numer;
	w->clock.denom = h->denom;
	header_width_check(w, h, first);
	*end = header_end_check(w, h, first);
	/* What hit another field may have hit the timebase: those of Apple's machines are known. */
	if (w->header_odd && !ktrace_timebase_is_known(h))
		w->clock.doubtful = true;
	return TM_OK;
}

void ktrace_header_finish(struct ktrace_walk *w, const struct ktrace_header *h, const struct ktrace_header_end *end)
{
	if ((!h->numer || !h->denom) && !w->clock.synced)
		header_report(w, KTRACE_RULE_timebase_zero, KTRACE_AT_TIMEBASE, 8,
			      "the timebase is %" PRIu32 "/%" PRIu32 ", and there is no time sync chunk", h->numer, h->denom);
	if (!h->seconds && !w->clock.synced)
		header_report(w, KTRACE_RULE_walltime_missing, KTRACE_AT_SECONDS, 8,
			      "the wall time is 0: the time of the recording is unknown");
	if (h->size % 8 && end->size_rule == KTRACE_RULE_COUNT)
		header_report(w, KTRACE_RULE_header_size_not_multiple_of_8, KTRACE_AT_SIZE, 8,
			      "the header size is %" PRIu64 ", which is not a multiple of 8", h->size);
}
