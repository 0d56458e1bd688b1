/* One walk over a file, from its initial block to its last page. */
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_ahead.h"
#include "formats/tracedat/scan/tracedat_blocks.h"
#include "formats/tracedat/scan/tracedat_place.h"

#include <stdlib.h>

bool tracedat_open(struct tracedat_walk *w, struct scan *s, struct source *source)
{
	*w = (struct tracedat_walk){ .s = s,
				     .findings = s->findings,
				     .source = source,
				     .repair = s->plan != NULL,
				     .texts = { .symbol_low = UINT64_MAX },
				     .dir = { .clock_option = -1, .cpucount_option = -1 } };
	struct tracemend_options quiet = { .max_findings = 1 };
	window_open(&w->window, source);
	w->scratch = findings_new(tracedat_rules, TRACEDAT_RULE_COUNT, &quiet);
	w->events.index = calloc(65536, sizeof(*w->events.index));
	w->events.plain = calloc(65536, sizeof(*w->events.plain));
	w->events.fields = calloc(TRACEDAT_FIELDS_MAX, sizeof(*w->events.fields));
	if (!w->scratch || !w->events.index || !w->events.plain || !w->events.fields)
		tracedat_no_memory(w);
	return w->status == TM_OK;
}

void tracedat_close(struct tracedat_walk *w)
{
	window_close(&w->window);
	tracedat_block_free(&w->meta.v6);
	for (size_t i = 0; i < TRACEDAT_PARTS; i++)
		tracedat_pieces_free(&w->meta.parts[i]);
	for (size_t i = 0; i < w->dir.option_count; i++)
		bytes_free(&w->dir.options[i].changed);
	for (size_t i = 0; i < w->dir.section_count; i++)
		tracedat_block_free(&w->dir.sections[i].block);
	for (size_t i = 0; i < w->data.buffer_count; i++) {
		free(w->data.buffers[i].cpus);
		bytes_free(&w->data.buffers[i].raw_name);
		bytes_free(&w->data.buffers[i].clock);
	}
	findings_free(w->scratch);
	tracedat_decoder_free(&w->pages.decoder);
	tracedat_ahead_free(w->pages.ahead);
	tracedat_pieces_free(&w->out.pieces);
	bytes_free(&w->events.common);
	bytes_free(&w->dir.strings);
	free(w->events.index);
	free(w->events.plain);
	free(w->events.list);
	free(w->events.dynamics);
	map_free(&w->events.names);
	free(w->events.fields);
	free(w->events.unknown);
	tracedat_pids_free(&w->texts.pids);
	free(w->texts.printk);
	free(w->dir.options);
	free(w->dir.stats);
	free(w->dir.headings);
	free(w->dir.sections);
	free(w->data.buffers);
	free(w->pages.chunk);
	free(w->pages.previous);
	free(w->pages.next);
	free(w->pages.given);
	edits_free(&w->pages.edits);
	free(w->out.drops);
	tracedat_unassigned_free(&w->events);
	free(w->events.placeholders);
	free(w->events.doubtful_ids);
}

void tracedat_walk_file(struct tracedat_walk *w)
{
	if (!tracedat_prefix_read(w) || w->status != TM_OK)
		return;
	if (w->shape.version == 6)
		tracedat_v6_read(w);
	else
		tracedat_v7_read(w);
	if (w->status != TM_OK)
		return;
	tracedat_options_check(w);
	w->meta.errors = findings_errors(w->findings);
	tracedat_data_place(w);
	if (w->status == TM_OK)
		tracedat_cpus_walk(w);
}
