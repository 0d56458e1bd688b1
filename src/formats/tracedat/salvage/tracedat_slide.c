/* Pages that are not where they should be, since bytes were inserted or removed before them. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_page.h"

/* Searches for a page at another place than it should be; each looks at two pages' worth of places. */
#define SLIDES_MAX 256u

uint64_t tracedat_slide(struct tracedat_walk *w, uint64_t at, uint32_t page_size, uint64_t low, uint64_t high)
{
	if (w->data.slides >= SLIDES_MAX || w->shape.old_ring)
		return UINT64_MAX;
	w->data.slides++;
	/* Near places first: a few bytes are the usual shift. A whole page away is another page. */
	for (uint64_t step = 1; step < page_size; step++)
		for (unsigned side = 0; side < 2; side++) {
			uint64_t place = side ? at + step : at - step;
			if (place < low || place >= high || (!side && step > at))
				continue;
			const uint8_t *p = window_at(&w->window, place, page_size);
			if (!p || !tracedat_page_plausible(w, p, page_size, NULL) ||
			    !tracedat_page_tail_zero(&w->shape, p, page_size))
				continue;
			p = high - place >= 2 * (uint64_t)page_size ? window_at(&w->window, place + page_size, page_size) : NULL;
			if (!p || tracedat_page_plausible(w, p, page_size, NULL) || bytes_are_zero(p, page_size))
				return place;
		}
	return UINT64_MAX;
}
