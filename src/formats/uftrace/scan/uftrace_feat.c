/* info: feature bits and the maximum depth against the files. */
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_spec.h"
#include "formats/uftrace/scan/uftrace_sym.h"

/* So many bits that nobody knows are noise: more than a few later versions add. */
#define UNKNOWN_MAX 8

bool uftrace_feat_is_noise(uint64_t feat)
{
	return __builtin_popcountll(feat >> UFTRACE_F_COUNT) >= UNKNOWN_MAX;
}

static void check_bits(struct uftrace_walk *w, const struct source *source, uint64_t feat)
{
	/* The versions that brought the bits: major * 10000 + minor * 100 + patch. */
	static const unsigned since[UFTRACE_F_COUNT] = { 0, 0, 0, 600, 600, 600, 600, 800, 800, 802, 900, 1000, 1400, 2000 };
	unsigned version = w->info->version_number;

	for (unsigned i = 0; i < UFTRACE_F_COUNT; i++)
		if (feat & UFTRACE_BIT(i) && version && version < since[i]) {
			finding_report(w->findings, UFTRACE_RULE_feat_newer_than_version, source, UFTRACE_H_FEAT_MASK, 8,
				       "bit %u of feat_mask is newer than the version that info names", i);
			break;
		}
}

/* Bits that say that files are there. */
static void check_files(struct uftrace_walk *w, const struct source *source, uint64_t feat)
{
	const struct uftrace_dir *dir = w->dir;
	bool perf = false, dbg = w->symbols->dbg_count > 0;

	for (size_t i = 0; i < dir->count; i++)
		perf |= dir->files[i].kind == UFTRACE_FILE_PERF && dir->files[i].source->size;
	if (feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT) && !dir->has_perf)
		finding_report(w->findings, UFTRACE_RULE_feat_perf_without_files, source, UFTRACE_H_FEAT_MASK, 8,
			       "bit 8 (PERF_EVENT) is set, and there is no perf-cpu<n>.dat");
	if (!(feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT)) && perf)
		finding_report(w->findings, UFTRACE_RULE_feat_perf_clear_with_files, source, UFTRACE_H_FEAT_MASK, 8,
			       "bit 8 (PERF_EVENT) is clear, and perf-cpu<n>.dat files with data are there");
	if (feat & UFTRACE_BIT(UFTRACE_F_KERNEL) && (!dir->has_kernel || dir->kernel_header == UFTRACE_NONE))
		finding_report(w->findings, UFTRACE_RULE_feat_kernel_without_files, source, UFTRACE_H_FEAT_MASK, 8,
			       "bit 2 (KERNEL) is set, and there is no %s",
			       dir->has_kernel ? "kernel_header" : "kernel-cpu<n>.dat");
	if (!!(feat & UFTRACE_BIT(UFTRACE_F_DEBUG_INFO)) != dbg && !w->info->foreign)
		finding_report(w->findings, UFTRACE_RULE_feat_debuginfo_mismatch, source, UFTRACE_H_FEAT_MASK, 8,
			       dbg ? "bit 10 (DEBUG_INFO) is clear, and .dbg files are there"
				   : "bit 10 (DEBUG_INFO) is set, and there is no .dbg file");
}

/* Bits that say how symbols and records are made. */
static void check_contents(struct uftrace_walk *w, const struct source *source, uint64_t feat)
{
	const struct uftrace_symbols *symbols = w->symbols;
	const struct uftrace_records *records = w->records;
	bool sized = false, unsized = false, bit = feat & UFTRACE_BIT(UFTRACE_F_SYM_SIZE);

	for (size_t i = 0; i < symbols->module_count; i++) {
		sized |= symbols->modules[i].sized && symbols->modules[i].count;
		unsized |= !symbols->modules[i].sized && symbols->modules[i].count;
	}
	if ((bit && unsized && !sized) || (!bit && sized && !unsized))
		finding_report(w->findings, UFTRACE_RULE_feat_symsize_mismatch, source, UFTRACE_H_FEAT_MASK, 8,
			       bit ? "bit 12 (SYM_SIZE) is set, and the .sym files have no sizes"
				   : "bit 12 (SYM_SIZE) is clear, and the .sym files have sizes");
	if ((records->arguments && !(feat & UFTRACE_BIT(UFTRACE_F_ARGUMENT))) ||
	    (records->retvals && !(feat & UFTRACE_BIT(UFTRACE_F_RETVAL))))
		finding_report(w->findings, UFTRACE_RULE_feat_args_mismatch, source, UFTRACE_H_FEAT_MASK, 8,
			       "records have %s, and bit %s of feat_mask is clear",
			       records->arguments ? "arguments" : "return values",
			       records->arguments ? "3 (ARGUMENT)" : "4 (RETVAL)");
}

/* A header that is made anew: what the other files show. Readers do not look for the specifications of automatic arguments, nor for
 * values, where the bits are clear. */
static void make_bits(struct uftrace_walk *w)
{
	const struct uftrace_symbols *symbols = w->symbols;
	uint64_t *feat = &w->info->head.new_feat;

	for (size_t i = 0; i < symbols->module_count; i++)
		if (symbols->modules[i].sized && symbols->modules[i].count)
			*feat |= UFTRACE_BIT(UFTRACE_F_SYM_SIZE);
	if (w->records->arguments)
		*feat |= UFTRACE_BIT(UFTRACE_F_ARGUMENT);
	if (w->records->retvals)
		*feat |= UFTRACE_BIT(UFTRACE_F_RETVAL);
	if (w->specs->auto_args)
		*feat |= UFTRACE_BIT(UFTRACE_F_AUTO_ARGS);
	if (symbols->dbg_count)
		*feat |= UFTRACE_BIT(UFTRACE_F_DEBUG_INFO);
}

bool uftrace_feat_check(struct uftrace_walk *w)
{
	struct uftrace_head *head = &w->info->head;
	unsigned deepest = w->records->deepest;

	/* What the records need: raised also in a header that is made anew. */
	if (!head->present) {
		if (deepest > head->new_max_stack)
			head->new_max_stack = deepest;
		make_bits(w);
		return true;
	}
	/* Every recorder sets bit 1: where it is clear, and the others are odd, too, all of them are noise. */
	const uint64_t always = UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	const bool odd = !(head->feat & UFTRACE_BIT(UFTRACE_F_TASK_SESSION)) &&
			 (head->feat >> UFTRACE_F_COUNT || (head->feat & always) != always);
	if ((head->version == 4 && odd) || uftrace_feat_is_noise(head->feat)) {
		uftrace_head_bits(w);
		make_bits(w);
		if (head->version == 3) /* the others are newer */
			head->new_feat &= UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_KERNEL);
		if (w->plan)
			plan_lost_other(w->plan);
	}
	const struct source *source = w->dir->files[w->dir->info].source;
	if (!uftrace_feat_is_noise(head->feat)) {
		check_bits(w, source, head->feat);
		check_files(w, source, head->feat);
		check_contents(w, source, head->feat);
	}
	if (deepest > head->max_stack) {
		struct finding *fd =
			finding_report(w->findings, UFTRACE_RULE_dat_depth_exceeds_max_stack, source, UFTRACE_H_MAX_STACK, 2,
				       "info allows a depth of %u, and calls are nested %u deep: readers leave out the deeper ones",
				       head->max_stack, deepest);
		finding_field(fd, UFTRACE_H_MAX_STACK, 2, "max stack depth = %u", head->max_stack);
		uftrace_info_blame(w->info, UFTRACE_RULE_dat_depth_exceeds_max_stack, "the depth that the records have");
		head->new_max_stack = deepest;
		head->new_feat |= UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	}
	return true;
}
