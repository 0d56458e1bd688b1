/* info: the header of 40 bytes, what it says of the other files, and writing the file anew. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

static void header_bad(struct uftrace_walk *w, enum uftrace_rule rule, const char *why)
{
	if (w->info_lines->header_rule == UFTRACE_RULE_COUNT) {
		w->info_lines->header_rule = (unsigned)rule;
		w->info_lines->header_why = why;
	}
}

/* Which byte order do the records have? Looks at the magic of the first of each task; little-endian when in doubt. */
static bool order_of_records(struct uftrace_walk *w)
{
	uint8_t record[UFTRACE_RECORD_SIZE];
	unsigned little = 0, big = 0;

	for (size_t i = 0; i < w->dat_count && i < 64; i++) {
		struct source *s = w->files[w->dats[i].file].source;
		for (uint64_t at = 0; at < 64 * sizeof(record) && at + sizeof(record) <= s->size; at += sizeof(record)) {
			if (source_read(s, at, record, sizeof(record)) != TM_OK)
				return false;
			little += uftrace_word_magic(load_u64(record + 8, false)) == UFTRACE_RECORD_MAGIC &&
				  load_u64(record, false) < UINT64_C(1) << 62;
			big += uftrace_word_magic(load_u64(record + 8, true)) == UFTRACE_RECORD_MAGIC &&
			       load_u64(record, true) < UINT64_C(1) << 62;
		}
	}
	return big > little;
}

static bool version_fits(uint32_t version)
{
	return version >= UFTRACE_VERSION_MIN && version <= UFTRACE_VERSION_MAX;
}

/* Byte order and version decide how all else is read. */
static void walk_order(struct uftrace_walk *w, const uint8_t *p, const struct source *s)
{
	struct uftrace_head *h = &w->head;
	uint8_t endian = p[UFTRACE_H_ENDIAN];
	bool valid = endian == UFTRACE_LITTLE || endian == UFTRACE_BIG;
	uint32_t little = load_u32(p + UFTRACE_H_VERSION, false), big = load_u32(p + UFTRACE_H_VERSION, true);
	bool named_big = endian == UFTRACE_BIG;

	if (valid && version_fits(named_big ? big : little)) {
		h->big_endian = named_big;
	} else if (version_fits(little) || version_fits(big)) {
		h->big_endian = version_fits(big);
		struct finding *fd = finding_report(
			w->findings, valid ? UFTRACE_RULE_info_endian_mismatch : UFTRACE_RULE_info_endian_invalid, s,
			UFTRACE_H_ENDIAN, 1, "byte 14 is %u (%s), but the version makes sense in %s-endian order only", endian,
			endian == UFTRACE_LITTLE ? "little-endian"
			: endian == UFTRACE_BIG	 ? "big-endian"
						 : "no byte order",
			h->big_endian ? "big" : "little");
		finding_field(fd, UFTRACE_H_ENDIAN, 1, "byte order = %u", endian);
		header_bad(w, valid ? UFTRACE_RULE_info_endian_mismatch : UFTRACE_RULE_info_endian_invalid,
			   "the byte order in which the version makes sense");
	} else {
		h->big_endian = valid ? named_big : order_of_records(w);
		if (!valid) {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_endian_invalid, s, UFTRACE_H_ENDIAN, 1,
							    "byte 14 is %u; 1 is little-endian and 2 is big-endian", endian);
			finding_field(fd, UFTRACE_H_ENDIAN, 1, "byte order = %u", endian);
			header_bad(w, UFTRACE_RULE_info_endian_invalid, "the byte order of the records");
		}
	}
	h->version = h->big_endian ? big : little;
	if (version_fits(h->version))
		return;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_version_unsupported, s, UFTRACE_H_VERSION, 4,
					    "version %u; readers take 3 and 4", h->version);
	finding_field(fd, UFTRACE_H_VERSION, 4, "version = %u", h->version);
	header_bad(w, UFTRACE_RULE_info_version_unsupported, "version 4, which is that of the records");
	if (w->plan)
		plan_doubt(w->plan, s, UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE - UFTRACE_H_HEADER_SIZE,
			   "the rest of a header whose version was wrong");
	h->version = UFTRACE_VERSION_MAX;
}

static void walk_fields(struct uftrace_walk *w, const uint8_t *p, const struct source *s)
{
	struct uftrace_head *h = &w->head;
	bool big = h->big_endian;
	uint16_t header_size = load_u16(p + UFTRACE_H_HEADER_SIZE, big);
	unsigned reserved = h->version == 3 ? UFTRACE_H_MAX_STACK : UFTRACE_H_RESERVED;
	struct finding *fd;

	if (header_size != UFTRACE_HEADER_SIZE) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_header_size, s, UFTRACE_H_HEADER_SIZE, 2,
				    "header size %u; writers store 40", header_size);
		finding_field(fd, UFTRACE_H_HEADER_SIZE, 2, "header size = %u", header_size);
	}
	h->class = p[UFTRACE_H_CLASS];
	if (h->class != UFTRACE_32 && h->class != UFTRACE_64) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_class_invalid, s, UFTRACE_H_CLASS, 1,
				    "word size %u; 1 is 32 bit and 2 is 64 bit", h->class);
		finding_field(fd, UFTRACE_H_CLASS, 1, "class = %u", h->class);
		h->class = UFTRACE_32; /* as readers do */
	}
	if (!bytes_are_zero(p + reserved, UFTRACE_HEADER_SIZE - reserved)) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_reserved_nonzero, s, reserved, UFTRACE_HEADER_SIZE - reserved,
				    "reserved bytes of the header are not zero");
		finding_field(fd, reserved, UFTRACE_HEADER_SIZE - reserved, "reserved");
	}
	h->feat = h->new_feat = load_u64(p + UFTRACE_H_FEAT_MASK, big);
	h->mask = load_u64(p + UFTRACE_H_INFO_MASK, big);
	h->max_stack = h->new_max_stack = load_u16(p + UFTRACE_H_MAX_STACK, big);
	if (h->feat >> UFTRACE_F_COUNT) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_unknown_bit, s, UFTRACE_H_FEAT_MASK, 8,
				    "feat_mask 0x%llx has bits beyond %d", (unsigned long long)h->feat, UFTRACE_F_COUNT - 1);
		finding_field(fd, UFTRACE_H_FEAT_MASK, 8, "feat_mask = 0x%llx", (unsigned long long)h->feat);
	}
	if (h->mask >> UFTRACE_I_COUNT) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_mask_unknown_bit, s, UFTRACE_H_INFO_MASK, 8,
				    "info_mask 0x%llx has bits beyond %d", (unsigned long long)h->mask, UFTRACE_I_COUNT - 1);
		finding_field(fd, UFTRACE_H_INFO_MASK, 8, "info_mask = 0x%llx", (unsigned long long)h->mask);
	}
	if (!(h->feat & UFTRACE_BIT(UFTRACE_F_TASK_SESSION))) {
		fd = finding_report(
			w->findings, UFTRACE_RULE_feat_task_session_clear, s, UFTRACE_H_FEAT_MASK, 8,
			"feat_mask 0x%llx has bit 1 (TASK_SESSION) clear: readers do not load tasks and maps, and crash",
			(unsigned long long)h->feat);
		finding_field(fd, UFTRACE_H_FEAT_MASK, 8, "feat_mask = 0x%llx", (unsigned long long)h->feat);
		header_bad(w, UFTRACE_RULE_feat_task_session_clear, "tasks and maps are there");
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_TASK_SESSION);
	}
	uint64_t always = UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	if (h->version == 4 && (h->feat & always) != always) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_always_bits_missing, s, UFTRACE_H_FEAT_MASK, 8,
				    "feat_mask 0x%llx has bit %s clear, which every writer of version 4 sets",
				    (unsigned long long)h->feat,
				    h->feat & UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) ? "6 (MAX_STACK)" : "5 (SYM_REL_ADDR)");
	}
	if (h->version == 3 || !(h->feat & UFTRACE_BIT(UFTRACE_F_MAX_STACK)))
		h->max_stack = UFTRACE_MAX_STACK_DEFAULT;
}

/* There is no header that could be used: everything is taken from the other files. */
static void head_rebuild(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->head;

	h->big_endian = order_of_records(w);
	h->class = UFTRACE_64; /* uftrace_map.c corrects it when all addresses are of 32 bit */
	h->version = UFTRACE_VERSION_MAX;
	h->max_stack = h->new_max_stack = UFTRACE_MAX_STACK_DEFAULT;
	h->new_feat = UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	if (w->has_perf)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_PERF_EVENT);
	if (w->has_kernel && w->kernel_header != UFTRACE_NONE)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_KERNEL);
	if (w->events != UFTRACE_NONE)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_EVENT);
}

static void info_is_missing(struct uftrace_walk *w)
{
	/* A finding is about a file: it is told at the first of the recording. */
	const struct source *s = w->in->count ? w->in->sources[0] : NULL;
	for (size_t i = 0; i < w->file_count; i++)
		if (w->files[i].kind == UFTRACE_FILE_TASK_TXT)
			s = w->files[i].source;

	w->info_lines->header_rule = w->irregular_info ? UFTRACE_RULE_non_regular_file : UFTRACE_RULE_info_missing;
	w->info_lines->header_why = "made from task.txt, the maps and the records";
	w->head.damaged = true;
	bool traces = uftrace_dir_find(w, "default.opts", 12) != UFTRACE_NONE;
	for (size_t i = 0; i < w->file_count; i++)
		traces |= w->files[i].source->size >= UFTRACE_RECORD_SIZE &&
			  (w->files[i].kind == UFTRACE_FILE_DAT || w->files[i].kind == UFTRACE_FILE_SHM);
	if (!w->irregular_info && traces) {
		w->recorder_died =
			finding_report(w->findings, UFTRACE_RULE_info_missing, s, 0, 0,
				       "the recorder was killed before it could finish: the file 'info', which every reader "
				       "needs, is missing; so are the symbol files, and what was still in its buffers");
	}
	head_rebuild(w);
}

bool uftrace_info_walk(struct uftrace_walk *w)
{
	uint8_t header[UFTRACE_HEADER_SIZE];

	w->info_lines = calloc(1, sizeof(*w->info_lines));
	if (!w->info_lines)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	w->info_lines->header_rule = UFTRACE_RULE_COUNT;
	if (w->info == UFTRACE_NONE) {
		info_is_missing(w);
		return true;
	}
	struct source *s = w->files[w->info].source;
	if (s->size < UFTRACE_HEADER_SIZE) {
		w->recorder_died = finding_report(w->findings, UFTRACE_RULE_info_truncated_header, s, 0, s->size,
						  "info has %llu bytes; its header alone has 40", (unsigned long long)s->size);
		w->info_lines->header_rule = UFTRACE_RULE_info_truncated_header;
		w->info_lines->header_why = "made from task.txt, the maps and the records";
		w->head.damaged = true;
		head_rebuild(w);
		return true;
	}
	if (!uftrace_slurp(w, s, &w->info_text, &w->info_size))
		return false;
	memcpy(header, w->info_text, sizeof(header));
	if (memcmp(header, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE) != 0) {
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_bad_magic, s, 0, UFTRACE_MAGIC_SIZE,
						    "info does not begin with the bytes of \"Ftrace!\" and a NUL");
		finding_field(fd, 0, UFTRACE_MAGIC_SIZE, "magic");
		header_bad(w, UFTRACE_RULE_info_bad_magic, "the magic string");
		if (bytes_are_zero(header, sizeof(header))) {
			/* A hole: nothing of the header is left. The lines may be. */
			w->recorder_died = fd;
			w->head.damaged = true;
			head_rebuild(w);
			w->head.mask = 0;
			w->info_lines->damage = fd;
			return uftrace_info_text(w);
		}
	}
	w->head.present = true;
	walk_order(w, header, s);
	walk_fields(w, header, s);
	if (!w->head.mask) {
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_info_mask_zero, s, UFTRACE_H_INFO_MASK, 8,
			"info_mask is 0: the recorder was killed while it wrote info, and readers see none of its lines");
		finding_field(fd, UFTRACE_H_INFO_MASK, 8, "info_mask = 0");
		w->recorder_died = fd;
		w->head.damaged = true;
		w->info_lines->damage = fd;
		header_bad(w, UFTRACE_RULE_info_mask_zero, "the mask of the lines that are there");
	}
	return uftrace_info_text(w);
}

void uftrace_info_late(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->head;
	static const unsigned since[UFTRACE_F_COUNT] = { 0, 0, 0, 600, 600, 600, 600, 800, 800, 802, 900, 1000, 1400, 2000 };

	/* What the records need: raised also in a header that is made anew. */
	if (!h->present) {
		if (w->deepest > h->new_max_stack)
			h->new_max_stack = w->deepest;
		return;
	}
	const struct source *s = w->files[w->info].source;
	uint64_t feat = h->feat;
	struct finding *fd;
	for (unsigned i = 0; i < UFTRACE_F_COUNT; i++)
		if (feat & UFTRACE_BIT(i) && w->version_number && w->version_number < since[i]) {
			fd = finding_report(w->findings, UFTRACE_RULE_feat_newer_than_version, s, UFTRACE_H_FEAT_MASK, 8,
					    "bit %u of feat_mask is younger than the version that info names", i);
			break;
		}
	if (feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT) && !w->has_perf) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_perf_without_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 8 (PERF_EVENT) is set, and there is no perf-cpu<n>.dat");
	}
	bool perf = false, dbg = w->dbg_count > 0, sized = false, unsized = false;
	for (size_t i = 0; i < w->file_count; i++)
		perf |= w->files[i].kind == UFTRACE_FILE_PERF && w->files[i].source->size;
	if (!(feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT)) && perf) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_perf_clear_with_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 8 (PERF_EVENT) is clear, and perf-cpu<n>.dat files with data are there");
	}
	if (feat & UFTRACE_BIT(UFTRACE_F_KERNEL) && (!w->has_kernel || w->kernel_header == UFTRACE_NONE)) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_kernel_without_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 2 (KERNEL) is set, and there is no %s",
				    w->has_kernel ? "kernel_header" : "kernel-cpu<n>.dat");
	}
	if (!!(feat & UFTRACE_BIT(UFTRACE_F_DEBUG_INFO)) != dbg && !w->foreign) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_debuginfo_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    dbg ? "bit 10 (DEBUG_INFO) is clear, and .dbg files are there"
					: "bit 10 (DEBUG_INFO) is set, and there is no .dbg file");
	}
	for (size_t i = 0; i < w->module_count; i++) {
		sized |= w->modules[i].sized && w->modules[i].count;
		unsized |= !w->modules[i].sized && w->modules[i].count;
	}
	bool bit = feat & UFTRACE_BIT(UFTRACE_F_SYM_SIZE);
	if ((bit && unsized && !sized) || (!bit && sized && !unsized)) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_symsize_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    bit ? "bit 12 (SYM_SIZE) is set, and the .sym files have no sizes"
					: "bit 12 (SYM_SIZE) is clear, and the .sym files have sizes");
	}
	if ((w->arguments && !(feat & UFTRACE_BIT(UFTRACE_F_ARGUMENT))) ||
	    (w->retvals && !(feat & UFTRACE_BIT(UFTRACE_F_RETVAL)))) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_args_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    "records have %s, and bit %s of feat_mask is clear",
				    w->arguments ? "arguments" : "return values", w->arguments ? "3 (ARGUMENT)" : "4 (RETVAL)");
	}
	/* w->deepest is what errors ask for; see uftrace_dat.c. */
	if (w->deepest > h->max_stack) {
		fd = finding_report(w->findings, UFTRACE_RULE_dat_depth_exceeds_max_stack, s, UFTRACE_H_MAX_STACK, 2,
				    "info allows a depth of %u, and calls are nested %u deep: readers leave out the deeper ones",
				    h->max_stack, w->deepest);
		finding_field(fd, UFTRACE_H_MAX_STACK, 2, "max stack depth = %u", h->max_stack);
		header_bad(w, UFTRACE_RULE_dat_depth_exceeds_max_stack, "the depth that the records have");
		h->new_max_stack = w->deepest;
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	}
}

/* ---- writing it ---- */

static void plan_lines_of(struct uftrace_walk *w, unsigned out, unsigned bit, bool write)
{
	struct uftrace_lines *l = w->info_lines;
	struct source *s = w->files[w->info].source;

	for (size_t i = 0; i < l->count; i++) {
		struct uftrace_line *line = &l->list[i];
		if (line->bit != bit)
			continue;
		if (line->drop && line->rule != UFTRACE_RULE_info_crlf_or_blank)
			plan_lost_other(w->plan);
		if (!write || line->drop)
			plan_drop(w->plan, s, line->offset, line->raw, line->drop ? line->rule : l->taskinfo_rule,
				  line->drop ? line->why : l->taskinfo_why);
		else if (line->text)
			plan_replace(w->plan, out, s, line->offset, line->raw, line->text, strlen(line->text), line->rule,
				     line->why);
		else
			plan_copy(w->plan, out, s, line->offset, line->raw);
	}
}

static int tid_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static bool plan_taskinfo(struct uftrace_walk *w, unsigned out)
{
	struct bytes text = { 0 };

	if (w->tid_count)
		qsort(w->tids, w->tid_count, sizeof(*w->tids), tid_compare);
	bytes_printf(&text, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", w->tid_count);
	for (size_t i = 0; i < w->tid_count; i++)
		bytes_printf(&text, "%s%lld", i ? "," : "", (long long)w->tids[i]);
	bytes_text(&text, "\n");
	bool failed = text.failed;
	if (!failed)
		plan_literal(w->plan, out, text.data, text.size, w->info_lines->taskinfo_rule, w->info_lines->taskinfo_why);
	bytes_free(&text);
	return !failed || uftrace_walk_fail(w, TM_NO_MEMORY);
}

/* A name for a rebuilt info: the program of the first session. */
static void plan_exename(struct uftrace_walk *w, unsigned out)
{
	struct bytes text = { 0 };

	bytes_text(&text, "exename:");
	bytes_append(&text, w->sessions[0].exename.text, w->sessions[0].exename.length);
	bytes_text(&text, "\n");
	if (!text.failed)
		plan_literal(w->plan, out, text.data, text.size, w->info_lines->header_rule, w->info_lines->header_why);
	else
		uftrace_walk_fail(w, TM_NO_MEMORY);
	bytes_free(&text);
}

static bool exename_can_be_written(const struct uftrace_walk *w)
{
	if (!w->session_count)
		return false;
	struct uftrace_str name = w->sessions[0].exename;
	return name.length && name.length < UFTRACE_INFO_LINE_MAX - 16 && !memchr(name.text, '\n', name.length) &&
	       !memchr(name.text, '\r', name.length) && !memchr(name.text, '\0', name.length);
}

static void plan_header(struct uftrace_walk *w, unsigned out, uint64_t mask)
{
	struct uftrace_head *h = &w->head;
	struct uftrace_lines *l = w->info_lines;
	uint8_t header[UFTRACE_HEADER_SIZE] = { 0 };
	struct source *s = w->info != UFTRACE_NONE ? w->files[w->info].source : NULL;

	if (s && s->size >= sizeof(header) && h->present && w->info_text)
		memcpy(header, w->info_text, sizeof(header));
	else
		store_u16(header + UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE, h->big_endian);
	memcpy(header, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE);
	store_u32(header + UFTRACE_H_VERSION, h->version, h->big_endian);
	header[UFTRACE_H_ENDIAN] = h->big_endian ? UFTRACE_BIG : UFTRACE_LITTLE;
	if (!h->present)
		header[UFTRACE_H_CLASS] = (uint8_t)h->class;
	store_u64(header + UFTRACE_H_FEAT_MASK, h->new_feat, h->big_endian);
	store_u64(header + UFTRACE_H_INFO_MASK, mask, h->big_endian);
	if (h->version != 3)
		store_u16(header + UFTRACE_H_MAX_STACK, (uint16_t)h->new_max_stack, h->big_endian);
	unsigned rule = l->header_rule != UFTRACE_RULE_COUNT ? l->header_rule : UFTRACE_RULE_info_block_missing;
	const char *why = l->header_rule != UFTRACE_RULE_COUNT ? l->header_why : "the mask of the lines that are kept";
	if (!s || !s->size)
		plan_literal(w->plan, out, header, sizeof(header), rule, why);
	else if (s->size < sizeof(header))
		plan_replace(w->plan, out, s, 0, s->size, header, sizeof(header), rule, why);
	else if (w->info_text && !memcmp(header, w->info_text, sizeof(header)))
		plan_copy(w->plan, out, s, 0, sizeof(header));
	else
		plan_replace(w->plan, out, s, 0, sizeof(header), header, sizeof(header), rule, why);
}

bool uftrace_info_plan(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->head;
	struct uftrace_lines *l = w->info_lines;
	bool text = w->info_text != NULL;
	uint64_t mask = h->new_mask | UFTRACE_BIT(UFTRACE_I_TASKINFO) | (h->mask & ~(UFTRACE_BIT(UFTRACE_I_COUNT) - 1));
	unsigned out = plan_output(w->plan, "info");
	bool exename = !(mask & UFTRACE_BIT(UFTRACE_I_EXE_NAME)) && w->head.damaged && exename_can_be_written(w);

	if (exename)
		mask |= UFTRACE_BIT(UFTRACE_I_EXE_NAME);
	if (l->taskinfo_rewrite && !l->taskinfo_why) {
		l->taskinfo_rule = l->header_rule != UFTRACE_RULE_COUNT ? l->header_rule : (unsigned)UFTRACE_RULE_taskinfo_missing;
		l->taskinfo_why = "the tasks of task.txt and of the records";
	}
	plan_header(w, out, mask);
	if (exename)
		plan_exename(w, out);
	for (unsigned bit = 0; bit < UFTRACE_I_COUNT; bit++) {
		bool rewrite = bit == UFTRACE_I_TASKINFO && l->taskinfo_rewrite;
		if (rewrite && !plan_taskinfo(w, out))
			return false;
		if (text)
			plan_lines_of(w, out, bit, !rewrite);
	}
	if (text) {
		plan_lines_of(w, out, UFTRACE_I_COUNT, false);
		struct source *s = w->files[w->info].source;
		if (l->trailing < s->size && l->trailing_drop)
			plan_drop(w->plan, s, l->trailing, s->size - l->trailing, UFTRACE_RULE_info_no_final_newline,
				  "a line that was cut");
		else if (l->trailing < s->size)
			plan_copy(w->plan, out, s, l->trailing, s->size - l->trailing);
	}
	if (w->info != UFTRACE_NONE)
		w->files[w->info].planned = true;
	return true;
}

void uftrace_info_free(struct uftrace_walk *w)
{
	for (size_t i = 0; w->info_lines && i < w->info_lines->count; i++)
		free(w->info_lines->list[i].text);
	if (w->info_lines)
		free(w->info_lines->list);
	free(w->info_lines);
	free(w->info_text);
}
