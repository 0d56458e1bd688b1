/* The constants of the trace header, as most headers say them: whether they make sense. "The trace header". */
#include "formats/lttng/salvage/lttng_salvage.h"

void lttng_constants_apply(struct lttng_trace *t)
{
	const uint64_t *v = t->constants.want.v;
	struct lttng_coding *c = &t->coding;

	c->arch = v[LF_ARCH_SIZE] == 8 ? 8 : 4;
	c->alignment = (v[LF_ALIGNMENT] & (v[LF_ALIGNMENT] - 1)) || v[LF_ALIGNMENT] > 8 ? 0 : (uint8_t)v[LF_ALIGNMENT];
	if (c->layout->era <= LTTNG_MARKERS && c->alignment > c->arch)
		c->alignment = c->arch;
	c->heartbeat = v[LF_HEARTBEAT] != 0;
	c->truncate = v[LF_TRUNCATE];
	c->tscbits = v[LF_TSCBITS];
	c->shift = v[LF_SHIFT];
}

/* Where a constant shows: the first file that begins with a header of the trace. */
static const struct source *constant_source(const struct lttng_trace *t, enum lttng_field field)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (lttng_file_votes(t, &t->files.list[i]) && t->files.list[i].first.v[field] == t->constants.want.v[field])
			return t->files.list[i].source;
	return NULL;
}

/* Reports a constant of the headers at the first file that shows it. */
#define constant_report(t, rule, ...) ((void)PLACE(rule), constant_report_at((t), (rule), lttng_rules[rule].severity, __VA_ARGS__))
#define constant_milder(t, rule, ...) ((void)PLACE(rule), constant_report_at((t), (rule), __VA_ARGS__))
static void PRINTF_LIKE(5, 6) constant_report_at(struct lttng_trace *t, unsigned rule, enum tracemend_severity severity,
						 enum lttng_field field, const char *format, ...)
{
	const struct source *s = constant_source(t, field);
	struct finding *fd = finding_milder_at(t->s->findings, rule, severity, s, 0, s ? t->coding.layout->size : 0);
	const struct lttng_place *place = &t->coding.layout->places[field];
	va_list arguments;

	finding_path(fd, "trace header > %s", lttng_field_name(t->coding.layout, field));
	if (s)
		finding_field(fd, place->offset, place->width, "%s = %llu", lttng_field_name(t->coding.layout, field),
			      (unsigned long long)t->constants.want.v[field]);
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

/* A constant is wrong in all headers, and this was reported: repair writes `value`. */
static void constant_set(struct lttng_trace *t, unsigned rule, enum lttng_field field, uint64_t value)
{
	t->constants.want.v[field] = value;
	t->constants.blame[field] = rule + 1;
}

/* The size of pointers where the headers do not tell it: that of the declarations, or that of aligned values. In 2.0 the header has
 * another size with each. */
static uint64_t arch_likely(const struct lttng_trace *t)
{
	const struct lttng_layout *l = t->coding.layout;
	const uint8_t pointer = t->coding.sizes.v[SIZE_POINTER];

	if (l->major == 2 && !l->minor)
		return l->size == 64 ? 8 : 4;
	if (t->declared.sizes_known && (pointer == 4 || pointer == 8))
		return pointer;
	return t->constants.want.v[LF_ALIGNMENT] == 8 ? 8 : 4;
}

static void judge_sizes(struct lttng_trace *t)
{
	const uint64_t *v = t->constants.want.v;
	uint64_t alignment = v[LF_ALIGNMENT];

	if (v[LF_ARCH_SIZE] != 4 && v[LF_ARCH_SIZE] != 8) {
		const uint64_t arch = arch_likely(t);
		constant_report(t, LTTNG_RULE_arch_size_invalid, LF_ARCH_SIZE, "arch_size is %llu; pointers have 4 or 8 bytes",
				(unsigned long long)v[LF_ARCH_SIZE]);
		constant_set(t, LTTNG_RULE_arch_size_invalid, LF_ARCH_SIZE, arch);
	}
	if (alignment > 8 || (alignment & (alignment - 1))) {
		constant_report(t, LTTNG_RULE_alignment_invalid, LF_ALIGNMENT, "alignment is %llu; it must be 0, 1, 2, 4 or 8",
				(unsigned long long)alignment);
		constant_set(t, LTTNG_RULE_alignment_invalid, LF_ALIGNMENT,
			     t->declared.sizes_known ? t->coding.sizes.v[SIZE_ALIGNMENT] & 8u : 0);
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
	const uint64_t *v = t->constants.want.v;
	uint64_t type = v[LF_ARCH_TYPE], order = v[LF_FLOAT_ORDER];

	if (!lttng_has(t->coding.layout, LF_ARCH_TYPE))
		return;
	if (!type || type > 12)
		constant_report(t, LTTNG_RULE_arch_type_unknown, LF_ARCH_TYPE, "arch_type is %llu; 1 to 12 are known",
				(unsigned long long)type);
	else if (!arch_has_size(type, v[LF_ARCH_SIZE]))
		constant_report(t, LTTNG_RULE_arch_type_size_conflict, LF_ARCH_TYPE,
				"arch_type is %llu, which does not have pointers of %llu bytes", (unsigned long long)type,
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

static void compact_aside(struct lttng_trace *t, unsigned rule, const char *why)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.list[i].channel && t->files.list[i].compact && !t->files.list[i].aside)
			lttng_file_aside(&t->files.list[i], rule, why);
}

static void judge_compact(struct lttng_trace *t)
{
	const uint64_t *v = t->constants.want.v;
	bool compact = false;

	for (size_t i = 0; i < t->files.count; i++)
		compact |= t->files.list[i].channel && !t->files.list[i].aside && t->files.list[i].compact;
	if (!lttng_has(t->coding.layout, LF_TSCBITS))
		return;
	bool shift = lttng_has(t->coding.layout, LF_SHIFT);
	if (!v[LF_TSCBITS] || v[LF_TSCBITS] + v[LF_TRUNCATE] > 32 || (shift && v[LF_SHIFT] > 32) ||
	    (shift && compact && v[LF_SHIFT] < v[LF_TSCBITS])) {
		constant_report(t, LTTNG_RULE_compact_fields_invalid, LF_TSCBITS,
				"tsc_lsb_truncate %llu, tscbits %llu and compact_data_shift %llu do not fit a word of 32 bits",
				(unsigned long long)v[LF_TRUNCATE], (unsigned long long)v[LF_TSCBITS],
				(unsigned long long)v[LF_SHIFT]);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_TSCBITS, 32);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_TRUNCATE, 0);
		constant_set(t, LTTNG_RULE_compact_fields_invalid, LF_SHIFT, 0);
		compact_aside(t, LTTNG_RULE_compact_fields_invalid, "the bit fields of its events are not known");
	} else if (compact && !v[LF_HEARTBEAT]) {
		constant_report(t, LTTNG_RULE_compact_without_heartbeat, LF_HEARTBEAT,
				"there are compact files, and has_heartbeat is 0");
		compact_aside(t, LTTNG_RULE_compact_without_heartbeat, "compact events need a heartbeat");
	}
}

double lttng_frequency(const struct lttng_layout *l, const struct lttng_header *h)
{
	double freq = (double)h->v[LF_FREQ], scale = lttng_has(l, LF_SCALE) ? (double)h->v[LF_SCALE] : 1000.0;
	if (l->era == LTTNG_CHANNEL_MARKERS)
		return scale > 0 ? freq / scale : 0;
	return freq * scale;
}

static const char why_made_up[] = "the frequency of its clock was made up";

static void judge_clock(struct lttng_trace *t)
{
	const uint64_t *v = t->constants.want.v;
	uint64_t unit = t->coding.layout->nanoseconds ? 1000000000u : 1000000u;

	if (!v[LF_FREQ]) {
		/* Up to 1.0 blocks have a frequency, too. */
		uint64_t freq = 0;
		for (size_t i = 0; i < t->files.count && !freq; i++)
			if (lttng_file_votes(t, &t->files.list[i]))
				freq = t->files.list[i].first.v[LF_BEGIN_FREQ];
		constant_report(t, LTTNG_RULE_freq_zero, LF_FREQ, "start_freq is 0");
		constant_set(t, LTTNG_RULE_freq_zero, LF_FREQ, freq ? freq : 1000000000);
		if (!freq)
			t->constants.doubted = why_made_up;
	}
	if (lttng_has(t->coding.layout, LF_SCALE) && !v[LF_SCALE]) {
		constant_report(t, LTTNG_RULE_freq_scale_zero, LF_SCALE, "freq_scale is 0");
		constant_set(t, LTTNG_RULE_freq_scale_zero, LF_SCALE, 1);
		t->constants.doubted = why_made_up;
	}
	double freq = lttng_frequency(t->coding.layout, &t->constants.want);
	if ((freq < 1e3 || freq > 1e11) && !t->constants.blame[LF_FREQ] && !t->constants.blame[LF_SCALE]) {
		constant_report(t, LTTNG_RULE_freq_implausible, LF_FREQ, "start_freq %llu with freq_scale %llu is %g Hz",
				(unsigned long long)v[LF_FREQ], (unsigned long long)v[LF_SCALE], freq);
		if (t->constants.lone)
			t->constants.doubted = "the frequency of its clock is none that clocks have";
	}
	if (v[LF_SUBSEC] >= unit) {
		constant_report(t, LTTNG_RULE_start_time_subsecond_range, LF_SUBSEC, "the start time has %llu %s of a second",
				(unsigned long long)v[LF_SUBSEC], t->coding.layout->nanoseconds ? "nanoseconds" : "microseconds");
		constant_set(t, LTTNG_RULE_start_time_subsecond_range, LF_SEC, v[LF_SEC] + v[LF_SUBSEC] / unit);
		constant_set(t, LTTNG_RULE_start_time_subsecond_range, LF_SUBSEC, v[LF_SUBSEC] % unit);
	}
	if (!t->constants.blame[LF_SEC] && !lttng_value_plausible(LF_SEC, v[LF_SEC], false)) {
		constant_report(t, LTTNG_RULE_start_time_implausible, LF_SEC, "the trace started %llu seconds after 1970",
				(unsigned long long)v[LF_SEC]);
	}
	if (v[LF_MONOTONIC]) {
		constant_report(t, LTTNG_RULE_start_monotonic_nonzero, LF_MONOTONIC, "start_monotonic is %llu",
				(unsigned long long)v[LF_MONOTONIC]);
	}
}

void lttng_constants_judge(struct lttng_trace *t)
{
	judge_sizes(t);
	judge_machine(t);
	judge_compact(t);
	judge_clock(t);
	lttng_constants_apply(t);
}
