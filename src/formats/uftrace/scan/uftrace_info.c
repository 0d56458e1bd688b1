/* info: the header of 40 bytes, what it says of the other files, and writing the file anew. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"

void uftrace_info_blame(struct uftrace_info *info, enum uftrace_rule rule, const char *why)
{
	if (info->lines.header_rule == UFTRACE_RULE_COUNT) {
		info->lines.header_rule = (unsigned)rule;
		info->lines.header_why = why;
	}
}

static bool version_fits(uint32_t version)
{
	return version >= UFTRACE_VERSION_MIN && version <= UFTRACE_VERSION_MAX;
}

static void turn(uint8_t *p, unsigned length)
{
	for (unsigned i = 0; i < length / 2; i++) {
		uint8_t byte = p[i];
		p[i] = p[length - 1 - i];
		p[length - 1 - i] = byte;
	}
}

/* Byte 14 and the records have one order, and the numbers of the header the other: they are brought into it. */
static void turn_header(struct uftrace_walk *w, const struct source *source, bool big_endian)
{
	static const struct {
		unsigned at, length;
	} numbers[] = { { UFTRACE_H_VERSION, 4 },
			{ UFTRACE_H_HEADER_SIZE, 2 },
			{ UFTRACE_H_FEAT_MASK, 8 },
			{ UFTRACE_H_INFO_MASK, 8 },
			{ UFTRACE_H_MAX_STACK, 2 } };
	struct finding *fd =
		finding_report(w->findings, UFTRACE_RULE_info_endian_mismatch, source, UFTRACE_H_VERSION, 4,
			       "byte 14 and the records have %s-endian order, and the numbers of the header %s-endian order",
			       big_endian ? "big" : "little", big_endian ? "little" : "big");

	finding_field(fd, UFTRACE_H_ENDIAN, 1, "byte order = %u", big_endian ? UFTRACE_BIG : UFTRACE_LITTLE);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		turn(w->info->header + numbers[i].at, numbers[i].length);
	uftrace_info_blame(w->info, UFTRACE_RULE_info_endian_mismatch,
			   "the numbers of the header in the byte order of the records");
}

/* Byte order and version decide how all else is read. */
static void walk_order(struct uftrace_walk *w, const uint8_t *p, const struct source *source)
{
	struct uftrace_head *h = &w->info->head;
	uint8_t endian = p[UFTRACE_H_ENDIAN];
	bool valid = endian == UFTRACE_LITTLE || endian == UFTRACE_BIG;
	uint32_t little = load_u32(p + UFTRACE_H_VERSION, false), big = load_u32(p + UFTRACE_H_VERSION, true);
	bool named_big = endian == UFTRACE_BIG;

	if (valid && version_fits(named_big ? big : little)) {
		h->big_endian = named_big;
	} else if (valid && version_fits(named_big ? little : big) &&
		   (named_big ? uftrace_head_votes(w) > 0 : uftrace_head_votes(w) < 0)) {
		turn_header(w, source, named_big);
		h->big_endian = named_big;
		little = load_u32(p + UFTRACE_H_VERSION, false);
		big = load_u32(p + UFTRACE_H_VERSION, true);
	} else if (version_fits(little) || version_fits(big)) {
		h->big_endian = version_fits(big);
		struct finding *fd = finding_report(
			w->findings, valid ? UFTRACE_RULE_info_endian_mismatch : UFTRACE_RULE_info_endian_invalid, source,
			UFTRACE_H_ENDIAN, 1, "byte 14 is %u (%s), but the version makes sense in %s-endian order only", endian,
			endian == UFTRACE_LITTLE ? "little-endian"
			: endian == UFTRACE_BIG	 ? "big-endian"
						 : "no byte order",
			h->big_endian ? "big" : "little");
		finding_field(fd, UFTRACE_H_ENDIAN, 1, "byte order = %u", endian);
		uftrace_info_blame(w->info, valid ? UFTRACE_RULE_info_endian_mismatch : UFTRACE_RULE_info_endian_invalid,
				   "the byte order in which the version makes sense");
	} else {
		h->big_endian = uftrace_head_order(w);
		if (!valid) {
			struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_endian_invalid, source, UFTRACE_H_ENDIAN,
							    1, "byte 14 is %u; 1 is little-endian and 2 is big-endian", endian);
			finding_field(fd, UFTRACE_H_ENDIAN, 1, "byte order = %u", endian);
			uftrace_info_blame(w->info, UFTRACE_RULE_info_endian_invalid, "the byte order of the records");
		}
	}
	h->version = h->big_endian ? big : little;
	if (version_fits(h->version))
		return;
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_version_unsupported, source, UFTRACE_H_VERSION, 4,
					    "version %u; readers take 3 and 4", h->version);
	finding_field(fd, UFTRACE_H_VERSION, 4, "version = %u", h->version);
	uftrace_info_blame(w->info, UFTRACE_RULE_info_version_unsupported, "version 4, which is that of the records");
	if (w->plan)
		plan_doubt(w->plan, source, UFTRACE_H_HEADER_SIZE, UFTRACE_HEADER_SIZE - UFTRACE_H_HEADER_SIZE,
			   "the rest of a header whose version was wrong");
	h->version = UFTRACE_VERSION_MAX;
}

static void walk_fields(struct uftrace_walk *w, const uint8_t *p, const struct source *source)
{
	struct uftrace_head *h = &w->info->head;
	bool big = h->big_endian;
	uint16_t header_size = load_u16(p + UFTRACE_H_HEADER_SIZE, big);
	unsigned reserved = h->version == 3 ? UFTRACE_H_MAX_STACK : UFTRACE_H_RESERVED;
	struct finding *fd;

	if (header_size != UFTRACE_HEADER_SIZE) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_header_size, source, UFTRACE_H_HEADER_SIZE, 2,
				    "header size %u; writers store 40", header_size);
		finding_field(fd, UFTRACE_H_HEADER_SIZE, 2, "header size = %u", header_size);
	}
	h->class = p[UFTRACE_H_CLASS];
	if (h->class != UFTRACE_32 && h->class != UFTRACE_64) {
		h->wrong_class = h->class;
		h->class_lost = true;
		h->class = UFTRACE_64; /* uftrace_map.c corrects it when all addresses are of 32 bit */
	}
	if (!bytes_are_zero(p + reserved, UFTRACE_HEADER_SIZE - reserved)) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_reserved_nonzero, source, reserved,
				    UFTRACE_HEADER_SIZE - reserved, "reserved bytes of the header are not zero");
		finding_field(fd, reserved, UFTRACE_HEADER_SIZE - reserved, "reserved");
	}
	h->feat = h->new_feat = load_u64(p + UFTRACE_H_FEAT_MASK, big);
	h->mask = load_u64(p + UFTRACE_H_INFO_MASK, big);
	h->max_stack = h->new_max_stack = load_u16(p + UFTRACE_H_MAX_STACK, big);
	const bool noise = uftrace_feat_is_noise(h->feat); /* then all that its bits say is */
	if (h->feat >> UFTRACE_F_COUNT) {
		fd = noise ? finding_new(w->findings, UFTRACE_RULE_feat_unknown_bit, source, UFTRACE_H_FEAT_MASK, 8)
			   : finding_milder(w->findings, UFTRACE_RULE_feat_unknown_bit, TM_WARNING, source, UFTRACE_H_FEAT_MASK, 8);
		finding_say(fd,
			    noise ? "feat_mask 0x%llx is noise: many bits beyond %d are set"
				  : "feat_mask 0x%llx has bits beyond %d",
			    (unsigned long long)h->feat, UFTRACE_F_COUNT - 1);
		if (noise)
			uftrace_info_blame(w->info, UFTRACE_RULE_feat_unknown_bit, "the mask that the other files show");
		finding_field(fd, UFTRACE_H_FEAT_MASK, 8, "feat_mask = 0x%llx", (unsigned long long)h->feat);
	}
	if (h->mask >> UFTRACE_I_COUNT) {
		fd = finding_report(w->findings, UFTRACE_RULE_info_mask_unknown_bit, source, UFTRACE_H_INFO_MASK, 8,
				    "info_mask 0x%llx has bits beyond %d", (unsigned long long)h->mask, UFTRACE_I_COUNT - 1);
		finding_field(fd, UFTRACE_H_INFO_MASK, 8, "info_mask = 0x%llx", (unsigned long long)h->mask);
	}
	if (!noise && !(h->feat & UFTRACE_BIT(UFTRACE_F_TASK_SESSION))) {
		fd = finding_report(
			w->findings, UFTRACE_RULE_feat_task_session_clear, source, UFTRACE_H_FEAT_MASK, 8,
			"feat_mask 0x%llx has bit 1 (TASK_SESSION) clear: readers do not load tasks and maps, and crash",
			(unsigned long long)h->feat);
		finding_field(fd, UFTRACE_H_FEAT_MASK, 8, "feat_mask = 0x%llx", (unsigned long long)h->feat);
		uftrace_info_blame(w->info, UFTRACE_RULE_feat_task_session_clear, "tasks and maps are there");
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_TASK_SESSION);
	}
	uint64_t always = UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	if (!noise && h->version == 4 && (h->feat & always) != always) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_always_bits_missing, source, UFTRACE_H_FEAT_MASK, 8,
				    "feat_mask 0x%llx has bit %s clear, which every writer of version 4 sets",
				    (unsigned long long)h->feat,
				    h->feat & UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) ? "6 (MAX_STACK)" : "5 (SYM_REL_ADDR)");
	}
	if (h->version == 3 || !(h->feat & UFTRACE_BIT(UFTRACE_F_MAX_STACK)))
		h->max_stack = UFTRACE_MAX_STACK_DEFAULT;
}

static void info_is_missing(struct uftrace_walk *w)
{
	/* A finding is about a file: here it is the first of the recording. */
	const struct source *source = w->in->count ? w->in->sources[0] : NULL;
	for (size_t i = 0; i < w->dir->count; i++)
		if (w->dir->files[i].kind == UFTRACE_FILE_TASK_TXT)
			source = w->dir->files[i].source;

	w->info->lines.header_rule = w->dir->irregular_info ? UFTRACE_RULE_non_regular_file : UFTRACE_RULE_info_missing;
	w->info->lines.header_why = "made from task.txt, the maps and the records";
	w->info->head.damaged = true;
	bool traces = uftrace_dir_find(w->dir, "default.opts") != UFTRACE_NONE;
	for (size_t i = 0; i < w->dir->count; i++) {
		w->info->finished |= w->dir->files[i].kind == UFTRACE_FILE_SYM;
		traces |= w->dir->files[i].source->size >= UFTRACE_RECORD_SIZE &&
			  (w->dir->files[i].kind == UFTRACE_FILE_DAT || w->dir->files[i].kind == UFTRACE_FILE_SHM);
	}
	if (!w->dir->irregular_info && traces)
		w->info->recorder_died = finding_report(
			w->findings, UFTRACE_RULE_info_missing, source, 0, 0, "%s",
			w->info->finished
				? "the file 'info', which every reader needs, is missing; symbol files, which the recorder "
				  "writes after it, are there"
				: "the recorder was killed before it could finish: the file 'info', which every reader "
				  "needs, is missing; so are the symbol files, and what was still in its buffers");
	uftrace_head_rebuild(w);
}

/* Whether a header makes sense in all that can be told. */
static bool is_sound(const uint8_t *p)
{
	bool big = p[UFTRACE_H_ENDIAN] == UFTRACE_BIG;

	return version_fits(load_u32(p + UFTRACE_H_VERSION, big)) && (big || p[UFTRACE_H_ENDIAN] == UFTRACE_LITTLE) &&
	       (p[UFTRACE_H_CLASS] == UFTRACE_32 || p[UFTRACE_H_CLASS] == UFTRACE_64) &&
	       !(load_u64(p + UFTRACE_H_FEAT_MASK, big) >> UFTRACE_F_COUNT) &&
	       !(load_u64(p + UFTRACE_H_INFO_MASK, big) >> UFTRACE_I_COUNT) && load_u64(p + UFTRACE_H_INFO_MASK, big);
}

/* Bytes inserted in the header, or deleted from it, shift what follows: the lines begin elsewhere. The header is taken from either
 * end, where one of the two makes sense. Returns the finding; NULL: nothing is shifted. */
static struct finding *find_shift(struct uftrace_walk *w, const struct source *source)
{
	static const char first[] = "exename:";
	struct uftrace_info *info = w->info;
	const size_t length = sizeof(first) - 1;
	size_t reach = info->size < UFTRACE_HEADER_SIZE + UFTRACE_SHIFT_MAX ? info->size : UFTRACE_HEADER_SIZE + UFTRACE_SHIFT_MAX;
	const char *found = memmem(info->text, reach, first, length);

	if (!found || found == info->text + UFTRACE_HEADER_SIZE)
		return NULL;
	const char *line = memchr(info->text + UFTRACE_HEADER_SIZE, '\n', info->size - UFTRACE_HEADER_SIZE);
	if (line && line < found)
		return NULL; /* other lines are in front of it */
	info->begin = (size_t)(found - info->text);
	memset(info->header, 0, sizeof(info->header));
	if (info->begin < sizeof(info->header))
		memcpy(info->header + sizeof(info->header) - info->begin, info->text, info->begin);
	else
		memcpy(info->header, found - sizeof(info->header), sizeof(info->header));
	if (!is_sound(info->header)) { /* its beginning is; the depth, which comes last, is lost */
		memcpy(info->header, info->text, sizeof(info->header));
		memset(info->header + UFTRACE_H_MAX_STACK, 0, UFTRACE_HEADER_SIZE - UFTRACE_H_MAX_STACK);
		store_u16(info->header + UFTRACE_H_MAX_STACK, UFTRACE_MAX_STACK_DEFAULT,
			  info->header[UFTRACE_H_ENDIAN] == UFTRACE_BIG);
	}
	struct finding *fd;
	if (info->begin < UFTRACE_HEADER_SIZE)
		fd = finding_report(w->findings, UFTRACE_RULE_info_truncated_header, source, 0, info->begin,
				    "the header has %zu bytes in front of the first line; 40 are missing some", info->begin);
	else
		fd = finding_report(w->findings, UFTRACE_RULE_info_block_missing, source, 0, info->begin,
				    "%zu bytes are in front of the first line; the header has 40", info->begin);
	uftrace_info_blame(info,
			   info->begin < UFTRACE_HEADER_SIZE ? UFTRACE_RULE_info_truncated_header : UFTRACE_RULE_info_block_missing,
			   "a header that was shifted");
	if (w->plan)
		plan_lost_other(w->plan);
	return fd;
}

bool uftrace_info_walk(struct uftrace_walk *w)
{
	uint8_t *header = w->info->header;

	w->info->lines.header_rule = UFTRACE_RULE_COUNT;
	if (w->dir->info == UFTRACE_NONE) {
		info_is_missing(w);
		return true;
	}
	struct source *source = w->dir->files[w->dir->info].source;
	if (source->size < UFTRACE_HEADER_SIZE) {
		w->info->recorder_died = finding_report(w->findings, UFTRACE_RULE_info_truncated_header, source, 0, source->size,
							"info has %llu bytes; its header alone has 40",
							(unsigned long long)source->size);
		w->info->lines.header_rule = UFTRACE_RULE_info_truncated_header;
		w->info->lines.header_why = "made from task.txt, the maps and the records";
		w->info->head.damaged = true;
		uftrace_head_rebuild(w);
		return true;
	}
	if (!uftrace_walk_slurp(w, source, &w->info->text, &w->info->size))
		return false;
	w->info->begin = UFTRACE_HEADER_SIZE;
	memcpy(header, w->info->text, UFTRACE_HEADER_SIZE);
	struct finding *shifted = find_shift(w, source);
	if (shifted && !is_sound(header)) {
		w->info->head.damaged = true;
		uftrace_head_rebuild(w);
		w->info->lines.damage = shifted;
		return uftrace_info_text(w);
	}
	if (!shifted && memcmp(header, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE) != 0) {
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_info_bad_magic, source, 0, UFTRACE_MAGIC_SIZE,
						    "info does not begin with the bytes of \"Ftrace!\" and a NUL");
		finding_field(fd, 0, UFTRACE_MAGIC_SIZE, "magic");
		uftrace_info_blame(w->info, UFTRACE_RULE_info_bad_magic, "the magic string");
		if (bytes_are_zero(header, UFTRACE_HEADER_SIZE)) {
			/* Zeros: nothing of the header is left. The lines may be. */
			w->info->recorder_died = fd;
			w->info->head.damaged = true;
			uftrace_head_rebuild(w);
			w->info->head.mask = 0;
			w->info->lines.damage = fd;
			return uftrace_info_text(w);
		}
	}
	w->info->head.present = true;
	walk_order(w, header, source);
	walk_fields(w, header, source);
	if (!w->info->head.mask) {
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_info_mask_zero, source, UFTRACE_H_INFO_MASK, 8,
			"info_mask is 0: the recorder was killed while it wrote info, and readers see none of its lines");
		finding_field(fd, UFTRACE_H_INFO_MASK, 8, "info_mask = 0");
		w->info->recorder_died = fd;
		w->info->head.damaged = true;
		w->info->lines.damage = fd;
		uftrace_info_blame(w->info, UFTRACE_RULE_info_mask_zero, "the mask of the lines that are there");
	}
	return uftrace_info_text(w);
}

bool uftrace_info_lost(const struct uftrace_info *info, unsigned bit)
{
	for (size_t i = 0; i < info->lines.count; i++) {
		const struct uftrace_line *line = &info->lines.list[i];
		if (line->bit == bit && (line->drop || line->text))
			return true;
	}
	return info->lines.damage && info->head.mask & UFTRACE_BIT(bit);
}

void uftrace_info_free(struct uftrace_info *info)
{
	for (size_t i = 0; i < info->lines.count; i++)
		free(info->lines.list[i].text);
	free(info->lines.list);
	free(info->text);
}
