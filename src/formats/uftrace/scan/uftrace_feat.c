/* info: feature bits and the maximum depth against the files. */
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"
#include "formats/uftrace/scan/uftrace_sym.h"

bool uftrace_feat_check(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->info->head;
	static const unsigned since[UFTRACE_F_COUNT] = { 0, 0, 0, 600, 600, 600, 600, 800, 800, 802, 900, 1000, 1400, 2000 };

	/* What the records need: raised also in a header that is made anew. */
	if (!h->present) {
		if (w->records->deepest > h->new_max_stack)
			h->new_max_stack = w->records->deepest;
		return true;
	}
	const struct source *s = w->dir->files[w->dir->info].source;
	uint64_t feat = h->feat;
	struct finding *fd;
	for (unsigned i = 0; i < UFTRACE_F_COUNT; i++)
		if (feat & UFTRACE_BIT(i) && w->info->version_number && w->info->version_number < since[i]) {
			fd = finding_report(w->findings, UFTRACE_RULE_feat_newer_than_version, s, UFTRACE_H_FEAT_MASK, 8,
					    "bit %u of feat_mask is younger than the version that info names", i);
			break;
		}
	if (feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT) && !w->dir->has_perf) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_perf_without_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 8 (PERF_EVENT) is set, and there is no perf-cpu<n>.dat");
	}
	bool perf = false, dbg = w->symbols->dbg_count > 0, sized = false, unsized = false;
	for (size_t i = 0; i < w->dir->count; i++)
		perf |= w->dir->files[i].kind == UFTRACE_FILE_PERF && w->dir->files[i].source->size;
	if (!(feat & UFTRACE_BIT(UFTRACE_F_PERF_EVENT)) && perf) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_perf_clear_with_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 8 (PERF_EVENT) is clear, and perf-cpu<n>.dat files with data are there");
	}
	if (feat & UFTRACE_BIT(UFTRACE_F_KERNEL) && (!w->dir->has_kernel || w->dir->kernel_header == UFTRACE_NONE)) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_kernel_without_files, s, UFTRACE_H_FEAT_MASK, 8,
				    "bit 2 (KERNEL) is set, and there is no %s",
				    w->dir->has_kernel ? "kernel_header" : "kernel-cpu<n>.dat");
	}
	if (!!(feat & UFTRACE_BIT(UFTRACE_F_DEBUG_INFO)) != dbg && !w->info->foreign) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_debuginfo_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    dbg ? "bit 10 (DEBUG_INFO) is clear, and .dbg files are there"
					: "bit 10 (DEBUG_INFO) is set, and there is no .dbg file");
	}
	for (size_t i = 0; i < w->symbols->module_count; i++) {
		sized |= w->symbols->modules[i].sized && w->symbols->modules[i].count;
		unsized |= !w->symbols->modules[i].sized && w->symbols->modules[i].count;
	}
	bool bit = feat & UFTRACE_BIT(UFTRACE_F_SYM_SIZE);
	if ((bit && unsized && !sized) || (!bit && sized && !unsized)) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_symsize_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    bit ? "bit 12 (SYM_SIZE) is set, and the .sym files have no sizes"
					: "bit 12 (SYM_SIZE) is clear, and the .sym files have sizes");
	}
	if ((w->records->arguments && !(feat & UFTRACE_BIT(UFTRACE_F_ARGUMENT))) ||
	    (w->records->retvals && !(feat & UFTRACE_BIT(UFTRACE_F_RETVAL)))) {
		fd = finding_report(w->findings, UFTRACE_RULE_feat_args_mismatch, s, UFTRACE_H_FEAT_MASK, 8,
				    "records have %s, and bit %s of feat_mask is clear",
				    w->records->arguments ? "arguments" : "return values",
				    w->records->arguments ? "3 (ARGUMENT)" : "4 (RETVAL)");
	}
	/* w->records->deepest is what errors ask for; see uftrace_dat.c. */
	if (w->records->deepest > h->max_stack) {
		fd = finding_report(w->findings, UFTRACE_RULE_dat_depth_exceeds_max_stack, s, UFTRACE_H_MAX_STACK, 2,
				    "info allows a depth of %u, and calls are nested %u deep: readers leave out the deeper ones",
				    h->max_stack, w->records->deepest);
		finding_field(fd, UFTRACE_H_MAX_STACK, 2, "max stack depth = %u", h->max_stack);
		uftrace_info_blame(w->info, UFTRACE_RULE_dat_depth_exceeds_max_stack, "the depth that the records have");
		h->new_max_stack = w->records->deepest;
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	}
	return true;
}
