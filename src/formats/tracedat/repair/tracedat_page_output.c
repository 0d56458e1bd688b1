/* Pages in the output: as they are, or with their edits. */
#include "formats/tracedat/scan/tracedat_page.h"

void tracedat_page_account(struct tracedat_output *out, enum tracedat_verdict verdict, uint32_t records, uint32_t bad)
{
	if (verdict == TRACEDAT_KEEP) {
		out->kept += records;
	} else if (verdict == TRACEDAT_PATCH) {
		out->kept += records;
		out->lost += bad;
		if (bad && out->lost_is == TM_EXACT)
			out->lost_is = TM_AT_LEAST;
	} else {
		out->lost += records + bad;
		out->lost_is = TM_UNKNOWN_COUNT;
	}
}

void tracedat_page_emit(struct tracedat_walk *w, uint64_t offset, uint32_t n)
{
	struct edits *edits = &w->pages.edits;
	struct tracedat_pieces *out = &w->out.pieces;
	uint64_t at = 0;

	edits_sort(edits);
	for (size_t i = 0; i < edits->count; i++) {
		const struct edit *e = &edits->list[i];
		if (e->at < at)
			continue; /* inside a range that is replaced already */
		uint64_t upto = e->at < n ? e->at : n, end = e->at + e->remove < n ? e->at + e->remove : n;
		const uint8_t *bytes = edits_bytes(edits, e);
		tracedat_pieces_copy(out, w->source, offset + at, upto - at);
		tracedat_drop(w, offset + upto, end - upto, e->rule, e->why);
		if (e->remove)
			(void)tracedat_pieces_field(out, w->source, e->length == e->remove ? offset + e->at : TRACEDAT_NO_OLD,
						    bytes, e->length, e->rule, e->why);
		for (size_t k = 0; !e->remove && k < e->length; k += 4096)
			(void)tracedat_pieces_literal(out, bytes + k, e->length - k < 4096 ? e->length - k : 4096, e->rule, e->why);
		at = end > at ? end : at;
	}
	tracedat_pieces_copy(out, w->source, offset + at, n - at);
}
