/* The payloads of options, checked one by one (MAN6, MAN7 "OPTIONS"). */
#include "core/bytes.h"
#include "core/cursor.h"
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

/* Options that are searched for a second buffer of the same name. */
#define NAMES_COMPARED 2048u

/* A finding on a whole option. */
#define option_finding(w, rule, ...) ((void)PLACE(rule), option_milder_at((w), (rule), tracedat_rules[rule].severity, __VA_ARGS__))
#define option_milder(w, rule, ...) ((void)PLACE(rule), option_milder_at((w), (rule), __VA_ARGS__))
static struct finding *option_milder_at(struct tracedat_walk *w, unsigned rule, enum tracemend_severity severity,
					const struct tracedat_option *o)
{
	struct finding *fd = tracedat_block_milder_at(w, rule, severity, o->block, o->at - TRACEDAT_OPTION_HEADER,
						      TRACEDAT_OPTION_HEADER + (size_t)o->size);
	finding_path(fd, "options > %s", tracedat_id_name(o->id));
	return fd;
}

#define option_report(w, rule, ...) ((void)PLACE(rule), option_report_at((w), (rule), __VA_ARGS__))
static void option_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_option *o, const char *format, ...)
	PRINTF_LIKE(4, 5);
static void option_report_at(struct tracedat_walk *w, unsigned rule, const struct tracedat_option *o, const char *format, ...)
{
	struct finding *fd = option_milder_at(w, rule, tracedat_rules[rule].severity, o);
	va_list arguments;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
}

static const char *payload(const struct tracedat_option *o)
{
	return (const char *)o->block->data + o->at;
}

/* The text of an option, as repair writes it if it is changed. */
static const char *option_content(const struct tracedat_option *o, size_t *size)
{
	*size = o->changed.size ? o->changed.size : o->size;
	return o->changed.size ? (const char *)o->changed.data : payload(o);
}

/* Text options: not empty, NUL at the end. False: there is no content to check. */
static bool option_text(struct tracedat_walk *w, struct tracedat_option *o)
{
	const char *p = payload(o);
	if (o->size && !p[o->size - 1]) {
		size_t length = strnlen(p, o->size);
		if (!bytes_are_zero((const uint8_t *)p + length, o->size - length)) {
			struct finding *odd = tracedat_block_milder(w, TRACEDAT_RULE_option_string_nul, TM_WARNING, o->block, o->at,
								    o->size);
			finding_say(odd, "the text of the option has a NUL inside, after %zu of %u bytes", length, o->size);
			tracedat_option_doubt(w, o);
		} else if (memchr(p, '\r', length)) {
			struct finding *odd = tracedat_block_milder(w, TRACEDAT_RULE_option_string_nul, TM_WARNING, o->block, o->at,
								    o->size);
			finding_say(odd, "the text of the option has a carriage return");
			tracedat_option_doubt(w, o);
		} else if (o->size - length > 1) {
			/* Writers count one NUL: more of them may be damage that took the end of the text. */
			struct finding *odd = tracedat_block_milder(w, TRACEDAT_RULE_option_string_nul, TM_WARNING, o->block, o->at,
								    o->size);
			finding_say(odd, "the text of the option ends in %zu NULs, expected 1", o->size - length);
			tracedat_option_doubt(w, o);
		}
		return true;
	}
	if (!o->size && o->id == TRACEDAT_TRACECLOCK && w->shape.version == 6)
		return false;
	struct finding *fd = option_finding(w, TRACEDAT_RULE_option_string_nul, o);
	if (!o->size) {
		finding_say(fd, "the text of the option is empty");
		tracedat_option_drop(o, TRACEDAT_RULE_option_string_nul, "an empty text option");
		return false;
	}
	finding_say(fd, "the text of the option does not end in NUL");
	/* A last byte that is no text was the NUL. */
	bool hit = (uint8_t)p[o->size - 1] >= 0x7f || ((uint8_t)p[o->size - 1] < 0x20 && p[o->size - 1] != '\n');
	bytes_append(&o->changed, p, o->size - hit);
	bytes_u8(&o->changed, 0);
	/* More than it may have been hit. */
	if (!hit || utf8_valid_prefix((const uint8_t *)p, o->size - hit) < o->size - hit)
		tracedat_option_doubt(w, o);
	o->rule = TRACEDAT_RULE_option_string_nul;
	o->why = "the text with its NUL";
	return true;
}

static void option_date(struct tracedat_walk *w, struct tracedat_option *o)
{
	size_t size;
	const char *p = option_content(o, &size);
	uint64_t value;
	size_t length = strnlen(p, size);
	if (length > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && text_parse_hex(p + 2, length - 2, &value) &&
	    !(value >> 63))
		return;
	char shown[TEXT_QUOTE_SIZE];
	option_report(w, TRACEDAT_RULE_option_date_syntax, o, "the date offset is \"%s\", expected 0x and digits",
		      text_quote(shown, p, length));
	tracedat_option_drop(o, TRACEDAT_RULE_option_date_syntax, "a date that is not a number");
}

static void option_offset(struct tracedat_walk *w, struct tracedat_option *o)
{
	size_t size;
	const char *p = option_content(o, &size);
	size_t length = strnlen(p, size), at = length && (p[0] == '-' || p[0] == '+');
	uint64_t value;
	if (length - at > 2 && p[at] == '0' && p[at + 1] == 'x' ? text_parse_hex(p + at + 2, length - at - 2, &value)
								: text_parse_u64(p + at, length - at, &value))
		return;
	char shown[TEXT_QUOTE_SIZE];
	option_report(w, TRACEDAT_RULE_option_offset_syntax, o, "the time offset is \"%s\", expected a number",
		      text_quote(shown, p, length));
	tracedat_option_drop(o, TRACEDAT_RULE_option_offset_syntax, "an offset that is not a number");
}

static void option_clock(struct tracedat_walk *w, struct tracedat_option *o)
{
	size_t size, length;
	const char *text = option_content(o, &size), *name = tracedat_clock_name(text, size, &length);
	char shown[TEXT_QUOTE_SIZE];
	struct finding *fd;

	if (name && length) {
		if (!tracedat_clock_known(name, length)) {
			fd = option_milder(w, TRACEDAT_RULE_option_clock_brackets, TM_WARNING, o);
			finding_say(fd, "the clock is [%s], which is not a known clock", text_quote(shown, name, length));
			if (w->s->plan && !o->block->compressed)
				plan_doubt(w->s->plan, w->source, o->block->offset + o->at - TRACEDAT_OPTION_HEADER,
					   TRACEDAT_OPTION_HEADER + (uint64_t)o->size, "no kernel is known to have this clock");
		}
		return;
	}
	option_report(w, TRACEDAT_RULE_option_clock_brackets, o,
		      name ? "the brackets that mark the clock are empty" : "no clock is marked with brackets");
	const char *clock = w->data.buffer_count && w->data.buffers[0].clock.size > 1 ? (const char *)w->data.buffers[0].clock.data
										      : "local";
	o->changed.size = 0;
	bytes_printf(&o->changed, "[%s]\n", clock);
	bytes_u8(&o->changed, 0);
	w->out.lost_other |= o->size > 1;
	o->rule = TRACEDAT_RULE_option_clock_brackets;
	o->why = "the clock of the buffer, or the default";
}

/* EVENT,MATCH[,LAST], where EVENT may have a system in front. */
static bool hook_half(const char *p, size_t length, bool flags)
{
	size_t parts = 0, from = 0;
	for (size_t i = 0; i <= length; i++) {
		if (i < length && p[i] != ',')
			continue;
		if (i == from)
			return false;
		if (parts == 2 && flags)
			for (size_t k = from; k < i; k++)
				if (p[k] != 'p' && p[k] != 'g' && p[k] != 's')
					return false;
		parts++;
		from = i + 1;
	}
	return parts == 2 || parts == 3;
}

static void option_hook(struct tracedat_walk *w, struct tracedat_option *o)
{
	size_t size;
	const char *p = option_content(o, &size);
	size_t length = strnlen(p, size);
	const char *slash = memchr(p, '/', length);
	size_t left = slash ? (size_t)(slash - p) : 0;
	if (slash && hook_half(p, left, false) && hook_half(slash + 1, length - left - 1, true))
		return;
	char shown[TEXT_QUOTE_SIZE];
	option_report(w, TRACEDAT_RULE_option_hook_syntax, o, "the hook is \"%s\", expected EVENT,MATCH/EVENT,MATCH",
		      text_quote(shown, p, length));
	tracedat_option_drop(o, TRACEDAT_RULE_option_hook_syntax, "a hook that cannot be parsed");
}

static bool maps_number(const char **p, const char *end, char stop, uint64_t *value)
{
	const char *from = *p;
	while (*p < end && **p != stop && **p != '\n')
		(*p)++;
	if (*p >= end || **p != stop || !text_parse_hex(from, (size_t)(*p - from), value))
		return false;
	(*p)++;
	return true;
}

static bool procmaps_fine(const char *p, size_t size)
{
	const char *end = p + size - 1; /* without the NUL */
	if (p == end)
		return false;
	while (p < end) {
		uint64_t pid, n, start, stop;
		if (!maps_number(&p, end, ' ', &pid) || !maps_number(&p, end, ' ', &n))
			return false;
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			return false;
		p = lf + 1;
		for (uint64_t i = 0; i < n; i++) {
			if (p >= end || !maps_number(&p, end, ' ', &start) || !maps_number(&p, end, ' ', &stop) || start >= stop)
				return false;
			lf = memchr(p, '\n', (size_t)(end - p));
			if (!lf || lf - p > 4096)
				return false;
			p = lf + 1;
		}
	}
	return true;
}

static void option_procmaps(struct tracedat_walk *w, struct tracedat_option *o)
{
	const char *p = payload(o);
	if (o->size && !p[o->size - 1] && !memchr(p, 0, o->size - 1) && procmaps_fine(p, o->size))
		return;
	option_report(w, TRACEDAT_RULE_option_procmaps_syntax, o, "%s",
		      !o->size ? "the process map is empty"
			       : "the lines are not PID COUNT NAME and START END PATH, or their number differs");
	tracedat_option_drop(o, TRACEDAT_RULE_option_procmaps_syntax, "a process map that cannot be parsed");
}

static void option_timeshift(struct tracedat_walk *w, struct tracedat_option *o)
{
	struct cursor c = cursor_make(payload(o), o->size, w->shape.big_endian);
	uint64_t samples = 0;
	bool empty = false, unordered = false;

	cursor_skip(&c, 12);
	uint32_t cpus = cursor_u32(&c);
	empty = !cpus;
	for (uint32_t i = 0; i < cpus && !c.failed; i++) {
		uint32_t n = cursor_u32(&c);
		uint64_t last = 0;
		empty |= !n;
		samples += n;
		if (n > cursor_left(&c) / 24)
			c.failed = true;
		for (uint32_t k = 0; k < n && !c.failed; k++) {
			uint64_t time = cursor_u64(&c);
			unordered |= k && time <= last;
			last = time;
		}
		cursor_skip(&c, 16 * (size_t)n);
	}
	bool fits = !c.failed && (!cursor_left(&c) || cursor_left(&c) == 8 * samples);
	if (!fits) {
		option_report(w, TRACEDAT_RULE_option_timeshift_layout, o,
			      "the counts of %u CPUs do not fill the %u bytes of the option", cpus, o->size);
		tracedat_option_drop(o, TRACEDAT_RULE_option_timeshift_layout, "time shifts of an invalid layout");
	} else if (empty) {
		option_report(w, TRACEDAT_RULE_option_timeshift_empty_cpu, o,
			      "the time shift has no CPU, or a CPU without samples");
		tracedat_option_drop(o, TRACEDAT_RULE_option_timeshift_empty_cpu, "a time shift without samples");
	} else if (unordered) {
		option_report(w, TRACEDAT_RULE_option_timeshift_order, o, "the sample times of a CPU are not ascending");
	}
}

static void option_guest(struct tracedat_walk *w, struct tracedat_option *o)
{
	const char *p = payload(o);
	const char *nul = memchr(p, 0, o->size), *wrong = NULL;
	size_t name = nul ? (size_t)(nul - p) + 1 : o->size;
	struct cursor c = cursor_make(p + name, o->size - name, w->shape.big_endian);
	cursor_skip(&c, 8);
	uint32_t cpus = cursor_u32(&c);
	uint8_t seen[TRACEDAT_CPUS_MAX / 8] = { 0 };

	if (!nul || c.failed || (uint64_t)cpus * 8 != cursor_left(&c))
		wrong = "the number of CPUs does not match the size of the option";
	for (uint32_t i = 0; i < cpus && !wrong; i++) {
		uint32_t cpu = cursor_u32(&c);
		cursor_skip(&c, 4);
		if (cpu >= cpus || cpu >= TRACEDAT_CPUS_MAX)
			wrong = "a CPU number is not below the number of CPUs";
		else if (bit_get(seen, cpu))
			wrong = "a CPU is listed twice";
		else
			bit_set(seen, cpu);
	}
	if (!wrong)
		return;
	option_report(w, TRACEDAT_RULE_option_guest_layout, o, "%s", wrong);
	tracedat_option_drop(o, TRACEDAT_RULE_option_guest_layout, "a guest option of an invalid layout");
}

static void option_tsc(struct tracedat_walk *w, struct tracedat_option *o)
{
	struct cursor c = cursor_make(payload(o), o->size, w->shape.big_endian);
	uint32_t mult = cursor_u32(&c), shift = cursor_u32(&c);
	if (o->size == 16 && mult && shift < 64)
		return;
	option_report(w, TRACEDAT_RULE_option_tsc2nsec_range, o,
		      "%u bytes, multiplier %u, shift %u; expected 16 bytes, a multiplier other than 0 and a shift below 64",
		      o->size, mult, shift);
	tracedat_option_drop(o, TRACEDAT_RULE_option_tsc2nsec_range, "an invalid conversion");
}

/* ---- CPU statistics ---- */

static bool stat_number(const char *text, size_t size, const char *label, uint64_t *value)
{
	const char *p = memmem(text, size, label, strlen(label));
	if (!p)
		return false;
	p += strlen(label);
	while (p < text + size && *p == ' ')
		p++;
	size_t n = 0;
	while (p + n < text + size && p[n] >= '0' && p[n] <= '9')
		n++;
	return text_parse_u64(p, n, value);
}

/* "seconds.micro" as microseconds. */
static uint64_t stat_time(const char *text, size_t size, const char *label)
{
	uint64_t seconds, micro;
	const char *p = memmem(text, size, label, strlen(label));
	if (!p || !stat_number(text, size, label, &seconds) || seconds > UINT64_MAX / 4000000)
		return 0;
	const char *dot = memchr(p, '.', size - (size_t)(p - text));
	if (!dot || (size_t)(dot - text) + 7 > size || !text_parse_u64(dot + 1, 6, &micro))
		return 0;
	return seconds * 1000000 + micro;
}

static void option_cpustat(struct tracedat_walk *w, struct tracedat_option *o, struct tracedat_heading *heading)
{
	const char *p = payload(o);
	uint64_t cpu = 0;

	if (!o->size) {
		option_report(w, TRACEDAT_RULE_option_cpustat_empty, o, "the size of the statistics is 0");
		tracedat_option_drop(o, TRACEDAT_RULE_option_cpustat_empty, "statistics without text");
		return;
	}
	bool heading_there = tracedat_heading_is(o, heading);
	if ((heading_there || tracedat_cpustat_begins(p, o->size)) && !tracedat_cpustat_sound(p, o->size)) {
		option_report(w, TRACEDAT_RULE_option_cpustat_shape, o, "the lines of the statistics are not LABEL: NUMBER");
		tracedat_option_doubt(w, o);
	}
	if (heading_there)
		return;
	if (!stat_number(p, o->size, "CPU:", &cpu) || cpu >= TRACEDAT_CPUS_MAX) {
		option_report(w, TRACEDAT_RULE_option_cpustat_shape, o,
			      "the statistics have neither \"CPU: N\" nor \"Buffer: NAME\"");
		tracedat_option_doubt(w, o);
		return;
	}
	if (!tracedat_room(w, &w->dir.stats, &w->dir.stat_capacity, w->dir.stat_count, sizeof(*w->dir.stats), TRACEDAT_OPTIONS_MAX))
		return;
	struct tracedat_stat *stat = &w->dir.stats[w->dir.stat_count++];
	*stat = (struct tracedat_stat){ .buffer = *heading, .cpu = (uint32_t)cpu, .option = (size_t)(o - w->dir.options) };
	stat->known = stat_number(p, o->size, "\nentries:", &stat->entries) &&
		      stat_number(p, o->size, "\nread events:", &stat->read);
	(void)stat_number(p, o->size, "\noverrun:", &stat->overrun);
	stat->oldest_us = stat_time(p, o->size, "oldest event ts:");
	stat->now_us = stat_time(p, o->size, "now ts:");
}

/* ---- CPU count and instances ---- */

static void option_cpucount(struct tracedat_walk *w, struct tracedat_option *o)
{
	uint32_t least = 0, exact = 0;
	uint8_t number[4];
	unsigned rule = TRACEDAT_RULE_option_cpucount_value;
	uint32_t value = o->size >= 4 ? load_u32(payload(o), w->shape.big_endian) : 0;

	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			uint32_t cpu = w->data.buffers[i].cpus[j].cpu;
			if (cpu < TRACEDAT_CPUS_MAX && cpu + 1 > least)
				least = cpu + 1;
		}
	if (w->shape.version == 6)
		exact = w->data.buffer_count ? (uint32_t)w->data.buffers[0].count : w->data.cpu_count;
	uint32_t wanted = exact ? exact : least ? least : 1;
	bool fits = exact ? value == exact : value >= wanted && value <= TRACEDAT_CPUS_MAX;
	uint32_t swapped = __builtin_bswap32(value);
	if (o->size != 4) {
		rule = TRACEDAT_RULE_option_cpucount_size;
		option_report(w, TRACEDAT_RULE_option_cpucount_size, o, "the CPU count has %u bytes, expected 4", o->size);
	} else if (fits) {
		return;
	} else if (exact ? swapped == exact : swapped >= wanted && swapped <= TRACEDAT_CPUS_MAX) {
		rule = TRACEDAT_RULE_host_order_cpucount;
		option_report(w, TRACEDAT_RULE_host_order_cpucount, o, "the CPU count is %u, expected %u: its bytes are swapped",
			      value, swapped);
		wanted = swapped;
	} else {
		option_report(w, TRACEDAT_RULE_option_cpucount_value, o, "the CPU count is %u, but the data has %s%u", value,
			      exact ? "" : "at least ", wanted);
	}
	store_u32(number, wanted, w->shape.big_endian);
	bytes_append(&o->changed, number, 4);
	o->rule = rule;
	o->why = "the number of CPUs that fits the data";
}

/* v6: offset and name; payloads of v7 are checked in tracedat_v7.c, except for their names. */
static void option_buffer_name(struct tracedat_walk *w, struct tracedat_option *o, size_t at)
{
	const char *p = payload(o);
	if (o->size < at || o->changed.size)
		return;
	size_t room = o->size - at, length = strnlen(p + at, room);
	if (w->shape.version == 6 && (o->size < 9 || length == room)) {
		option_report(w, TRACEDAT_RULE_option_buffer_name, o, "the name of the instance does not end in NUL");
		if (o->size < 9) {
			tracedat_option_drop(o, TRACEDAT_RULE_option_buffer_name, "an instance without a name");
			return;
		}
		bytes_append(&o->changed, p, o->size);
		bytes_u8(&o->changed, 0);
		o->rule = TRACEDAT_RULE_option_buffer_name;
		o->why = "the name with its NUL";
		return;
	}
	for (size_t i = 0; i < NAMES_COMPARED && &w->dir.options[i] < o; i++) {
		const struct tracedat_option *other = &w->dir.options[i];
		if (other->id != TRACEDAT_BUFFER || other->dropped || other->size < at + length + 1 ||
		    memcmp(payload(other) + at, p + at, length + 1))
			continue;
		char shown[TEXT_QUOTE_SIZE];
		option_report(w, TRACEDAT_RULE_option_buffer_name, o, "a second instance named \"%s\"",
			      text_quote(shown, p + at, length));
		bytes_append(&o->changed, p, at + length);
		bytes_printf(&o->changed, "-%zu", (size_t)(o - w->dir.options));
		bytes_append(&o->changed, p + at + length, o->size - at - length);
		o->rule = TRACEDAT_RULE_option_buffer_name;
		o->why = "a unique name";
		if (w->shape.version == 7 && o->buffer >= 0) {
			struct tracedat_buffer *b = &w->data.buffers[o->buffer];
			b->raw_name.size -= b->raw_name.size > 0;
			bytes_printf(&b->raw_name, "-%zu", (size_t)(o - w->dir.options));
			bytes_u8(&b->raw_name, 0);
		}
		return;
	}
}

static bool option_may_repeat(unsigned id)
{
	return id == TRACEDAT_CPUSTAT || id == TRACEDAT_BUFFER || id == TRACEDAT_HOOK || id == TRACEDAT_CPUCOUNT ||
	       id == TRACEDAT_PROCMAPS || id == TRACEDAT_GUEST || id == TRACEDAT_BUFFER_TEXT || id == TRACEDAT_LAST_BOOT;
}

static void option_check(struct tracedat_walk *w, struct tracedat_option *o, struct tracedat_heading *heading)
{
	switch (o->id) {
	case TRACEDAT_DATE:
		if (option_text(w, o))
			option_date(w, o);
		break;
	case TRACEDAT_CPUSTAT:
		option_cpustat(w, o, heading);
		break;
	case TRACEDAT_BUFFER:
		if (w->data.buffer_count < 256)
			option_buffer_name(w, o, 8);
		break;
	case TRACEDAT_TRACECLOCK:
		if (option_text(w, o))
			option_clock(w, o);
		break;
	case TRACEDAT_UNAME:
	case TRACEDAT_VERSION:
	case TRACEDAT_LAST_BOOT:
		(void)option_text(w, o);
		break;
	case TRACEDAT_HOOK:
		if (option_text(w, o))
			option_hook(w, o);
		break;
	case TRACEDAT_OFFSET:
		if (option_text(w, o))
			option_offset(w, o);
		break;
	case TRACEDAT_PROCMAPS:
		option_procmaps(w, o);
		break;
	case TRACEDAT_TRACEID:
		if (o->size != 8)
			option_report(w, TRACEDAT_RULE_option_traceid_size, o, "the trace id has %u bytes, expected 8", o->size);
		break;
	case TRACEDAT_TIME_SHIFT:
		option_timeshift(w, o);
		break;
	case TRACEDAT_GUEST:
		option_guest(w, o);
		break;
	case TRACEDAT_TSC2NSEC:
		option_tsc(w, o);
		break;
	default:
		break;
	}
}

/* Whether there is another buffer than the top one. */
static bool has_instances(const struct tracedat_walk *w)
{
	size_t sections = 0, options = w->shape.version == 6;

	for (size_t i = 0; i < w->dir.section_count; i++)
		sections += w->dir.sections[i].id == TRACEDAT_BUFFER;
	for (size_t i = 0; i < w->dir.option_count; i++)
		options += w->dir.options[i].id == TRACEDAT_BUFFER;
	return sections > 1 || options > 1 || w->dir.heading_count;
}

/* Bytes of an option that is longer than those of one kind are, but statistics. */
#define SWALLOWED_LEAST 128u

/* Whether an option whose size was hit may hold others that were hit with it. */
static bool option_swallows(const struct tracedat_option *o)
{
	const char *p = (const char *)o->block->data + o->at;

	return o->head_bad && o->size > SWALLOWED_LEAST && !(o->id == TRACEDAT_CPUSTAT && tracedat_cpustat_sound(p, o->size));
}

/* Whether an unknown id is that of an option that every trace-cmd writes and that is not there, but for one bit or its upper byte:
 * it may have been hit. seen: ids that are there, as bits. */
static bool unknown_was_known(uint16_t id, uint32_t seen)
{
	static const uint16_t always[] = { TRACEDAT_VERSION, TRACEDAT_TRACEID };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		const unsigned apart = id ^ always[i];
		if (!(seen >> always[i] & 1) && (!(apart & (apart - 1)) || !(apart & 0xff)))
			return true;
	}
	return false;
}

void tracedat_options_check(struct tracedat_walk *w)
{
	uint32_t seen = 0;
	struct tracedat_heading heading = { NULL, 0 };
	const bool instances = has_instances(w);

	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		/* Options that cannot be read may have had the heading of the statistics behind them: whose they are is unknown. */
		if (i && instances && o[-1].block == o->block &&
		    (o[-1].at + o[-1].size + TRACEDAT_OPTION_HEADER != o->at || option_swallows(&o[-1])))
			heading = (struct tracedat_heading){ "", 0 };
		if (o->dropped)
			continue;
		if (o->id > TRACEDAT_ID_LAST || o->id == TRACEDAT_STRINGS) {
			option_report(w, TRACEDAT_RULE_option_unknown, o, "unknown option %u of %u bytes", o->id, o->size);
			/* No version has so many. */
			if (o->id > TRACEDAT_ID_LATER)
				tracedat_option_doubt(w, o);
			continue;
		}
		if (w->shape.version == 6 && o->id >= TRACEDAT_HEADER_INFO && o->id != TRACEDAT_LAST_BOOT) {
			option_report(w, TRACEDAT_RULE_option_v7_in_v6, o,
				      "option %u names a section, which version 6 does not have", o->id);
			continue;
		}
		if (seen & 1u << o->id && !option_may_repeat(o->id))
			option_report(w, TRACEDAT_RULE_option_duplicate, o, "a second option of this kind");
		seen |= 1u << o->id;
		option_check(w, o, &heading);
	}
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++)
		if (!w->dir.options[i].dropped && w->dir.options[i].id > TRACEDAT_ID_LAST &&
		    unknown_was_known(w->dir.options[i].id, seen))
			tracedat_option_doubt(w, &w->dir.options[i]);
	tracedat_stats_sort(&w->dir);
	if (w->status == TM_OK)
		tracedat_table_cpus_correct(w);
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++)
		if (w->dir.options[i].id == TRACEDAT_CPUCOUNT && !w->dir.options[i].dropped)
			option_cpucount(w, &w->dir.options[i]);
}
