#include "formats/fxt/salvage/fxt_strange.h"

#include "formats/fxt/scan/fxt_clock.h"

/* Whether a writer is known to do this to sound records. */
static bool is_habit(const struct fxt_record *r, unsigned rule)
{
	switch (rule) {
	case FXT_RULE_string_too_long:
	case FXT_RULE_nonstandard_inline_thread:
	case FXT_RULE_string_index_zero: /* what it is then the document says: nothing */
	case FXT_RULE_thread_index_zero:
		return true;
	case FXT_RULE_provider_name_length_mismatch:
	case FXT_RULE_record_trailing_words:
		/* ocaml-trace writes the words of the name where its bytes are meant. */
		return r->type == FXT_METADATA && r->subtype == FXT_PROVIDER_INFO && r->text_length + 1 == r->words;
	default:
		return false;
	}
}

bool fxt_is_strange(const struct fxt_record *r, const struct fxt_provider *p, bool damaged)
{
	bool complete = r->type == FXT_EVENT && r->subtype == FXT_DURATION_COMPLETE && r->known;

	if ((r->has_timestamp && r->timestamp > p->tick_limit) || (complete && r->tail < r->timestamp))
		return true;
	/* Part of another text, where blocks changed places. */
	if (damaged && r->odd && r->type == FXT_METADATA && r->subtype == FXT_PROVIDER_INFO)
		return true;
	/* Without damage it is the first of many. */
	uint64_t before = p->outlier_open ? p->outlier_before : p->previous;
	if (damaged && ((r->has_timestamp && fxt_clock_is_far(p, before, r->timestamp)) ||
			(complete && fxt_clock_is_far(p, r->timestamp, r->tail))))
		return true;
	for (uint32_t i = 0; i < r->issues.count; i++)
		if (r->issues.list[i].severity == TM_WARNING && !is_habit(r, r->issues.list[i].rule))
			return true;
	return false;
}

bool fxt_is_strange_header(const struct fxt_record *r)
{
	for (uint32_t i = 0; i < r->issues.count; i++)
		if (r->issues.list[i].severity == TM_WARNING && !r->issues.list[i].at && !is_habit(r, r->issues.list[i].rule))
			return true;
	return false;
}
