/* The header of info where it is missing, from the other files. */
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_records.h"

int uftrace_head_votes(const struct uftrace_walk *w)
{
	uint8_t record[UFTRACE_RECORD_SIZE];
	int little = 0, big = 0;

	for (size_t i = 0; i < w->records->dat_count && i < 64; i++) {
		struct source *source = w->dir->files[w->records->dats[i].file].source;
		for (uint64_t at = 0; at < 64 * sizeof(record) && at + sizeof(record) <= source->size; at += sizeof(record)) {
			if (source_read(source, at, record, sizeof(record)) != TM_OK)
				return 0;
			little += uftrace_word_magic(load_u64(record + 8, false)) == UFTRACE_RECORD_MAGIC &&
				  load_u64(record, false) < UINT64_C(1) << 62;
			big += uftrace_word_magic(load_u64(record + 8, true)) == UFTRACE_RECORD_MAGIC &&
			       load_u64(record, true) < UINT64_C(1) << 62;
		}
	}
	return big - little;
}

bool uftrace_head_order(const struct uftrace_walk *w)
{
	return uftrace_head_votes(w) > 0;
}

/* There is no header that could be used: everything is taken from the other files. */
void uftrace_head_rebuild(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->info->head;

	h->big_endian = uftrace_head_order(w);
	h->class = UFTRACE_64; /* uftrace_map.c corrects it when all addresses are of 32 bit */
	h->version = UFTRACE_VERSION_MAX;
	h->max_stack = h->new_max_stack = UFTRACE_MAX_STACK_DEFAULT;
	uftrace_head_bits(w);
}

void uftrace_head_bits(struct uftrace_walk *w)
{
	struct uftrace_head *h = &w->info->head;

	h->new_feat = UFTRACE_BIT(UFTRACE_F_TASK_SESSION) | UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR) | UFTRACE_BIT(UFTRACE_F_MAX_STACK);
	if (w->dir->has_perf)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_PERF_EVENT);
	if (w->dir->has_kernel && w->dir->kernel_header != UFTRACE_NONE)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_KERNEL);
	if (w->dir->events != UFTRACE_NONE)
		h->new_feat |= UFTRACE_BIT(UFTRACE_F_EVENT);
}
