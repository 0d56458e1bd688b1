/* What a killed recorder leaves: NAME.cpuN and NAME.INSTANCE.cpuN, raw pages without a header. The metadata comes from a donor,
 * or from a trace.dat that the recorder began to write beside them. */
#include "formats/tracedat/repair/tracedat_restore.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdio.h>
#include <stdlib.h>

bool tracedat_cpu_file(const char *name, uint32_t *cpu)
{
	size_t length = strlen(name), digits = 0;
	uint64_t value;
	while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
		digits++;
	if (!digits || digits > 4 || length < digits + 5 || memcmp(name + length - digits - 4, ".cpu", 4) ||
	    !text_parse_u64(name + length - digits, digits, &value) || value >= TRACEDAT_CPUS_MAX)
		return false;
	*cpu = (uint32_t)value;
	return true;
}

static const char *source_name(const struct source *from_source)
{
	const char *name = *from_source->name ? from_source->name : from_source->origin, *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

static int file_order(const void *left, const void *right)
{
	const struct tracedat_piece_file *a = left, *b = right;
	if (a->stem != b->stem)
		return a->stem < b->stem ? -1 : 1;
	int order = memcmp(a->name, b->name, a->stem);
	if (order)
		return order;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->source->index < b->source->index ? -1 : 1;
}

static bool is_trace_dat(struct source *from_source)
{
	uint8_t magic[10];
	return from_source->kind == SOURCE_FILE && from_source->size >= 18 && source_read(from_source, 0, magic, 10) == TM_OK &&
	       !memcmp(magic, "\x17\x08\x44tracing", 10);
}

bool tracedat_restore_collect(struct tracedat_restore *r, struct bundle *b)
{
	r->files = calloc(b->count + 1, sizeof(*r->files));
	if (!r->files)
		return false;
	for (size_t i = 0; i < b->count; i++) {
		struct source *from_source = b->sources[i];
		uint32_t cpu;
		if (from_source->kind != SOURCE_FILE || (from_source->role == TM_ROLE_INPUT && strchr(from_source->name, '/')))
			continue;
		if (from_source->role == TM_ROLE_DONOR) {
			if (!r->metadata && is_trace_dat(from_source))
				r->metadata = from_source;
		} else if (tracedat_cpu_file(source_name(from_source), &cpu)) {
			const char *name = source_name(from_source);
			r->files[r->count++] = (struct tracedat_piece_file){ .source = from_source,
									     .name = name,
									     .stem = (size_t)(strrchr(name, '.') - name),
									     .cpu = cpu,
									     .named = true };
		} else if (!r->main && is_trace_dat(from_source)) {
			r->main = from_source;
		}
	}
	struct source *single = bundle_single(b);
	if (!r->count && single && single != r->main)
		/* A file that holds pages, whatever its name. */
		r->files[r->count++] = (struct tracedat_piece_file){ .source = single,
								     .name = source_name(single),
								     .stem = strlen(source_name(single)) };
	qsort(r->files, r->count, sizeof(*r->files), file_order);
	return true;
}

/* ---- buffers of the files ---- */

/* The clock of the metadata: of its first buffer, else the one that its option selects; where neither is there, "local". */
static struct bytes clock_take(struct tracedat_restore *r)
{
	const struct tracedat_walk *w = r->w;
	const struct tracedat_buffer *b = w->data.buffer_count ? &w->data.buffers[0] : NULL;
	struct bytes clock = { 0 };
	size_t length = 0;
	const char *name = NULL;

	if (b && tracedat_clock_said(w, b)) {
		name = (const char *)b->clock.data;
		length = b->clock.size - 1;
	} else {
		name = tracedat_clock_selected(&w->dir, &length);
	}
	r->clock_known = name != NULL;
	bytes_append(&clock, name ? name : "local", name ? length : strlen("local"));
	bytes_u8(&clock, 0);
	return clock;
}

/* One buffer for each stem; the part of a stem after the first one's is the name of its instance. */
static bool buffers_make(struct tracedat_restore *r)
{
	struct tracedat_walk *w = r->w;
	const struct tracedat_piece_file *top = &r->files[0];
	struct bytes clock = clock_take(r);

	for (size_t i = 0; i < w->data.buffer_count; i++) {
		free(w->data.buffers[i].cpus);
		bytes_free(&w->data.buffers[i].raw_name);
		bytes_free(&w->data.buffers[i].clock);
	}
	w->data.buffer_count = 0;
	for (size_t i = 0; i < r->count; i++) {
		struct tracedat_piece_file *f = &r->files[i];
		bool same = i && f->stem == r->files[i - 1].stem && !memcmp(f->name, r->files[i - 1].name, f->stem);
		struct tracedat_buffer *b = same ? &w->data.buffers[w->data.buffer_count - 1] : tracedat_buffer_add(w);
		if (!b)
			break;
		if (!same) {
			const char *name = f->name + f->stem;
			size_t length = 0;
			if (i && f->stem > top->stem + 1 && !memcmp(f->name, top->name, top->stem) && f->name[top->stem] == '.') {
				name = f->name + top->stem + 1;
				length = f->stem - top->stem - 1;
			} else if (i) {
				name = f->name;
				length = f->stem;
			}
			char shown[TEXT_QUOTE_SIZE];
			bytes_append(&b->raw_name, name, length);
			bytes_u8(&b->raw_name, 0);
			bytes_append(&b->clock, clock.data, clock.size);
			text_sanitise(b->name, sizeof(b->name), text_quote(shown, name, length));
			b->page_size = w->shape.page_size;
		}
		if (same && f->cpu == f[-1].cpu)
			continue; /* the same CPU twice: the second is left out */
		struct tracedat_cpu *c = tracedat_cpu_add(w, b);
		if (!c)
			break;
		f->buffer = (unsigned)w->data.buffer_count - 1;
		c->cpu = f->cpu;
		c->length = f->source->size;
		c->found = true;
		c->declared_at = i; /* which file */
	}
	bytes_free(&clock);
	return w->status == TM_OK;
}

static void source_switch(struct tracedat_walk *w, struct source *from_source)
{
	w->source = from_source;
	window_reset(&w->window, from_source);
}

/* Walks all files once; with t->emitting into the output. */
static void files_walk(struct tracedat_restore *r, struct tracedat_buffer *b)
{
	struct tracedat_walk *w = r->w;
	for (size_t j = 0; j < b->count && w->status == TM_OK; j++) {
		struct tracedat_cpu *c = &b->cpus[j];
		struct tracedat_piece_file *f = &r->files[c->declared_at];
		size_t drops = w->out.drop_count;
		if (w->emitting) {
			uint64_t n = tracedat_align(w->out.pieces.size, b->page_size) - w->out.pieces.size;
			tracedat_put_zeros(w, n, TRACEDAT_RULE_recorder_killed, "padding up to a page");
			c->moved = w->out.pieces.size;
		}
		source_switch(w, f->source);
		tracedat_cpu_walk(w, b, c);
		if (w->window.status != TM_OK)
			w->status = w->window.status;
		if (w->emitting)
			c->moved_size = w->out.pieces.size - c->moved;
		f->damaged |= w->out.drop_count > drops || (w->emitting && c->moved_size != c->length);
		r->cut |= c->length % b->page_size != 0;
	}
}

/* ---- the output ---- */

/* A trace.dat that was begun beside the files is of the same recording, and all that its options say holds. Of a donor, only what
 * is of the machine. Places in the file are written anew. */
static bool option_is_kept(const struct tracedat_restore *r, unsigned id)
{
	if (r->metadata == r->main && id && (id <= TRACEDAT_TSC2NSEC || id == TRACEDAT_LAST_BOOT))
		return id != TRACEDAT_BUFFER && id != TRACEDAT_CPUCOUNT;
	return id == TRACEDAT_TRACECLOCK || id == TRACEDAT_UNAME || id == TRACEDAT_VERSION || id == TRACEDAT_TSC2NSEC;
}

static uint32_t cpus_of(const struct tracedat_data *data)
{
	uint32_t count = 1;
	for (size_t i = 0; i < data->buffer_count; i++)
		for (size_t j = 0; j < data->buffers[i].count; j++)
			if (data->buffers[i].cpus[j].cpu + 1 > count)
				count = data->buffers[i].cpus[j].cpu + 1;
	return count;
}

#define RULE_HERE TRACEDAT_RULE_recorder_killed
static const char why_here[] = "the header of the joined file";

static void put_option_head(struct tracedat_walk *w, unsigned id, size_t size)
{
	uint8_t head[6];
	store_u16(head, (uint16_t)id, w->shape.big_endian);
	store_u32(head + 2, (uint32_t)size, w->shape.big_endian);
	(void)tracedat_pieces_literal(&w->out.pieces, head, 6, RULE_HERE, why_here);
}

static void put_kept_options(struct tracedat_restore *r)
{
	struct tracedat_walk *w = r->w;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *o = &w->dir.options[i];
		if (!option_is_kept(r, o->id) || o->dropped)
			continue;
		put_option_head(w, o->id, o->changed.size ? o->changed.size : o->size);
		if (o->changed.size)
			(void)tracedat_pieces_literal(&w->out.pieces, o->changed.data, o->changed.size, o->rule, o->why);
		else
			tracedat_put_block(w, o->block, o->at, o->size, RULE_HERE, why_here);
	}
}

static void put_parts(struct tracedat_restore *r)
{
	for (unsigned k = 0; k < TRACEDAT_PARTS; k++)
		tracedat_put_part(r->w, &r->w->meta.parts[k], &r->w->meta.v6);
}

static void put_clock(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	struct bytes clock = { .big_endian = w->shape.big_endian };
	bytes_u64(&clock, b->clock.size + 1);
	bytes_printf(&clock, "[%s]", (const char *)b->clock.data);
	(void)tracedat_pieces_literal(&w->out.pieces, clock.data, clock.size, RULE_HERE, why_here);
	w->out.pieces.failed |= clock.failed;
	bytes_free(&clock);
}

static void compose_v6(struct tracedat_restore *r)
{
	struct tracedat_walk *w = r->w;
	uint32_t cpus = cpus_of(&w->data);
	size_t *places = calloc(w->data.buffer_count + 2 * (size_t)cpus + 1, sizeof(*places));
	const uint8_t done[2] = { 0 };

	if (!places) {
		tracedat_no_memory(w);
		return;
	}
	size_t *table = places + w->data.buffer_count;
	tracedat_put_prefix(w);
	put_parts(r);
	(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, cpus, RULE_HERE, why_here);
	(void)tracedat_pieces_literal(&w->out.pieces, "options  ", 10, RULE_HERE, why_here);
	put_kept_options(r);
	for (size_t i = 1; i < w->data.buffer_count; i++) {
		put_option_head(w, TRACEDAT_BUFFER, 8 + w->data.buffers[i].raw_name.size);
		places[i] = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, RULE_HERE, why_here);
		(void)tracedat_pieces_literal(&w->out.pieces, w->data.buffers[i].raw_name.data, w->data.buffers[i].raw_name.size,
					      RULE_HERE, why_here);
	}
	(void)tracedat_pieces_literal(&w->out.pieces, done, 2, RULE_HERE, why_here);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		tracedat_fill_u64(w, i ? places[i] : SIZE_MAX, w->out.pieces.size);
		(void)tracedat_pieces_literal(&w->out.pieces, "flyrecord", 10, RULE_HERE, why_here);
		for (uint32_t c = 0; c < 2 * cpus; c++)
			table[c] = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, RULE_HERE, why_here);
		put_clock(w, b);
		files_walk(r, b);
		for (uint32_t c = 0; c < cpus; c++) {
			uint64_t at = tracedat_align(w->out.pieces.size, b->page_size), size = 0;
			for (size_t j = 0; j < b->count; j++)
				if (b->cpus[j].cpu == c) {
					at = b->cpus[j].moved;
					size = b->cpus[j].moved_size;
				}
			tracedat_fill_u64(w, table[2 * c], at);
			tracedat_fill_u64(w, table[2 * c + 1], size);
		}
	}
	free(places);
}

static size_t put_section_head(struct tracedat_walk *w, unsigned id)
{
	uint8_t head[8];
	store_u16(head, (uint16_t)id, w->shape.big_endian);
	store_u16(head + 2, 0, w->shape.big_endian);
	store_u32(head + 4, UINT32_MAX, w->shape.big_endian);
	(void)tracedat_pieces_literal(&w->out.pieces, head, 8, RULE_HERE, why_here);
	return tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, RULE_HERE, why_here);
}

static void put_pointer(struct tracedat_walk *w, unsigned id, uint64_t at)
{
	put_option_head(w, id, 8);
	(void)tracedat_put_u64(w, TRACEDAT_NO_OLD, at, RULE_HERE, why_here);
}

static void put_buffer_option(struct tracedat_walk *w, const struct tracedat_buffer *b)
{
	put_option_head(w, TRACEDAT_BUFFER, 8 + b->raw_name.size + b->clock.size + 8 + 20 * b->count);
	(void)tracedat_put_u64(w, TRACEDAT_NO_OLD, b->moved, RULE_HERE, why_here);
	(void)tracedat_pieces_literal(&w->out.pieces, b->raw_name.data, b->raw_name.size, RULE_HERE, why_here);
	(void)tracedat_pieces_literal(&w->out.pieces, b->clock.data, b->clock.size, RULE_HERE, why_here);
	(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, b->page_size, RULE_HERE, why_here);
	(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, (uint32_t)b->count, RULE_HERE, why_here);
	for (size_t j = 0; j < b->count; j++) {
		(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, b->cpus[j].cpu, RULE_HERE, why_here);
		(void)tracedat_put_u64(w, TRACEDAT_NO_OLD, b->cpus[j].moved, RULE_HERE, why_here);
		(void)tracedat_put_u64(w, TRACEDAT_NO_OLD, b->cpus[j].moved_size, RULE_HERE, why_here);
	}
}

static void compose_v7(struct tracedat_restore *r)
{
	struct tracedat_walk *w = r->w;
	uint64_t parts[TRACEDAT_PARTS] = { 0 };

	tracedat_put_prefix(w);
	tracedat_put_compression(w);
	size_t first = tracedat_put_u64(w, TRACEDAT_NO_OLD, 0, RULE_HERE, why_here);
	for (size_t i = 0; i < w->dir.section_count; i++) {
		struct tracedat_section *section = &w->dir.sections[i];
		unsigned k = section->id - TRACEDAT_HEADER_INFO;
		if (k < TRACEDAT_PARTS && w->meta.blocks[k] == &section->block)
			parts[k] = tracedat_put_part_section(w, section, k);
		else if (section->id == TRACEDAT_STRINGS && section->block.data && !section->lost)
			tracedat_put_strings(w, section);
	}
	/* Headers and event formats have to be there. */
	for (unsigned k = 0; k <= 2; k += 2)
		if (!parts[k])
			parts[k] = tracedat_put_part_section(w, NULL, k);
	for (size_t i = 0; i < w->data.buffer_count && w->status == TM_OK; i++) {
		struct tracedat_buffer *b = &w->data.buffers[i];
		b->moved = w->out.pieces.size;
		size_t size = put_section_head(w, TRACEDAT_BUFFER);
		files_walk(r, b);
		tracedat_fill_u64(w, size, w->out.pieces.size - b->moved - 16);
	}
	source_switch(w, r->metadata);
	uint64_t at = w->out.pieces.size;
	tracedat_fill_u64(w, first, at);
	size_t size = put_section_head(w, TRACEDAT_DONE);
	for (unsigned k = 0; k < TRACEDAT_PARTS; k++)
		if (parts[k])
			put_pointer(w, TRACEDAT_HEADER_INFO + k, parts[k]);
	put_kept_options(r);
	put_option_head(w, TRACEDAT_CPUCOUNT, 4);
	(void)tracedat_put_u32(w, TRACEDAT_NO_OLD, cpus_of(&w->data), RULE_HERE, why_here);
	for (size_t i = 0; i < w->data.buffer_count; i++)
		put_buffer_option(w, &w->data.buffers[i]);
	put_pointer(w, TRACEDAT_DONE, 0);
	tracedat_fill_u64(w, size, w->out.pieces.size - at - 16);
}

/* What is unverified of a file, and why. */
static void file_doubt(struct tracedat_restore *r, const struct tracedat_piece_file *f)
{
	static const char *const clocks[] = { "", "; so is the clock", "; the clock is taken to be local" };
	struct plan *plan = r->scan->plan;
	const bool own = r->metadata == r->main;
	const unsigned clock = !r->clock_known ? 2 : !own;
	/* Options come behind the command lines. */
	const bool named = own && r->w->dir.option_count && r->w->meta.blocks[TRACEDAT_CMDLINES - TRACEDAT_HEADER_INFO];
	char gaps[120], cpu[40];

	if (!f->source->size)
		return;
	tracedat_restore_gaps(r, gaps, sizeof(gaps));
	(void)snprintf(cpu, sizeof(cpu), "CPU %u by %s", f->cpu, f->named ? "the name of its file" : "default");
	plan_doubt(plan, f->source, 0, f->source->size,
		   plan_why(plan, "%s; what trace-cmd had not yet written is lost%s%s; the metadata is that of %s%s%s; %s",
			    f->damaged ? "the records that could be read were kept" : "every record in the file was kept",
			    named ? "" : ", and so are the process names", gaps, source_name(r->metadata), clocks[clock],
			    own ? "" : "; the trace id, time shifts and statistics are not known", cpu));
}

static enum tracemend_status restore_compose(struct tracedat_restore *r)
{
	struct tracedat_walk *w = r->w;
	struct plan *plan = r->scan->plan;
	const uint64_t shorter_before = w->pages.shorter;

	w->findings = w->scratch;
	/* The donor's own records do not count. */
	free(w->events.unknown);
	w->events.unknown = NULL;
	w->pages.records = w->pages.fast = 0;
	w->events.finding = w->events.garbled = NULL;
	if (!buffers_make(r))
		return w->status;
	for (size_t i = 0; i < w->data.buffer_count; i++)
		files_walk(r, &w->data.buffers[i]);
	if (w->status != TM_OK)
		return w->status;
	if (!tracedat_restore_fits(r, w->pages.shorter - shorter_before))
		return w->status != TM_OK ? w->status : TM_NOTHING;
	r->scan->records = w->pages.records;
	r->scan->fast = w->pages.fast;
	source_switch(w, r->metadata);
	if (!tracedat_metadata_finish(w))
		return w->status;
	w->emitting = true;
	if (w->shape.version == 6)
		compose_v6(r);
	else
		compose_v7(r);
	w->emitting = false;
	source_switch(w, r->metadata);
	for (size_t i = 0; i < r->count; i++)
		file_doubt(r, &r->files[i]);
	plan_kept(plan, w->out.kept);
	plan_lost(plan, w->out.lost, r->cut ? TM_UNKNOWN_COUNT : w->out.lost_is);
	/* What was in the kernel's buffers and in the recorder's pipe, and the names of the processes. */
	plan_lost_other(plan);
	return tracedat_output_plan(w);
}

static enum tracemend_status metadata_load(struct tracedat_restore *r)
{
	struct tracedat_walk *w = calloc(1, sizeof(*w));
	if (!w)
		return TM_NO_MEMORY;
	if (!tracedat_open(w, r->scan, r->metadata)) {
		tracedat_close(w);
		free(w);
		return TM_NO_MEMORY;
	}
	w->findings = w->scratch;
	/* The donor's own records are not those of the capture. */
	struct sink *sink = r->scan->sink;
	r->scan->sink = NULL;
	tracedat_walk_file(w);
	r->scan->sink = sink;
	r->w = w;
	if (w->window.status != TM_OK)
		return w->window.status;
	return w->status;
}

static void advise_donor(struct scan *s)
{
	scan_advise(s, TM_ROLE_DONOR, "donor.dat",
		    "The files have no event formats. They are taken from any trace.dat of the same kernel. To record one on that "
		    "machine, as root: trace-cmd record -e all -o donor.dat true");
}

/* Without a plan: what is there. */
static enum tracemend_status restore_check(struct tracedat_restore *r)
{
	struct tracedat_walk *w = calloc(1, sizeof(*w));
	enum tracemend_status status = TM_NO_MEMORY;

	if (w && tracedat_open(w, r->scan, r->files[0].source)) {
		r->scan->records = tracedat_restore_count(r, w);
		status = w->window.status;
	}
	if (w)
		tracedat_close(w);
	free(w);
	return status;
}

/* Whether the trace.dat beside the files was begun far enough to be its own metadata: options come behind the formats. */
static bool main_has_options(const struct tracedat_restore *r)
{
	return r->w->shape.version && r->w->events.count && r->w->dir.option_count;
}

static void metadata_close(struct tracedat_restore *r)
{
	if (r->w)
		tracedat_close(r->w);
	free(r->w);
	r->w = NULL;
}

/* The metadata of the recording itself is better than a donor's. TM_NOTHING: it is not there, or does not fit. */
static enum tracemend_status restore_with_main(struct tracedat_restore *r)
{
	struct source *donor = r->metadata;

	r->metadata = r->main;
	enum tracemend_status status = metadata_load(r);
	if (status == TM_OK)
		status = main_has_options(r) ? restore_compose(r) : TM_NOTHING;
	if (status != TM_NOTHING)
		return status;
	metadata_close(r);
	r->metadata = donor;
	r->cut = false;
	*r->scan->incomplete = 0;
	for (size_t i = 0; i < r->count; i++)
		r->files[i].damaged = false;
	return TM_NOTHING;
}

static enum tracemend_status restore_repair(struct tracedat_restore *r)
{
	if (!r->metadata) {
		tracedat_restore_say(
			r, "pages cannot be decoded without event formats; give a capture of the same kernel with --donor");
		return TM_NOTHING;
	}
	if (r->main && r->metadata != r->main) {
		enum tracemend_status done = restore_with_main(r);
		if (done != TM_NOTHING)
			return done;
	}
	enum tracemend_status status = metadata_load(r);
	if (status != TM_OK)
		return status;
	if (r->w->shape.version && r->w->events.count)
		return restore_compose(r);
	tracedat_restore_say(r, r->metadata == r->main
					? "the unfinished trace.dat has no event formats; give a capture of the same "
					  "kernel with --donor"
					: "the donor has no event formats");
	return TM_NOTHING;
}

enum tracemend_status tracedat_restore(struct scan *s)
{
	struct tracedat_restore r = { .scan = s };
	enum tracemend_status status = TM_OK;
	const char *several;
	char gaps[120];

	if (!tracedat_restore_collect(&r, s->in)) {
		free(r.files);
		return TM_NO_MEMORY;
	}
	if (!r.count) {
		tracedat_restore_say(&r, "there is neither a trace.dat nor a .cpuN file");
		free(r.files);
		return s->plan ? TM_NOTHING : TM_OK;
	}
	several = tracedat_restore_several(&r, s->in);
	tracedat_restore_gaps(&r, gaps, sizeof(gaps));
	struct source *first = r.files[0].source;
	struct finding *fd = finding_report(s->findings, TRACEDAT_RULE_recorder_killed, first, 0,
					    first->size < 16 ? first->size : 16, "%zu file%s of pages, and %s%s", r.count,
					    r.count == 1 ? "" : "s",
					    several  ? "a trace.dat of another recording"
					    : r.main ? "an unfinished trace.dat"
						     : "no trace.dat",
					    gaps);
	finding_explains(fd, r.count - 1);
	if (!r.metadata)
		r.metadata = r.main;
	if (!r.metadata)
		advise_donor(s);
	if (several && s->plan) {
		tracedat_restore_say(&r, "it %s", several);
		status = TM_NOTHING;
	} else {
		status = s->plan ? restore_repair(&r) : restore_check(&r);
	}
	metadata_close(&r);
	free(r.files);
	return status;
}
