/* Findings about records. Nothing here runs for a record without findings. */
#include "formats/fxt/scan/fxt_report.h"

#include <stdio.h>

#include "core/text.h"

void fxt_describe(const struct fxt_record *r, char *out, size_t size)
{
	static const char *const metadata[] = { NULL, "provider info", "provider section", "provider event", "trace info" };
	static const char *const scheduling[] = { "legacy context switch", "context switch", "thread wakeup" };
	static const char *const profiler[] = { "module", "mmap", "backtrace" };
	const char *type = fxt_type_names[r->type], *subtype = NULL;
	/* Of a record that is cut, decode gives no subtype: its header has it. */
	unsigned at = r->type == FXT_SCHEDULING ? 60
		      : r->type == FXT_LARGE	? 36
						: 16,
		 kind = r->subtype ? r->subtype : (unsigned)fxt_bits(r->header, at, 4);

	if (r->type == FXT_EVENT)
		subtype = fxt_event_names[kind];
	else if (r->type == FXT_METADATA && kind >= FXT_PROVIDER_INFO && kind <= FXT_TRACE_INFO)
		subtype = metadata[kind];
	else if (r->type == FXT_SCHEDULING && kind <= FXT_WAKEUP)
		subtype = scheduling[kind];
	else if (r->type == FXT_PROFILER && kind <= FXT_PROFILER_BACKTRACE)
		subtype = profiler[kind];
	else if (r->type == FXT_LARGE && kind == FXT_LARGE_BLOB)
		subtype = "blob";
	if (subtype)
		snprintf(out, size, "%s, %s", type, subtype);
	else
		snprintf(out, size, "%s", type);
}

void fxt_path(const struct fxt_report *report, struct finding *fd, const struct fxt_record *r, const char *part)
{
	char record[64];
	if (!finding_kept(fd))
		return;
	fxt_describe(r, record, sizeof(record));
	if (report->here.anonymous)
		finding_path(fd, "record %llu (%s)%s%s", (unsigned long long)report->here.records, record, part ? " > " : "",
			     part ? part : "");
	else
		finding_path(fd, "provider %u > record %llu (%s)%s%s", report->here.provider,
			     (unsigned long long)report->here.records, record, part ? " > " : "", part ? part : "");
}

void fxt_report_no_memory(struct fxt_report *report)
{
	report->status = fault_memory(&report->s->in->error);
}

bool fxt_report_room(struct fxt_report *report, enum tracemend_status status)
{
	if (status == TM_NO_MEMORY)
		fxt_report_no_memory(report);
	return status == TM_OK;
}

struct finding *fxt_report_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
{
	struct finding *fd = finding_new_at(report->s->findings, rule, report->source, offset, length);
	va_list arguments;

	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	fxt_path(report, fd, report->here.record, NULL);
	return fd;
}

/* severity: or the row's, where that is milder. The finding of a rule under which further ones are folded; NULL when there is one.
 */
static struct finding *note_first(struct fxt_report *report, unsigned rule, enum tracemend_severity severity, uint64_t offset,
				  uint64_t length)
{
	struct fxt_tally *t = &report->tallies[rule];

	if (place_silenced() || t->count++)
		return NULL;
	t->finding = finding_milder_at(report->s->findings, rule, severity, report->source, offset, length);
	return t->finding;
}

struct finding *fxt_note_milder_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format,
				   ...)
{
	struct finding *fd = note_first(report, rule, TM_NOTE, offset, length);
	va_list arguments;

	if (!fd)
		return NULL;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

struct finding *fxt_note_at(struct fxt_report *report, unsigned rule, uint64_t offset, uint64_t length, const char *format, ...)
{
	struct finding *fd = note_first(report, rule, TM_ERROR, offset, length);
	va_list arguments;

	if (!fd)
		return NULL;
	va_start(arguments, format);
	finding_say_list(fd, format, arguments);
	va_end(arguments);
	return fd;
}

static void tally_flush(struct fxt_tally *t)
{
	if (t->finding && t->count > 1)
		finding_explains(t->finding, t->count - 1);
}

void fxt_notes_flush(struct fxt_report *report)
{
	for (unsigned i = 0; i < FXT_RULE_COUNT; i++)
		tally_flush(&report->tallies[i]);
	for (unsigned i = 0; i < FXT_NEWER_COUNT; i++)
		tally_flush(&report->newer[i]);
}

void fxt_note_newer(struct fxt_report *report, enum fxt_newer kind, uint64_t field)
{
	static const char *const names[FXT_NEWER_COUNT] = {
		"this kind of context switch", "the wakeup record", "the profiler record",
		"the blob type \"Perfetto\"",  "the blob argument",
	};
	const struct fxt_record *r = report->here.record;
	struct fxt_tally *t = &report->newer[kind];

	if (t->count++)
		return;
	t->finding = finding_new(report->s->findings, FXT_RULE_newer_feature, report->source, report->here.at, r->words * FXT_WORD);
	if (!finding_kept(t->finding))
		return;
	finding_say(t->finding, "%s is not in the document of 2022: readers made by it skip the record", names[kind]);
	fxt_path(report, t->finding, r, NULL);
	finding_field(t->finding, report->here.at + field, FXT_WORD, "header");
}

static void say_bits(struct finding *fd, const struct issue *i, const char *what)
{
	uint64_t bits = i->got & i->want;
	unsigned low = (unsigned)__builtin_ctzll(i->want), high = 63 - (unsigned)__builtin_clzll(i->want);
	finding_say(fd, "%s: bits %u to %u are 0x%llx, expected 0", what, low, high, (unsigned long long)(bits >> low));
}

static void say_text(struct finding *fd, const struct fxt_record *r, const struct issue *i, const char *what)
{
	char quoted[TEXT_QUOTE_SIZE];
	finding_say(fd, "%s: \"%s\"", what, text_quote(quoted, r->data + i->at, i->length));
}

void fxt_issue_say(struct finding *fd, const struct fxt_record *r, const struct issue *i)
{
	unsigned long long got = i->got, want = i->want;
	if (!finding_kept(fd))
		return;
	switch (i->rule) {
	case FXT_RULE_reserved_bits_set:
		say_bits(fd, i, "reserved bits are set");
		break;
	case FXT_RULE_string_flag_bit_set:
		say_bits(fd, i, "the bit above a 15-bit field is set");
		break;
	case FXT_RULE_bool_value_bits:
		say_bits(fd, i, "bits above the value of a boolean are set");
		break;
	case FXT_RULE_nonzero_padding:
		finding_say(fd, "%u bytes of padding after %llu bytes are not zero", i->length, got);
		break;
	case FXT_RULE_invalid_utf8:
		finding_say(fd, "byte %llu of %u is not UTF-8 (0x%02x)", got, i->length, r->data[i->at + i->got]);
		break;
	case FXT_RULE_string_too_long:
		finding_say(fd, "the text has %llu bytes, expected at most %u", got, FXT_STRING_BYTES_ADVISED);
		break;
	case FXT_RULE_embedded_nul:
		say_text(fd, r, i, "text holds a NUL byte");
		break;
	case FXT_RULE_control_character_in_string:
		say_text(fd, r, i, "text holds a control character");
		break;
	case FXT_RULE_record_size_zero:
		finding_say(fd, "the size of this record is 0, expected at least 1 (header 0x%016llx)", got);
		break;
	case FXT_RULE_record_size_too_small:
		finding_say(fd, "the size of this record is %llu words, expected at least %llu for its type", got, want);
		break;
	case FXT_RULE_record_content_overrun:
		if (want > got)
			finding_say(fd, "the size of the record is %llu words, its content has %llu or more", got, want);
		else
			finding_say(fd, "the content needs more than the %llu words of the record", got);
		break;
	case FXT_RULE_truncated_record:
	case FXT_RULE_record_past_end:
		finding_say(fd, "the size of the record is %llu bytes, and the file has %llu left", got * FXT_WORD, want);
		break;
	case FXT_RULE_record_trailing_words:
		finding_say(fd, "the size of the record is %llu words, its content has %llu", got, want);
		break;
	case FXT_RULE_known_extension:
		finding_say(fd, r->type == FXT_EVENT ? "an instant event with a scope word"
						     : "an initialization record with base tick and wall-clock time");
		break;
	case FXT_RULE_argument_size_zero:
		finding_say(fd, "the size of argument %d is 0 (header 0x%016llx)", i->which + 1, got);
		break;
	case FXT_RULE_argument_overrun:
		finding_say(fd,
			    want < got ? "the size of argument %d is %llu words, and the record has %llu left"
				       : "the content of argument %d needs more than its %llu words",
			    i->which + 1, got, want);
		break;
	case FXT_RULE_argument_trailing_words:
		finding_say(fd, "the size of argument %d is %llu words, its content has %llu", i->which + 1, got, want);
		break;
	case FXT_RULE_argument_count_mismatch:
		finding_say(fd, "the argument count of the record is %llu, and the record ends after %llu", want, got);
		break;
	case FXT_RULE_unknown_argument_type:
		finding_say(fd, "the type of argument %d is %llu, expected 0 to 10", i->which + 1, got);
		break;
	case FXT_RULE_mixed_endianness:
		finding_say(fd, "%llu arguments are in the other byte order than the record", got);
		break;
	case FXT_RULE_blob_size_shifted:
		finding_say(fd, "the size of the payload, %llu bytes, is stored at bit 24 of the header, expected bit 32", got);
		break;
	case FXT_RULE_bad_magic_size:
	case FXT_RULE_bad_magic_value:
		finding_say(fd, "the magic number record is 0x%016llx, expected 0x%016llx", got, want);
		break;
	case FXT_RULE_provider_name_length_mismatch:
		finding_say(fd, "the name length is %llu bytes, and text continues in the %llu bytes that the record has for it",
			    got, want);
		break;
	case FXT_RULE_nonstandard_inline_thread:
		finding_say(fd, "the inline thread has %llu words, expected %llu in this record", got, want);
		break;
	case FXT_RULE_unknown_record_type:
	case FXT_RULE_unknown_metadata_type:
	case FXT_RULE_unknown_trace_info_type:
	case FXT_RULE_unknown_provider_event:
	case FXT_RULE_unknown_event_type:
	case FXT_RULE_unknown_scheduling_type:
	case FXT_RULE_unknown_profiler_type:
	case FXT_RULE_unknown_large_type:
	case FXT_RULE_unknown_blob_format:
	case FXT_RULE_unknown_blob_type:
		finding_say(fd, "type %llu is not assigned; the record is skipped by its size", got);
		break;
	case FXT_RULE_string_index_zero:
	case FXT_RULE_thread_index_zero:
		finding_say(fd, "a %s is registered under index 0, expected 1 or higher", fxt_type_names[r->type]);
		break;
	case FXT_RULE_zero_tick_rate:
		finding_say(fd, "the tick rate is %llu a second, expected 1 or more", got);
		break;
	case FXT_RULE_empty_string_record:
		finding_say(fd, "string index 0x%04x is registered with a text of 0 bytes", r->id);
		break;
	case FXT_RULE_zero_length_inline_string:
		finding_say(fd, "the string reference is 0x8000: inline text of 0 bytes");
		break;
	default:
		finding_say(fd, "record header 0x%016llx", (unsigned long long)r->header);
	}
}

/* Notes are folded, and what the writer does to each blob. */
static struct finding *issue_finding(struct fxt_report *report, const struct issue *i, uint64_t offset, uint64_t length)
{
	if (i->severity == TM_NOTE || i->rule == FXT_RULE_blob_size_shifted)
		return (void)PLACE(i->rule), note_first(report, i->rule, i->severity, offset, length);
	return finding_milder(report->s->findings, i->rule, (enum tracemend_severity)i->severity, report->source, offset, length);
}

void fxt_issues_report(struct fxt_report *report, const struct fxt_record *r, uint64_t offset)
{
	for (uint32_t n = 0; n < r->issues.count; n++) {
		const struct issue *i = &r->issues.list[n];
		uint64_t length = r->words * FXT_WORD;
		if (length > report->here.size - offset)
			length = report->here.size - offset;
		struct finding *fd = issue_finding(report, i, offset, length);
		if (!fd || !finding_kept(fd))
			continue;
		char part[32];
		snprintf(part, sizeof(part), "argument %d", i->which + 1);
		fxt_path(report, fd, r, i->which >= 0 ? part : NULL);
		fxt_issue_say(fd, r, i);
		finding_field(fd, offset + i->at, i->length, "%s", i->at ? "content" : "header");
	}
}

/* A begin or an end is two words at least. */
#define HIDDEN_BYTES (2 * FXT_WORD)

void fxt_report_hole(struct fxt_report *report, struct finding *finding, uint64_t from, uint64_t until)
{
	report->last_hole = (struct fxt_hole){ finding, from };
	if (!report->first_hole.finding)
		report->first_hole = report->last_hole;
	report->hidden += (until - from) / HIDDEN_BYTES;
}

void fxt_report_unpaired(struct fxt_report *report, uint64_t offset, bool begin)
{
	if (report->unpaired < FXT_UNPAIRED_LISTED) {
		report->unpaired_at[report->unpaired] = offset;
		report->unpaired_ends |= (uint64_t)!begin << report->unpaired;
	}
	report->unpaired++;
	report->unpaired_begin |= begin;
	report->unpaired_end |= !begin;
}

bool fxt_report_hidden(struct fxt_report *report, uint64_t offset, bool end)
{
	const struct fxt_hole *hole = end ? &report->first_hole : &report->last_hole;

	if (!report->hidden || (end ? hole->at > offset : hole->at < offset))
		return false;
	report->hidden--;
	finding_explains(hole->finding, 1);
	return true;
}
