/* Version 6: CPU tables, the clocks behind them, and instances (MAN6 "REST OF TRACE-CMD HEADER"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/scan/tracedat_place.h"
#include "formats/tracedat/scan/tracedat_v6.h"

#include <stdio.h>

#define CLOCK_MAX 4096u
/* Searches of the whole file for tables of instances. */
#define SEARCHES_MAX 4u

/* The name in a clock block at `at`, which has *size bytes with its length field; NULL: there is no clock block. It has no
 * signature: only the brackets identify it. */
static const char *clock_at(struct tracedat_walk *w, uint64_t at, uint64_t *size, size_t *name_length)
{
	const uint8_t *p = window_at(&w->window, at, 9);
	uint64_t length = p ? load_u64(p, w->shape.big_endian) : 0;
	if (!p || length < 1 || length > CLOCK_MAX || length > window_left(&w->window, at + 8))
		return NULL;
	p = window_at(&w->window, at + 8, (size_t)length);
	*size = 8 + length;
	*name_length = 0;
	const char *name = p ? tracedat_clock_name((const char *)p, (size_t)length, name_length) : NULL;
	return *name_length ? name : NULL;
}

/* Whether the file ends inside the clock block at `at`, or in front of it. */
static bool clock_is_cut(struct tracedat_walk *w, uint64_t at)
{
	const uint8_t *p = window_at(&w->window, at, 8);
	uint64_t length = p ? load_u64(p, w->shape.big_endian) : 0;
	return !p || (length <= CLOCK_MAX && length > window_left(&w->window, at + 8));
}

/* MAN6 "REST OF TRACE-CMD HEADER": the table of one buffer, and the clock behind it. */
void tracedat_v6_table_read(struct tracedat_walk *w, unsigned index, uint64_t at, uint32_t count)
{
	struct tracedat_buffer *b = &w->data.buffers[index];
	bool cut = false;
	b->table_at = at;
	if (at + 16ull * count > w->source->size) {
		if (!tracedat_cut_explains(w, w->dir.truncated))
			w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, at, 16ull * count,
							   "the file ends inside the CPU table of %u entries", count);
		w->data.errors = cut = true;
		count = at < w->source->size ? (uint32_t)((w->source->size - at) / 16) : 0;
	}
	for (uint32_t i = 0; i < count && w->status == TM_OK; i++) {
		const uint8_t *p = window_at(&w->window, at + 16ull * i, 16);
		struct tracedat_cpu *c = p ? tracedat_cpu_add(w, b) : NULL;
		if (!c)
			return;
		c->cpu = i;
		c->offset = load_u64(p, w->shape.big_endian);
		c->size = load_u64(p + 8, w->shape.big_endian);
		c->declared_at = at + 16ull * i;
	}
	at += 16ull * count;
	b->clock_at = at;
	b->clock_cut = cut;
	if (cut)
		return;
	uint64_t size;
	size_t length;
	const char *name = clock_at(w, at, &size, &length);
	b->clock_bad = !name;
	if (!name) {
		b->clock_cut = clock_is_cut(w, at);
		return;
	}
	b->clock_size = size;
	bytes_append(&b->clock, name, length);
	bytes_u8(&b->clock, 0);
	if (b->clock.failed)
		tracedat_no_memory(w);
}

/* The number of entries of a table: up to the clock block, or to the first invalid one. */
static uint32_t table_measure(struct tracedat_walk *w, uint64_t at)
{
	uint32_t n = 0;
	for (; n < TRACEDAT_CPUS_MAX; n++) {
		const uint8_t *p = window_at(&w->window, at + 16ull * n, 16);
		if (!p)
			break;
		uint64_t offset = load_u64(p, w->shape.big_endian), size = load_u64(p + 8, w->shape.big_endian);
		if (offset < at || offset > (w->source->size | 0xfff) + TRACEDAT_PAGE_MAX || size > w->source->size)
			break;
	}
	return n;
}

uint32_t tracedat_v6_cpu_count(struct tracedat_walk *w, uint64_t table)
{
	uint32_t count = w->data.cpu_count;
	bool bad = count == 0 || count > TRACEDAT_CPUS_MAX;

	if (bad) {
		struct finding *fd = tracedat_finding(w, TRACEDAT_RULE_cpu_count_range, w->data.cpu_count_at, 4);
		count = table_measure(w, table);
		finding_say(fd, "the CPU count is %u, expected 1 to %u; the table has %u entries", w->data.cpu_count,
			    TRACEDAT_CPUS_MAX, count);
	}
	if (w->dir.cpucount_option >= 0) {
		const struct tracedat_option *o = &w->dir.options[w->dir.cpucount_option];
		uint32_t other = o->size == 4 ? load_u32(o->block->data + o->at, w->shape.big_endian) : count;
		if (other && other <= TRACEDAT_CPUS_MAX && !bad && other != count) {
			/* The option overrides the count if the table has as many entries. */
			uint32_t measured = table_measure(w, table);
			count = measured == other ? other : count;
		}
	}
	/* A clock directly behind the valid entries confirms their number. */
	uint64_t size;
	size_t length;
	if (!bad && !clock_at(w, table + 16ull * count, &size, &length)) {
		uint32_t measured = table_measure(w, table);
		if (measured && measured != count && clock_at(w, table + 16ull * measured, &size, &length)) {
			(void)tracedat_report(w, TRACEDAT_RULE_cpu_count_range, w->data.cpu_count_at, 4,
					      "the CPU count is %u, expected the %u entries of the table", count, measured);
			return measured;
		}
	}
	return count;
}

struct tracedat_buffer *tracedat_v6_buffer_add(struct tracedat_walk *w, uint64_t tag, const char *name)
{
	struct tracedat_buffer *b = tracedat_buffer_add(w);
	if (!b)
		return NULL;
	text_sanitise(b->name, sizeof(b->name), name);
	b->record_at = tag;
	b->page_size = 0;
	return b;
}

/* The offset of the next tag of an instance's table that no buffer has; 0: there is none. Tables of instances begin directly
 * behind other data; the tag is rare enough to be searched. */
static uint64_t unnamed_table(struct tracedat_walk *w)
{
	if (w->data.searches++ >= SEARCHES_MAX)
		return 0;
	uint64_t end = w->meta.other ? w->meta.other : w->source->size;
	for (uint64_t from = w->meta.stop; from + TRACEDAT_TAG_SIZE <= end;) {
		size_t got;
		const uint8_t *bytes = window_upto(&w->window, from, 65536, &got);
		const uint8_t *p = bytes ? memmem(bytes, got, "flyrecord", 10) : NULL;
		bool taken = false;
		if (!p && (!bytes || got <= TRACEDAT_TAG_SIZE))
			return 0;
		uint64_t at = p ? from + (uint64_t)(p - bytes) : 0;
		if (at > end - TRACEDAT_TAG_SIZE)
			return 0;
		for (size_t i = 0; i < w->data.buffer_count; i++)
			taken |= w->data.buffers[i].record_at == at;
		for (size_t i = 0; i < w->dir.option_count && !taken; i++)
			taken = w->dir.options[i].id == TRACEDAT_BUFFER && w->dir.options[i].size >= 8 &&
				load_u64(w->dir.options[i].block->data + w->dir.options[i].at, w->shape.big_endian) == at;
		if (p && !taken)
			return at;
		from = p ? at + TRACEDAT_TAG_SIZE : from + got - TRACEDAT_TAG_SIZE;
	}
	return 0;
}

/* Whether a table of `count` CPUs stands at `table`, whose data follows it: its tag may be damaged. */
static bool table_stands(struct tracedat_walk *w, uint64_t table, uint32_t count)
{
	const uint8_t *p = table <= w->source->size && count ? window_at(&w->window, table, 16) : NULL;
	uint64_t data = table + 16ull * count, first = p ? load_u64(p, w->shape.big_endian) : 0;
	return p && table_measure(w, table) >= count && first >= data && first - data <= CLOCK_MAX + w->shape.page_size;
}

/* Comparisons of names with options. */
#define COMPARED_MAX (UINT64_C(1) << 24)

/* Whether an option, or a buffer of a lost one, has that name. */
static bool name_is_known(struct tracedat_walk *w, const struct tracedat_heading *name)
{
	/* Few instances have lost their names; hostile files are not compared to the end. */
	w->data.compared += w->dir.option_count;
	if (w->data.compared > COMPARED_MAX)
		return true;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (o->id == TRACEDAT_BUFFER && !o->dropped && o->size >= 8 + name->size && o->size <= 9 + name->size &&
		    !memcmp(o->block->data + o->at + 8, name->name, name->size))
			return true;
	}
	for (size_t i = 0; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].option == SIZE_MAX && strlen(w->data.buffers[i].name) == name->size &&
		    !memcmp(w->data.buffers[i].name, name->name, name->size))
			return true;
	return false;
}

/* The name of an instance whose own is lost: the only one in the statistics that no other instance has. */
static bool name_left(struct tracedat_walk *w, struct bytes *name)
{
	unsigned left = 0;
	for (size_t i = 0; i < w->dir.heading_count && left < 2; i++) {
		const struct tracedat_heading *h = &w->dir.headings[i];
		if (!h->size || name_is_known(w, h))
			continue;
		left++;
		name->size = 0;
		bytes_append(name, h->name, h->size);
	}
	if (name->failed)
		tracedat_no_memory(w);
	return left == 1 && !name->failed;
}

/* The NUL of the name in an option was hit, and the name may have been as well: then it is the one that is left of the
 * statistics. */
static void instance_name_end(struct tracedat_walk *w, struct tracedat_option *o, struct tracedat_buffer *b)
{
	const uint8_t *text = o->block->data + o->at + 8;
	const size_t length = o->size - 9;
	struct bytes name = { 0 };
	bool said = false, plain = true;

	(void)tracedat_block_report(w, TRACEDAT_RULE_option_buffer_name, o->block, o->at + 8, length + 1,
				    "the name of the instance ends in 0x%02x, expected NUL", text[length]);
	for (size_t i = 0; i < length; i++)
		plain &= text[i] < 0x80;
	w->data.compared += w->dir.heading_count;
	for (size_t i = 0; i < w->dir.heading_count && !said && w->data.compared <= COMPARED_MAX; i++)
		said = w->dir.headings[i].size == length && !memcmp(w->dir.headings[i].name, text, length);
	const bool left = !said && name_left(w, &name);
	b->name_doubtful = left ? name.size != length : !said && !plain;
	o->rule = TRACEDAT_RULE_option_buffer_name;
	o->why = left ? "the name that the statistics have" : "the name with its NUL";
	bytes_append(&o->changed, o->block->data + o->at, left ? 8 : o->size - 1);
	if (left)
		bytes_append(&o->changed, name.data, name.size);
	bytes_u8(&o->changed, 0);
	bytes_u8(&name, 0);
	if (left && !name.failed)
		text_sanitise(b->name, sizeof(b->name), (const char *)name.data);
	if (o->changed.failed || name.failed)
		tracedat_no_memory(w);
	bytes_free(&name);
}

/* The name in an option, which has to end with its only NUL. Where it was hit, the statistics may have it. */
static void instance_name(struct tracedat_walk *w, struct tracedat_option *o, struct tracedat_buffer *b)
{
	const char *text = (const char *)o->block->data + o->at + 8;
	size_t length = o->size - 9;
	bool sound = true;
	struct bytes name = { 0 };

	for (size_t i = 0; i < length; i++)
		sound &= (uint8_t)text[i] >= 0x20 && text[i] != 0x7f;
	if (sound && text[length] && ((uint8_t)text[length] < 0x20 || (uint8_t)text[length] > 0x7e)) {
		instance_name_end(w, o, b);
		return;
	}
	b->name_doubtful = sound && text[length];
	if (sound || text[length])
		return;
	(void)tracedat_block_report(w, TRACEDAT_RULE_option_buffer_name, o->block, o->at + 8, length,
				    "the name of the instance has bytes that are not text");
	b->name_doubtful = !name_left(w, &name) || name.size != length;
	if (!b->name_doubtful) {
		bytes_append(&o->changed, o->block->data + o->at, 8);
		bytes_append(&o->changed, name.data, name.size);
		bytes_u8(&o->changed, 0);
		bytes_u8(&name, 0);
		if (!name.failed)
			text_sanitise(b->name, sizeof(b->name), (const char *)name.data);
		o->rule = TRACEDAT_RULE_option_buffer_name;
		o->why = "the name that the statistics have";
	} else {
		/* Readers end it at its NUL: that it stays one name, the bytes that are none are replaced. */
		bytes_append(&o->changed, o->block->data + o->at, o->size);
		for (size_t i = 8; i + 1 < o->changed.size; i++)
			if (o->changed.data[i] < 0x20 || o->changed.data[i] == 0x7f)
				o->changed.data[i] = '_';
		o->rule = TRACEDAT_RULE_option_buffer_name;
		o->why = "the name without the bytes that were hit";
	}
	if (o->changed.failed || name.failed)
		tracedat_no_memory(w);
	bytes_free(&name);
}

/* Whether the table that an option places at `at` was behind the end of the file, which is cut: the data of the buffers that were
 * read reaches up to there, or beyond the end. */
static bool table_is_cut(const struct tracedat_walk *w, uint64_t at)
{
	if (at <= w->source->size && w->source->size - at >= TRACEDAT_TAG_SIZE)
		return false;
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		if (w->data.buffers[i].clock_cut)
			return true;
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->size && c->offset <= at && c->size <= at - c->offset &&
			    (c->size == at - c->offset || c->offset + c->size > w->source->size))
				return true;
		}
	}
	return w->dir.truncated != NULL;
}

/* The table of an instance is missing, as the file ends before it. */
static void table_cut(struct tracedat_walk *w, struct tracedat_option *o, uint64_t at, const char *name)
{
	if (!tracedat_cut_explains(w, w->dir.truncated))
		w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, w->source->size, 0,
						   "the file ends before the table of instance %s at 0x%llx", name,
						   (unsigned long long)at);
	w->data.tables_cut = true;
	tracedat_option_drop(o, TRACEDAT_RULE_truncated_file, "an instance whose data is behind the end of the file");
}

/* Whether pages of events follow where an option places the table of an instance, in front of which other data ends: nothing is
 * left of the table itself. */
static bool table_is_lost(struct tracedat_walk *w, uint64_t at, uint32_t count)
{
	const uint32_t page = w->shape.page_size;
	const uint64_t behind = TRACEDAT_TAG_SIZE + 16ull * count;

	if (!tracedat_page_size_ok(page) || at < w->meta.stop || at > w->source->size || w->source->size - at < behind + page)
		return false;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		for (size_t j = 0; j < w->data.buffers[i].count; j++) {
			const struct tracedat_cpu *c = &w->data.buffers[i].cpus[j];
			if (c->size && at >= c->offset && at - c->offset < c->size)
				return false;
		}
	return tracedat_page_at(w, tracedat_align(at + behind, page), page);
}

/* The table stands `away` from where its option places it: so does its data, where it would not follow the table otherwise. */
static void table_shift(struct tracedat_buffer *b, uint64_t away, uint32_t page)
{
	uint64_t behind = b->clock_at + b->clock_size, first = 0;

	for (size_t i = 0; i < b->count && !first; i++)
		first = b->cpus[i].size ? b->cpus[i].offset : 0;
	if (!away || !first || first - behind < page || first + away - behind >= page)
		return;
	for (size_t i = 0; i < b->count; i++)
		b->cpus[i].offset += b->cpus[i].size ? away : 0;
}

/* Whether the table behind the tag at `found` was written for the offset `at`: the data that it names first follows there. */
static bool table_written_for(struct tracedat_walk *w, uint64_t found, uint64_t at, uint32_t count)
{
	const uint64_t behind = at + TRACEDAT_TAG_SIZE + 16ull * count;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *p = window_at(&w->window, found + TRACEDAT_TAG_SIZE + 16ull * i, 16);
		if (!p)
			return false;
		uint64_t first = load_u64(p, w->shape.big_endian);
		if (load_u64(p + 8, w->shape.big_endian))
			return first >= behind && first - behind <= CLOCK_MAX + w->shape.page_size;
	}
	return false;
}

/* Whether a table that was found for the option o, which places it at `at`, is that of another option. */
static bool table_of_another(struct tracedat_walk *w, const struct tracedat_option *o, uint64_t found, uint64_t at, uint32_t count)
{
	if (!found || table_written_for(w, found, at, count))
		return false;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *other = &w->dir.options[i];
		if (other == o || other->id != TRACEDAT_BUFFER || other->size < 9 || other->dropped)
			continue;
		const uint64_t place = load_u64(other->block->data + other->at, w->shape.big_endian);
		const uint8_t *tag = window_at(&w->window, place, TRACEDAT_TAG_SIZE);
		/* One that has a table where it says needs no other. */
		if (!(tag && tracedat_v6_tag(tag) == 2) && table_written_for(w, found, place, count))
			return true;
	}
	return false;
}

/* Another option of an instance with the same offset as the one of that index; SIZE_MAX: there is none. */
static size_t offset_shared(struct tracedat_walk *w, size_t index, uint64_t at)
{
	w->data.compared += w->dir.option_count;
	for (size_t i = 0; i < w->dir.option_count && w->data.compared <= COMPARED_MAX; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (i != index && o->id == TRACEDAT_BUFFER && o->size >= 9 && !o->dropped &&
		    load_u64(o->block->data + o->at, w->shape.big_endian) == at)
			return i;
	}
	return SIZE_MAX;
}

/* Whether the table at `at`, which the option of that index names, is that of another buffer: it was read for that, or two options
 * name it, and the one that no option names stands in front of it. Recorders write options and tables in one order. */
static bool table_is_taken(struct tracedat_walk *w, size_t index, size_t shared, uint64_t at)
{
	for (size_t i = 0; i < w->data.buffer_count; i++)
		if (w->data.buffers[i].record_at == at)
			return true;
	if (shared == SIZE_MAX || shared < index)
		return false;
	uint64_t unnamed = unnamed_table(w);
	return unnamed && unnamed < at;
}

/* The table of the instance `name` is not where its option says. Returns where it is; 0: it is not found, and the option dropped.
 */
static uint64_t table_elsewhere(struct tracedat_walk *w, struct tracedat_option *o, uint64_t at, uint32_t count, const char *name,
				bool taken)
{
	uint64_t swapped = __builtin_bswap64(at);
	const uint8_t *tag = taken ? NULL : window_at(&w->window, swapped, TRACEDAT_TAG_SIZE);
	bool host = tag && tracedat_v6_tag(tag) == 2;
	uint64_t found = host ? 0 : unnamed_table(w);

	found = table_of_another(w, o, found, at, count) ? 0 : found;
	if (found && tracedat_shift_explains(w, TRACEDAT_RULE_v6_buffer_offset, NULL, found - at))
		return found;
	struct finding *fd = tracedat_block_report(w, TRACEDAT_RULE_v6_buffer_offset, o->block, o->at, 8,
						   "the table of instance %s is stated at 0x%llx, where %s%s", name,
						   (unsigned long long)at, taken ? "that of another buffer is" : "there is none",
						   host	   ? "; the bytes of the offset are swapped"
						   : found ? "; one is found at another offset"
							   : "");
	if (found)
		tracedat_shift_note(w, fd, found - at);
	if (host || found)
		return host ? swapped : found;
	if (!taken && table_is_lost(w, at, count))
		return at;
	tracedat_option_drop(o, TRACEDAT_RULE_v6_buffer_offset, "an instance whose data is not found");
	return 0;
}

/* The buffers that BUFFER options point at. */
void tracedat_v6_instances(struct tracedat_walk *w, uint32_t count)
{
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		if (o->id != TRACEDAT_BUFFER || o->size < 9 || o->dropped)
			continue;
		const uint8_t *data = o->block->data + o->at;
		uint64_t at = load_u64(data, w->shape.big_endian);
		const uint8_t *tag = window_at(&w->window, at, TRACEDAT_TAG_SIZE);
		const bool there = tag != NULL, names_table = tag && tracedat_v6_tag(tag) == 2;
		char name[TEXT_QUOTE_SIZE];
		(void)text_quote(name, data + 8, strnlen((const char *)data + 8, o->size - 8));
		const size_t shared = offset_shared(w, i, at);
		const bool taken = table_is_taken(w, i, shared, at);
		if (there && !names_table && table_stands(w, at + TRACEDAT_TAG_SIZE, count)) {
			(void)tracedat_report(w, TRACEDAT_RULE_data_tag_invalid, at, TRACEDAT_TAG_SIZE,
					      "the tag in front of the table of instance %s is not \"flyrecord\"", name);
		} else if (!taken && table_is_cut(w, at)) {
			table_cut(w, o, at, name);
			continue;
		} else if (taken || !names_table) {
			at = table_elsewhere(w, o, at, count, name, taken);
			if (!at)
				continue;
		}
		struct tracedat_buffer *b = tracedat_v6_buffer_add(w, at, name);
		if (!b)
			return;
		b->option = i;
		o->buffer = (int)w->data.buffer_count - 1;
		instance_name(w, o, b);
		b->name_doubtful |= shared != SIZE_MAX;
		tracedat_v6_table_read(w, (unsigned)w->data.buffer_count - 1, at + TRACEDAT_TAG_SIZE, count);
		table_shift(b, at - load_u64(data, w->shape.big_endian), w->shape.page_size);
	}
}

/* The tables that options named which are lost. */
void tracedat_v6_unnamed(struct tracedat_walk *w, uint32_t count)
{
	for (unsigned number = 1; w->status == TM_OK; number++) {
		uint64_t at = unnamed_table(w);
		char name[TEXT_QUOTE_SIZE];
		struct bytes left = { 0 };
		if (!at || !table_measure(w, at + TRACEDAT_TAG_SIZE))
			return;
		bool known = name_left(w, &left);
		if (known)
			(void)text_quote(name, left.data, left.size);
		else
			(void)snprintf(name, sizeof(name), "lost_%u", number);
		bytes_free(&left);
		(void)tracedat_report(w, TRACEDAT_RULE_v6_buffer_offset, at, TRACEDAT_TAG_SIZE,
				      "the table of an instance whose option is lost; repair names it %s", name);
		struct tracedat_buffer *b = tracedat_v6_buffer_add(w, at, name);
		if (!b)
			return;
		b->name_doubtful = !known;
		tracedat_v6_table_read(w, (unsigned)w->data.buffer_count - 1, at + TRACEDAT_TAG_SIZE, count);
	}
}

void tracedat_v6_clock_check(struct tracedat_walk *w, struct tracedat_buffer *b)
{
	if (w->dir.clock_option < 0) {
		if (b->clock_size) {
			(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_block_orphan, b->clock_at, b->clock_size,
					      "the clock [%s] follows the table, but there is no TRACECLOCK option",
					      (const char *)b->clock.data);
		}
		for (size_t i = 0; i < w->dir.option_count; i++)
			if (w->dir.options[i].id == TRACEDAT_CPUSTAT)
				return;
		if (b->clock_size && b == &w->data.buffers[0]) {
			(void)tracedat_report(w, TRACEDAT_RULE_restored_without_clock, b->clock_at, b->clock_size,
					      "a clock follows the table, but there is neither a clock option nor statistics");
		}
		return;
	}
	if (b->clock_cut) {
		if (!tracedat_cut_explains(w, w->dir.truncated))
			w->dir.truncated = tracedat_report(w, TRACEDAT_RULE_truncated_file, b->clock_at, 8,
							   "the file ends inside the clock behind the CPU table");
		return;
	}
	if (b->clock_bad) {
		/* Up to 2.3 trace-cmd let the first page of data overwrite the end of the block. */
		(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_block_missing, b->clock_at, 8,
				      "there is a TRACECLOCK option, but no clock follows the CPU table");
		return;
	}
	size_t length;
	const char *name = tracedat_clock_selected(&w->dir, &length);
	if (name && (b->clock.size - 1 != length || memcmp(name, b->clock.data, length))) {
		char shown[TEXT_QUOTE_SIZE];
		(void)tracedat_report(w, TRACEDAT_RULE_v6_clock_conflict, b->clock_at, b->clock_size,
				      "the clock after the table is [%s], the option selects [%s]", (const char *)b->clock.data,
				      text_quote(shown, name, length));
	}
}
