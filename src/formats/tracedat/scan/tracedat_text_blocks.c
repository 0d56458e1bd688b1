/* The blocks that are lines of text: kallsyms, printk formats, saved command lines (MAN6 "KALLSYMS INFORMATION" to "PROCESS
 * INFORMATION"). Readers stop at the first bad line, so repair leaves bad lines out. */
#include "core/bytes.h"
#include "formats/tracedat/scan/tracedat_blocks.h"

#include <stdlib.h>

/* Blocks of a disk. */
#define BLOCK_LEAST 512u
#define BLOCK_MOST 4096u
/* Bytes of the size in front of a text. */
#define SIZE_LEAST 4u

/* A walk over the lines of a block. */
struct lines {
	struct tracedat_walk *w;
	const struct tracedat_block *b;
	struct tracedat_pieces *out;
	const char *text; /* of the whole block */
	size_t at, end;	  /* what is left */
	size_t kept_from; /* beginning of kept lines that are not composed yet */
	size_t kept;	  /* bytes that are kept */
	uint64_t number;  /* of the line, from 1 */
	size_t begin;	  /* of the first line */
	bool odd;	  /* the text has another size than stated */
	bool placed;	  /* a line shows where that is from */
	bool ended;	  /* it has its LF */
	/* lines that follow each other and are left out for one reason: told to the plan when the next one is not */
	size_t dropped_from, dropped_to;
	unsigned dropped_rule;
	unsigned runs;	   /* of such lines */
	size_t doubted_to; /* lines in front of it are listed */
	size_t previous;   /* where the line in front of this one begins */
	/* the line */
	const char *line;
	size_t from, length;
};

/* Lists the lines in [from, to). */
static void lines_doubt_as(struct lines *l, size_t from, size_t to, const char *why)
{
	struct tracedat_walk *w = l->w;
	if (w->s->plan && w->findings != w->scratch && to > from)
		plan_doubt(w->s->plan, w->source, l->b->compressed ? l->b->offset : l->b->offset + from,
			   l->b->compressed ? l->b->stored : to - from, why);
}

/* Whether blocks of a disk meet inside of [from, to): two halves of lines may make a line there that looks like one. */
static bool lines_meet(const struct lines *l, size_t from, size_t to)
{
	return !l->b->compressed && to > from && (l->b->offset + to - 1) / BLOCK_LEAST * BLOCK_LEAST > l->b->offset + from;
}

/* A good line beside a bad one, in which blocks of a disk meet. */
static void lines_doubt_meeting(struct lines *l, size_t from, size_t to)
{
	if (from < l->doubted_to || !lines_meet(l, from, to))
		return;
	lines_doubt_as(l, from, to, "blocks of a disk meet in this line, and one of them may be that of another place");
	l->doubted_to = to;
}

static bool lines_next(struct lines *l)
{
	if (l->runs && l->from == l->dropped_to)
		lines_doubt_meeting(l, l->from, l->at);
	l->previous = l->from;
	if (l->at >= l->end)
		return false;
	const char *lf = memchr(l->text + l->at, '\n', l->end - l->at);
	l->from = l->at;
	l->line = l->text + l->at;
	l->ended = lf != NULL;
	l->length = lf ? (size_t)(lf - l->line) : l->end - l->at;
	l->at = l->from + l->length + l->ended;
	l->number++;
	return true;
}

static void lines_tell_dropped(struct lines *l)
{
	if (l->dropped_to > l->dropped_from)
		tracedat_drop_block(l->w, l->b, l->dropped_from, l->dropped_to - l->dropped_from, l->dropped_rule,
				    "a line that readers cannot parse");
	l->dropped_from = l->dropped_to = l->from;
}

/* Leaves the current line out of the repaired block. */
static void lines_drop(struct lines *l, unsigned rule)
{
	if (l->from > l->kept_from)
		tracedat_pieces_copy(l->out, NULL, l->kept_from, l->from - l->kept_from);
	l->kept += l->from - l->kept_from;
	l->kept_from = l->at;
	l->w->out.lost_other = true;
	if (l->from != l->dropped_to || rule != l->dropped_rule) {
		if (l->number > 1 && l->from != l->dropped_to)
			lines_doubt_meeting(l, l->previous, l->from);
		lines_tell_dropped(l);
		l->runs++;
	}
	/* Where good and bad lines take turns on and on, what is left is no text of a kernel: it goes as one. */
	if (l->runs >= TRACEDAT_LINE_RUNS_MAX)
		l->kept_from = l->at = l->end;
	l->dropped_rule = rule;
	l->dropped_to = l->at;
	l->placed = true;
}

static void lines_finish(struct lines *l)
{
	lines_tell_dropped(l);
	tracedat_pieces_copy(l->out, NULL, l->kept_from, l->end - l->kept_from);
	l->kept += l->end - l->kept_from;
}

/* Reports the first line of a kind; the others only count as explained by it. */
#define lines_report(l, rule, ...) ((void)PLACE(rule), lines_milder_at((l), (rule), tracedat_rules[rule].severity, __VA_ARGS__))
#define lines_milder(l, rule, ...) ((void)PLACE(rule), lines_milder_at((l), (rule), __VA_ARGS__))
static void lines_milder_at(struct lines *l, unsigned rule, enum tracemend_severity severity, struct finding **first,
			    const char *expected)
{
	char shown[TEXT_QUOTE_SIZE];
	if (severity == TM_ERROR && !l->ended && !memchr(l->line, 0, l->length) &&
	    tracedat_tail_explained(l->w, l->b, l->from + l->length))
		return;
	if (*first) {
		finding_explains(*first, 1);
		return;
	}
	*first = tracedat_block_milder_at(l->w, rule, severity, l->b, l->from, l->length ? l->length : 1);
	finding_path(*first, "%s > line %llu", l->b->name, (unsigned long long)l->number);
	if (finding_kept(*first))
		finding_say(*first, "the line is \"%s\", expected %s", text_quote(shown, l->line, l->length), expected);
}

static void lines_doubt(struct lines *l, size_t from, size_t to)
{
	l->placed = true;
	lines_doubt_as(l, from, to, "bytes were removed from this text, or inserted into it");
}

/* A bad line in which blocks of a disk meet, or a size in front of the first one that was hit: one of the blocks may be that of
 * another place, whose lines are good. */
static void lines_doubt_block(struct lines *l)
{
	const uint64_t seam = (l->b->offset + l->at) / BLOCK_LEAST * BLOCK_LEAST;
	const uint64_t begin = l->b->offset + l->from - (l->odd && l->from == l->begin ? SIZE_LEAST : 0);

	if (l->b->compressed || seam < begin)
		return;
	const size_t behind = (size_t)(seam - l->b->offset) + BLOCK_MOST, to = behind < l->end ? behind : l->end;
	lines_doubt_as(l, l->at > l->doubted_to ? l->at : l->doubted_to, to,
		       "a block of the file that begins here may be another one");
	l->doubted_to = to;
}

/* The same for a line with NULs: zeros that were written across the end of a block are none of another place. */
static void lines_doubt_nul_block(struct lines *l)
{
	const uint64_t seam = (l->b->offset + l->at) / BLOCK_LEAST * BLOCK_LEAST;

	if (seam > l->b->offset + l->from &&
	    (l->text[seam - l->b->offset - 1] || (seam < l->b->offset + l->at && l->text[seam - l->b->offset])))
		lines_doubt_block(l);
}

/* A line that looks like one, and is made of two halves where blocks of a disk meet: the block in front may be that of another
 * place as well. */
static void lines_doubt_torn(struct lines *l)
{
	if (!lines_meet(l, l->from, l->at))
		return;
	size_t from = l->from > BLOCK_MOST ? l->from - BLOCK_MOST : 0;
	from = from > l->begin ? from : l->begin;
	lines_doubt_as(l, from > l->doubted_to ? from : l->doubted_to, l->from,
		       "a block of the file that ends behind this may be another one");
	lines_doubt_meeting(l, l->from, l->at);
	lines_doubt_block(l);
}

/* `more` bytes that are there a second time behind themselves: the line in which they meet is none. */
static void lines_repeated(struct lines *l, size_t more)
{
	size_t run = 0;

	for (size_t at = l->begin; more && l->end - at > more; at++) {
		run = l->text[at] == l->text[at + more] ? run + 1 : 0;
		if (run < more)
			continue;
		/* As far as they go on to be the same, they may meet later. */
		size_t to = at + 1;
		while (l->end - to > more && l->text[to] == l->text[to + more])
			to++;
		const char *begin = text_last_byte(l->text + l->begin, '\n', at + 1 - l->begin);
		const char *end = memchr(l->text + to, '\n', l->end - to);
		lines_doubt(l, begin ? (size_t)(begin - l->text) + 1 : l->begin, end ? (size_t)(end - l->text) + 1 : l->end);
		return;
	}
}

/* Opens a block that begins with its size in `width` bytes. False where not even that is there. */
#define lines_open(l, rule, ...) ((void)PLACE(rule), lines_open_at((l), (rule), __VA_ARGS__))
static bool lines_open_at(struct lines *l, unsigned rule, struct tracedat_walk *w, const struct tracedat_block *b, size_t at,
			  size_t end, size_t width, unsigned part, size_t *piece)
{
	uint8_t number[8] = { 0 };

	*l = (struct lines){ .w = w,
			     .b = b,
			     .out = &w->meta.parts[part],
			     .text = (const char *)b->data,
			     .at = at + width,
			     .begin = at + width,
			     .end = end,
			     .kept_from = at + width };
	w->meta.seen[part] = true;
	if (end < at || end - at < width) {
		(void)tracedat_pieces_literal(l->out, number, width, rule, "the text is lost");
		return false;
	}
	uint64_t size = width == 4 ? load_u32(b->data + at, w->shape.big_endian) : load_u64(b->data + at, w->shape.big_endian);
	bool cut = w->meta.cut && end == b->size; /* which is reported at the end of the file */
	l->odd = size != end - at - width && !cut;
	if (l->odd && !tracedat_size_explained(w, rule, b, end - at - width - size)) {
		struct finding *fd = tracedat_block_report_at(w, rule, b, at, width,
							      "the size is %llu, expected the %zu bytes of the text",
							      (unsigned long long)size, end - at - width);
		tracedat_shift_note(w, fd, end - at - width - size);
	}
	if (l->odd && size < end - at - width)
		lines_repeated(l, end - at - width - (size_t)size);
	*piece = tracedat_pieces_field(l->out, NULL, at, number, width, rule, "the size of the text");
	return true;
}

static void lines_close(struct lines *l, size_t width, size_t piece)
{
	uint8_t number[8];
	const bool cut = l->w->meta.cut && l->end == l->b->size;
	if (l->number && !l->ended && l->length && !l->b->compressed && (l->odd || cut))
		lines_doubt_as(l, l->from, l->at, "the end of this line may be missing");
	lines_finish(l);
	if (l->odd && !l->placed && !l->b->compressed && l->w->findings != l->w->scratch)
		l->w->texts.odd[width == 8 ? 2 : l->out == &l->w->meta.parts[4]] =
			(struct tracedat_text_odd){ l->b->offset + l->begin, l->end - l->begin };
	if (width == 4)
		store_u32(number, (uint32_t)l->kept, l->w->shape.big_endian);
	else
		store_u64(number, l->kept, l->w->shape.big_endian);
	tracedat_pieces_fill(l->out, piece, number);
}

/* ---- kallsyms ---- */

struct symbols {
	uint64_t previous;
	bool modules, any_address, unsorted_reported;
	size_t width;
	struct finding *bad, *nul, *bracket, *digits;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t hex_digits(const char *text, size_t length)
{
	size_t n = 0;
	while (n < length && n < 17 &&
	       ((text[n] >= '0' && text[n] <= '9') || (text[n] >= 'a' && text[n] <= 'f') || (text[n] >= 'A' && text[n] <= 'F')))
		n++;
	return n;
}

static uint64_t hex_value(const char *text, size_t digits)
{
	uint64_t v = 0;
	for (size_t i = 0; i < digits; i++)
		v = v << 4 | (uint64_t)((text[i] & 15) + (text[i] >= 'A' ? 9 : 0));
	return v;
}

/* Names of symbols are ASCII; modules follow a tab. */
static bool name_is_text(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((uint8_t)name[i] < 0x20 && name[i] != '\t') || (uint8_t)name[i] >= 0x7f)
			return false;
	return true;
}

/* Bytes that no name of a symbol has: two halves of lines make one that looks like one. */
static bool name_is_strange(const char *name, size_t length)
{
	for (size_t i = 0; i < length && name[i] != '\t'; i++)
		if (strchr(" \"%;=\\", name[i]))
			return true;
	return false;
}

static void symbol_line(struct lines *l, struct symbols *symbols_)
{
	struct tracedat_walk *w = l->w;
	const char *line = l->line;
	size_t digits = hex_digits(line, l->length), at = digits;

	if (memchr(line, 0, l->length)) {
		lines_report(l, TRACEDAT_RULE_kallsyms_nul, &symbols_->nul, "text without a NUL");
		lines_doubt_nul_block(l);
		lines_drop(l, TRACEDAT_RULE_kallsyms_nul);
		return;
	}
	size_t name = at + 3;
	bool fine = digits >= 1 && digits <= 16 && l->length > name && line[at] == ' ' &&
		    (is_letter(line[at + 1]) || line[at + 1] == '?') && line[at + 2] == ' ' && line[name] != ' ' &&
		    name_is_text(line + name, l->length - name);
	if (!fine) {
		lines_report(l, TRACEDAT_RULE_kallsyms_line, &symbols_->bad, "ADDRESS TYPE NAME");
		lines_doubt_block(l);
		lines_drop(l, TRACEDAT_RULE_kallsyms_line);
		return;
	}
	const char *bracket = memchr(line + name, '\t', l->length - name);
	if (bracket && (size_t)(bracket - line) + 1 < l->length && bracket[1] == '[') {
		symbols_->modules = true;
		if (line[l->length - 1] != ']') {
			lines_report(l, TRACEDAT_RULE_kallsyms_module_bracket, &symbols_->bracket, "a ] after the module");
			lines_drop(l, TRACEDAT_RULE_kallsyms_module_bracket);
			return;
		}
	}
	if (name_is_strange(line + name, l->length - name))
		lines_doubt_torn(l);
	uint64_t address = hex_value(line, digits);
	symbols_->any_address |= address != 0;
	if (!symbols_->modules && address < symbols_->previous && !symbols_->unsorted_reported) {
		struct finding *none = NULL;
		symbols_->unsorted_reported = true;
		lines_report(l, TRACEDAT_RULE_kallsyms_unsorted, &none, "an address not below that of the previous line");
	}
	if (!symbols_->modules)
		symbols_->previous = address;
	if (l->odd && digits != 2u * w->shape.long_size)
		lines_doubt(l, l->from, l->at);
	if (digits != 2u * w->shape.long_size && !symbols_->digits)
		lines_milder(l, TRACEDAT_RULE_kallsyms_digit_width, digits < 2u * w->shape.long_size ? TM_NOTE : TM_WARNING,
			     &symbols_->digits, w->shape.long_size == 8 ? "16 digits" : "8 digits");
	if (address < w->texts.symbol_low)
		w->texts.symbol_low = address;
	if (address > w->texts.symbol_high)
		w->texts.symbol_high = address;
	w->texts.symbols = true;
}

void tracedat_kallsyms_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct lines l;
	struct symbols symbols_ = { 0 };
	size_t piece;

	if (!lines_open(&l, TRACEDAT_RULE_kallsyms_size, w, b, at, end, 4, 3, &piece))
		return;
	if (l.at == end) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_kallsyms_empty, b, at, 4, "the symbol table is empty");
	}
	while (lines_next(&l))
		symbol_line(&l, &symbols_);
	if (l.number && !l.ended && !tracedat_tail_explained(w, b, end)) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_kallsyms_no_final_newline, b, end - 1, 1, "the last line has no LF");
	}
	if (w->texts.symbols && !symbols_.any_address) {
		(void)tracedat_block_report(w, TRACEDAT_RULE_kallsyms_all_zero, b, at + 4, 1, "all %llu symbols have address 0",
					    (unsigned long long)l.number);
		w->texts.symbols = false;
	}
	lines_close(&l, 4, piece);
}

/* ---- printk formats ---- */

static int message_order(const void *left, const void *right)
{
	const struct tracedat_message *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static bool printk_escapes_fine(const char *text, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++)
		if (text[i] == '\\') {
			i++;
			if (text[i] != 'n' && text[i] != 't' && text[i] != '\\' && text[i] != '"')
				return false;
		}
	return true;
}

/* Messages are UTF-8; the level of a message follows a byte 1. */
static bool message_is_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((uint8_t)text[i] < 0x20 && text[i] != 1 && text[i] != '\t' && text[i] != 0x1b && text[i] != '\r') ||
		    text[i] == 0x7f)
			return false;
	return utf8_valid_prefix((const uint8_t *)text, length) == length;
}

void tracedat_printk_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct lines l;
	struct finding *bad = NULL, *escape = NULL;
	size_t piece;

	if (!lines_open(&l, TRACEDAT_RULE_printk_size, w, b, at, end, 4, 4, &piece))
		return;
	while (lines_next(&l) && w->status == TM_OK) {
		const char *p = l.line;
		size_t digits = l.length > 2 ? hex_digits(p + 2, l.length - 2) : 0;
		size_t text = 2 + digits + 4;
		if (l.length < text + 1 || p[0] != '0' || p[1] != 'x' || !digits || digits > 16 ||
		    memcmp(p + 2 + digits, " : \"", 4) || p[l.length - 1] != '"' || memchr(p, 0, l.length) || !l.ended) {
			lines_report(&l, TRACEDAT_RULE_printk_line, &bad, "0xADDRESS : \"TEXT\"");
			lines_doubt_block(&l);
			lines_drop(&l, TRACEDAT_RULE_printk_line);
			continue;
		}
		if (!message_is_text(p + text, l.length - text - 1))
			lines_doubt_as(&l, l.from, l.at, "no kernel has such a text: it was hit");
		if (!printk_escapes_fine(p + text, l.length - text - 1))
			lines_report(&l, TRACEDAT_RULE_printk_bad_escape, &escape, "only the escapes \\n, \\t, \\\\ and \\\"");
		if (!tracedat_room(w, &w->texts.printk, &w->texts.printk_capacity, w->texts.printk_count, sizeof(*w->texts.printk),
				   TRACEDAT_BLOCK_MAX))
			break;
		w->texts.printk[w->texts.printk_count++] = (struct tracedat_message){ hex_value(p + 2, digits),
										      text_hash(p + text, l.length - text) };
	}
	lines_close(&l, 4, piece);
	if (!w->texts.printk_count)
		return;
	qsort(w->texts.printk, w->texts.printk_count, sizeof(*w->texts.printk), message_order);
	struct finding *same = NULL, *other = NULL;
	for (size_t i = 1; i < w->texts.printk_count; i++) {
		const struct tracedat_message *m = &w->texts.printk[i];
		if (m->address != m[-1].address)
			continue;
		struct finding **first = m->hash == m[-1].hash ? &same : &other;
		if (*first) {
			finding_explains(*first, 1);
			continue;
		}
		*first = tracedat_block_milder(w, TRACEDAT_RULE_printk_duplicate_address,
					       m->hash == m[-1].hash ? TM_NOTE : TM_WARNING, b, at + 4, 1);
		finding_say(*first, "address 0x%llx is listed twice, with %s", (unsigned long long)m->address,
			    m->hash == m[-1].hash ? "the same text" : "different texts");
	}
}

/* ---- saved command lines ---- */

void tracedat_cmdlines_parse(struct tracedat_walk *w, const struct tracedat_block *b, size_t at, size_t end)
{
	struct lines l;
	struct finding *bad = NULL, *range = NULL, *twice = NULL, *long_name = NULL;
	size_t piece, nameless = 0, nameless_to = 0;

	if (!lines_open(&l, TRACEDAT_RULE_cmdlines_size, w, b, at, end, 8, 5, &piece))
		return;
	while (lines_next(&l)) {
		size_t first = l.length && l.line[0] == '-', n = first;
		uint64_t pid = 0;
		while (n < l.length && l.line[n] >= '0' && l.line[n] <= '9' && n < 20)
			pid = pid * 10 + (uint64_t)(l.line[n++] - '0');
		/* A name may be empty: the kernel then writes the blank and the LF. */
		if (n == first || n >= l.length || l.line[n] != ' ' || memchr(l.line, 0, l.length)) {
			lines_report(&l, TRACEDAT_RULE_cmdlines_line, &bad, "PID NAME");
			lines_drop(&l, TRACEDAT_RULE_cmdlines_line);
			if (l.from == nameless_to)
				lines_doubt_as(&l, nameless, nameless_to,
					       "the name of this task may begin in what was hit behind it");
			continue;
		}
		size_t name = l.length - n - 1;
		nameless = l.from;
		nameless_to = name ? 0 : l.at;
		if (!name || name > 15)
			lines_report(&l, TRACEDAT_RULE_cmdlines_comm_length, &long_name, "a name of 1 to 15 bytes");
		if (name > 15 && !b->compressed)
			lines_doubt_as(&l, l.from, l.at, "no kernel has so long a name of a task: it was hit");
		if (first || pid > TRACEDAT_PID_MAX) {
			lines_report(&l, TRACEDAT_RULE_cmdlines_pid_range, &range, "a process id up to 4194304");
			continue;
		}
		if (tracedat_pids_has(&w->texts.pids, (uint32_t)pid))
			lines_report(&l, TRACEDAT_RULE_cmdlines_duplicate_pid, &twice, "each process id once");
		if (!tracedat_pids_add(&w->texts.pids, (uint32_t)pid))
			tracedat_no_memory(w);
		w->texts.cmdlines = true;
	}
	lines_close(&l, 8, piece);
}
