/* perf-cpuN.dat: records as the kernel's perf ring has them: u32 type, u16 misc, u16 size, body. */
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_side.h"
#include "formats/uftrace/scan/uftrace_taskinfo.h"

/* Times that go back less than this, in ns, are those of events that the kernel writes a little late. */
#define ORDER_SLACK 1000000u

struct perf_walk {
	struct uftrace_walk *w;
	struct source *source;
	struct window window;
	unsigned out;
	uint64_t kept_from;
	uint64_t previous, last; /* the latest time; that of the last record, of `last_size` bytes at `last_at` */
	uint64_t last_at;
	uint64_t beside; /* where records go on behind damage */
	uint32_t last_size;
	struct map switched; /* tid -> 1 out, 0 in */
	struct finding *order, *unknown, *pair, *type;
};

/* Whether records of a type have that size; types that readers skip have any. */
static bool size_fits(uint32_t type, uint32_t size)
{
	switch (type) {
	case UFTRACE_PERF_COMM:
		return size == 40 || size == 48;
	case UFTRACE_PERF_EXIT:
	case UFTRACE_PERF_FORK:
		return size == 48;
	case UFTRACE_PERF_SWITCH:
		return size == 24;
	default:
		return size >= UFTRACE_PERF_HEADER_SIZE && size % 8 == 0;
	}
}

static bool type_is_read(uint32_t type)
{
	return type == UFTRACE_PERF_COMM || type == UFTRACE_PERF_EXIT || type == UFTRACE_PERF_FORK || type == UFTRACE_PERF_SWITCH;
}

#define LOST 2u
#define THROTTLE 5u
#define UNTHROTTLE 6u
#define LOST_SAMPLES 13u

/* Whether a record that readers skip can be of a recorder: of lost records or samples, or of a throttled counter, with the size
 * that the kernel gives it, and with a counter's number or a time where others have tasks. Any other may be one of another type
 * that was hit. */
static bool is_expected(struct perf_walk *perf, uint64_t at, uint32_t type, uint32_t size)
{
	static const uint8_t sizes[UFTRACE_PERF_TYPES] = { [LOST] = 40, [THROTTLE] = 48, [UNTHROTTLE] = 48, [LOST_SAMPLES] = 32 };
	const bool big = perf->w->info->head.big_endian;

	const uint8_t *b = type < UFTRACE_PERF_TYPES && sizes[type] == size ? window_at(&perf->window, at, size) : NULL;
	if (!b)
		return false;
	const uint64_t first = load_u64(b + UFTRACE_PERF_HEADER_SIZE, big), time = load_u64(b + size - 8, big);
	const uint64_t apart = first < time ? time - first : first - time;
	return type == LOST ? first <= UINT32_MAX : type == LOST_SAMPLES || apart < ORDER_SLACK;
}

/* Whether the rest of the file, shorter than a header, can be the beginning of one. */
static bool begins_header(struct perf_walk *perf, uint64_t at)
{
	uint8_t type[4] = { 0 };
	const uint64_t left = perf->source->size - at;
	const size_t size = left < sizeof(type) ? (size_t)left : sizeof(type);

	const uint8_t *b = window_at(&perf->window, at, size);
	if (b)
		memcpy(type, b, size);
	return b && load_u32(type, perf->w->info->head.big_endian) < UFTRACE_PERF_TYPES;
}

/* Whether a record of a type that is not read is one: it begins and ends where the kernel's do, and another follows. */
static bool is_skipped(struct perf_walk *perf, uint64_t at, uint32_t type, uint32_t size)
{
	uint64_t left = perf->source->size - at;
	const bool big = perf->w->info->head.big_endian;

	if (type >= UFTRACE_PERF_TYPES || size < UFTRACE_PERF_HEADER_SIZE || size % 8)
		return false;
	if (size > left || left - size < UFTRACE_PERF_HEADER_SIZE)
		return true;
	const uint8_t *h = window_at(&perf->window, at + size, UFTRACE_PERF_HEADER_SIZE);
	return h && load_u32(h, big) < UFTRACE_PERF_TYPES && size_fits(load_u32(h, big), load_u16(h + 6, big));
}

/* A record of a known type, followed by another or by the end. */
static bool plausible(struct perf_walk *perf, uint64_t at)
{
	for (unsigned i = 0; i < 2; i++) {
		if (perf->source->size - at < UFTRACE_PERF_HEADER_SIZE)
			return i > 0;
		const uint8_t *h = window_at(&perf->window, at, UFTRACE_PERF_HEADER_SIZE);
		if (!h)
			return false;
		uint32_t type = load_u32(h, perf->w->info->head.big_endian), size = load_u16(h + 6, perf->w->info->head.big_endian);
		if (!type_is_read(type) || !size_fits(type, size))
			return false;
		if (size > perf->source->size - at)
			return true;
		at += size;
	}
	return true;
}

static void check_body(struct perf_walk *perf, uint64_t at, uint32_t type, uint16_t misc, uint32_t size)
{
	struct uftrace_walk *w = perf->w;
	const uint8_t *b = window_at(&perf->window, at, size);

	if (!b)
		return;
	uint64_t time = load_u64(b + size - 8, w->info->head.big_endian);
	int64_t tid = (int32_t)load_u32(b + size - 12, w->info->head.big_endian);
	if (time < perf->last && perf->last - time >= ORDER_SLACK && w->plan) { /* which of the two is wrong is not known */
		if (perf->last_size)
			plan_doubt(w->plan, perf->source, perf->last_at, perf->last_size,
				   "a time that does not fit those around it");
		plan_doubt(w->plan, perf->source, at, size, "a time that does not fit those around it");
	}
	perf->last = time;
	perf->last_at = at;
	perf->last_size = size;
	if (time < perf->previous && !perf->order) {
		perf->order = finding_report(w->findings, UFTRACE_RULE_perf_time_order, perf->source, at, size,
					     "time %llu ns is before that of a record in front of it", (unsigned long long)time);
	}
	perf->previous = time > perf->previous ? time : perf->previous;
	if (map_get(&w->taskinfo->listed, (uint64_t)tid) == UFTRACE_NONE) {
		if (perf->unknown)
			finding_explains(perf->unknown, 1);
		else if (w->info->head.present) {
			perf->unknown = finding_report(w->findings, UFTRACE_RULE_perf_unknown_tid, perf->source, at, size,
						       "task %lld is not listed in info", (long long)tid);
		}
	}
	if (type != UFTRACE_PERF_SWITCH)
		return;
	uint32_t out = misc & UFTRACE_PERF_MISC_SWITCH_OUT ? 1 : 0;
	if (map_get(&perf->switched, (uint64_t)tid) == out && !perf->pair) {
		perf->pair = finding_report(w->findings, UFTRACE_RULE_perf_switch_unpaired, perf->source, at, size,
					    "task %lld is switched %s twice in a row", (long long)tid, out ? "out" : "in");
	}
	if (map_set(&perf->switched, (uint64_t)tid, out, UFTRACE_TASKS_MAX) == TM_NO_MEMORY)
		uftrace_walk_fail(w, TM_NO_MEMORY);
}

/* What hit the bytes at `at` may have hit the record before them. */
static void doubt_before(struct perf_walk *perf, uint64_t at)
{
	if (perf->last_size && perf->last_at + perf->last_size == at)
		plan_doubt(perf->w->plan, perf->source, perf->last_at, perf->last_size, "directly before damaged bytes");
}

/* A type or size that no recorder writes; many make readers crash or hang. Returns where records go on. */
static uint64_t damage(struct perf_walk *perf, uint64_t at, uint32_t type, uint32_t size)
{
	struct uftrace_walk *w = perf->w;
	uint64_t next = at + 1;
	unsigned rule = type_is_read(type) ? UFTRACE_RULE_perf_record_size : UFTRACE_RULE_perf_unknown_type;

	while (next < perf->source->size && !plausible(perf, next) && perf->window.status == TM_OK)
		next++;
	if (next > perf->source->size)
		next = perf->source->size;
	struct finding *fd;
	if (type_is_read(type))
		fd = finding_report(w->findings, UFTRACE_RULE_perf_record_size, perf->source, at, next - at,
				    "a record of type %u has %u bytes, which is not valid for it: readers crash", type, size);
	else
		fd = finding_report(w->findings, UFTRACE_RULE_perf_unknown_type, perf->source, at, next - at,
				    size < UFTRACE_PERF_HEADER_SIZE
					    ? "a record of unknown type %u has %u bytes; its header alone has 8: readers hang"
					    : "a record of unknown type %u has %u bytes, and none follows there",
				    type, size);
	finding_field(fd, at + 6, 2, "size = %u", size);
	if (w->plan) {
		doubt_before(perf, at);
		perf->beside = next;
		if (at > perf->kept_from)
			plan_copy(w->plan, perf->out, perf->source, perf->kept_from, at - perf->kept_from);
		plan_drop(w->plan, perf->source, at, next - at, rule, "not a perf record");
		plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
	}
	perf->kept_from = next;
	return next;
}

static bool walk_file(struct perf_walk *perf)
{
	struct uftrace_walk *w = perf->w;
	bool big = w->info->head.big_endian;
	uint64_t at = 0;

	while (perf->source->size - at >= UFTRACE_PERF_HEADER_SIZE && w->status == TM_OK) {
		const uint8_t *h = window_at(&perf->window, at, UFTRACE_PERF_HEADER_SIZE);
		if (!h)
			break;
		uint32_t type = load_u32(h, big);
		uint16_t misc = load_u16(h + 4, big), size = load_u16(h + 6, big);
		if (type_is_read(type) ? !size_fits(type, size) : !is_skipped(perf, at, type, size)) {
			at = damage(perf, at, type, size);
			continue;
		}
		if (size > perf->source->size - at)
			break;
		if (w->plan && at && perf->beside == at)
			plan_doubt(w->plan, perf->source, at, size, "directly after damaged bytes");
		if (w->plan && !type_is_read(type) && !is_expected(perf, at, type, size))
			plan_doubt(w->plan, perf->source, at, size, "a record of a type that recorders do not ask for");
		if (type_is_read(type)) {
			check_body(perf, at, type, misc, size);
		} else if (perf->type) {
			finding_explains(perf->type, 1);
		} else {
			perf->type = finding_milder(w->findings, UFTRACE_RULE_perf_unknown_type, TM_NOTE, perf->source, at, size);
			finding_say(perf->type, "a record of type %u, which readers skip", type);
		}
		at += size;
	}
	if (perf->window.status != TM_OK)
		return uftrace_walk_fail(w, perf->window.status);
	if (at < perf->source->size) {
		finding_report(w->findings, UFTRACE_RULE_perf_truncated, perf->source, at, perf->source->size - at,
			       "the last record is incomplete: %llu bytes of it are there",
			       (unsigned long long)(perf->source->size - at));
		if (w->plan)
			plan_lost(w->plan, 0, TM_UNKNOWN_COUNT);
		if (w->plan && !begins_header(perf, at))
			doubt_before(perf, at);
	}
	if (w->plan && perf->source->size > perf->kept_from)
		plan_copy(w->plan, perf->out, perf->source, perf->kept_from, perf->source->size - perf->kept_from);
	return w->status == TM_OK;
}

bool uftrace_perf_walk(struct uftrace_walk *w)
{
	for (size_t i = 0; i < w->dir->count; i++) {
		struct uftrace_file *f = &w->dir->files[i];
		if (f->kind != UFTRACE_FILE_PERF)
			continue;
		struct perf_walk perf = { .w = w, .source = f->source };
		if (w->plan) {
			perf.out = plan_output(w->plan, uftrace_dir_name(f));
			f->planned = true;
		}
		window_open(&perf.window, f->source);
		bool good = walk_file(&perf);
		window_close(&perf.window);
		map_free(&perf.switched);
		if (!good)
			return false;
	}
	return true;
}
