/* One record, from its bytes. Layouts: the record chapters of the format document, bit ranges as given there. */
#include "formats/fxt/decode/fxt_decode.h"

#include "core/text.h"

const struct fxt_argument_layout fxt_argument_layouts[16] = {
	[FXT_ARG_NULL] = { 1, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_INT32] = { 1, 0 },
	[FXT_ARG_UINT32] = { 1, 0 },
	[FXT_ARG_INT64] = { 2, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_UINT64] = { 2, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_DOUBLE] = { 2, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_STRING] = { 1, UINT64_C(0xffff000000000000) },
	[FXT_ARG_POINTER] = { 2, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_KOID] = { 2, UINT64_C(0xffffffff00000000) },
	[FXT_ARG_BOOL] = { 1, UINT64_C(0xfffffffe00000000) },
	[FXT_ARG_BLOB] = { 1, 0 },
};

const uint8_t fxt_event_tails[16] = {
	[FXT_COUNTER] = 1,   [FXT_DURATION_COMPLETE] = 1, [FXT_ASYNC_BEGIN] = 1, [FXT_ASYNC_INSTANT] = 1,
	[FXT_ASYNC_END] = 1, [FXT_FLOW_BEGIN] = 1,	  [FXT_FLOW_STEP] = 1,	 [FXT_FLOW_END] = 1
};

/* Texts are loaded little-endian, whatever the words are. */
const uint64_t fxt_unused_bytes[FXT_WORD] = { 0,
					      UINT64_MAX << 8,
					      UINT64_MAX << 16,
					      UINT64_MAX << 24,
					      UINT64_MAX << 32,
					      UINT64_MAX << 40,
					      UINT64_MAX << 48,
					      UINT64_MAX << 56 };

/* Years 2000 and 2100 in nanoseconds since 1970. */
#define WALL_CLOCK_MIN UINT64_C(946684800000000000)
#define WALL_CLOCK_MAX UINT64_C(4102444800000000000)

/* The position of a decode. Positions and limits are in words from the header. */
struct reader {
	struct fxt_record *r;
	const uint8_t *data;
	uint64_t at, limit; /* limit: what may be taken, by size field and file */
	uint64_t sight;	    /* whole words that data holds */
	uint64_t need;	    /* words that the content has at least, where the limit is too low for it */
	bool big_endian, swap, failed, strict;
	enum fxt_profile profile;
};

/* Adds an issue of the record; returns it for its values. */
#define issue(r, rule, at, length) ((void)PLACE(rule), issue_at((r), (rule), fxt_rules[rule].severity, (at), (length)))
#define issue_milder(r, rule, severity, at, length) ((void)PLACE(rule), issue_at((r), (rule), (severity), (at), (length)))
static struct issue *issue_at(struct fxt_record *r, enum fxt_rule rule, enum tracemend_severity severity, uint64_t at,
			      uint32_t length)
{
	struct issues *list = &r->issues;

	if (place_silenced() || list->count == list->room)
		return &r->unlisted;
	issue_add_at(
		list,
		(struct issue){ .rule = (uint16_t)rule, .severity = (uint8_t)severity, .which = -1, .at = at, .length = length });
	return &list->list[list->count - 1];
}

/* The record cannot be used; the first reason counts. */
#define fatal(r, rule, ...) ((void)PLACE(rule), fatal_at((r), (rule), __VA_ARGS__))
static void fatal_at(struct fxt_record *r, enum fxt_rule rule, uint64_t at, uint32_t length, uint64_t got, uint64_t want)
{
	if (r->fatal)
		return;
	if (!place_silenced())
		r->fault = (struct issue){ .rule = (uint16_t)rule,
					   .severity = TM_ERROR,
					   .which = -1,
					   .at = at,
					   .length = length,
					   .got = got,
					   .want = want };
	r->issues.worst = TM_ERROR;
	r->fatal = true;
}

static uint64_t word_at(const struct reader *rd, uint64_t index)
{
	return load_u64(rd->data + index * FXT_WORD, rd->big_endian != rd->swap);
}

/* Takes words; false, and failed, when the record has no more. */
static bool take(struct reader *rd, uint64_t words)
{
	if (rd->failed || words > rd->limit - rd->at) {
		if (!rd->failed)
			rd->need = rd->at + words;
		rd->failed = true;
		return false;
	}
	rd->at += words;
	return true;
}

static uint64_t take_word(struct reader *rd)
{
	uint64_t at = rd->at;
	if (!take(rd, 1))
		return 0;
	if (at >= rd->sight) { /* only payloads are that long */
		rd->failed = true;
		return 0;
	}
	return word_at(rd, at);
}

static void reserved(struct reader *rd, uint64_t index, uint64_t word, uint64_t mask)
{
	if (!(word & mask))
		return;
	struct issue *i = issue(rd->r, FXT_RULE_reserved_bits_set, index * FXT_WORD, FXT_WORD);
	i->got = word;
	i->want = mask;
}

static void flag(struct reader *rd, uint64_t word, unsigned bit)
{
	if (!(word >> bit & 1))
		return;
	struct issue *i = issue(rd->r, FXT_RULE_string_flag_bit_set, 0, FXT_WORD);
	i->got = word;
	i->want = UINT64_C(1) << bit;
}

/* Bits [low..63]. */
static uint64_t mask_from(unsigned low)
{
	return ~((UINT64_C(1) << low) - 1);
}

/* Bits [low..high]. */
static uint64_t mask(unsigned low, unsigned high)
{
	return high == 63 ? mask_from(low) : mask_from(low) & ~mask_from(high + 1);
}

static void check_padding(struct reader *rd, uint64_t at, uint64_t length, int argument)
{
	uint64_t end = fxt_words(length) * FXT_WORD;
	if (length == end)
		return;
	if (at + end > rd->sight * FXT_WORD) {
		rd->r->late_padding = true;
		return;
	}
	if (!bytes_are_zero(rd->data + at + length, (size_t)(end - length))) {
		struct issue *i = issue(rd->r, FXT_RULE_nonzero_padding, at + length, (uint32_t)(end - length));
		i->which = (int8_t)argument;
		i->got = length;
	}
}

/* Text at byte `at`: encoding, length, control characters. */
static void check_text(struct reader *rd, uint64_t at, uint64_t length, int argument, bool any_bytes)
{
	const uint8_t *p = rd->data + at;
	size_t valid = utf8_valid_prefix(p, (size_t)length);
	struct fxt_record *r = rd->r;

	r->work += valid;
	if (valid < length) {
		if (rd->strict && !any_bytes) {
			rd->failed = true;
			return;
		}
		r->work += length - valid;
		/* Fuchsia cuts text at 32,000 bytes, perhaps inside a character; kernel names may be any bytes. */
		bool cut = length == FXT_STRING_BYTES_ADVISED && length - valid <= 3;
		struct issue *i = any_bytes || cut ? issue_milder(r, FXT_RULE_invalid_utf8, TM_NOTE, at, (uint32_t)length)
						   : issue(r, FXT_RULE_invalid_utf8, at, (uint32_t)length);
		i->which = (int8_t)argument;
		i->got = valid;
		r->odd = true;
	}
	if (length > FXT_STRING_BYTES_ADVISED) {
		struct issue *i = issue(r, FXT_RULE_string_too_long, at, (uint32_t)length);
		i->which = (int8_t)argument;
		i->got = length;
	}
	bool nul = false, control = false;
	for (uint64_t k = 0; k < length && !(nul && control); k++) {
		/* Most words of a long text are printable ASCII, and a search decodes it from many offsets. */
		while (length - k >= FXT_WORD && fxt_word_is_plain(load_u64(p + k, false)))
			k += FXT_WORD;
		if (k == length)
			break;
		nul = nul || p[k] == 0;
		control = control || (p[k] < 0x20 && p[k]) || p[k] == 0x7f;
	}
	if (nul)
		issue(r, FXT_RULE_embedded_nul, at, (uint32_t)length)->which = (int8_t)argument;
	if (control)
		issue(r, FXT_RULE_control_character_in_string, at, (uint32_t)length)->which = (int8_t)argument;
	r->odd = r->odd || nul || control;
}

/* A stream of text that the record's layout has next. Its byte position; 0 when there is none. */
static uint64_t take_text(struct reader *rd, uint64_t length, int argument, bool any_bytes)
{
	uint64_t at = rd->at * FXT_WORD;
	if (!take(rd, fxt_words(length)))
		return 0;
	if (rd->at > rd->sight) {
		rd->failed = true;
		return 0;
	}
	if (length <= FXT_STRING_BYTES_ADVISED && fxt_text_is_plain(rd->data + at, length)) {
		rd->r->work += length;
		return at;
	}
	check_text(rd, at, length, argument, any_bytes);
	check_padding(rd, at, length, argument);
	return at;
}

/* A string reference: takes its inline text, if any. field: byte position of the reference itself. */
static struct fxt_string_ref take_string(struct reader *rd, uint16_t ref, uint64_t field, enum fxt_role role, int argument,
					 bool any_bytes)
{
	struct fxt_string_ref s = { .ref = ref, .role = (uint8_t)role, .argument = (int8_t)argument, .field = field };
	if (ref & FXT_STRING_INLINE) {
		if (ref == FXT_STRING_INLINE)
			issue(rd->r, FXT_RULE_zero_length_inline_string, field, 2)->which = (int8_t)argument;
		s.at = take_text(rd, ref & (uint16_t)~FXT_STRING_INLINE, argument, any_bytes);
	}
	if (!rd->failed && rd->r->string_count < sizeof(rd->r->strings) / sizeof(rd->r->strings[0]))
		rd->r->strings[rd->r->string_count++] = s;
	return s;
}

/* Byte position of the 16-bit field at bit `low` of word `index`; low is a multiple of 16. */
static uint64_t field_at(const struct reader *rd, uint64_t index, unsigned low)
{
	unsigned byte = low / 8;
	return index * FXT_WORD + (rd->big_endian != rd->swap ? 6 - byte : byte);
}

static void take_thread(struct reader *rd, uint8_t ref, unsigned koids)
{
	struct fxt_record *r = rd->r;
	struct fxt_thread_ref *t = &r->threads[r->thread_count];
	t->ref = ref;
	t->at = 0;
	t->process_only = koids < 2;
	if (!ref) {
		t->at = rd->at * FXT_WORD;
		t->process = take_word(rd);
		t->thread = koids > 1 ? take_word(rd) : 0;
	}
	r->thread_count++;
}

static void take_timestamp(struct reader *rd)
{
	rd->r->timestamp = take_word(rd);
	rd->r->has_timestamp = !rd->failed;
}

/* ---- arguments, #arguments ---- */

static bool take_argument(struct reader *rd, int n)
{
	struct fxt_record *r = rd->r;
	struct fxt_argument_view *a = &r->arguments[n];
	uint64_t start = rd->at, outer = rd->limit;

	if (start >= outer || start >= rd->sight) {
		fatal(r, FXT_RULE_argument_count_mismatch, 0, FXT_WORD, (uint64_t)n, r->argument_count);
		return false;
	}
	uint64_t header = word_at(rd, start);
	a->type = (uint8_t)fxt_bits(header, 0, 4);
	a->words = fxt_bits(header, 4, 12);
	a->at = start * FXT_WORD;
	a->value_at = 0;
	a->value = header >> 32;
	if (!a->words) {
		fatal(r, FXT_RULE_argument_size_zero, a->at, FXT_WORD, header, 1);
		r->fault.which = (int8_t)n;
		return false;
	}
	if (a->words > outer - start) {
		fatal(r, FXT_RULE_argument_overrun, a->at, FXT_WORD, a->words, outer - start);
		r->fault.which = (int8_t)n;
		return false;
	}
	rd->limit = start + a->words;
	rd->at = start + 1;
	a->name = take_string(rd, (uint16_t)fxt_bits(header, 16, 16), field_at(rd, start, 16), FXT_ROLE_ARGUMENT_NAME, n, false);
	const struct fxt_argument_layout *layout = &fxt_argument_layouts[a->type];
	if (a->type >= FXT_ARG_TYPES) {
		struct issue *i = issue(r, FXT_RULE_unknown_argument_type, a->at, FXT_WORD);
		i->which = (int8_t)n;
		i->got = a->type;
		rd->at = rd->limit;
	} else if (header & layout->reserved) {
		struct issue *i = a->type == FXT_ARG_BOOL ? issue(r, FXT_RULE_bool_value_bits, a->at, FXT_WORD)
							  : issue(r, FXT_RULE_reserved_bits_set, a->at, FXT_WORD);
		i->which = (int8_t)n;
		i->got = header;
		i->want = layout->reserved;
	}
	if (a->type < FXT_ARG_TYPES && layout->words == 2) {
		a->value_at = rd->at * FXT_WORD;
		a->value = take_word(rd);
	} else if (a->type == FXT_ARG_STRING) {
		a->value = fxt_bits(header, 32, 16);
		a->value_at = take_string(rd, (uint16_t)a->value, field_at(rd, start, 32), FXT_ROLE_ARGUMENT_VALUE, n, false).at;
	} else if (a->type == FXT_ARG_BLOB) {
		a->value_at = rd->at * FXT_WORD;
		if (take(rd, fxt_words(a->value)))
			check_padding(rd, a->value_at, a->value, n);
	}
	if (rd->failed) {
		rd->failed = false;
		fatal(r, FXT_RULE_argument_overrun, a->at, FXT_WORD, a->words, a->words + 1);
		r->fault.which = (int8_t)n;
		return false;
	}
	if (rd->at < rd->limit) {
		struct issue *i = issue(r, FXT_RULE_argument_trailing_words, rd->at * FXT_WORD,
					(uint32_t)((rd->limit - rd->at) * FXT_WORD));
		i->which = (int8_t)n;
		i->got = a->words;
		i->want = rd->at - start;
	}
	rd->at = start + a->words;
	rd->limit = outer;
	return true;
}

static void take_arguments(struct reader *rd, unsigned count)
{
	struct fxt_record *r = rd->r;
	uint64_t start = rd->at;
	uint32_t issues = r->issues.count;
	uint8_t strings = r->string_count, worst = r->issues.worst;
	uint64_t limit = rd->limit;

	if (rd->failed)
		return;
	r->argument_count = (uint8_t)count;
	for (unsigned n = 0; n < count; n++) {
		if (take_argument(rd, (int)n))
			continue;
		r->broken_off = true;
		if (rd->swap || n != 0)
			return;
		/* Not even the first argument decodes: try the other byte order. */
		struct issue kept = r->fault;
		rd->swap = true;
		rd->at = start;
		rd->limit = limit;
		rd->failed = r->fatal = r->broken_off = false;
		r->issues.count = issues;
		r->string_count = strings;
		r->issues.worst = worst;
		bool exact = true;
		for (unsigned m = 0; m < count && exact; m++)
			exact = take_argument(rd, (int)m);
		rd->swap = false;
		if (exact && r->issues.count == issues && limit - rd->at <= 1) {
			r->swapped = true;
			issue(r, FXT_RULE_mixed_endianness, start * FXT_WORD, (uint32_t)((rd->at - start) * FXT_WORD))->got = count;
			return;
		}
		rd->failed = false;
		rd->limit = limit;
		r->issues.count = issues;
		r->fault = kept;
		r->issues.worst = TM_ERROR;
		r->fatal = r->broken_off = true;
		return;
	}
}

/* ---- record types ---- */

/* A type that is not assigned: the content is not known. */
#define unknown(rd, rule, got) ((void)PLACE(rule), unknown_at((rd), (rule), (got)))
static void unknown_at(struct reader *rd, enum fxt_rule rule, uint64_t got)
{
	issue_at(rd->r, rule, fxt_rules[rule].severity, 0, FXT_WORD)->got = got;
	rd->r->known = false;
}

/* #metadata-record */
static void decode_metadata(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	r->subtype = (uint8_t)fxt_bits(h, 16, 4);
	r->id = (uint32_t)fxt_bits(h, 20, 32);
	switch (r->subtype) {
	case FXT_PROVIDER_INFO: {
		r->text_length = fxt_bits(h, 52, 8);
		reserved(rd, 0, h, mask(60, 63));
		r->text_at = FXT_WORD;
		uint64_t words = fxt_words(r->text_length);
		if (!take(rd, words) || rd->at > rd->sight) {
			rd->failed = true;
			break;
		}
		check_text(rd, r->text_at, r->text_length, -1, false);
		uint64_t end = r->words < rd->sight ? r->words : rd->sight;
		uint64_t name_end = r->text_at + r->text_length;
		if (end * FXT_WORD > name_end && !bytes_are_zero(rd->data + name_end, (size_t)(end * FXT_WORD - name_end))) {
			struct issue *i = issue(r, FXT_RULE_provider_name_length_mismatch, 0, FXT_WORD);
			i->got = r->text_length;
			i->want = (end - 1) * FXT_WORD;
		}
		break;
	}
	case FXT_PROVIDER_SECTION:
		reserved(rd, 0, h, mask(52, 63));
		break;
	case FXT_PROVIDER_EVENT:
		reserved(rd, 0, h, mask(56, 63));
		if (fxt_bits(h, 52, 4) != FXT_PROVIDER_BUFFER_FULL)
			issue(r, FXT_RULE_unknown_provider_event, 0, FXT_WORD)->got = fxt_bits(h, 52, 4);
		break;
	case FXT_TRACE_INFO:
		if (fxt_bits(h, 20, 4) != FXT_TRACE_INFO_MAGIC) {
			unknown(rd, FXT_RULE_unknown_trace_info_type, fxt_bits(h, 20, 4));
		} else if (h != FXT_MAGIC) {
			bool size = (h & ~fxt_field(4, 12, 0xfff)) == (FXT_MAGIC & ~fxt_field(4, 12, 0xfff));
			fatal(r, size ? FXT_RULE_bad_magic_size : FXT_RULE_bad_magic_value, 0, FXT_WORD, h, FXT_MAGIC);
		}
		break;
	default:
		unknown(rd, FXT_RULE_unknown_metadata_type, r->subtype);
	}
}

/* #string-record */
static void decode_string(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	r->id = (uint32_t)fxt_bits(r->header, 16, 15);
	r->text_length = fxt_bits(r->header, 32, 15);
	flag(rd, r->header, 31);
	flag(rd, r->header, 47);
	reserved(rd, 0, r->header, mask(48, 63));
	r->text_at = take_text(rd, r->text_length, -1, false);
	if (!r->id) {
		issue(r, FXT_RULE_string_index_zero, 0, FXT_WORD);
	} else if (!r->text_length) {
		issue(r, FXT_RULE_empty_string_record, 0, FXT_WORD);
		r->odd = true;
	}
}

/* #thread-record */
static void decode_thread(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	r->id = (uint32_t)fxt_bits(r->header, 16, 8);
	reserved(rd, 0, r->header, mask(24, 63));
	take_thread(rd, 0, 2);
	if (!r->id)
		issue(r, FXT_RULE_thread_index_zero, 0, FXT_WORD);
}

/* #event-record */
static void decode_event(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	r->subtype = (uint8_t)fxt_bits(h, 16, 4);
	if (r->subtype >= FXT_EVENT_TYPES)
		unknown(rd, FXT_RULE_unknown_event_type, r->subtype);
	take_timestamp(rd);
	take_thread(rd, (uint8_t)fxt_bits(h, 24, 8), 2);
	take_string(rd, (uint16_t)fxt_bits(h, 32, 16), field_at(rd, 0, 32), FXT_ROLE_CATEGORY, -1, false);
	take_string(rd, (uint16_t)fxt_bits(h, 48, 16), field_at(rd, 0, 48), FXT_ROLE_NAME, -1, false);
	take_arguments(rd, (unsigned)fxt_bits(h, 20, 4));
	/* Up to here all types are the same. What a time of it means is not known. */
	if (!r->known) {
		r->has_timestamp = false;
		return;
	}
	if (fxt_event_tails[r->subtype] && !r->fatal) {
		r->tail = take_word(rd);
		r->has_tail = !rd->failed;
	} else if (r->subtype == FXT_INSTANT && !rd->failed && !r->fatal && r->words == rd->at + 1 && rd->at < rd->sight &&
		   word_at(rd, rd->at) <= 2) {
		r->extended = true; /* scope word of Fuchsia's engine */
	}
}

static void check_blob_type(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	if (r->id < FXT_BLOB_DATA || r->id > FXT_BLOB_PERFETTO) {
		issue(r, FXT_RULE_unknown_blob_type, 0, FXT_WORD)->got = r->id;
		r->odd = true;
	}
}

static void take_payload(struct reader *rd, uint64_t length)
{
	rd->r->payload_at = rd->at * FXT_WORD;
	rd->r->payload_length = length;
	if (take(rd, fxt_words(length)))
		check_padding(rd, rd->r->payload_at, length, -1);
}

#define SHIFTED_LOW 24u /* where go-fxt puts the size, over the upper byte of the name */
#define SHIFTED_BITS 23u

/* Whether the header is exact when it is read as go-fxt writes it, and not as it should be. */
static bool blob_is_shifted(const struct reader *rd, uint64_t h)
{
	uint64_t length = fxt_bits(h, SHIFTED_LOW, SHIFTED_BITS), words = 1 + fxt_words(length);

	if (!length || rd->r->words != words || words > rd->sight || h & (mask(47, 47) | mask(56, 63)))
		return false;
	/* As it should be, an inline name comes first. */
	uint64_t name = fxt_bits(h, 31, 1) ? fxt_words(fxt_bits(h, 16, 15)) : 0;
	return words != 1 + name + fxt_words(fxt_bits(h, 32, 15)) &&
	       bytes_are_zero(rd->data + FXT_WORD + length, (size_t)((words - 1) * FXT_WORD - length));
}

/* #blob-record */
static void decode_blob(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	if (blob_is_shifted(rd, h)) {
		uint64_t length = fxt_bits(h, SHIFTED_LOW, SHIFTED_BITS);
		r->header = (h & ~mask(SHIFTED_LOW, SHIFTED_LOW + SHIFTED_BITS - 1)) | fxt_field(32, 15, length);
		h = r->header;
		r->shifted = true;
		issue(r, FXT_RULE_blob_size_shifted, 0, FXT_WORD)->got = length;
	}
	r->id = (uint32_t)fxt_bits(h, 48, 8);
	flag(rd, h, 47);
	reserved(rd, 0, h, mask(56, 63));
	take_string(rd, (uint16_t)fxt_bits(h, 16, 16), field_at(rd, 0, 16), FXT_ROLE_NAME, -1, false);
	take_payload(rd, fxt_bits(h, 32, 15));
	check_blob_type(rd);
}

/* #userspace-object-record, #kernel-object-record */
static void decode_object(struct reader *rd, bool kernel, unsigned koids)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;
	reserved(rd, 0, h, mask(44, 63));
	r->tail = take_word(rd);
	if (kernel)
		r->object_type = (uint8_t)fxt_bits(h, 16, 8);
	else
		take_thread(rd, (uint8_t)fxt_bits(h, 16, 8), koids);
	take_string(rd, (uint16_t)fxt_bits(h, 24, 16), 3 /* in either byte order */, FXT_ROLE_NAME, -1, kernel);
	take_arguments(rd, (unsigned)fxt_bits(h, 40, 4));
}

/* #context-switch-record; newer revisions: scheduling records */
static void decode_scheduling(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	r->subtype = (uint8_t)fxt_bits(h, 60, 4);
	switch (r->subtype) {
	case FXT_SWITCH_LEGACY:
		r->cpu = (uint16_t)fxt_bits(h, 16, 8);
		r->out_state = (uint8_t)fxt_bits(h, 24, 4);
		take_timestamp(rd);
		take_thread(rd, (uint8_t)fxt_bits(h, 28, 8), 2);
		take_thread(rd, (uint8_t)fxt_bits(h, 36, 8), 2);
		break;
	case FXT_SWITCH:
		r->cpu = (uint16_t)fxt_bits(h, 20, 16);
		r->out_state = (uint8_t)fxt_bits(h, 36, 4);
		reserved(rd, 0, h, mask(40, 59));
		take_timestamp(rd);
		r->tail = take_word(rd);
		(void)take_word(rd);
		take_arguments(rd, (unsigned)fxt_bits(h, 16, 4));
		break;
	case FXT_WAKEUP:
		r->cpu = (uint16_t)fxt_bits(h, 20, 16);
		reserved(rd, 0, h, mask(36, 59));
		take_timestamp(rd);
		r->tail = take_word(rd);
		take_arguments(rd, (unsigned)fxt_bits(h, 16, 4));
		break;
	default:
		if (rd->profile == FXT_2022)
			reserved(rd, 0, h, mask(60, 63));
		unknown(rd, FXT_RULE_unknown_scheduling_type, r->subtype);
	}
}

/* #log-record */
static void decode_log(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	r->text_length = fxt_bits(r->header, 16, 15);
	flag(rd, r->header, 31);
	reserved(rd, 0, r->header, mask(40, 63));
	take_timestamp(rd);
	take_thread(rd, (uint8_t)fxt_bits(r->header, 32, 8), 2);
	r->text_at = take_text(rd, r->text_length, -1, false);
}

/* Profiler records, newest revision only. */
static void decode_profiler(struct reader *rd, unsigned koids)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	r->subtype = (uint8_t)fxt_bits(h, 16, 4);
	if (r->subtype > FXT_PROFILER_BACKTRACE) {
		unknown(rd, FXT_RULE_unknown_profiler_type, r->subtype);
		return;
	}
	take_timestamp(rd);
	take_thread(rd, (uint8_t)fxt_bits(h, 20, 8), r->subtype == FXT_PROFILER_BACKTRACE ? 2 : koids);
	if (r->subtype == FXT_PROFILER_MODULE) {
		reserved(rd, 0, h, mask(60, 63));
		r->text_length = fxt_bits(h, 44, 8);
		r->text_at = take_text(rd, r->text_length, -1, false);
		uint64_t build_id = fxt_bits(h, 52, 8), at = rd->at * FXT_WORD;
		if (take(rd, fxt_words(build_id)))
			check_padding(rd, at, build_id, -1);
	} else if (r->subtype == FXT_PROFILER_MMAP) {
		reserved(rd, 0, h, mask(47, 63));
		(void)take(rd, 3);
	} else {
		reserved(rd, 0, h, mask(36, 63));
		(void)take(rd, fxt_bits(h, 28, 8));
	}
}

/* #large-record-header, #large-blob-record. Here the strings come before the timestamp. */
static void decode_large(struct reader *rd)
{
	struct fxt_record *r = rd->r;
	uint64_t h = r->header;

	r->subtype = (uint8_t)fxt_bits(h, 36, 4);
	if (r->subtype != FXT_LARGE_BLOB) {
		unknown(rd, FXT_RULE_unknown_large_type, r->subtype);
		return;
	}
	r->blob_format = (uint8_t)fxt_bits(h, 40, 4);
	reserved(rd, 0, h, mask(44, 63));
	if (r->blob_format > FXT_LARGE_BLOB_PLAIN) {
		unknown(rd, FXT_RULE_unknown_blob_format, r->blob_format);
		return;
	}
	uint64_t format = take_word(rd);
	bool plain = r->blob_format == FXT_LARGE_BLOB_PLAIN;
	if (rd->failed)
		return;
	reserved(rd, 1, format, plain ? mask(32, 63) : mask(44, 63));
	take_string(rd, (uint16_t)fxt_bits(format, 0, 16), field_at(rd, 1, 0), FXT_ROLE_CATEGORY, -1, false);
	take_string(rd, (uint16_t)fxt_bits(format, 16, 16), field_at(rd, 1, 16), FXT_ROLE_NAME, -1, false);
	if (!plain) {
		take_timestamp(rd);
		take_thread(rd, (uint8_t)fxt_bits(format, 36, 8), 2);
		take_arguments(rd, (unsigned)fxt_bits(format, 32, 4));
	}
	uint64_t length = r->fatal ? 0 : take_word(rd);
	if (!rd->failed && !r->fatal) {
		/* A length beyond the record must not wrap when it is turned into words. */
		if (length > (rd->limit - rd->at) * FXT_WORD)
			rd->failed = true;
		else
			take_payload(rd, length);
	}
}

static unsigned minimum_words(const struct fxt_record *r)
{
	static const uint8_t least[16] = { 1, 2, 1, 3, 2, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1 };
	if (r->type == FXT_SCHEDULING && fxt_bits(r->header, 60, 4) == FXT_SWITCH)
		return 4;
	if (r->type == FXT_SCHEDULING && fxt_bits(r->header, 60, 4) == FXT_WAKEUP)
		return 3;
	if (r->type == FXT_SCHEDULING && fxt_bits(r->header, 60, 4) > FXT_WAKEUP)
		return 1;
	if (r->type == FXT_PROFILER && fxt_bits(r->header, 16, 4) == FXT_PROFILER_MMAP)
		return 5;
	if (r->type == FXT_PROFILER && fxt_bits(r->header, 16, 4) > FXT_PROFILER_BACKTRACE)
		return 1;
	if (r->type == FXT_LARGE && fxt_bits(r->header, 36, 4) == FXT_LARGE_BLOB &&
	    fxt_bits(r->header, 40, 4) <= FXT_LARGE_BLOB_PLAIN)
		return 3;
	return least[r->type];
}

/* koids: how many an inline thread has where writers disagree. */
static void decode_body(struct reader *rd, unsigned koids)
{
	struct fxt_record *r = rd->r;
	switch (r->type) {
	case FXT_METADATA:
		decode_metadata(rd);
		break;
	case FXT_INITIALIZATION:
		reserved(rd, 0, r->header, mask(16, 63));
		r->tail = take_word(rd);
		if (r->words == 4 && !rd->failed && rd->sight >= 4 && word_at(rd, 3) >= WALL_CLOCK_MIN &&
		    word_at(rd, 3) <= WALL_CLOCK_MAX)
			r->extended = true;
		break;
	case FXT_STRING:
		decode_string(rd);
		break;
	case FXT_THREAD:
		decode_thread(rd);
		break;
	case FXT_EVENT:
		decode_event(rd);
		break;
	case FXT_BLOB:
		decode_blob(rd);
		break;
	case FXT_USERSPACE:
		decode_object(rd, false, koids);
		break;
	case FXT_KERNEL:
		decode_object(rd, true, 0);
		break;
	case FXT_SCHEDULING:
		decode_scheduling(rd);
		break;
	case FXT_LOG:
		decode_log(rd);
		break;
	case FXT_PROFILER:
		decode_profiler(rd, koids);
		break;
	case FXT_LARGE:
		decode_large(rd);
		break;
	default:
		unknown(rd, FXT_RULE_unknown_record_type, r->type);
	}
}

static void decode_once(const struct fxt_decoder *d, struct fxt_record *r, const uint8_t *data, uint64_t have, uint64_t left,
			unsigned flags, unsigned koids)
{
	fxt_record_clear(r);
	struct reader rd = { .r = r,
			     .data = data,
			     .at = 1,
			     .sight = have / FXT_WORD,
			     .big_endian = d->big_endian,
			     .profile = d->profile,
			     .strict = flags & FXT_DECODE_STRICT };
	bool ignore_size = flags & FXT_DECODE_IGNORE_SIZE;

	r->data = data;
	r->header = load_u64(data, d->big_endian) ^ d->flip;
	r->type = (uint8_t)fxt_bits(r->header, 0, 4);
	r->words = fxt_size(r->header);
	r->known = true;
	r->content = 1;
	if (!ignore_size) {
		if (!r->words) {
			fatal(r, FXT_RULE_record_size_zero, 0, FXT_WORD, r->header, 1);
			r->broken_off = true;
			return;
		}
		if (r->words > left / FXT_WORD) {
			fatal(r, FXT_RULE_truncated_record, 0, FXT_WORD, r->words, left);
			r->broken_off = true;
			return;
		}
		if (r->words < minimum_words(r)) {
			fatal(r, FXT_RULE_record_size_too_small, 0, FXT_WORD, r->words, minimum_words(r));
			r->broken_off = true;
			return;
		}
		rd.limit = r->words;
	} else {
		rd.limit = left / FXT_WORD;
		r->words = rd.limit;
	}
	decode_body(&rd, koids);
	r->content = rd.at;
	if (rd.failed) {
		fatal(r, FXT_RULE_record_content_overrun, 0, FXT_WORD, r->words, rd.need);
		r->broken_off = true;
	}
	if (r->fatal)
		return;
	if (!r->known) {
		r->content = r->words;
		return;
	}
	if (r->content < r->words && !r->extended && !ignore_size) {
		struct issue *i = issue(r, FXT_RULE_record_trailing_words, r->content * FXT_WORD, FXT_WORD);
		i->got = r->words;
		i->want = r->content;
	} else if (r->extended) {
		issue(r, FXT_RULE_known_extension, r->content * FXT_WORD, (uint32_t)((r->words - r->content) * FXT_WORD))->got =
			r->words - r->content;
	}
}

static bool has_disputed_thread(uint64_t header)
{
	unsigned type = (unsigned)fxt_bits(header, 0, 4), subtype = (unsigned)fxt_bits(header, 16, 4);
	return (type == FXT_USERSPACE && !fxt_bits(header, 16, 8)) ||
	       (type == FXT_PROFILER && subtype <= FXT_PROFILER_MMAP && !fxt_bits(header, 20, 8));
}

bool fxt_decode(const struct fxt_decoder *d, struct fxt_record *r, const uint8_t *data, uint64_t have, uint64_t left,
		unsigned flags)
{
	uint64_t header = load_u64(data, d->big_endian) ^ d->flip;
	unsigned standard = fxt_bits(header, 0, 4) == FXT_PROFILER ? 2 : 1;

	decode_once(d, r, data, have, left, flags, standard);
	if (flags & FXT_DECODE_IGNORE_SIZE || !has_disputed_thread(header) || (!r->fatal && r->content == r->words))
		return !r->fatal;
	decode_once(d, r, data, have, left, flags, 3 - standard);
	if (!r->fatal && r->content == r->words && r->issues.worst == TM_NOTE) {
		struct issue *i = issue(r, FXT_RULE_nonstandard_inline_thread, r->threads[0].at, FXT_WORD);
		i->got = 3 - standard;
		i->want = standard;
	} else {
		decode_once(d, r, data, have, left, flags, standard);
	}
	return !r->fatal;
}

/* How many strict records follow each other from `at`, up to FXT_PROBE_SURE; so many where fewer, but two at least, end with the
 * file. */
static unsigned probe_chain(const struct fxt_decoder *d, const uint8_t *data, size_t length, uint64_t left, size_t at)
{
	struct fxt_record r;
	unsigned chain = 0;

	for (; chain < FXT_PROBE_SURE && at + FXT_WORD <= length; chain++) {
		const size_t have = length - at;
		if (!fxt_decode(d, &r, data + at, have, left - at, FXT_DECODE_STRICT) || !fxt_is_strict(&r) || r.late_padding ||
		    r.words > have / FXT_WORD)
			break;
		at += (size_t)r.words * FXT_WORD;
	}
	return chain >= 2 && at == left ? FXT_PROBE_SURE : chain;
}

unsigned fxt_probe(const uint8_t *data, size_t length, uint64_t left, bool *big_endian, size_t *offset)
{
	unsigned longest = FXT_PROBE_LEAST - 1;

	for (size_t at = 0; at + FXT_WORD <= length && longest < FXT_PROBE_SURE; at++)
		for (unsigned order = 0; order < 2; order++) {
			const struct fxt_decoder d = { order != 0, FXT_LATEST, 0 };
			const unsigned chain = probe_chain(&d, data, length, left, at);
			/* By three, noise passes for records now and then, the more bytes are looked at. */
			if (chain <= longest || (chain < FXT_PROBE_SURE && at >= FXT_PROBE_NEAR))
				continue;
			longest = chain;
			*big_endian = order != 0;
			*offset = at;
		}
	return longest < FXT_PROBE_LEAST ? 0 : longest;
}
