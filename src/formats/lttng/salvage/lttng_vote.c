/* What the headers of a trace agree on. "The trace header" is repeated in every block of every file; one block or file that
 * differs is damaged, so every constant is what most headers say. */
#include "formats/lttng/lttng.h"

/* Headers of a file that vote, beside the first. */
#define VOTES_MAX 8u
/* Bytes at the start of a file that are searched for a header when no file begins with one. */
#define SEARCH_BYTES (64u * LTTNG_PAGE)

struct ballot {
	uint64_t value;
	unsigned votes;
};

#define BALLOTS 8u

struct poll {
	struct ballot ballots[LF_COUNT][BALLOTS];
	struct ballot begins[BALLOTS];
};

static void ballot_add(struct ballot *ballots, uint64_t value)
{
	for (unsigned i = 0; i < BALLOTS; i++)
		if (!ballots[i].votes || ballots[i].value == value) {
			ballots[i].value = value;
			ballots[i].votes++;
			return;
		}
}

/* Whether a value is one that the field can have: breaks ties. */
static bool plausible(enum lttng_field field, uint64_t v, bool nanoseconds)
{
	switch ((int)field) {
	case LF_ARCH_SIZE:
		return v == 4 || v == 8;
	case LF_ALIGNMENT:
		return v == 0 || v == 4 || v == 8;
	case LF_FREQ:
	case LF_SCALE:
		return v != 0;
	case LF_HEARTBEAT:
	case LF_HAS_TSC:
		return v <= 1;
	case LF_FLIGHT:
		return v <= 2;
	case LF_SUBSEC:
		return v < (nanoseconds ? 1000000000u : 1000000u);
	case LF_SEC:
		return v > 1041379200 && v < 1924992000;
	default:
		return true;
	}
}

static bool file_votes(const struct lttng_trace *t, const struct lttng_file *f)
{
	return f->layout && f->channel && !f->aside && f->big_endian == t->big_endian && f->layout == t->layout;
}

static void header_votes(struct poll *p, const struct lttng_layout *l, const struct lttng_header *h, bool first)
{
	for (unsigned i = LF_FIRST_CONSTANT; i < LF_COUNT; i++) {
		/* Vendor kernels of 0.8 count losses there in later blocks. */
		if (!first && l->major == 0 && l->minor == 8 && !h->v[LF_SCALE] && (i == LF_SCALE || i == LF_FREQ))
			continue;
		if (lttng_has(l, (enum lttng_field)i))
			ballot_add(p->ballots[i], h->v[i]);
	}
}

/* The first block of a file and some of the next ones, as far as its sizes lead to them. */
static void poll_file(struct lttng_trace *t, struct lttng_file *f, struct poll *p)
{
	uint8_t head[LTTNG_HEADER_MAX];
	struct lttng_header h = f->first;
	uint64_t at = 0;

	header_votes(p, t->layout, &h, true);
	if (!f->flight)
		ballot_add(p->begins, h.v[LF_BEGIN]);
	for (unsigned i = 0; i < VOTES_MAX; i++) {
		uint64_t step = h.v[LF_SIZE];
		bool big;
		int major, minor;
		if (step < t->layout->size || step > f->source->size - at)
			return;
		at += step;
		if (f->source->size - at < t->layout->size)
			return;
		if (source_read(f->source, at, head, t->layout->size) != TM_OK) {
			t->status = TM_IO;
			return;
		}
		const struct lttng_layout *l = lttng_identify(head, t->layout->size, &big, &major, &minor);
		if (!l || l->magic != t->layout->magic || big != t->big_endian)
			return;
		lttng_header_load(&h, t->layout, t->big_endian, head);
		header_votes(p, t->layout, &h, false);
	}
}

static void poll_winners(struct lttng_trace *t, const struct poll *p)
{
	for (unsigned i = 0; i < LF_COUNT; i++) {
		unsigned best = 0;
		for (unsigned k = 0; k < BALLOTS && p->ballots[i][k].votes; k++) {
			unsigned weight = 2 * p->ballots[i][k].votes +
					  plausible((enum lttng_field)i, p->ballots[i][k].value, t->layout->nanoseconds);
			if (weight > best) {
				best = weight;
				t->want.v[i] = p->ballots[i][k].value;
			}
		}
	}
	unsigned best = 0;
	for (unsigned k = 0; k < BALLOTS && p->begins[k].votes; k++)
		if (p->begins[k].votes > best) {
			best = p->begins[k].votes;
			t->begin = p->begins[k].value;
		}
	t->want.v[LF_MAGIC] = LTTNG_MAGIC;
	t->want.v[LF_MAJOR] = t->layout->major;
	t->want.v[LF_MINOR] = t->layout->minor;
}

/* Some header within the beginning of a file, at a page. */
static bool find_layout(struct lttng_trace *t, struct lttng_file *f)
{
	uint8_t head[LTTNG_HEADER_MAX];
	uint64_t size = f->source->size;
	for (uint64_t at = 0; at < SEARCH_BYTES && at + sizeof(head) <= size; at += LTTNG_PAGE) {
		bool big;
		int major, minor;
		if (source_read(f->source, at, head, sizeof(head)) != TM_OK) {
			t->status = TM_IO;
			return false;
		}
		const struct lttng_layout *l = lttng_identify(head, sizeof(head), &big, &major, &minor);
		if (!l)
			continue;
		t->layout = l;
		t->big_endian = big;
		struct lttng_header h;
		lttng_header_load(&h, l, big, head);
		t->want = h;
		t->begin = h.v[LF_BEGIN];
		return true;
	}
	return false;
}

static void probe_file(struct lttng_trace *t, struct lttng_file *f)
{
	uint8_t head[LTTNG_HEADER_MAX] = { 0 };
	size_t n = f->source->size < sizeof(head) ? (size_t)f->source->size : sizeof(head);

	f->major = f->minor = -1;
	f->empty = n == 0;
	if (!f->channel || f->empty)
		return;
	if (source_read(f->source, 0, head, n) != TM_OK) {
		t->status = TM_IO;
		return;
	}
	f->layout = lttng_identify(head, n, &f->big_endian, &f->major, &f->minor);
	f->header = f->layout ? f->layout->size : 0;
	if (n < f->header)
		f->layout = NULL;
	if (f->layout)
		lttng_header_load(&f->first, f->layout, f->big_endian, head);
}

static void choose_layout(struct lttng_trace *t)
{
	unsigned best = 0;
	for (size_t i = 0; i < lttng_layout_count; i++) {
		unsigned votes[2] = { 0, 0 };
		for (size_t k = 0; k < t->file_count; k++) {
			const struct lttng_file *f = &t->files[k];
			if (f->channel && !f->aside && f->layout == &lttng_layouts[i])
				votes[f->big_endian] += f->metadata ? 3 : 2;
		}
		for (unsigned big = 0; big < 2; big++)
			if (votes[big] > best) {
				best = votes[big];
				t->layout = &lttng_layouts[i];
				t->big_endian = big != 0;
			}
	}
}

void lttng_vote(struct lttng_trace *t)
{
	struct poll p = { 0 };

	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++)
		probe_file(t, &t->files[i]);
	choose_layout(t);
	for (size_t i = 0; i < t->file_count && !t->layout && t->status == TM_OK; i++)
		if (t->files[i].channel && !t->files[i].aside && find_layout(t, &t->files[i]))
			return;
	if (!t->layout || t->status != TM_OK)
		return;
	/* The document's own layout of 1.0, where it is asked for. */
	if (!strcmp(t->scan->profile, "literal") && t->layout->major == 1 && !t->layout->literal)
		t->layout++;
	for (int metadata = 1; metadata >= 0; metadata--)
		for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
			struct lttng_file *f = &t->files[i];
			if (f->layout && f->layout + 1 == t->layout && t->layout->literal) {
				uint8_t head[LTTNG_HEADER_MAX];
				f->layout = t->layout;
				if (source_read(f->source, 0, head, t->layout->size) != TM_OK)
					t->status = TM_IO;
				else
					lttng_header_load(&f->first, t->layout, f->big_endian, head);
			}
			if (file_votes(t, f) && f->metadata == (metadata != 0))
				poll_file(t, f, &p);
		}
	poll_winners(t, &p);
}

/* ---- judging the constants ---- */

/* Where a constant shows: the first file that begins with a header of the trace. */
static const struct source *constant_source(const struct lttng_trace *t, enum lttng_field field)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (file_votes(t, &t->files[i]) && t->files[i].first.v[field] == t->want.v[field])
			return t->files[i].source;
	return NULL;
}

/* Reports a constant of the headers at the first file that shows it. */
#define constant_report(t, rule, ...) ((void)PLACE(rule), constant_report_at((t), (rule), lttng_rules[rule].severity, __VA_ARGS__))
#define constant_milder(t, rule, ...) ((void)PLACE(rule), constant_report_at((t), (rule), __VA_ARGS__))
static void PRINTF_LIKE(5, 6) constant_report_at(struct lttng_trace *t, unsigned rule, enum tracemend_severity severity,
						 enum lttng_field field, const char *format, ...)
{
	const struct source *s = constant_source(t, field);
	struct finding *fd = finding_milder_at(t->f, rule, severity, s, 0, s ? t->layout->size : 0);
	const struct lttng_place *place = &t->layout->places[field];
	va_list arguments;

	finding_path(fd, "trace header > %s", lttng_field_name(t->layout, field));
	if (s)
		finding_field(fd, place->offset, place->width, "%s = %llu", lttng_field_name(t->layout, field),
			      (unsigned long long)t->want.v[field]);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* A constant is wrong in all headers, and this was reported: repair writes `value`. */
static void constant_set(struct lttng_trace *t, unsigned rule, enum lttng_field field, uint64_t value)
{
	t->want.v[field] = value;
	t->blame[field] = rule + 1;
}

static void judge_sizes(struct lttng_trace *t)
{
	const uint64_t *v = t->want.v;
	uint64_t alignment = v[LF_ALIGNMENT];

	if (v[LF_ARCH_SIZE] != 4 && v[LF_ARCH_SIZE] != 8) {
		uint64_t arch = t->sizes_known && (t->sizes.v[SIZE_POINTER] == 4 || t->sizes.v[SIZE_POINTER] == 8)
					? t->sizes.v[SIZE_POINTER]
				: alignment == 8 ? 8
						 : 4;
		constant_report(t, LTTNG_RULE_arch_size_invalid, LF_ARCH_SIZE, "arch_size is %llu; pointers have 4 or 8 bytes",
				(unsigned long long)v[LF_ARCH_SIZE]);
		constant_set(t, LTTNG_RULE_arch_size_invalid, LF_ARCH_SIZE, arch);
	}
	if (alignment > 8 || (alignment & (alignment - 1))) {
		constant_report(t, LTTNG_RULE_alignment_invalid, LF_ALIGNMENT, "alignment is %llu; it must be 0, 1, 2, 4 or 8",
				(unsigned long long)alignment);
		constant_set(t, LTTNG_RULE_alignment_invalid, LF_ALIGNMENT, t->sizes_known ? t->sizes.v[SIZE_ALIGNMENT] & 8u : 0);
	} else if (alignment && alignment != v[LF_ARCH_SIZE]) {
		constant_milder(t, LTTNG_RULE_alignment_invalid, TM_WARNING, LF_ALIGNMENT,
				"alignment is %llu, and pointers have %llu bytes", (unsigned long long)alignment,
				(unsigned long long)v[LF_ARCH_SIZE]);
	}
}

static bool arch_has_size(uint64_t type, uint64_t size)
{
	return !((type == 1 || type == 2 || type == 6) && size == 8) && !((type == 7 || type == 8) && size == 4);
}

/* Fields of headers up to 1.0. */
static void judge_machine(struct lttng_trace *t)
{
	const uint64_t *v = t->want.v;
	uint64_t type = v[LF_ARCH_TYPE], order = v[LF_FLOAT_ORDER];

	if (!lttng_has(t->layout, LF_ARCH_TYPE))
		return;
	if (!type || type > 12)
		constant_report(t, LTTNG_RULE_arch_type_unknown, LF_ARCH_TYPE, "architecture %llu is none of 1 to 12",
				(unsigned long long)type);
	else if (!arch_has_size(type, v[LF_ARCH_SIZE]))
		constant_report(t, LTTNG_RULE_arch_type_size_conflict, LF_ARCH_TYPE,
				"architecture %llu has no pointers of %llu bytes", (unsigned long long)type,
				(unsigned long long)v[LF_ARCH_SIZE]);
	if (v[LF_ARCH_VARIANT])
		constant_report(t, LTTNG_RULE_arch_variant_nonzero, LF_ARCH_VARIANT, "arch_variant is %llu",
				(unsigned long long)v[LF_ARCH_VARIANT]);
	if (order && order != 1234 && order != 4321 && order != 3412)
		constant_report(t, LTTNG_RULE_float_word_order_value, LF_FLOAT_ORDER,
				"float_word_order is %llu; 0, 1234, 4321 and 3412 are known", (unsigned long long)order);
	for (unsigned i = 0; i < 2; i++) {
		enum lttng_field field = i ? LF_FLIGHT : LF_HEARTBEAT;
		if (v[field] > (i ? 2u : 1u))
			constant_report(t, LTTNG_RULE_flag_not_boolean, field, "%s is %llu", lttng_field_names[field],
					(unsigned long long)v[field]);
	}
}

static void files_aside(struct lttng_trace *t, unsigned rule, const char *why)
{
	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].channel && t->files[i].compact && !t->files[i].aside) {
			t->files[i].aside = true;
			t->files[i].aside_rule = rule;
			t->files[i].aside_why = why;
		}
}

static void judge_compact(struct lttng_trace *t)
{
	const uint64_t *v = t->want.v;
	bool compact = false;

	for (size_t i = 0; i < t->file_count; i++)
		compact |= t->files[i].channel && !t->files[i].aside && t->files[i].compact;
	if (!lttng_has(t->layout, LF_TSCBITS))
		return;
	bool shift = lttng_has(t->layout, LF_SHIFT);
	if (!v[LF_TSCBITS] || v[LF_TSCBITS] + v[LF_TRUNCATE] > 32 || (shift && v[LF_SHIFT] > 32) ||
	    (shift && compact && v[LF_SHIFT] < v[LF_TSCBITS])) {
		constant_report(t, LTTNG_RULE_compact_fields_invalid, LF_TSCBITS,
				"tsc_lsb_truncate %llu, tscbits %llu and compact_data_shift %llu do not fit a word of 32 bits",
				(unsigned long long)v[LF_TRUNCATE], (unsigned long long)v[LF_TSCBITS],
				(unsigned long long)v[LF_SHIFT]);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_TSCBITS, 32);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_TRUNCATE, 0);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_SHIFT, 0);
		files_aside(t, LTTNG_RULE_compact_fields_invalid, "the bit fields of its events are not known");
	} else if (compact && !v[LF_HEARTBEAT]) {
		constant_report(t, LTTNG_RULE_compact_without_heartbeat, LF_HEARTBEAT,
				"there are compact files, and has_heartbeat is 0");
		files_aside(t, LTTNG_RULE_compact_without_heartbeat, "compact events need a heartbeat");
	}
}

double lttng_frequency(const struct lttng_layout *l, const struct lttng_header *h)
{
	double freq = (double)h->v[LF_FREQ], scale = lttng_has(l, LF_SCALE) ? (double)h->v[LF_SCALE] : 1000.0;
	if (l->era == LTTNG_CHANNEL_MARKERS)
		return scale > 0 ? freq / scale : 0;
	return freq * scale;
}

static void judge_clock(struct lttng_trace *t)
{
	const uint64_t *v = t->want.v;
	uint64_t unit = t->layout->nanoseconds ? 1000000000u : 1000000u;

	if (!v[LF_FREQ]) {
		/* Up to 1.0 blocks may still tell. */
		uint64_t freq = 0;
		for (size_t i = 0; i < t->file_count && !freq; i++)
			if (file_votes(t, &t->files[i]))
				freq = t->files[i].first.v[LF_BEGIN_FREQ];
		constant_report(t, LTTNG_RULE_freq_zero, LF_FREQ, "start_freq is 0");
		constant_set(t, LTTNG_RULE_freq_zero, LF_FREQ, freq ? freq : 1000000000);
		t->clock_made_up = !freq;
	}
	if (lttng_has(t->layout, LF_SCALE) && !v[LF_SCALE]) {
		constant_report(t, LTTNG_RULE_freq_scale_zero, LF_SCALE, "freq_scale is 0");
		constant_set(t, LTTNG_RULE_freq_scale_zero, LF_SCALE, 1);
		t->clock_made_up = true;
	}
	double freq = lttng_frequency(t->layout, &t->want);
	if ((freq < 1e3 || freq > 1e11) && !t->blame[LF_FREQ] && !t->blame[LF_SCALE]) {
		constant_report(t, LTTNG_RULE_freq_implausible, LF_FREQ, "start_freq %llu with freq_scale %llu is %g Hz",
				(unsigned long long)v[LF_FREQ], (unsigned long long)v[LF_SCALE], freq);
	}
	if (v[LF_SUBSEC] >= unit) {
		constant_report(t, LTTNG_RULE_start_time_subsecond_range, LF_SUBSEC, "the start time has %llu %s of a second",
				(unsigned long long)v[LF_SUBSEC], t->layout->nanoseconds ? "nanoseconds" : "microseconds");
		constant_set(t, LTTNG_RULE_start_time_subsecond_range, LF_SEC, v[LF_SEC] + v[LF_SUBSEC] / unit);
		constant_set(t, LTTNG_RULE_start_time_subsecond_range, LF_SUBSEC, v[LF_SUBSEC] % unit);
	}
	if (!t->blame[LF_SEC] && !plausible(LF_SEC, v[LF_SEC], false)) {
		constant_report(t, LTTNG_RULE_start_time_implausible, LF_SEC, "the trace started %llu seconds after 1970",
				(unsigned long long)v[LF_SEC]);
	}
	if (v[LF_MONOTONIC]) {
		constant_report(t, LTTNG_RULE_start_monotonic_nonzero, LF_MONOTONIC, "start_monotonic is %llu",
				(unsigned long long)v[LF_MONOTONIC]);
	}
}

void lttng_vote_judge(struct lttng_trace *t)
{
	judge_sizes(t);
	judge_machine(t);
	judge_compact(t);
	judge_clock(t);
	t->arch = (uint8_t)t->want.v[LF_ARCH_SIZE];
	t->alignment = (uint8_t)t->want.v[LF_ALIGNMENT];
	if (t->layout->era <= LTTNG_MARKERS && t->alignment > t->arch)
		t->alignment = t->arch;
	t->heartbeat = t->want.v[LF_HEARTBEAT] != 0;
}
