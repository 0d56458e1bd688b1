/* Breakers of the rules about `info` and the directory as a whole. */
#include "formats/uftrace/gen/break/uftrace_break.h"

#include <stdio.h>
#include <stdlib.h>

/* Replaces the rest of the line that starts with key. */
static void set_value(struct uftrace_gen *g, const char *key, const char *value)
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_find(b, key, 0) : (struct uftrace_row){ 0, 0, false };

	if (l.found)
		uftrace_row_replace(b, l, "%s%s\n", key, value);
}

/* ---- the directory ---- */

BREAKER_OF(dir_not_uftrace, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_OPTS | UFTRACE_GEN_KERNEL))
{
	gen_file_remove(g->g, "info");
	uftrace_genfile_remove(g, ".dat");
}

/* A link: of all that is no regular file it is what an archive or a version control can hold. */
BREAKER_OF(non_regular_file, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_ORPHAN | UFTRACE_GEN_PAYLOADS))
{
	const char *name = NULL;

	switch (uftrace_gen_below(g, 3)) {
	case 0: /* of several tasks: without any the recording is empty */
		(void)uftrace_genfile_any(g, "", g->task_count > 2 ? ".dat" : "info", &name);
		break;
	case 1:
		(void)uftrace_genfile_any(g, "", ".map", &name);
		gen_expect(g->g, UFTRACE_RULE_task_session_without_map);
		break;
	default:
		name = "info";
		break;
	}
	for (size_t i = 0; name && i < g->g->file_count; i++) {
		struct gen_file *file = &g->g->files[i];

		if (strcmp(file->name, name) != 0)
			continue;
		file->link = true;
		file->bytes.size = 0;
		bytes_text(&file->bytes, "../elsewhere");
		return;
	}
}

BREAKER(stale_channel, GEN_BYTES)
{
	(void)gen_file(g->g, ".channel");
}

BREAKER_OF(map_tmp_leftover, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	const char *name = NULL;
	struct bytes *map, *copy;
	char temporary[64];

	map = uftrace_genfile_any(g, "sid-", ".map", &name);
	if (!map)
		return;
	(void)snprintf(temporary, sizeof(temporary), "%s.tmp", name);
	copy = gen_file(g->g, temporary);
	map = uftrace_genfile(g, name);
	if (copy && map)
		bytes_append(copy, map->data, map->size - uftrace_gen_below(g, (unsigned)map->size / 2));
}

BREAKER(unknown_file, GEN_BYTES)
{
	static const char *const names[] = { "core", "shop.log", "README", "shop.sym.bak" };
	struct bytes *b = gen_file(g->g, names[uftrace_gen_below(g, 4)]);

	if (b)
		bytes_text(b, "nobody knows\n");
}

BREAKER_OF(file_renamed, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	char task[24], copy[32];

	(void)snprintf(task, sizeof(task), "%d.dat", g->tasks[0].tid);
	(void)snprintf(copy, sizeof(copy), "%d-copy.dat", g->tasks[0].tid);
	const char *const names[][2] = { { task, copy }, { "info", "info.old" }, { "task.txt", "tasks" } };
	/* Beside the binary file of old versions, task.txt is not missed. */
	const char *const *name = names[uftrace_gen_below(g, uftrace_genfile(g, "task") ? 2 : 3)];
	struct bytes *to = gen_file(g->g, name[1]), *from = uftrace_genfile(g, name[0]);
	if (!to || !from)
		return;
	*to = *from;
	*from = (struct bytes){ 0 };
	gen_file_remove(g->g, name[0]);
}

/* ---- the header ---- */

BREAKER_OF(info_missing, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	gen_file_remove(g->g, "info");
}

BREAKER_OF(info_truncated_header, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS))
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b && b->size > 40)
		b->size = uftrace_gen_below(g, 40);
}

static void flip_a_bit(struct uftrace_gen *g, uint8_t *byte)
{
	*byte ^= (uint8_t)(1u << uftrace_gen_below(g, 8));
}

BREAKER(info_bad_magic, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		flip_a_bit(g, b->data + uftrace_gen_below(g, 8));
}

BREAKER(info_version_unsupported, GEN_BYTES)
{
	static const uint32_t wrong[] = { 5, 2, 0, 1000 };
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		store_u32(b->data + 8, wrong[uftrace_gen_below(g, 4)], uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN));
}

BREAKER(info_header_size, GEN_BYTES)
{
	static const uint16_t wrong[] = { 0, 64, 39, 41 };

	uftrace_geninfo_set_u16(g, 12, wrong[uftrace_gen_below(g, 4)]);
}

BREAKER(info_endian_invalid, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		b->data[14] = (uint8_t)(uftrace_gen_below(g, 2) ? 3 + uftrace_gen_below(g, 250) : 0);
}

BREAKER(info_endian_mismatch, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		b->data[14] ^= 3;
}

BREAKER_OF(info_class_invalid, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_PAYLOADS | UFTRACE_GEN_EVENTS))
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		b->data[15] = (uint8_t)(uftrace_gen_below(g, 2) ? 3 + uftrace_gen_below(g, 250) : 0);
}

BREAKER(info_reserved_nonzero, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b) {
		uint8_t *reserved = b->data + 34 + uftrace_gen_below(g, 6);

		*reserved = (uint8_t)(1 + uftrace_gen_below(g, 255));
	}
}

/* ---- feature bits ---- */

BREAKER(feat_unknown_bit, GEN_BYTES)
{
	uftrace_geninfo_mask(g, INFO_FEAT, (uint64_t)0xfff << (14 + uftrace_gen_below(g, 38)), 0); /* noise */
}

BREAKER_OF(feat_newer_than_version, GEN_BYTES, uftrace_gen_versions(g, 90, 93))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 1 << 11, 0); /* exit times are estimated: 0.10 */
}

BREAKER(feat_task_session_clear, GEN_BYTES)
{
	uftrace_geninfo_mask(g, INFO_FEAT, 0, 1 << 1);
}

BREAKER_OF(feat_always_bits_missing, GEN_BYTES, uftrace_gen_versions(g, 60, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_DEEP))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 0, (uint64_t)(1 + uftrace_gen_below(g, 3)) << 5);
}

BREAKER_OF(feat_perf_without_files, GEN_BYTES, uftrace_gen_versions(g, 80, 999), uftrace_gen_need(g, 0, UFTRACE_GEN_PERF))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 1 << 8, 0);
}

BREAKER_OF(feat_perf_clear_with_files, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_PERF, UFTRACE_GEN_FOREIGN))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 0, 1 << 8);
}

BREAKER_OF(feat_kernel_without_files, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_KERNEL))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 1 << 2, 0);
}

BREAKER_OF(feat_debuginfo_mismatch, GEN_BYTES, uftrace_gen_versions(g, 90, 999),
	   uftrace_gen_need(g, 0, UFTRACE_GEN_AUTO | UFTRACE_GEN_FOREIGN))
{
	if (uftrace_gen_has(g, UFTRACE_GEN_DEBUG))
		uftrace_geninfo_mask(g, INFO_FEAT, 0, 1 << 10);
	else
		uftrace_geninfo_mask(g, INFO_FEAT, 1 << 10, 0);
}

BREAKER_OF(feat_symsize_mismatch, GEN_BYTES, uftrace_gen_versions(g, 60, 999))
{
	if (uftrace_gen_feat_mask(g) & 1 << 12)
		uftrace_geninfo_mask(g, INFO_FEAT, 0, 1 << 12);
	else
		uftrace_geninfo_mask(g, INFO_FEAT, 1 << 12, 0);
}

BREAKER_OF(feat_args_mismatch, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_ARGS | UFTRACE_GEN_RETVALS, UFTRACE_GEN_AUTO))
{
	uftrace_geninfo_mask(g, INFO_FEAT, 0, (uint64_t)(1 + uftrace_gen_below(g, 3)) << 3);
}

/* ---- the text ---- */

BREAKER(info_mask_zero, GEN_BYTES)
{
	uftrace_geninfo_mask(g, INFO_MASK, 0, UINT64_MAX);
}

BREAKER(info_mask_unknown_bit, GEN_BYTES)
{
	uftrace_geninfo_mask(g, INFO_MASK, (uint64_t)1 << (16 + uftrace_gen_below(g, 48)), 0);
}

/* Blocks of one line that no other check needs. */
static const struct {
	const char *key;
	unsigned bit;
} loose_blocks[] = { { "cmdline:", 3 }, { "meminfo:", 5 }, { "loadinfo:", 9 } };

BREAKER(info_block_missing, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		uftrace_row_remove(b, uftrace_row_find(b, loose_blocks[uftrace_gen_below(g, 3)].key, 0));
}

BREAKER(info_block_unannounced, GEN_BYTES)
{
	uftrace_geninfo_mask(g, INFO_MASK, 0, (uint64_t)1 << loose_blocks[uftrace_gen_below(g, 3)].bit);
}

BREAKER(info_block_order, GEN_BYTES)
{
	static const char *const keys[] = { "exename:", "build_id:", "exit_status:" };
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		uftrace_row_swap(b, uftrace_row_find(b, keys[uftrace_gen_below(g, 3)], 0));
}

BREAKER_OF(info_line_too_long, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN), uftrace_gen_unused(g, 100))
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_find(b, uftrace_gen_below(g, 2) ? "cmdline:" : "meminfo:", 0)
				 : (struct uftrace_row){ 0, 0, false };
	unsigned more = 4096 + uftrace_gen_below(g, 100);

	for (unsigned i = 0; l.found && i < more; i += 32)
		bytes_insert(b, l.at + l.length - 1, " --option=a-value-of-thirty-two-", 32);
}

BREAKER(info_lines_count, GEN_BYTES)
{
	static const char *const wrong[] = { "1", "9", "x", "" };

	const char *count = wrong[uftrace_gen_below(g, 4)];

	set_value(g, uftrace_gen_below(g, 2) ? "cpuinfo:lines=" : "osinfo:lines=", count);
}

BREAKER(info_crlf_or_blank, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_any(g, b, "") : (struct uftrace_row){ 0, 0, false };

	if (!l.found)
		return;
	if (uftrace_gen_below(g, 2))
		bytes_insert(b, l.at + l.length - 1, "\r", 1);
	else
		bytes_insert(b, l.at, "\n", 1);
}

BREAKER_OF(info_nul_in_text, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN))
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_find(b, "cmdline:", 0) : (struct uftrace_row){ 0, 0, false };

	if (l.found)
		b->data[l.at + 8 + uftrace_gen_below(g, (unsigned)l.length - 9)] = 0;
}

BREAKER(info_trailing_bytes, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b)
		bytes_text(b, uftrace_gen_below(g, 2) ? "left from before\n" : "sure ( x86_64 )\nmore\n");
}

/* Before 0.8, the last line may be that of the arguments. */
BREAKER_OF(info_no_final_newline, GEN_BYTES, uftrace_gen_versions(g, 80, 999))
{
	struct bytes *b = uftrace_genfile(g, "info");

	if (b && b->size)
		b->size--;
}

BREAKER(info_build_id_format, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_find(b, "build_id:", 0) : (struct uftrace_row){ 0, 0, false };

	if (!l.found)
		return;
	if (uftrace_gen_below(g, 2))
		b->data[l.at + 9 + uftrace_gen_below(g, 40)] = 'z';
	else
		bytes_remove(b, l.at + 9, 1 + uftrace_gen_below(g, 39));
}

BREAKER_OF(info_exit_status_undecodable, GEN_BYTES, uftrace_gen_need(g, 0, UFTRACE_GEN_FOREIGN | UFTRACE_GEN_INTERRUPTED))
{
	static const char *const wrong[] = { "300000", "-2", "many", "70000" };

	set_value(g, "exit_status:", wrong[uftrace_gen_below(g, 4)]);
}

BREAKER_OF(info_recorder_interrupted, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_INTERRUPTED, UFTRACE_GEN_FOREIGN))
{
	set_value(g, "exit_status:", "-1");
}

/* ---- taskinfo ---- */

BREAKER(taskinfo_missing, GEN_BYTES)
{
	struct bytes *b = uftrace_genfile(g, "info");

	for (unsigned i = 0; b && i < 3; i++)
		uftrace_row_remove(b, uftrace_row_find(b, "taskinfo:", 0));
	uftrace_geninfo_mask(g, INFO_MASK, 0, 1 << 7);
}

/* Writes the list of tids anew, and how many there are. */
static void write_tids(struct uftrace_gen *g, const int *tids, unsigned count, const char *more, int claimed)
{
	struct bytes *b = uftrace_genfile(g, "info");
	struct uftrace_row l = b ? uftrace_row_find(b, "taskinfo:tids=", 0) : (struct uftrace_row){ 0, 0, false };
	char text[24];

	if (!l.found)
		return;
	uftrace_row_replace(b, l, "taskinfo:tids=%s%s\n", more, count && *more ? "," : "");
	l = uftrace_row_find(b, "taskinfo:tids=", 0);
	for (unsigned i = count; i--;) {
		(void)snprintf(text, sizeof(text), "%d%s", tids[i], i + 1 < count ? "," : "");
		bytes_insert(b, l.at + l.length - 1, text, strlen(text));
	}
	(void)snprintf(text, sizeof(text), "%d", claimed);
	set_value(g, "taskinfo:nr_tid=", text);
}

BREAKER(taskinfo_count_mismatch, GEN_BYTES)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%d", uftrace_gen_below(g, 2) ? (int)g->task_count + 1 : -(int)uftrace_gen_below(g, 2));
	set_value(g, "taskinfo:nr_tid=", text);
}

/* The tids in order, with room for one more. */
static unsigned all_tids(const struct uftrace_gen *g, int tids[static UFTRACE_GEN_TASKS_MAX + 1])
{
	return uftrace_gen_tids(g, tids);
}

BREAKER(taskinfo_tid_invalid, GEN_BYTES)
{
	static const char *const wrong[] = { "0", "-5", "12a", "one" };
	int tids[UFTRACE_GEN_TASKS_MAX + 1];
	unsigned count;

	count = all_tids(g, tids);
	write_tids(g, tids, count, wrong[uftrace_gen_below(g, 4)], (int)count + 1);
}

BREAKER(taskinfo_duplicate_tid, GEN_BYTES)
{
	int tids[UFTRACE_GEN_TASKS_MAX + 1];
	unsigned count, at;

	count = all_tids(g, tids);
	at = uftrace_gen_below(g, count);
	memmove(tids + at + 1, tids + at, (count - at) * sizeof(tids[0]));
	write_tids(g, tids, count + 1, "", (int)count + 1);
}

BREAKER_OF(taskinfo_unsorted, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_THREADS, 0))
{
	int tids[UFTRACE_GEN_TASKS_MAX + 1], first;
	unsigned count, at;

	count = all_tids(g, tids);
	at = uftrace_gen_below(g, count - 1);
	first = tids[at];
	tids[at] = tids[at + 1];
	tids[at + 1] = first;
	write_tids(g, tids, count, "", (int)count);
}

BREAKER(taskinfo_tid_not_in_task, GEN_BYTES)
{
	int tids[UFTRACE_GEN_TASKS_MAX + 1];
	unsigned count;

	count = all_tids(g, tids);
	tids[count] = tids[count - 1] + 1 + (int)uftrace_gen_below(g, 1000);
	write_tids(g, tids, count + 1, "", (int)count + 1);
}

BREAKER_OF(taskinfo_missing_tid, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_FORK, 0))
{
	int tids[UFTRACE_GEN_TASKS_MAX + 1];
	unsigned count, at;

	count = all_tids(g, tids);
	at = uftrace_gen_below(g, count);
	memmove(tids + at, tids + at + 1, (count - at - 1) * sizeof(tids[0]));
	write_tids(g, tids, count - 1, "", (int)count - 1);
}

/* ---- arguments ---- */

BREAKER_OF(argspec_unparsable, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_ARGS, 0))
{
	static const char *const wrong[] = { "nobody@arg1/q", "nobody@arg", "nobody@arg1/x24", "nobody@arg1:x" };
	struct bytes *b = uftrace_genfile(g, "info");
	/* Before 0.8.1 there is no line that says how many follow. */
	struct uftrace_row l = b ? uftrace_row_find(b, "argspec:", g->version > 80) : (struct uftrace_row){ 0, 0, false };
	char text[64];

	if (!l.found)
		return;
	(void)snprintf(text, sizeof(text), ";%s", wrong[uftrace_gen_below(g, 4)]);
	bytes_insert(b, l.at + l.length - 1, text, strlen(text));
}

BREAKER_OF(argspec_missing, GEN_BYTES, uftrace_gen_need(g, UFTRACE_GEN_ARGS, UFTRACE_GEN_DEEP))
{
	static const char *const keys[] = { "argspec:", "retspec:", "argauto:", "retauto:", "enumauto:", "auto-args:" };
	struct bytes *b = uftrace_genfile(g, "info");

	for (size_t i = 0; b && i < sizeof(keys) / sizeof(keys[0]); i++)
		while (uftrace_row_find(b, keys[i], 0).found)
			uftrace_row_remove(b, uftrace_row_find(b, keys[i], 0));
	uftrace_geninfo_mask(g, INFO_MASK, 0, 1 << 10);
}

BREAKER_OF(pattern_type_unknown, GEN_BYTES, uftrace_gen_versions(g, 90, 999))
{
	set_value(g, "pattern_type:", uftrace_gen_below(g, 2) ? "fuzzy" : "none");
}
