/* task.txt: its lines, one by one. What they mean together is in uftrace_session.c. */
#include <stdlib.h>

#include "formats/uftrace/scan/uftrace_walk.h"

struct parse {
	const char *text;
	size_t length, at;
	bool failed, odd_digits, odd_quotes;
};

static void expect(struct parse *p, const char *word)
{
	size_t n = strlen(word);

	if (p->failed || p->length - p->at < n || memcmp(p->text + p->at, word, n) != 0)
		p->failed = true;
	else
		p->at += n;
}

static uint64_t number(struct parse *p)
{
	size_t n = 0;
	uint64_t value = 0;

	while (p->at + n < p->length && p->text[p->at + n] >= '0' && p->text[p->at + n] <= '9')
		n++;
	if (p->failed || !text_parse_u64(p->text + p->at, n, &value))
		p->failed = true;
	p->at += n;
	return value;
}

static int64_t identifier(struct parse *p)
{
	bool negative = !p->failed && p->at < p->length && p->text[p->at] == '-';
	p->at += negative;
	uint64_t value = number(p);
	if (value > INT32_MAX)
		p->failed = true;
	return negative ? -(int64_t)value : (int64_t)value;
}

/* The fraction is a count of nanoseconds, however many digits it has. */
static uint64_t timestamp(struct parse *p)
{
	expect(p, "timestamp=");
	uint64_t seconds = number(p);
	expect(p, ".");
	size_t before = p->at;
	uint64_t ns = number(p);
	p->odd_digits = p->at - before != 9;
	if (seconds > UINT64_C(10000000000) || ns > UINT64_C(1000000000000000000))
		p->failed = true;
	return p->failed ? 0 : seconds * 1000000000u + ns;
}

static struct uftrace_str word(struct parse *p)
{
	struct uftrace_str s = { p->text + p->at, 0 };
	while (!p->failed && p->at < p->length && p->text[p->at] != ' ') {
		p->at++;
		s.length++;
	}
	if (!s.length)
		p->failed = true;
	return s;
}

/* Readers skip the first quote blindly, and end at the last one of the line. */
static struct uftrace_str quoted(struct parse *p)
{
	struct uftrace_str s = { p->text + p->at, p->length - p->at };

	if (p->failed || p->at >= p->length) {
		p->failed = true;
		return (struct uftrace_str){ "", 0 };
	}
	while (s.length && s.text[s.length - 1] == '\r')
		s.length--;
	p->at = p->length;
	bool first = s.length && s.text[0] == '"', last = s.length > 1 && s.text[s.length - 1] == '"';
	p->odd_quotes = !first || !last;
	if (s.length < 2) {
		p->failed = true;
		return s;
	}
	s.text++;
	s.length -= 1u + last;
	return s;
}

static void finish(struct parse *p)
{
	while (p->at < p->length && (p->text[p->at] == '\r' || p->text[p->at] == ' '))
		p->at++;
	if (p->at != p->length)
		p->failed = true;
}

struct task_parsed {
	struct uftrace_task_line line;
	struct uftrace_str sid, path;
	uint64_t base;
	bool odd_digits, odd_quotes;
};

/* False: not of the form of its keyword. */
static bool line_parse(const char *text, size_t length, struct task_parsed *out)
{
	struct parse p = { .text = text, .length = length, .at = 5 };
	struct uftrace_task_line *line = &out->line;

	if (length < 5 || text[4] != ' ')
		return false;
	line->time = timestamp(&p);
	switch (line->kind) {
	case UFTRACE_LINE_SESS:
		expect(&p, " ");
		if (!p.failed && p.length - p.at >= 4 && !memcmp(p.text + p.at, "tid=", 4))
			p.at += 4; /* older writers */
		else
			expect(&p, "pid=");
		line->id = identifier(&p);
		expect(&p, " sid=");
		out->sid = word(&p);
		expect(&p, " exename=");
		out->path = quoted(&p);
		break;
	case UFTRACE_LINE_TASK:
		expect(&p, " tid=");
		line->id = identifier(&p);
		expect(&p, " pid=");
		line->parent = identifier(&p);
		finish(&p);
		break;
	case UFTRACE_LINE_FORK:
		expect(&p, " pid=");
		line->id = identifier(&p);
		expect(&p, " ppid=");
		line->parent = identifier(&p);
		finish(&p);
		break;
	case UFTRACE_LINE_DLOP: {
		expect(&p, " tid=");
		line->id = identifier(&p);
		expect(&p, " sid=");
		out->sid = word(&p);
		expect(&p, " base=");
		size_t n = 0;
		while (p.at + n < p.length && p.text[p.at + n] && strchr("0123456789abcdefABCDEF", p.text[p.at + n]))
			n++;
		if (!text_parse_hex(p.text + (p.at < p.length ? p.at : 0), n, &out->base))
			p.failed = true;
		p.at += n;
		expect(&p, " libname=");
		out->path = quoted(&p);
		break;
	}
	}
	out->odd_digits = p.odd_digits;
	out->odd_quotes = p.odd_quotes;
	return !p.failed;
}

static bool sid_is_plain(struct uftrace_str sid)
{
	size_t n = 0;
	while (n < sid.length && sid.text[n] && strchr("0123456789abcdef", sid.text[n]))
		n++;
	return n == sid.length;
}

static bool keep_line(struct uftrace_walk *w, const struct task_parsed *parsed)
{
	struct uftrace_task_line *lines = uftrace_grow(w, w->lines, &w->line_capacity, w->line_count, sizeof(*lines));

	if (!lines)
		return false;
	w->lines = lines;
	if (w->line_count >= 4 * UFTRACE_TASKS_MAX)
		return uftrace_walk_limit(w, "lines in task.txt", 4 * UFTRACE_TASKS_MAX);
	struct uftrace_task_line *line = &lines[w->line_count];
	*line = parsed->line;
	line->order = (uint32_t)w->line_count++;
	line->session = UFTRACE_NONE;
	if (line->kind == UFTRACE_LINE_SESS) {
		if (w->session_count >= UFTRACE_SESSIONS_MAX)
			return uftrace_walk_limit(w, "sessions", UFTRACE_SESSIONS_MAX);
		struct uftrace_session *list = uftrace_grow(w, w->sessions, &w->session_capacity, w->session_count, sizeof(*list));
		if (!list)
			return false;
		w->sessions = list;
		line->session = (uint32_t)w->session_count;
		list[w->session_count++] = (struct uftrace_session){ .sid = parsed->sid,
								     .exename = parsed->path,
								     .time = line->time,
								     .pid = line->id,
								     .line = line->order,
								     .map = UFTRACE_NONE,
								     .before = UFTRACE_NONE };
	} else if (line->kind == UFTRACE_LINE_DLOP) {
		if (w->library_count >= UFTRACE_LIBRARIES_MAX)
			return uftrace_walk_limit(w, "loaded libraries", UFTRACE_LIBRARIES_MAX);
		struct uftrace_library *list = uftrace_grow(w, w->libraries, &w->library_capacity, w->library_count, sizeof(*list));
		if (!list)
			return false;
		w->libraries = list;
		line->session = (uint32_t)w->library_count;
		list[w->library_count++] = (struct uftrace_library){ .time = line->time,
								     .base = parsed->base,
								     .session = UFTRACE_NONE,
								     .module = UFTRACE_NONE,
								     .name = parsed->path,
								     .sid = parsed->sid,
								     .line = line->order };
	}
	return true;
}

static void warn_line(struct uftrace_walk *w, struct source *s, const struct task_parsed *parsed, uint64_t offset, size_t raw,
		      uint64_t line_number)
{
	struct finding *fd;

	if (parsed->odd_digits && !w->foreign) {
		fd = finding_report(
			w->findings, UFTRACE_RULE_task_timestamp_digits, s, offset, raw,
			"the fraction of the time does not have nine digits, and is a count of nanoseconds all the same");
		finding_path(fd, "line %llu", (unsigned long long)line_number);
	}
	if (parsed->odd_quotes) {
		fd = finding_report(w->findings, UFTRACE_RULE_task_exename_quoting, s, offset, raw, "the path is not in quotes");
		finding_path(fd, "line %llu", (unsigned long long)line_number);
	}
}

#define drop_line(w, source, rule, ...) ((void)PLACE(rule), drop_line_at((w), (source), (rule), __VA_ARGS__))
static void drop_line_at(struct uftrace_walk *w, struct source *s, enum uftrace_rule rule, uint64_t offset, size_t raw,
			 uint64_t line_number, const char *message, const char *why)
{
	struct finding *fd = finding_new_at(w->findings, rule, s, offset, raw);
	char shown[TEXT_QUOTE_SIZE];

	finding_say(fd, "%s: '%s'", message,
		    text_quote(shown, w->task_text + offset, raw && w->task_text[offset + raw - 1] == '\n' ? raw - 1 : raw));
	finding_path(fd, "line %llu", (unsigned long long)line_number);
	uftrace_edit_lose(w, &w->task_edits, offset, raw, (unsigned)rule, why);
	w->task_damage = fd;
}

static const char *const keywords[] = { "SESS", "TASK", "FORK", "DLOP" };

/* One line, of `raw` bytes at offset; text and length are the same without NUL bytes and the LF. */
static bool walk_line(struct uftrace_walk *w, struct source *s, uint64_t offset, size_t raw, const char *text, size_t length,
		      bool ended, bool holed, uint64_t line_number)
{
	struct task_parsed parsed = {
		.line = { .offset = offset, .length = raw, .text = (uint32_t)length, .verbatim = ended && !holed }
	};
	unsigned kind = 0;

	while (kind < 4 && (length < 4 || memcmp(text, keywords[kind], 4) != 0))
		kind++;
	if (kind == 4 && ended && !holed) {
		struct finding *fd = finding_new(w->findings, UFTRACE_RULE_task_line_unknown, s, offset, raw);
		char shown[TEXT_QUOTE_SIZE];
		finding_say(fd, "'%s' is neither SESS, TASK, FORK nor DLOP; readers skip it", text_quote(shown, text, length));
		finding_path(fd, "line %llu", (unsigned long long)line_number);
		w->task_odd = fd;
		return true;
	}
	parsed.line.kind = (enum uftrace_task_kind)kind;
	bool good = kind < 4 && line_parse(text, length, &parsed);
	if (!ended && !(good && (kind == UFTRACE_LINE_SESS || kind == UFTRACE_LINE_DLOP) && !parsed.odd_quotes)) {
		drop_line(w, s, UFTRACE_RULE_task_truncated_tail, offset, raw, line_number, "the file was cut in this line",
			  "a line that was cut");
		return true;
	}
	if (!ended) {
		struct finding *fd = finding_report(w->findings, UFTRACE_RULE_task_truncated_tail, s, offset, raw,
						    "the last line has no LF");
		finding_path(fd, "line %llu", (unsigned long long)line_number);
		uftrace_edit_add(w, &w->task_edits, offset + raw, 0, "\n", 1, UFTRACE_RULE_task_truncated_tail,
				 "the end of the line");
	}
	if (!good) {
		if (holed) {
			uftrace_edit_lose(w, &w->task_edits, offset, raw, UFTRACE_RULE_task_nul_bytes, "a line with a hole");
			return true;
		}
		drop_line(w, s, UFTRACE_RULE_task_line_malformed, offset, raw, line_number,
			  "the line does not have the fields of its keyword", "a line that readers abort on");
		return true;
	}
	if (kind == UFTRACE_LINE_SESS || kind == UFTRACE_LINE_DLOP) {
		bool plain = sid_is_plain(parsed.sid),
		     fits = parsed.sid.length <= UFTRACE_SID_LENGTH && !memchr(parsed.sid.text, '/', parsed.sid.length);
		if (!fits) {
			drop_line(w, s, UFTRACE_RULE_task_sid_format, offset, raw, line_number,
				  "the session id is longer than 16 digits or has a slash, which crashes readers",
				  "a session id that crashes readers");
			return true;
		}
		if ((!plain || parsed.sid.length != UFTRACE_SID_LENGTH) && !(w->foreign && plain)) {
			struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_task_sid_format, TM_WARNING, s, offset, raw);
			char shown[TEXT_QUOTE_SIZE];
			finding_say(fd, "session id '%s' is not 16 lower-case hexadecimal digits",
				    text_quote(shown, parsed.sid.text, parsed.sid.length));
			finding_path(fd, "line %llu", (unsigned long long)line_number);
		}
	}
	warn_line(w, s, &parsed, offset, raw, line_number);
	if (holed && kind < 4) { /* the NUL bytes were between sound parts */
		char *clean = malloc(length + 1);
		if (!clean)
			return uftrace_walk_fail(w, TM_NO_MEMORY);
		memcpy(clean, text, length);
		clean[length] = '\n';
		uftrace_edit_add(w, &w->task_edits, offset, raw, clean, length + 1, UFTRACE_RULE_task_nul_bytes,
				 "the line without its NUL bytes");
		free(clean);
	}
	return keep_line(w, &parsed);
}

/* NUL bytes within the text: one finding for all. Those after the last LF do no harm. */
static struct finding *report_nul(struct uftrace_walk *w, struct source *s, size_t end)
{
	const char *first = end ? memchr(w->task_text, '\0', end) : NULL;
	if (!first)
		return NULL;
	size_t offset = (size_t)(first - w->task_text), n = 0, all = 0;
	while (offset + n < end && !w->task_text[offset + n])
		n++;
	for (size_t i = offset; i < end; i++)
		all += !w->task_text[i];
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_task_nul_bytes, s, offset, n,
					    "%zu NUL bytes in the text: readers abort the load", all);
	return fd;
}

static bool walk_text(struct uftrace_walk *w, struct source *s)
{
	size_t size = w->task_size, end = size;
	const char *last = size ? memrchr(w->task_text, '\n', size) : NULL;

	/* Zeros after the last line, as of an allocation that was never written. */
	size_t tail = last ? (size_t)(last - w->task_text) + 1 : 0;
	if (last && bytes_are_zero(w->task_text + tail, size - tail))
		end = tail;
	w->task_zeros = size - end;
	struct finding *nul = report_nul(w, s, end);
	if (nul)
		w->task_damage = nul;
	uint64_t line_number = 0;
	for (size_t at = 0; at < end;) {
		const char *text = w->task_text + at;
		const char *lf = memchr(text, '\n', end - at);
		size_t raw = lf ? (size_t)(lf - text) + 1 : end - at, length = lf ? raw - 1 : raw;
		bool holed = nul && memchr(text, '\0', length);
		line_number++;
		if (holed) {
			/* Squeeze the NUL bytes out in place: `text` is our own copy of the file. */
			char *own = w->task_text + at;
			size_t n = 0;
			for (size_t i = 0; i < length; i++)
				if (own[i])
					own[n++] = own[i];
			length = n;
		}
		if (holed && !length) {
			uftrace_edit_add(w, &w->task_edits, at, raw, NULL, 0, UFTRACE_RULE_task_nul_bytes, "a hole");
		} else if (!walk_line(w, s, at, raw, text, length, lf != NULL, holed, line_number)) {
			return false;
		}
		at += raw;
	}
	return true;
}

/* The binary file of writers up to 0.5, in the numbering that readers know today. Lines are added as task.txt has them. */
static bool walk_legacy(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *s = f->source;
	char *data = NULL;
	size_t size = 0;
	bool text = w->task_txt != UFTRACE_NONE, good = true;

	if (!s->size || text) {
		struct finding *fd =
			finding_report(w->findings, UFTRACE_RULE_task_legacy_shadow, s, 0, s->size,
				       s->size ? "the old binary file 'task' is there beside task.txt: readers take it instead"
					       : "the file 'task' is empty: readers take it for loaded and never look at task.txt");
		uftrace_file_drop(w, f, UFTRACE_RULE_task_legacy_shadow, "task.txt says the same, and more");
		if (!text)
			w->task_damage = fd;
		return true;
	}
	if (!uftrace_slurp(w, s, &data, &size))
		return false;
	const uint8_t *p = (const uint8_t *)data;
	struct bytes out = { 0 };
	/* In the byte order of the host that recorded; readers never swap it, so it is theirs, too. */
	bool big = size >= 2 && load_u16(p, true) == UFTRACE_TASK_MAGIC;
	for (size_t at = 0; good && at < size;) {
		if (size - at < UFTRACE_TASK_HEADER_SIZE || load_u16(p + at, big) != UFTRACE_TASK_MAGIC) {
			good = false;
			break;
		}
		unsigned type = load_u16(p + at + 2, big);
		uint32_t length = load_u32(p + at + 4, big);
		const uint8_t *body = p + at + UFTRACE_TASK_HEADER_SIZE;
		if (length < 16 || length > size - at - UFTRACE_TASK_HEADER_SIZE) {
			good = false;
			break;
		}
		uint64_t time = load_u64(body, big);
		unsigned long long sec = time / 1000000000u, ns = time % 1000000000u;
		int32_t pid = (int32_t)load_u32(body + 8, big), tid = (int32_t)load_u32(body + 12, big);
		uint32_t name = length >= 40 ? load_u32(body + 36, big) : 0;
		if (type == UFTRACE_TASK_START)
			bytes_printf(&out, "TASK timestamp=%llu.%09llu tid=%d pid=%d\n", sec, ns, tid, pid);
		else if (type == UFTRACE_TASK_FORK_END)
			bytes_printf(&out, "FORK timestamp=%llu.%09llu pid=%d ppid=%d\n", sec, ns, tid, pid);
		else if (type == UFTRACE_TASK_SESSION && length >= 40 && name <= length - 40) {
			bytes_printf(&out, "SESS timestamp=%llu.%09llu pid=%d sid=", sec, ns, pid);
			bytes_append(&out, body + 16, strnlen((const char *)body + 16, UFTRACE_SID_LENGTH));
			bytes_text(&out, " exename=\"");
			bytes_append(&out, body + 40, strnlen((const char *)body + 40, name));
			bytes_text(&out, "\"\n");
		} else {
			good = false;
		}
		at += UFTRACE_TASK_HEADER_SIZE + length;
	}
	free(data);
	if (out.failed || !(w->task_text = malloc(out.size + 1))) {
		bytes_free(&out);
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	if (out.size)
		memcpy(w->task_text, out.data, out.size);
	w->task_size = out.size;
	bytes_free(&out);
	if (!good) {
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_task_legacy_shadow, s, 0, size,
			"the binary file 'task' is damaged or has the numbering of an older version; there is no task.txt");
		w->task_damage = fd;
	}
	w->legacy_text = true;
	w->legacy_bad = !good;
	return walk_text(w, s);
}

bool uftrace_task_walk(struct uftrace_walk *w)
{
	if (w->task_legacy != UFTRACE_NONE && !walk_legacy(w, &w->files[w->task_legacy]))
		return false;
	if (w->task_txt == UFTRACE_NONE) {
		w->task_rebuilt = !w->line_count;
		return true;
	}
	struct source *s = w->files[w->task_txt].source;
	return uftrace_slurp(w, s, &w->task_text, &w->task_size) && walk_text(w, s);
}

bool uftrace_task_plan(struct uftrace_walk *w)
{
	struct bytes *front = &w->task_front, *end = &w->task_added;

	if (front->failed || end->failed)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	if (w->legacy_text && !w->legacy_bad && !front->size && !end->size)
		return true; /* the binary file serves, and is copied as it is */
	unsigned out = plan_output(w->plan, "task.txt");
	unsigned rule = w->task_txt == UFTRACE_NONE ? UFTRACE_RULE_task_missing : w->task_rule;
	const char *why = "made from the maps and the first record of each task";
	if (front->size)
		plan_literal(w->plan, out, front->data, front->size, rule, why);
	if (end->size && w->task_zeros && !w->legacy_text) /* harmless only as long as nothing comes after them */
		uftrace_edit_add(w, &w->task_edits, w->task_size - w->task_zeros, w->task_zeros, NULL, 0,
				 UFTRACE_RULE_task_nul_bytes, "zeros where lines are added");
	if (w->task_txt != UFTRACE_NONE)
		uftrace_edits_apply(w, &w->task_edits, &w->files[w->task_txt], "task.txt");
	if (w->legacy_text) {
		uftrace_edits_free(&w->task_edits);
		plan_literal(w->plan, out, w->task_text, w->task_size, UFTRACE_RULE_task_legacy_shadow,
			     "what the binary file said");
		struct uftrace_file *f = &w->files[w->task_legacy];
		uftrace_file_drop(w, f, UFTRACE_RULE_task_legacy_shadow, "written as task.txt");
	}
	if (end->size)
		plan_literal(w->plan, out, end->data, end->size, rule, why);
	return w->status == TM_OK || false;
}
