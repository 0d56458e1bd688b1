/* One trace: from its names to its last event. */
#include "formats/lttng/lttng.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- files that are none of the trace's ---- */

/* Bytes that are looked at for signs of a text conversion. */
#define TEXT_LOOK 4096u
/* Where the magic number of 0.6 ends, which lies furthest in. */
#define MAGICS_END 76u

enum conversion_kind { NOT_CONVERTED, CONVERTED_UTF8, CONVERTED_CRLF };

static enum conversion_kind text_converted(const uint8_t *p, size_t n, const struct source *s)
{
	size_t triples = 0, invalid = 0, feeds = 0, pairs = 0;
	for (size_t i = 0; i < n; i++) {
		if (i + 2 < n && p[i] == 0xef && p[i + 1] == 0xbf && p[i + 2] == 0xbd) {
			triples++;
			i += 2;
		} else if (p[i] >= 0xf8 || (p[i] >= 0x80 && p[i] < 0xc0 && (!i || p[i - 1] < 0x80))) {
			invalid++;
		} else if (p[i] == '\n') {
			feeds++;
			pairs += i && p[i - 1] == '\r';
		}
	}
	if (triples >= 2 && !invalid)
		return CONVERTED_UTF8;
	return feeds >= 4 && pairs == feeds && s->size % LTTNG_PAGE ? CONVERTED_CRLF : NOT_CONVERTED;
}

static void set_aside(struct lttng_file *f, unsigned rule)
{
	f->aside = true;
	f->aside_rule = rule;
	f->aside_why = lttng_rules[rule].title;
}

static bool is_foreign(const uint8_t *p, size_t n)
{
	uint32_t magic = n >= 4 ? load_u32(p, false) : 0;
	return magic == UINT32_C(0xC1FC1FC1) || magic == UINT32_C(0xC11FFCC1);
}

/* Where the version ends in a header that shows none of those that are known. */
static size_t version_end(const struct lttng_file *f, const uint8_t *head, size_t n)
{
	static const uint8_t magics[] = { 16, 40, 56, 72 };
	for (size_t i = 0; i < sizeof(magics); i++) {
		size_t end = magics[i] + (magics[i] == 16 ? 6u : 19u);
		if (end <= n && load_u32(head + magics[i], f->big_endian) == LTTNG_MAGIC)
			return end;
	}
	return n < 24 ? n : 24;
}

static void judge_short(struct lttng_trace *t, struct lttng_file *f, uint32_t header)
{
	finding_report(t->f, LTTNG_RULE_file_shorter_than_header, f->source, 0, f->source->size,
		       "the file has %llu bytes, and a block header %u", (unsigned long long)f->source->size, header);
	f->aside = true;
	f->aside_rule = LTTNG_RULE_file_shorter_than_header;
	f->aside_why = NULL;
}

/* What a file is whose first bytes are not those of this trace. Leaves it alone where a block of it may still be. */
static void judge_identity(struct lttng_trace *t, struct lttng_file *f)
{
	uint8_t head[TEXT_LOOK];
	size_t n = f->source->size < sizeof(head) ? (size_t)f->source->size : sizeof(head);
	unsigned of;

	if (f->empty) {
		finding_report(t->f, LTTNG_RULE_empty_file, f->source, 0, 0, "the file has no bytes");
		return;
	}
	if (f->layout && f->layout == t->layout && f->big_endian == t->big_endian)
		return;
	if (source_read(f->source, 0, head, n) != TM_OK) {
		t->status = TM_IO;
		return;
	}
	enum conversion_kind converted = text_converted(head, n, f->source);
	if (is_foreign(head, n)) {
		finding_report(t->f, LTTNG_RULE_foreign_format, f->source, 0, n < 64 ? n : 64, "the file begins like a CTF stream");
		set_aside(f, LTTNG_RULE_foreign_format);
	} else if (converted != NOT_CONVERTED && f->major < 0) {
		finding_report(t->f, LTTNG_RULE_text_transcoded, f->source, 0, f->source->size,
			       converted == CONVERTED_UTF8 ? "bytes were replaced by EF BF BD, as when text is made UTF-8"
							   : "every LF has a CR before it, as when text is made for DOS");
		set_aside(f, LTTNG_RULE_text_transcoded);
	} else if (f->source->size < (t->layout ? t->layout->size : 60u)) {
		judge_short(t, f, t->layout ? t->layout->size : 60u);
	} else if (f->major >= 0 && t->layout && f->big_endian != t->big_endian) {
		finding_report(t->f, LTTNG_RULE_byte_order_mixed, f->source, 0, t->layout->size,
			       "the file is %s-endian, and the trace is not", f->big_endian ? "big" : "little");
		set_aside(f, LTTNG_RULE_byte_order_mixed);
	} else if (f->major >= 0) {
		struct lttng_header h = { { 0 } };
		bool fits = false;
		if (t->layout && n >= t->layout->size) {
			lttng_header_load(&h, t->layout, t->big_endian, head);
			/* Most of it agrees; or a hole took the version, and what is left agrees. */
			bool agrees = 2 * lttng_header_score(t, &h, &of) >= of || (!h.v[LF_MINOR] && lttng_header_is_rest(t, &h));
			fits = h.v[LF_MAGIC] == LTTNG_MAGIC && agrees;
		}
		if (fits)
			return; /* only the version: the block says so */
		if (f->source->size < f->header) {
			judge_short(t, f, f->header);
			return;
		}
		unsigned rule = f->layout ? LTTNG_RULE_version_mixed : LTTNG_RULE_unsupported_version;
		if (f->layout)
			finding_report(t->f, LTTNG_RULE_version_mixed, f->source, 0, version_end(f, head, n),
				       "the file is of version %s, and the trace of %s", f->layout->name,
				       t->layout ? t->layout->name : "none");
		else
			finding_report(t->f, LTTNG_RULE_unsupported_version, f->source, 0, version_end(f, head, n),
				       "the file is of version %d.%d; 0.6 to 0.8, 1.0 and 2.0 to 2.6 are checked", f->major,
				       f->minor);
		set_aside(f, rule);
	} else if (!t->layout) {
		finding_report(t->f, LTTNG_RULE_bad_magic_first_block, f->source, 0, MAGICS_END,
			       "there is no magic number where any version has it");
		set_aside(f, LTTNG_RULE_bad_magic_first_block);
	}
}

/* ---- channels without declarations ---- */

static bool has_events(struct lttng_trace *t, struct lttng_file *f)
{
	struct lttng_frame frame;
	struct lttng_header h;
	for (uint64_t at = 0; lttng_frame_at(t, f, at, &frame); at += frame.length)
		if (!lttng_header_at(t, f, at, &h) || lttng_header_data_end(t->layout, &h, frame.length) != t->layout->size)
			return true;
	return false;
}

/* 2.3 and later: nothing of a channel can be read that no record declares. */
static void judge_declared(struct lttng_trace *t, struct lttng_file *f)
{
	if (t->layout->era != LTTNG_CHANNEL_MARKERS || f->channel->declared || f->channel->table || !has_events(t, f))
		return;
	if (t->metadata_lost && t->metadata_broken) {
		finding_explains(t->metadata_broken, 1);
	} else {
		finding_report(t->f, LTTNG_RULE_undeclared_channel, f->source, 0, f->source->size,
			       "no event type of channel %s is declared", f->channel->name);
	}
	set_aside(f, LTTNG_RULE_undeclared_channel);
}

/* ---- the walk ---- */

static bool is_walked(const struct lttng_file *f)
{
	return f->channel && !f->aside && !f->empty;
}

static void scan_files(struct lttng_trace *t, bool metadata)
{
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		if (!is_walked(f) || f->metadata != metadata)
			continue;
		if (t->layout->era != LTTNG_CHANNEL_MARKERS)
			f->channel->table = t->table;
		if (!f->metadata)
			judge_declared(t, f);
		if (!f->aside)
			lttng_file_scan(t, f);
	}
}

/* Everything that is not walked: copied, set aside or dropped. */
static void plan_rest(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		struct lttng_file *f = &t->files[i];
		if (is_walked(f) && t->layout)
			continue;
		if (f->aside && f->aside_why) {
			lttng_repair_aside(t, f);
		} else if (f->aside) {
			(void)plan_output(t->scan->plan, f->source->name);
			plan_drop(t->scan->plan, f->source, 0, f->source->size, f->aside_rule, lttng_rules[f->aside_rule].title);
			plan_lost(t->scan->plan, 0, TM_UNKNOWN_COUNT);
		} else {
			lttng_repair_copy(t, f->source);
		}
	}
}

static void look_at_xml(struct lttng_trace *t)
{
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		const struct lttng_file *f = &t->files[i];
		if (!f->channel && f->base && (!strcmp(f->base, "system.xml") || !strncmp(f->base, "bookmarks", 9)))
			lttng_xml_info(t, f->source);
	}
}

/* 1.0 as the document says it: nothing but the first event tells. */
static void judge_literal(struct lttng_trace *t)
{
	if (t->layout->major != 1 || t->layout->literal)
		return;
	uint64_t wire = lttng_metadata_fits(t);
	if (wire)
		return;
	const struct lttng_layout *was = t->layout;
	struct lttng_header want = t->want;
	t->layout++;
	for (size_t i = 0; i < t->file_count; i++) {
		struct lttng_file *f = &t->files[i];
		uint8_t head[LTTNG_HEADER_MAX];
		if (f->layout != was)
			continue;
		if (source_read(f->source, 0, head, t->layout->size) != TM_OK) {
			t->status = TM_IO;
			return;
		}
		f->layout = t->layout;
		lttng_header_load(&f->first, t->layout, f->big_endian, head);
		t->want.v[LF_SEC] = f->first.v[LF_SEC];
		t->want.v[LF_SUBSEC] = f->first.v[LF_SUBSEC];
	}
	if (lttng_metadata_fits(t)) {
		finding_report(t->f, LTTNG_RULE_seed_literal_start_time, NULL, 0, 0,
			       "events follow a header of 101 bytes; tracers wrote 109");
		return;
	}
	for (size_t i = 0; i < t->file_count; i++)
		if (t->files[i].layout == t->layout) {
			uint8_t head[LTTNG_HEADER_MAX];
			t->files[i].layout = was;
			if (t->files[i].source->size < was->size || source_read(t->files[i].source, 0, head, was->size) != TM_OK)
				t->files[i].layout = NULL;
			else
				lttng_header_load(&t->files[i].first, was, t->big_endian, head);
		}
	t->layout = was;
	t->want = want;
}

static void trace_facts(struct lttng_trace *t)
{
	struct scan *s = t->scan;
	unsigned long long blocks = 0, files = 0;
	int64_t cpus = -1;
	for (size_t i = 0; i < t->file_count; i++) {
		const struct lttng_file *f = &t->files[i];
		if (!f->channel)
			continue;
		files++;
		blocks += f->blocks;
		cpus = f->cpu > cpus && !f->aside ? f->cpu : cpus;
	}
	scan_fact(s, "version", "%s%s", t->layout->name, t->layout->literal ? " (literal)" : "");
	scan_fact(s, "byte order", "%s", t->big_endian ? "big-endian" : "little-endian");
	scan_fact(s, "pointer size", "%u", t->arch);
	scan_fact(s, "alignment", "%u", t->alignment);
	scan_fact(s, "files", "%llu", files);
	scan_fact(s, "cpus", "%lld", (long long)cpus + 1);
	scan_fact(s, "blocks", "%llu", blocks);
	scan_fact(s, "events", "%llu", (unsigned long long)t->records);
	scan_fact(s, "events lost", "%llu", (unsigned long long)t->lost_events);
	scan_fact(s, "start time", "%llu.%0*llu s", (unsigned long long)t->want.v[LF_SEC], t->layout->nanoseconds ? 9 : 6,
		  (unsigned long long)t->want.v[LF_SUBSEC]);
	double freq = lttng_frequency(t->layout, &t->want);
	scan_fact(s, "clock", "%.0f Hz", freq);
	if (t->last_stamp > t->begin && freq > 0)
		scan_fact(s, "duration", "%.9f s", (double)(t->last_stamp - t->begin) / freq);
	for (const struct lttng_channel *c = t->channels; c; c = c->hh.next) {
		uint64_t events = 0;
		for (size_t i = 0; i < t->file_count && c->has_file; i++)
			events += t->files[i].channel == c ? t->files[i].events : 0;
		if (c->has_file && s->facts)
			scan_fact(s, "channel", "%s: %llu events", c->name, (unsigned long long)events);
	}
}

static void trace_walk(struct lttng_trace *t)
{
	t->compact_facility = UINT32_MAX;
	t->arch = t->want.v[LF_ARCH_SIZE] == 8 ? 8 : 4;
	t->alignment = (t->want.v[LF_ALIGNMENT] & (t->want.v[LF_ALIGNMENT] - 1)) || t->want.v[LF_ALIGNMENT] > 8
			       ? 0
			       : (uint8_t)t->want.v[LF_ALIGNMENT];
	if (t->layout->era <= LTTNG_MARKERS && t->alignment > t->arch)
		t->alignment = t->arch;
	t->heartbeat = t->want.v[LF_HEARTBEAT] != 0;
	for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++) {
		if (t->files[i].channel && !t->files[i].aside)
			judge_identity(t, &t->files[i]);
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++)
			if (is_walked(&t->files[i]) && !t->files[i].block_size)
				lttng_frame_open(t, &t->files[i]);
	lttng_dir_judge(t);
	if (t->status != TM_OK || !lttng_metadata_core(t))
		return;
	judge_literal(t);
	lttng_metadata_vote(t);
	if (t->status != TM_OK)
		return;
	lttng_vote_judge(t);
	/* Where the declarations are silent, or make no sense, the machine tells. */
	struct lttng_sizes machine = { { 4, t->arch, t->arch, t->arch, (uint8_t)t->want.v[LF_ALIGNMENT] } };
	if (!t->sizes_known || t->sizes.v[SIZE_INT] != 4 || t->sizes.v[SIZE_POINTER] != t->arch ||
	    (t->sizes.v[SIZE_LONG] & ~0xcu) || (t->sizes.v[SIZE_SIZE_T] & ~0xcu) || !t->sizes.v[SIZE_LONG] ||
	    !t->sizes.v[SIZE_SIZE_T])
		t->sizes = machine;
	/* In 0.x it is a flag or a value. */
	if (t->layout->era != LTTNG_FACILITIES || !t->sizes.v[SIZE_ALIGNMENT] != !machine.v[SIZE_ALIGNMENT])
		t->sizes.v[SIZE_ALIGNMENT] = machine.v[SIZE_ALIGNMENT];
	scan_files(t, true);
	if (t->status == TM_OK)
		lttng_infer(t);
	scan_files(t, false);
	if (t->status == TM_OK)
		lttng_metadata_unused(t);
	look_at_xml(t);
}

enum tracemend_status lttng_trace_scan(struct scan *s, const char *root, size_t root_length, struct lttng_trace *t)
{
	t->f = s->findings;
	t->root = root;
	t->root_length = root_length;
	lttng_dir_collect(t);
	bool any = false;
	for (size_t i = 0; i < t->file_count; i++) {
		t->files[i].serial = (uint32_t)i + 1;
		any |= t->files[i].channel != NULL;
	}
	if (t->status == TM_OK && any) {
		window_open(&t->w, t->files[0].source);
		lttng_vote(t);
	}
	if (t->status == TM_OK && t->layout) {
		if (!*s->version)
			(void)snprintf(s->version, sizeof(s->version), "%s", t->layout->name);
		trace_walk(t);
		if (t->status == TM_OK && s->facts)
			trace_facts(t);
	} else if (t->status == TM_OK && any) {
		for (size_t i = 0; i < t->file_count && t->status == TM_OK; i++)
			if (t->files[i].channel && !t->files[i].aside)
				judge_identity(t, &t->files[i]);
	} else if (t->status == TM_OK) {
		finding_report(t->f, LTTNG_RULE_trace_dir_missing, NULL, 0, 0, "no file has the name of a tracefile");
	}
	s->records += t->records;
	if (t->status == TM_OK && s->plan) {
		plan_rest(t);
		/* Errors, and not one event to keep, or no declaration by which to read it: the shell is worth nothing. */
		if (t->status == TM_OK && (!t->layout || (t->metadata_lost && !(t->kept && t->metadata_kept))))
			t->status = TM_NOTHING;
	}
	return t->status;
}

void lttng_trace_free(struct lttng_trace *t)
{
	struct lttng_channel *c, *next;
	bool own = t->layout && t->layout->era == LTTNG_CHANNEL_MARKERS;
	c = t->channels;
	HASH_CLEAR(hh, t->channels);
	for (; c; c = next) {
		next = c->hh.next;
		if (own)
			lttng_table_free(c->table);
		free(c->name);
		free(c);
	}
	lttng_table_free(t->table);
	for (unsigned i = 0; i < 256; i++)
		if (t->facilities[i]) {
			free(t->facilities[i]->name);
			free(t->facilities[i]);
		}
	lttng_seen_free(t);
	free(t->types);
	if (t->ahead.w.source)
		window_close(&t->ahead.w);
	if (t->w.source)
		window_close(&t->w);
	free(t->files);
}
