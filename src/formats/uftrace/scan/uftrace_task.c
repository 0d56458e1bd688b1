/* task.txt: its lines, one by one. What they mean together is in uftrace_session.c. */
#include <stdlib.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_session.h"
#include "formats/uftrace/scan/uftrace_task.h"

static bool sid_is_plain(struct uftrace_str sid)
{
	size_t n = 0;
	while (n < sid.length && sid.text[n] && strchr("0123456789abcdef", sid.text[n]))
		n++;
	return n == sid.length;
}

/* A line of the text. */
struct text_line {
	struct source *source;
	uint64_t offset; /* in the file */
	size_t raw;	 /* bytes with NUL bytes and the LF */
	const char *text;
	size_t length;	     /* without NUL bytes and the LF */
	bool ended, had_nul; /* it has an LF; it had NUL bytes */
	bool mended;	     /* its words were hit, and are written anew */
	uint64_t number;
};

static bool keep_session(struct uftrace_walk *w, struct uftrace_task_line *line, const struct uftrace_task_parsed *parsed)
{
	struct uftrace_sessions *sessions = w->sessions;

	if (sessions->count >= UFTRACE_SESSIONS_MAX)
		return uftrace_walk_limit(w, "sessions", UFTRACE_SESSIONS_MAX);
	if (!uftrace_walk_room(w, &sessions->list, &sessions->capacity, sessions->count, sizeof(*sessions->list)))
		return false;
	line->session = (uint32_t)sessions->count;
	sessions->list[sessions->count++] = (struct uftrace_session){ .sid = parsed->sid,
								      .exename = parsed->path,
								      .time = line->time,
								      .pid = line->id,
								      .line = line->order,
								      .map = UFTRACE_NONE,
								      .before = UFTRACE_NONE };
	return true;
}

static bool keep_library(struct uftrace_walk *w, struct uftrace_task_line *line, const struct uftrace_task_parsed *parsed)
{
	struct uftrace_sessions *sessions = w->sessions;

	if (sessions->library_count >= UFTRACE_LIBRARIES_MAX)
		return uftrace_walk_limit(w, "loaded libraries", UFTRACE_LIBRARIES_MAX);
	if (!uftrace_walk_room(w, &sessions->libraries, &sessions->library_capacity, sessions->library_count,
			       sizeof(*sessions->libraries)))
		return false;
	line->session = (uint32_t)sessions->library_count;
	sessions->libraries[sessions->library_count++] = (struct uftrace_library){ .time = line->time,
										   .base = parsed->base,
										   .session = UFTRACE_NONE,
										   .module = UFTRACE_NONE,
										   .name = parsed->path,
										   .sid = parsed->sid,
										   .line = line->order };
	return true;
}

static bool keep_line(struct uftrace_walk *w, const struct text_line *l, const struct uftrace_task_parsed *parsed)
{
	struct uftrace_tasks *tasks = w->tasks;

	if (tasks->count >= 4 * UFTRACE_TASKS_MAX)
		return uftrace_walk_limit(w, "lines in task.txt", 4 * UFTRACE_TASKS_MAX);
	if (!uftrace_walk_room(w, &tasks->lines, &tasks->capacity, tasks->count, sizeof(*tasks->lines)))
		return false;
	struct uftrace_task_line *line = &tasks->lines[tasks->count];
	*line = (struct uftrace_task_line){ .offset = l->offset,
					    .length = l->raw,
					    .text = (uint32_t)l->length,
					    .verbatim = l->ended && !l->had_nul && !l->mended,
					    .kind = parsed->kind,
					    .order = (uint32_t)tasks->count++,
					    .number = (uint32_t)l->number,
					    .time = parsed->time,
					    .id = parsed->id,
					    .parent = parsed->parent,
					    .session = UFTRACE_NONE };
	if (line->kind == UFTRACE_LINE_SESS)
		return keep_session(w, line, parsed);
	return line->kind != UFTRACE_LINE_DLOP || keep_library(w, line, parsed);
}

static void name_line(struct finding *fd, const struct text_line *l)
{
	finding_path(fd, "line %llu", (unsigned long long)l->number);
}

static void warn_line(struct uftrace_walk *w, const struct text_line *l, const struct uftrace_task_parsed *parsed)
{
	if (parsed->odd_digits && !w->info->foreign)
		name_line(finding_report(w->findings, UFTRACE_RULE_task_timestamp_digits, l->source, l->offset, l->raw,
					 "the fraction of the time does not have nine digits, and is a count of nanoseconds all "
					 "the same"),
			  l);
	if (parsed->odd_quotes)
		name_line(finding_report(w->findings, UFTRACE_RULE_task_exename_quoting, l->source, l->offset, l->raw,
					 "the path is not in quotes"),
			  l);
}

/* Reports the line, and leaves it out. */
#define drop_line(w, l, rule, ...) ((void)PLACE(rule), drop_line_at((w), (l), (rule), __VA_ARGS__))
static void drop_line_at(struct uftrace_walk *w, const struct text_line *l, enum uftrace_rule rule, const char *message,
			 const char *why)
{
	const char *text = w->tasks->text + l->offset;
	char shown[TEXT_QUOTE_SIZE];
	struct finding *fd = finding_new_at(w->findings, rule, l->source, l->offset, l->raw);

	finding_say(fd, "%s: '%s'", message, text_quote(shown, text, l->raw && text[l->raw - 1] == '\n' ? l->raw - 1 : l->raw));
	name_line(fd, l);
	uftrace_edit_lose(w, &w->tasks->edits, l->offset, l->raw, (unsigned)rule, why);
	w->tasks->damage = fd;
}

/* The session id of a SESS or DLOP line. False: the line is left out. */
static bool check_sid(struct uftrace_walk *w, const struct text_line *l, struct uftrace_str sid)
{
	bool plain = sid_is_plain(sid);

	if (sid.length > UFTRACE_SID_LENGTH || memchr(sid.text, '/', sid.length)) {
		drop_line(w, l, UFTRACE_RULE_task_sid_format,
			  "the session id is longer than 16 digits or has a slash, which crashes readers",
			  "a session id that crashes readers");
		return false;
	}
	if ((!plain || sid.length != UFTRACE_SID_LENGTH) && !(w->info->foreign && plain)) {
		struct finding *fd = finding_milder(w->findings, UFTRACE_RULE_task_sid_format, TM_WARNING, l->source, l->offset,
						    l->raw);
		char shown[TEXT_QUOTE_SIZE];
		finding_say(fd, "session id '%s' is not 16 lower-case hexadecimal digits", text_quote(shown, sid.text, sid.length));
		name_line(fd, l);
	}
	return true;
}

/* The line without its NUL bytes: all of its fields are there. */
static bool remove_nul(struct uftrace_walk *w, const struct text_line *l)
{
	char *clean = malloc(l->length + 1);

	if (!clean)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	memcpy(clean, l->text, l->length);
	clean[l->length] = '\n';
	uftrace_edit_add(w, &w->tasks->edits, l->offset, l->raw, clean, l->length + 1, UFTRACE_RULE_task_nul_bytes,
			 "the line without its NUL bytes");
	uftrace_repair_doubt(w, l->source, l->offset, l->raw); /* which may have been digits */
	free(clean);
	return true;
}

static void report_words(struct uftrace_walk *w, const struct text_line *l, unsigned wrong, const char *shown)
{
	name_line(finding_report(w->findings, UFTRACE_RULE_task_line_malformed, l->source, l->offset, l->raw,
				 "%u byte%s of the words of the line %s other than expected: '%s'", wrong, wrong > 1 ? "s" : "",
				 wrong > 1 ? "are" : "is", shown),
		  l);
}

/* Writes the words of a line anew, where all of its values are there. More than one byte may have been more than the words. */
static bool mend_line(struct uftrace_walk *w, struct text_line *l, struct uftrace_task_parsed *parsed)
{
	char shown[TEXT_QUOTE_SIZE], *own = w->tasks->text + l->offset;
	bool sure = true;

	(void)text_quote(shown, l->text, l->length);
	unsigned wrong = l->ended && !l->had_nul ? uftrace_task_line_mend(own, l->length, parsed) : 0;
	size_t left = l->ended && !l->had_nul && !wrong ? uftrace_task_line_squeeze(own, l->length, parsed, &sure) : 0;
	if (!wrong && !left)
		return false;
	if (left) {
		wrong = (unsigned)(l->length - left);
		l->length = left;
		own[left] = '\n';
	}
	report_words(w, l, wrong, shown);
	uftrace_edit_add(w, &w->tasks->edits, l->offset, l->raw, own, left ? left + 1 : l->raw, UFTRACE_RULE_task_line_malformed,
			 "the words of the line, whose values are there");
	if (wrong > 1 || !sure)
		uftrace_repair_doubt(w, l->source, l->offset, l->raw);
	return l->mended = true;
}

/* Writes the keyword of a line anew, of which bytes are missing. */
static bool add_keyword(struct uftrace_walk *w, struct text_line *l, struct uftrace_task_parsed *parsed)
{
	char shown[TEXT_QUOTE_SIZE];
	size_t left = l->ended && !l->had_nul ? uftrace_task_line_behead(l->text, l->length, parsed) : SIZE_MAX;

	if (left == SIZE_MAX)
		return false;
	const char *word = uftrace_task_word(parsed->kind);
	name_line(finding_report(w->findings, UFTRACE_RULE_task_line_malformed, l->source, l->offset, l->raw,
				 "the keyword of the line is incomplete: '%s'", text_quote(shown, l->text, l->length)),
		  l);
	uftrace_edit_add(w, &w->tasks->edits, l->offset, left, word, strlen(word), UFTRACE_RULE_task_line_malformed,
			 "the keyword of the line, whose values are there");
	uftrace_repair_doubt(w, l->source, l->offset + left, l->raw - left);
	return l->mended = true;
}

static bool walk_line(struct uftrace_walk *w, struct text_line *l)
{
	struct uftrace_task_parsed parsed = { .kind = uftrace_task_keyword(l->text, l->length) };
	bool good = parsed.kind != UFTRACE_LINE_OTHER && uftrace_task_line_read(l->text, l->length, &parsed);

	good = good || mend_line(w, l, &parsed) || add_keyword(w, l, &parsed);
	if (parsed.kind == UFTRACE_LINE_OTHER && l->ended && !l->had_nul) {
		uftrace_repair_doubt(w, l->source, l->offset, l->raw);
		char shown[TEXT_QUOTE_SIZE];
		name_line(finding_report(w->findings, UFTRACE_RULE_task_line_unknown, l->source, l->offset, l->raw,
					 "'%s' is neither SESS, TASK, FORK nor DLOP; readers skip it",
					 text_quote(shown, l->text, l->length)),
			  l);
		return true;
	}
	bool has_sid = parsed.kind == UFTRACE_LINE_SESS || parsed.kind == UFTRACE_LINE_DLOP;
	if (!l->ended && !(good && has_sid && !parsed.odd_quotes)) {
		drop_line(w, l, UFTRACE_RULE_task_truncated_tail, "the file was cut in this line", "a line that was cut");
		return true;
	}
	if (!l->ended) {
		name_line(finding_report(w->findings, UFTRACE_RULE_task_truncated_tail, l->source, l->offset, l->raw,
					 "the last line has no LF"),
			  l);
		uftrace_edit_add(w, &w->tasks->edits, l->offset + l->raw, 0, "\n", 1, UFTRACE_RULE_task_truncated_tail,
				 "the end of the line");
	}
	if (!good && l->had_nul) {
		uftrace_edit_lose(w, &w->tasks->edits, l->offset, l->raw, UFTRACE_RULE_task_nul_bytes,
				  "a line with NUL bytes in a field");
		return true;
	}
	if (!good) {
		drop_line(w, l, UFTRACE_RULE_task_line_malformed, "the line does not have the fields of its keyword",
			  "a line that readers abort on");
		return true;
	}
	if (has_sid && !check_sid(w, l, parsed.sid))
		return true;
	warn_line(w, l, &parsed);
	if (l->had_nul && !remove_nul(w, l))
		return false;
	return keep_line(w, l, &parsed);
}

/* NUL bytes within the text: one finding for all. Those after the last LF do no harm. */
static struct finding *report_nul(struct uftrace_walk *w, struct source *source, size_t end)
{
	const char *first = end ? memchr(w->tasks->text, '\0', end) : NULL;
	if (!first)
		return NULL;
	size_t offset = (size_t)(first - w->tasks->text), n = 0, all = 0;
	while (offset + n < end && !w->tasks->text[offset + n])
		n++;
	for (size_t i = offset; i < end; i++)
		all += !w->tasks->text[i];
	struct finding *fd = finding_report(w->findings, UFTRACE_RULE_task_nul_bytes, source, offset, n,
					    "%zu NUL bytes in the text: readers abort the load", all);
	return fd;
}

static bool walk_text(struct uftrace_walk *w, struct source *source)
{
	size_t size = w->tasks->size, end = size;
	const char *last = size ? text_last_byte(w->tasks->text, '\n', size) : NULL;

	/* Zeros after the last line, as of an allocation that was never written. */
	size_t tail = last ? (size_t)(last - w->tasks->text) + 1 : 0;
	if (last && bytes_are_zero(w->tasks->text + tail, size - tail))
		end = tail;
	w->tasks->zeros = size - end;
	struct finding *nul = report_nul(w, source, end);
	if (nul)
		w->tasks->damage = nul;
	uint64_t line_number = 0;
	for (size_t at = 0; at < end;) {
		const char *text = w->tasks->text + at;
		const char *lf = memchr(text, '\n', end - at);
		size_t raw = lf ? (size_t)(lf - text) + 1 : end - at, length = lf ? raw - 1 : raw;
		bool had_nul = nul && memchr(text, '\0', length);
		line_number++;
		if (had_nul) { /* the NUL bytes are removed in place, in our own copy of the file */
			char *own = w->tasks->text + at;
			size_t n = 0;
			for (size_t i = 0; i < length; i++)
				if (own[i])
					own[n++] = own[i];
			length = n;
		}
		struct text_line line = { .source = source,
					  .offset = at,
					  .raw = raw,
					  .text = text,
					  .length = length,
					  .ended = lf != NULL,
					  .had_nul = had_nul,
					  .number = line_number };
		if (had_nul && !length)
			uftrace_edit_add(w, &w->tasks->edits, at, raw, NULL, 0, UFTRACE_RULE_task_nul_bytes, "NUL bytes");
		else if (!walk_line(w, &line))
			return false;
		at += raw;
	}
	return true;
}

/* The binary file of writers up to 0.5, in the numbering that readers know today. Lines are added as task.txt has them. */
static bool walk_legacy(struct uftrace_walk *w, struct uftrace_file *f)
{
	struct source *source = f->source;
	char *data = NULL;
	size_t size = 0;
	bool text = w->dir->task_txt != UFTRACE_NONE, good = true;

	if (!source->size || text) {
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_task_legacy_shadow, source, 0, source->size,
			source->size ? "the old binary file 'task' is there beside task.txt: readers take it instead"
				     : "the file 'task' is empty: readers take it for loaded and never look at task.txt");
		uftrace_repair_drop(w, f, UFTRACE_RULE_task_legacy_shadow, "task.txt says the same, and more");
		if (!text)
			w->tasks->damage = fd;
		return true;
	}
	if (!uftrace_walk_slurp(w, source, &data, &size))
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
	if (out.failed || !(w->tasks->text = malloc(out.size + 1))) {
		bytes_free(&out);
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	}
	if (out.size)
		memcpy(w->tasks->text, out.data, out.size);
	w->tasks->size = out.size;
	bytes_free(&out);
	if (!good) {
		struct finding *fd = finding_report(
			w->findings, UFTRACE_RULE_task_legacy_shadow, source, 0, size,
			"the binary file 'task' is damaged or has the numbering of an older version; there is no task.txt");
		w->tasks->damage = fd;
	}
	w->tasks->legacy_text = true;
	w->tasks->legacy_bad = !good;
	return walk_text(w, source);
}

bool uftrace_task_walk(struct uftrace_walk *w)
{
	if (w->dir->task_legacy != UFTRACE_NONE && !walk_legacy(w, &w->dir->files[w->dir->task_legacy]))
		return false;
	if (w->dir->task_txt == UFTRACE_NONE) {
		return true;
	}
	struct source *source = w->dir->files[w->dir->task_txt].source;
	return uftrace_walk_slurp(w, source, &w->tasks->text, &w->tasks->size) && walk_text(w, source);
}

struct source *uftrace_task_source(const struct uftrace_walk *w)
{
	const struct uftrace_dir *dir = w->dir;
	uint32_t file = dir->task_txt != UFTRACE_NONE	   ? dir->task_txt
			: dir->task_legacy != UFTRACE_NONE ? dir->task_legacy
							   : dir->info;

	return file != UFTRACE_NONE ? dir->files[file].source : w->in->sources[0];
}

int64_t uftrace_task_process(const struct uftrace_tasks *tasks, uint64_t tid)
{
	uint32_t line = map_get(&tasks->known, tid);

	if (line == UFTRACE_NONE)
		return (int64_t)tid;
	return tasks->lines[line].kind == UFTRACE_LINE_TASK ? tasks->lines[line].parent : tasks->lines[line].id;
}

void uftrace_task_free(struct uftrace_tasks *tasks)
{
	free(tasks->text);
	free(tasks->lines);
	map_free(&tasks->known);
	map_free(&tasks->known_first);
	map_free(&tasks->parents);
	edits_free(&tasks->edits);
	bytes_free(&tasks->added);
	bytes_free(&tasks->front);
}
