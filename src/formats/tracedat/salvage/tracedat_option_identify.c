/* Options whose id was hit, by their content (MAN6 "REST OF TRACE-CMD HEADER", MAN7 "OPTIONS"). */
#include "formats/tracedat/decode/tracedat_option_layout.h"
#include "formats/tracedat/salvage/tracedat_salvage.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

/* Options beyond which none is identified: each is compared with all others. */
#define IDENTIFY_MAX 1024u

/* The kind of the section that the first 8 bytes of an option lead to, or -1. */
static int section_kind(const struct tracedat_walk *w, const uint8_t *p)
{
	int index = tracedat_section_at(&w->dir, load_u64(p, w->shape.big_endian));
	return index >= 0 ? w->dir.sections[index].id : -1;
}

static bool text_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] < 0x21 || text[i] > 0x7e)
			return false;
	return true;
}

/* A buffer: its offset leads to event data, and a name and all that follows fill the option. */
static unsigned buffer_id(struct tracedat_walk *w, const uint8_t *p, uint32_t size)
{
	struct tracedat_buffer_layout l;

	if (w->shape.version == 6) {
		const uint8_t *nul = size > 9 ? memchr(p + 8, 0, size - 8) : NULL;
		const uint8_t *tag = nul == p + size - 1
					     ? window_at(&w->window, load_u64(p, w->shape.big_endian), TRACEDAT_TAG_SIZE)
					     : NULL;
		return tag && !memcmp(tag, "flyrecord", 10) && text_plain((const char *)p + 8, size - 9) ? TRACEDAT_BUFFER : 0;
	}
	if (size < 10)
		return 0;
	int kind = section_kind(w, p);
	bool text = kind == TRACEDAT_BUFFER_TEXT;
	if ((text || kind == TRACEDAT_BUFFER) && tracedat_buffer_layout(p, size, w->shape.big_endian, text, &l) && l.exact)
		return (unsigned)kind;
	return 0;
}

/* Whether another option has that id already, and says the same: a pointer to the same section, or anything that comes once. */
static bool is_taken(const struct tracedat_walk *w, const struct tracedat_option *o, unsigned id)
{
	if (id == TRACEDAT_CPUSTAT)
		return false;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		const struct tracedat_option *other = &w->dir.options[i];
		if (other == o || other->id != id || other->dropped)
			continue;
		if (id != TRACEDAT_BUFFER && id != TRACEDAT_BUFFER_TEXT)
			return true;
		if (other->size >= 8 && o->size >= 8 && !memcmp(other->block->data + other->at, o->block->data + o->at, 8))
			return true;
	}
	return false;
}

/* The id that the content of an option has; 0: the content does not show it. */
static unsigned content_id(struct tracedat_walk *w, const struct tracedat_option *o)
{
	const uint8_t *p = o->block->data + o->at;
	const char *text = (const char *)p;
	size_t length;

	if (w->shape.version == 7 && o->size == 8) {
		int kind = section_kind(w, p);
		return kind > 0 && tracedat_id_is_pointer((unsigned)kind) ? (unsigned)kind : 0;
	}
	unsigned buffer = buffer_id(w, p, o->size);
	if (buffer)
		return buffer;
	if (tracedat_cpustat_begins(text, o->size))
		return TRACEDAT_CPUSTAT;
	/* What follows is weaker: only an option that says nothing else, or what another says, is taken for it. */
	if ((o->id <= TRACEDAT_ID_LAST && o->id != TRACEDAT_STRINGS && !is_taken(w, o, o->id)) || o->size < 4 || text[o->size - 1])
		return 0;
	const char *clock = tracedat_clock_name(text, o->size, &length);
	if (clock && tracedat_clock_known(clock, length))
		return TRACEDAT_TRACECLOCK;
	return o->size > 12 && !memcmp(text, "Linux ", 6) ? TRACEDAT_UNAME : 0;
}

void tracedat_options_identify(struct tracedat_walk *w)
{
	if (w->dir.option_count > IDENTIFY_MAX)
		return;
	for (size_t i = 0; i < w->dir.option_count && w->status == TM_OK; i++) {
		struct tracedat_option *o = &w->dir.options[i];
		unsigned id = o->dropped ? 0 : content_id(w, o);
		if (!id || id == o->id || is_taken(w, o, id))
			id = o->id;
		if (id && id == o->id)
			continue;
		if (!id) {
			/* It stands among the options, but its id is that of their end. */
			(void)tracedat_block_report(w, TRACEDAT_RULE_option_size, o->block, o->at - TRACEDAT_OPTION_HEADER,
						    TRACEDAT_OPTION_HEADER + (size_t)o->size,
						    "an option of %u bytes with the id of the end of the options; more follow",
						    o->size);
			w->out.lost_other = true;
			tracedat_option_drop(o, TRACEDAT_RULE_option_size, "not an option");
			continue;
		}
		struct finding *fd =
			tracedat_block_report(w, TRACEDAT_RULE_option_id_content, o->block, o->at - TRACEDAT_OPTION_HEADER, 2,
					      "the id of the option is %u, its content is that of option %u", o->id, id);
		finding_path(fd, "options > %s", tracedat_id_name(id));
		o->id = (uint16_t)id;
		o->rule = TRACEDAT_RULE_option_id_content;
		o->why = "the id that fits the content";
		o->head_bad = true;
	}
	w->dir.clock_option = w->dir.cpucount_option = -1;
	for (size_t i = 0; i < w->dir.option_count; i++) {
		if (w->dir.options[i].id == TRACEDAT_TRACECLOCK)
			w->dir.clock_option = (int)i;
		if (w->dir.options[i].id == TRACEDAT_CPUCOUNT)
			w->dir.cpucount_option = (int)i;
	}
}
