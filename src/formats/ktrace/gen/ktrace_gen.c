/* Valid ktrace files, of all shapes that writers are known to make. */
#include "formats/ktrace/gen/ktrace_gen.h"

#include <string.h>

/* ---- payloads ---- */

/* Events of about that many bytes; one round of them at least. */
static void make_events_of(struct ktrace_gen *g, struct bytes *to, uint64_t size)
{
	uint64_t end = to->size + size;
	do
		ktrace_make_some(g, to);
	while (to->size < end && !to->failed);
}

static void make_threads(struct ktrace_gen *g, struct bytes *to)
{
	static const char *const names[] = { "kernel_task", "launchd", "WindowServer", "\xc3\xa9t\xc3\xa9", "nineteen_bytes_name" };
	uint64_t n = 1 + choices_below(g->c, 8);

	for (uint64_t i = 0; i < n && g->thread_count < KTRACE_GEN_THREADS - 8; i++) {
		uint64_t tid = 0x64 + 3 * (uint64_t)g->thread_count;
		const char *name = names[choices_below(g->c, 5)];
		/* A process has one name; id 1 is that of the kernel, too. */
		ktrace_make_thread(g, to, tid, (int32_t)(10 + (unsigned char)name[0] + 256 * strlen(name)), name, strlen(name));
		g->threads[g->thread_count++] = tid;
	}
}

static void make_cpus(struct ktrace_gen *g, struct bytes *to, bool extended)
{
	g->cpus = 1 + (uint32_t)choices_below(g->c, 8);
	bytes_u32(to, extended ? 1 : KTRACE_MAGIC_RAW1);
	bytes_u32(to, g->cpus);
	for (uint32_t i = 0; i < g->cpus; i++) {
		char name[32] = "AP";
		bytes_u32(to, i);
		bytes_u32(to, i + 1 == g->cpus && i ? 1 : 0);
		bytes_append(to, name, extended ? 32 : 8);
	}
}

static void make_fixed(struct ktrace_gen *g, uint32_t tag, uint16_t major, uint32_t size, bool in_header)
{
	struct ktrace_made *m = ktrace_make_chunk(g, tag, major, in_header);
	uint8_t *p = m ? bytes_grow(&m->payload, size) : NULL;
	if (!p)
		return;
	if (tag == KTRACE_TIME_SYNC) {
		store_u32(p + 16, g->numer, false);
		store_u32(p + 20, g->denom, false);
		store_u64(p + 24, g->seconds, false);
	} else if (tag == KTRACE_UUID) {
		for (uint32_t i = 0; i < size; i++)
			p[i] = (uint8_t)choices_below(g->c, 256);
	}
}

/* When the first event was: ticks of a machine that runs for a short while, or for up to a month at a GHz. */
static void start(struct ktrace_gen *g)
{
	g->time = choices_chance(g->c, 1, 2) ? choices_between(g->c, UINT64_C(1000000000), UINT64_C(3000000000000000)) : 1000;
	g->seconds = UINT64_C(1500000000) + choices_below(g->c, 100000000);
	g->usec = (uint32_t)choices_below(g->c, 1000000);
}

/* ---- version 3 ---- */

static void make_header_chunks(struct ktrace_gen *g)
{
	struct ktrace_made *m;

	if (ktrace_gen_has(g, KTRACE_FEATURE_MACHINE, choices_chance(g->c, 1, 2)) &&
	    (m = ktrace_make_chunk(g, KTRACE_MACHINE, 0, true)) != NULL)
		ktrace_make_plist(g, &m->payload, "kern_version hw_memsize hw_pagesize os_name os_build arch active_cpus");
	if (ktrace_gen_has(g, KTRACE_FEATURE_UUID, choices_chance(g->c, 1, 3)))
		make_fixed(g, KTRACE_UUID, 0, 16, true);
	if (ktrace_gen_has(g, KTRACE_FEATURE_NONE, choices_chance(g->c, 1, 6)))
		(void)ktrace_make_chunk(g, KTRACE_NULL, 0, true);
	if ((m = ktrace_make_chunk(g, KTRACE_CPU_MAP, 1, true)) != NULL)
		make_cpus(g, &m->payload, choices_chance(g->c, 3, 4));
	ktrace_make_others(g, true);
}

static void make_subfiles(struct ktrace_gen *g)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ktrace_made *m = ktrace_make_chunk(g, i ? KTRACE_SUBFILE_BODY : KTRACE_SUBFILE_HEADER, KTRACE_SUBCHUNKS,
							  false);
		if (!m)
			return;
		bytes_u32(&m->payload, KTRACE_SUBFILE_ID);
		bytes_u32(&m->payload, 0);
		bytes_u64(&m->payload, 4);
		bytes_u32(&m->payload, 7);
		bytes_align(&m->payload, 8);
		if (!i) {
			bytes_u32(&m->payload, KTRACE_SUBFILE_FILE_HEADER);
			bytes_u32(&m->payload, 0);
			bytes_u64(&m->payload, 56);
			(void)bytes_grow(&m->payload, 56);
			bytes_u32(&m->payload, KTRACE_SUBFILE_RELATION);
			bytes_u32(&m->payload, 0);
			size_t size = m->payload.size, at = size + 8;
			bytes_u64(&m->payload, 0);
			ktrace_make_plist(g, &m->payload, "type");
			if (!m->payload.failed)
				store_u64(m->payload.data + size, m->payload.size - at, false);
			bytes_align(&m->payload, 8);
		}
	}
}

static uint64_t size_so_far(const struct ktrace_gen *g)
{
	uint64_t size = KTRACE_HEADER;
	for (unsigned i = 0; i < g->count; i++)
		size += KTRACE_CHUNK_HEADER + g->chunks[i].payload.size;
	return size;
}

/* The chunks before the events. */
static void make_first_chunks(struct ktrace_gen *g)
{
	struct ktrace_made *m;

	if (ktrace_gen_has(g, KTRACE_FEATURE_CONFIG, choices_chance(g->c, 1, 3)) &&
	    (m = ktrace_make_chunk(g, KTRACE_CONFIG, 0, false)) != NULL)
		ktrace_make_plist(g, &m->payload, "owner_kind owner_name kdebug_state kperf_state kpc_state");
	if (ktrace_gen_has(g, KTRACE_FEATURE_STACKSHOT, choices_chance(g->c, 1, 5)) &&
	    (m = ktrace_make_chunk(g, KTRACE_STACKSHOT, 1, false)) != NULL) {
		bytes_u32(&m->payload, 0x59a25807);
		(void)bytes_grow(&m->payload, (size_t)choices_below(g->c, 40));
	}
	if ((m = ktrace_make_chunk(g, KTRACE_THREAD_MAP, 0, false)) != NULL)
		make_threads(g, &m->payload);
	if (ktrace_gen_has(g, KTRACE_FEATURE_TIME_SYNC, choices_chance(g->c, 1, 4)))
		make_fixed(g, KTRACE_TIME_SYNC, 1, 48, false);
	if (ktrace_gen_has(g, KTRACE_FEATURE_SUBFILES, choices_chance(g->c, 1, 6)))
		make_subfiles(g);
	ktrace_make_others(g, false);
}

/* `count` more events chunks, with so many bytes or events as were asked for. False: no room. */
static bool make_events_chunks(struct ktrace_gen *g, uint64_t count, uint64_t events)
{
	struct ktrace_made *m;

	for (uint64_t i = 0; i < count; i++) {
		if (ktrace_gen_has(g, KTRACE_FEATURE_NONE, choices_chance(g->c, 1, 3)) &&
		    (m = ktrace_make_chunk(g, KTRACE_NULL, 0, false)) != NULL)
			(void)bytes_grow(&m->payload, (size_t)choices_below(g->c, 64));
		if ((m = ktrace_make_chunk(g, KTRACE_EVENTS, 0, false)) == NULL)
			return false;
		bytes_u64(&m->payload, 0);
		uint64_t size = size_so_far(g);
		if (g->g->size)
			make_events_of(g, &m->payload, g->g->size > size ? (g->g->size - size) / (count - i) : 0);
		else
			ktrace_make_events(g, &m->payload, events / count + 1);
	}
	return true;
}

static void make_last_chunks(struct ktrace_gen *g)
{
	struct ktrace_made *m;

	if (ktrace_gen_has(g, KTRACE_FEATURE_COMPRESSED, choices_chance(g->c, 1, 5)) &&
	    (m = ktrace_make_chunk(g, KTRACE_EVENTS_COMPRESSED, 0, false)) != NULL) {
		uint64_t events = choices_below(g->c, 9);
		bytes_u64(&m->payload, 0);
		bytes_u32(&m->payload, (uint32_t)events);
		(void)bytes_grow(&m->payload, (size_t)(5 * events));
	}
	if (ktrace_gen_has(g, KTRACE_FEATURE_CODES, choices_chance(g->c, 1, 4)) &&
	    (m = ktrace_make_chunk(g, KTRACE_TRACE_CODES, 0, false)) != NULL)
		bytes_text(&m->payload, "0x1400000 MACH_SCHED\n0x40c0014 BSC_open\n");
	if (ktrace_gen_has(g, KTRACE_FEATURE_SUMMARY, choices_chance(g->c, 1, 3)) &&
	    (m = ktrace_make_chunk(g, KTRACE_SUMMARY, 0, false)) != NULL)
		bytes_u64(&m->payload, g->time + 1);
	if (ktrace_gen_has(g, KTRACE_FEATURE_UNKNOWN, choices_chance(g->c, 1, 4)) &&
	    (m = ktrace_make_chunk(g, 0x8100 + (uint32_t)choices_below(g->c, 64), 0, false)) != NULL)
		(void)bytes_grow(&m->payload, (size_t)choices_below(g->c, 40));
}

static void make_body_chunks(struct ktrace_gen *g)
{
	uint64_t events = g->g->size ? 0 : 4 + choices_below(g->c, 24); /* a wanted size decides by itself */
	uint64_t chunks = 1 + choices_below(g->c, 3);

	make_first_chunks(g);
	if (make_events_chunks(g, chunks, events)) {
		ktrace_make_others(g, false);
		make_last_chunks(g);
	}
}

static void v3_write(struct ktrace_gen *g)
{
	struct bytes *out = g->out;
	uint64_t end = KTRACE_HEADER;

	bytes_u32(out, g->magic);
	bytes_u16(out, g->major);
	bytes_u16(out, g->minor);
	bytes_u64(out, 0);
	bytes_u32(out, g->numer);
	bytes_u32(out, g->denom);
	bytes_u64(out, g->header_time);
	bytes_u64(out, g->seconds);
	bytes_u32(out, g->usec);
	bytes_u32(out, (uint32_t)g->west);
	bytes_u32(out, g->dst);
	bytes_u32(out, g->flags);
	(void)bytes_grow(out, g->header_gap);
	end += g->header_gap;
	for (unsigned i = 0; i < g->count; i++) {
		struct ktrace_made *m = &g->chunks[i];
		bool last = i + 1 == g->count;
		m->at = out->size;
		bytes_u32(out, m->tag);
		bytes_u16(out, m->major);
		bytes_u16(out, m->minor);
		bytes_u64(out, m->stored_size == KTRACE_REAL_SIZE ? m->payload.size : m->stored_size);
		bytes_append(out, m->payload.data, m->payload.size);
		if (m->in_header)
			end = out->size;
		for (uint8_t pad = m->padding; !m->no_padding && out->size % 8 && !(last && g->counts_padding) && !out->failed;)
			bytes_u8(out, pad);
		if (m->in_header && g->counts_padding)
			end = out->size;
	}
	if (!out->failed)
		store_u64(out->data + 8, g->header_size == KTRACE_REAL_SIZE ? end - KTRACE_HEADER_UNCOUNTED : g->header_size,
			  false);
}

static void v3_make(struct ktrace_gen *g)
{
	const bool kernel = choices_chance(g->c, 1, 12);
	g->magic = g->g->rule < 0 && gen_has(g->g, KTRACE_FEATURE_KERNEL, kernel) ? KTRACE_MAGIC_KERNEL : KTRACE_MAGIC;
	g->major = g->magic == KTRACE_MAGIC_KERNEL ? 1 : (uint16_t)choices_below(g->c, 2);
	g->is_64 = !ktrace_gen_has(g, KTRACE_FEATURE_NARROW, choices_chance(g->c, 1, 4)) || g->width == 64;
	g->flags = g->is_64 ? KTRACE_FLAG_64 : 0;
	g->numer = choices_chance(g->c, 1, 2) ? 125 : 1;
	g->denom = g->numer == 125 ? 3 : 1;
	start(g);
	g->header_time = choices_chance(g->c, 1, 2) ? g->time - 100 : 0;
	g->west = (int32_t)choices_below(g->c, 1200) - 600;
	g->dst = (uint32_t)choices_below(g->c, 2);
	g->counts_padding = choices_chance(g->c, 1, 3);
	make_header_chunks(g);
	make_body_chunks(g);
}

/* ---- RAW ---- */

static void raw_make(struct ktrace_gen *g)
{
	uint64_t budget = g->g->size ? 0 : 4 + choices_below(g->c, 24);

	g->is_64 = g->width == 32 ? false : !ktrace_gen_has(g, KTRACE_FEATURE_NARROW, !choices_chance(g->c, 2, 3));
	start(g);
	/* Device streams of version 2 may leave the time out. */
	if (g->raw == 2 && choices_chance(g->c, 1, 2))
		g->seconds = g->usec = 0;
	g->cpus = 4;
	g->frequency = 24000000;
	make_threads(g, &g->map);
	g->raw_count = g->thread_count;
	if (g->raw == 1 && choices_chance(g->c, 1, 2))
		make_cpus(g, &g->gap, false);
	uint64_t head = g->raw ? KTRACE_PAGE : g->map.size;
	if (g->g->size)
		make_events_of(g, &g->events, g->g->size > head ? g->g->size - head : 0);
	else
		ktrace_make_events(g, &g->events, budget);
}

static void raw_write(struct ktrace_gen *g)
{
	struct bytes *out = g->out;

	if (g->raw == 2) {
		bytes_u32(out, KTRACE_MAGIC_RAW2);
		bytes_u32(out, g->raw_count);
		bytes_u64(out, g->seconds);
		bytes_u32(out, g->usec);
		bytes_u32(out, g->is_64);
		bytes_u64(out, g->frequency);
		for (unsigned i = 0; i < 256; i++)
			bytes_u8(out, g->reserved);
	} else if (g->raw == 1) {
		bytes_u32(out, KTRACE_MAGIC_RAW1);
		bytes_u32(out, g->raw_count);
		bytes_u64(out, g->seconds);
		bytes_u32(out, g->usec);
		if (g->is_64)
			bytes_u32(out, 0);
	} else {
		bytes_u32(out, g->raw_count);
	}
	bytes_append(out, g->map.data, g->map.size);
	bytes_append(out, g->gap.data, g->gap.size);
	if (g->raw)
		bytes_align(out, KTRACE_PAGE);
	bytes_append(out, g->events.data, g->events.size);
}

/* Whether memory went short so far: what comes next needs all that was made. */
static bool gen_failed(const struct ktrace_gen *g)
{
	bool failed = g->g->failed || g->out->failed || g->map.failed || g->gap.failed || g->events.failed;
	for (unsigned i = 0; i < g->count; i++)
		failed |= g->chunks[i].payload.failed;
	return failed;
}

static void gen_free(struct ktrace_gen *g)
{
	for (unsigned i = 0; i < g->count; i++)
		bytes_free(&g->chunks[i].payload);
	bytes_free(&g->map);
	bytes_free(&g->gap);
	bytes_free(&g->events);
}

/* The version that the recipe leaves, from the one that was drawn on: -1 is version 3, else RAW. What is in chunks is asked for in
 * version 3 only. */
static int choose_version(struct gen *g, int raw)
{
	const uint64_t versions = FEATURE_BIT(KTRACE_FEATURE_NARROW) - 1, v3 = FEATURE_BIT(KTRACE_FEATURE_V3);
	uint64_t left = gen_choice(g, versions);
	int n = raw + 1;

	if (g->with >> KTRACE_FEATURE_KERNEL && left & v3)
		left = v3;
	while (!(left & FEATURE_BIT(KTRACE_FEATURE_V3 + (unsigned)n)))
		n = (n + 1) % 4;
	g->has |= FEATURE_BIT(KTRACE_FEATURE_V3 + (unsigned)n);
	return n - 1;
}

enum tracemend_status ktrace_generate(struct gen *gen)
{
	struct ktrace_gen g = { .g = gen, .c = gen->choices, .raw = -1, .header_size = KTRACE_REAL_SIZE };
	g.out = gen_file(gen, "");
	if (!g.out)
		return TM_NO_MEMORY;
	ktrace_break(&g, GEN_SHAPE);
	if (gen->rule < 0 && choices_chance(g.c, 1, 4))
		g.raw = (int)choices_below(g.c, 3);
	if (gen->rule < 0)
		g.raw = choose_version(gen, g.raw);
	if (g.raw < 0)
		v3_make(&g);
	else
		raw_make(&g);
	if (!gen_failed(&g))
		ktrace_break(&g, GEN_MODEL);
	if (g.raw < 0)
		v3_write(&g);
	else
		raw_write(&g);
	if (!gen_failed(&g))
		ktrace_break(&g, GEN_BYTES);
	bool failed = gen_failed(&g);
	gen_free(&g);
	return failed ? TM_NO_MEMORY : TM_OK;
}
