/* Reports of crashes on standard error: of sanitizers, and of the run-time systems of languages. A table says how each begins, and
 * how its frames look. */
#include "cli/try.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

#define CRASH_FRAMES 3u
#define CRASH_NAME_MAX 200u
#define CRASH_TEXT_MAX 300u
/* Lines behind the beginning of a report in which its frames are searched. */
#define CRASH_LINES_MAX 200u
/* Lines of the text of an exception. */
#define EXCEPTION_LINES_MAX 20u

enum crash_frames {
	FRAMES_NONE,
	FRAMES_NUMBERED, /* "    #2 0x55d0 in read_page /src/page.c:12:3", "    #2 0x55d0 (/bin/reader+0x1f3c)" */
	FRAMES_GO,	 /* "main.readPage(0x1, 0x2)", then a tab and the place */
	FRAMES_RUST,	 /* "   2: reader::page::read" */
	FRAMES_PYTHON,	 /* "  File "page.py", line 12, in read_page"; the innermost is the last */
	FRAMES_AT,	 /* "    at readPage (page.js:12:3)", "	at Page.read(Page.java:12)" */
	FRAMES_ASSERT,	 /* "reader: page.c:12: read_page: Assertion `size' failed." */
};

/* The first line that has one of these begins the report. */
static const struct crash_kind {
	const char *begins, *name;
	enum crash_frames frames;
	bool names; /* what follows on the line is a part of the name: "heap-buffer-overflow" */
} kinds[] = {
	{ "ERROR: AddressSanitizer: ", "AddressSanitizer", FRAMES_NUMBERED, true },
	{ "ERROR: HWAddressSanitizer: ", "HWAddressSanitizer", FRAMES_NUMBERED, true },
	{ "ERROR: LeakSanitizer: ", "LeakSanitizer", FRAMES_NUMBERED, true },
	{ "ERROR: UndefinedBehaviorSanitizer: ", "UndefinedBehaviorSanitizer", FRAMES_NUMBERED, true },
	{ "WARNING: MemorySanitizer: ", "MemorySanitizer", FRAMES_NUMBERED, true },
	{ "ERROR: MemorySanitizer: ", "MemorySanitizer", FRAMES_NUMBERED, true },
	{ "WARNING: ThreadSanitizer: ", "ThreadSanitizer", FRAMES_NUMBERED, true },
	{ "ERROR: libFuzzer: ", "libFuzzer", FRAMES_NUMBERED, true },
	/* "panic: runtime error: ..." is Go's. */
	{ "fatal error: ", "Go", FRAMES_GO, false },
	{ "panic: ", "Go", FRAMES_GO, false },
	{ ": runtime error: ", "UndefinedBehaviorSanitizer", FRAMES_NUMBERED, false },
	{ ": Assertion `", "assertion", FRAMES_ASSERT, false },
	{ " panicked at ", "Rust", FRAMES_RUST, false },
	{ "Traceback (most recent call last):", "Python", FRAMES_PYTHON, false },
	{ "Exception in thread \"", "Java", FRAMES_AT, false },
	{ "terminate called after throwing an instance of ", "C++", FRAMES_NONE, false },
	{ "wasm trap: ", "wasm", FRAMES_NONE, false },
	{ "RuntimeError: ", "wasm", FRAMES_AT, false },
	{ "memory allocation of ", "out of memory", FRAMES_NONE, false },
};

/* Frames that carry out a report, allocate, or are the C library's. A name ends where its entry does, unless that ends in '*'. */
static const char *const machinery[] = {
	"__asan*",
	"__interceptor*",
	"__sanitizer*",
	"__ubsan*",
	"__msan*",
	"__tsan*",
	"__lsan*",
	"__hwasan*",
	"___interceptor*",
	"wrap_*",
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"free",
	"operator new*",
	"operator delete*",
	"__mem*",
	"__str*",
	"raise",
	"abort",
	"gsignal",
	"__assert*",
	"__libc*",
	"__GI_*",
	"_start",
	"LLVMFuzzer*",
	"fuzzer::*",
	"runtime.*",
	"panic",
	"reflect.*",
	"syscall.*",
	"rust_begin_unwind",
	"core::*",
	"std::*",
	"<core::*",
	"<std::*",
	"<alloc::*",
	"alloc::*",
	"__rust*", /* and "__rustc::rust_begin_unwind" */
	"backtrace::*",
	"java.base/*",
	"java.*",
	"jdk.*",
	"sun.*",
	"node:*",
	"Module.*",
	"Object.<anonymous>",
	"Function.*",
	"process.*",
	"new *",
};

/* The C library's "memcpy", "strtoul", "vsnprintf_internal": not what only begins so, as "string_table" does. */
static bool is_c_library(const char *name)
{
	static const char *const words[] = { "cpy",	 "pcpy",    "move",   "set",	"cmp",	"chr",	 "rchr",  "mem",
					     "rawchr",	 "len",	    "nlen",   "ncpy",	"cat",	"ncat",	 "ncmp",  "casecmp",
					     "ncasecmp", "casestr", "str",    "dup",	"ndup", "tok",	 "tok_r", "sep",
					     "spn",	 "cspn",    "pbrk",   "chrnul", "coll", "xfrm",	 "error", "error_r",
					     "ftime",	 "ptime",   "tol",    "toll",	"toul", "toull", "tod",	  "tof",
					     "told",	 "toimax",  "toumax", "lcpy",	"lcat", "align" };
	static const char *const printers[] = { "printf",  "vprintf",  "snprintf", "vsnprintf",
						"sprintf", "vsprintf", "fprintf",  "vfprintf" };

	bool text = !strncmp(name, "str", 3) || !strncmp(name, "mem", 3);
	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(name + 3, words[i]))
			return true;
	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++) {
		size_t n = strlen(printers[i]);
		if (!strncmp(name, printers[i], n) &&
		    (!name[n] || !strcmp(name + n, "_internal") || !strncmp(name + n, "_common", 7)))
			return true;
	}
	return false;
}

static bool crash_is_machinery(const char *name)
{
	if (is_c_library(name))
		return true;
	for (size_t i = 0; i < sizeof(machinery) / sizeof(machinery[0]); i++) {
		size_t n = strlen(machinery[i]);
		bool open = machinery[i][n - 1] == '*';
		if (open ? !strncmp(name, machinery[i], n - 1) : !strcmp(name, machinery[i]))
			return true;
	}
	/* Rust: "<usize as core::slice::index::SliceIndex<[T]>>::index". A type of the reader has a path: "<reader::Page as ...".
	 */
	const char *as = *name == '<' ? strstr(name, " as ") : NULL;
	return as && !memmem(name, (size_t)(as - name), "::", 2) &&
	       (!strncmp(as + 4, "core::", 6) || !strncmp(as + 4, "alloc::", 7) || !strncmp(as + 4, "std::", 5));
}

/* ---- lines ---- */

static const char *line_next(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* Copies [from, to) without blanks at its ends. False: nothing is left. */
static bool name_copy(char out[CRASH_NAME_MAX], const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	size_t length = (size_t)(to - from);
	(void)snprintf(out, CRASH_NAME_MAX, "%.*s", (int)(length < CRASH_NAME_MAX ? length : CRASH_NAME_MAX - 1), from);
	return *out != '\0';
}

/* Where the arguments of a function begin: the parenthesis that is not at its beginning, as that of "(anonymous namespace)" is. */
static const char *arguments_begin(const char *from, const char *end)
{
	for (const char *p = from + 1; p < end; p++)
		if (*p == '(' && strncmp(p, "(anonymous", 10) != 0 && (p - from < 8 || strncmp(p - 8, "operator", 8) != 0))
			return p;
	return end;
}

/* "module+0x12" of "(/path/module+0x12) (BuildId: ...)". */
static bool module_name(char out[CRASH_NAME_MAX], const char *from, const char *end)
{
	const char *close = memchr(from, ')', (size_t)(end - from));
	if (!close)
		return false;
	for (const char *p = close; p > from; p--)
		if (p[-1] == '/' || p[-1] == '(')
			return name_copy(out, p, close);
	return false;
}

static bool frame_numbered(const char *line, const char *end, char out[CRASH_NAME_MAX])
{
	const char *p = line + strspn(line, " \t");

	if (*p != '#' || !isdigit((unsigned char)p[1]))
		return false;
	while (p < end && *p != ' ')
		p++;
	p += strspn(p, " ");
	bool address = !strncmp(p, "0x", 2);
	while (address && p < end && *p != ' ')
		p++;
	/* ThreadSanitizer prints no address, and no "in". */
	const char *name = !address && *p != '(' ? p : !strncmp(p, " in ", 4) ? p + 4 : NULL;
	if (name) {
		const char *stop = memchr(name, '/', (size_t)(end - name));
		stop = stop && stop > name && stop[-1] == ' ' ? stop : end;
		const char *open = arguments_begin(name, stop);
		/* "in read_page page.c:12": a place without a path. */
		for (const char *c = name; c + 1 < open; c++) {
			const char *blank = *c == ':' && isdigit((unsigned char)c[1])
						    ? text_last_byte(name, ' ', (size_t)(c - name))
						    : NULL;
			open = blank ? blank : open;
		}
		return name_copy(out, name, open);
	}
	return module_name(out, p, end);
}

static bool frame_go(const char *line, const char *end, char out[CRASH_NAME_MAX])
{
	const char *open = text_last_byte(line, '(', (size_t)(end - line));

	if (isspace((unsigned char)*line) || !open || open == line || end[-1] != ')' || !memchr(line, '.', (size_t)(open - line)))
		return false;
	return name_copy(out, line, open);
}

static bool frame_rust(const char *line, const char *end, char out[CRASH_NAME_MAX])
{
	const char *p = line + strspn(line, " ");
	size_t digits = strspn(p, "0123456789");

	if (!digits || p[digits] != ':')
		return false;
	p += digits + 1;
	/* The hash at the end differs between builds. */
	const char *hash = text_last_byte(p, ':', (size_t)(end - p));
	return name_copy(out, p, hash && hash - p > 1 && hash[-1] == ':' && hash[1] == 'h' && end - hash == 18 ? hash - 1 : end);
}

static bool frame_python(const char *line, const char *end, char out[CRASH_NAME_MAX])
{
	const char *file = strncmp(line, "  File \"", 8) ? NULL : line + 8, *in = NULL;
	const char *quote = file ? memchr(file, '"', (size_t)(end - file)) : NULL;

	if (!quote)
		return false;
	for (const char *p = quote; p + 5 <= end; p++)
		if (!strncmp(p, ", in ", 5))
			in = p + 5;
	const char *slash = text_last_byte(file, '/', (size_t)(quote - file));
	if (!in)
		return name_copy(out, slash ? slash + 1 : file, quote);
	char function[CRASH_NAME_MAX], base[CRASH_NAME_MAX];
	if (!name_copy(function, in, end) || !name_copy(base, slash ? slash + 1 : file, quote))
		return false;
	(void)snprintf(out, CRASH_NAME_MAX, "%.90s:%.100s", base, function);
	return true;
}

static bool frame_at(const char *line, const char *end, char out[CRASH_NAME_MAX])
{
	const char *p = line + strspn(line, " \t");

	if (p == line || strncmp(p, "at ", 3) != 0)
		return false;
	p += 3;
	if (!strncmp(p, "async ", 6))
		p += 6;
	const char *open = arguments_begin(p, end);
	/* "at boundsError (node:internal/buffer:88:9)": one of Node's own, whatever its name. */
	if (open < end)
		return name_copy(out, strncmp(open, "(node:", 6) ? p : open + 1, strncmp(open, "(node:", 6) ? open : end);
	/* "at /path/page.js:12:3": the name of the file. */
	const char *slash = text_last_byte(p, '/', (size_t)(end - p)),
		   *colon = memchr(slash ? slash : p, ':', (size_t)(end - (slash ? slash : p)));
	return name_copy(out, slash ? slash + 1 : p, colon ? colon : end);
}

static bool frame_name(enum crash_frames kind, const char *line, char out[CRASH_NAME_MAX])
{
	const char *end = line + strcspn(line, "\r\n");

	switch (kind) {
	case FRAMES_NUMBERED:
		return frame_numbered(line, end, out);
	case FRAMES_GO:
		return frame_go(line, end, out);
	case FRAMES_RUST:
		return frame_rust(line, end, out);
	case FRAMES_PYTHON:
		return frame_python(line, end, out);
	case FRAMES_AT:
		return frame_at(line, end, out);
	case FRAMES_NONE:
	case FRAMES_ASSERT:
		break;
	}
	return false;
}

/* ---- the report ---- */

struct crash_report {
	const struct crash_kind *kind;
	const char *line; /* the one with its beginning */
	const char *text; /* behind the beginning */
	char names[CRASH_FRAMES][CRASH_NAME_MAX];
	unsigned count;
	char last[CRASH_TEXT_MAX]; /* the last line of a traceback */
};

/* An uncaught exception of Node has no word of its own. */
static const struct crash_kind exception = { "", "exception", FRAMES_AT, false };

static bool name_ends(const char *name, size_t length, const char *end)
{
	return length >= strlen(end) && !strncmp(name + length - strlen(end), end, strlen(end));
}

/* "TypeError: text", "RangeError [ERR_OUT_OF_RANGE]: text", "Bad [Error]: text", or without a text. */
static bool exception_names(const char *line, size_t length)
{
	size_t name = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$."), end = name;

	if (name && line[name] == ' ' && line[name + 1] == '[') {
		end = name + 2 + strcspn(line + name + 2, "]\r\n");
		if (line[end] != ']')
			return false;
		end++;
	}
	bool error = name_ends(line, name, "Error") || name_ends(line, name, "Exception") || name_ends(line, end, "[Error]");
	return error && (end == length || line[end] == ':');
}

/* Whether frames follow; the text may have several lines. */
static bool exception_frames(const char *line)
{
	for (unsigned i = 0; i < EXCEPTION_LINES_MAX && *line; i++) {
		line = line_next(line);
		if (!strncmp(line, "    at ", 7))
			return true;
	}
	return false;
}

/* Of what Node prints of anything else that is thrown: its place, a line of source, a mark below it, and the text behind an empty
 * line or none. Whether the line is the text. */
static bool exception_thrown(const char *text, const char *line)
{
	const char *at = line;

	for (unsigned i = 0; i < 2 && at > text; i++) {
		const char *before = at - 1;
		while (before > text && before[-1] != '\n')
			before--;
		size_t blanks = strspn(before, " \t");
		if (before[blanks] == '^' && (before[blanks + 1] == '\n' || before[blanks + 1] == '^'))
			return *line && *line != '\n' && strstr(line, "\nNode.js v") != NULL;
		if (*before != '\n')
			return false;
		at = before;
	}
	return false;
}

static bool crash_find(const char *text, struct crash_report *r)
{
	for (const char *line = text; *line; line = line_next(line)) {
		size_t length = strcspn(line, "\n");
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			const char *at = memmem(line, length, kinds[i].begins, strlen(kinds[i].begins));
			if (!at || (kinds[i].frames == FRAMES_GO && (at != line || !strstr(line, "\ngoroutine "))))
				continue;
			*r = (struct crash_report){ .kind = &kinds[i], .line = line, .text = at + strlen(kinds[i].begins) };
			return true;
		}
		if ((exception_names(line, length) && exception_frames(line)) || exception_thrown(text, line)) {
			*r = (struct crash_report){ .kind = &exception, .line = line, .text = line };
			return true;
		}
	}
	return false;
}

/* Keeps the frame: the first three, or of a traceback of Python the last three. */
static void crash_frame(struct crash_report *r, const char *name)
{
	if (r->kind->frames == FRAMES_PYTHON) {
		memmove(r->names[1], r->names[0], sizeof(r->names) - sizeof(r->names[0]));
		r->count = r->count < CRASH_FRAMES ? r->count + 1 : CRASH_FRAMES;
		(void)snprintf(r->names[0], CRASH_NAME_MAX, "%s", name);
	} else if (r->count < CRASH_FRAMES && (!r->count || strcmp(r->names[r->count - 1], name) != 0)) {
		(void)snprintf(r->names[r->count++], CRASH_NAME_MAX, "%s", name);
	}
}

/* "#1 0x7f... in qsort (/usr/lib/libc.so.6+0x46b9c)". */
static bool frame_of_c_library(const char *line)
{
	size_t length = strcspn(line, "\n");

	return memmem(line, length, "/libc.so.", 9) || memmem(line, length, "/ld-musl-", 9);
}

/* The frames of the first stack. */
static void crash_frames(struct crash_report *r)
{
	const char *line = r->line, *goroutine = r->kind->frames == FRAMES_GO ? strstr(line, "\ngoroutine ") : NULL;
	bool begun = false;

	/* Go may print the stack of its own thread first. */
	line = goroutine ? goroutine + 1 : line;
	for (unsigned i = 0; i < CRASH_LINES_MAX && *line; i++) {
		char name[CRASH_NAME_MAX];
		line = line_next(line);
		if (frame_name(r->kind->frames, line, name)) {
			begun = true;
			if (!crash_is_machinery(name) && !frame_of_c_library(line))
				crash_frame(r, name);
		} else if (begun && r->kind->frames == FRAMES_PYTHON && *line && *line != ' ' && *line != '\n') {
			(void)name_copy(r->last, line, line + strcspn(line, "\r\n"));
			return;
		} else if (begun && (*line == '\n' || !*line)) {
			return;
		}
	}
}

/* Without a stack: the function of an assertion, or the place that the line names. */
static void crash_place(struct crash_report *r)
{
	const char *end = r->line + strcspn(r->line, "\r\n"), *from = r->line, *to = r->text - strlen(r->kind->begins);
	char name[CRASH_NAME_MAX];

	if (r->kind->frames == FRAMES_ASSERT) {
		for (const char *p = r->line; p + 2 <= to; p++)
			if (!strncmp(p, ": ", 2))
				from = p + 2;
		to = arguments_begin(from, to);
	} else if (r->kind->frames == FRAMES_RUST) {
		/* Before 1.73 the message comes first: 'message', src/page.rs:12:3 */
		const char *comma = text_last_byte(r->text, ',', (size_t)(end - r->text));
		from = comma ? comma + 1 : r->text;
		to = end > from && end[-1] == ':' ? end - 1 : end;
	} else if (r->kind->frames == FRAMES_NUMBERED && to > from) {
		const char *slash = text_last_byte(from, '/', (size_t)(to - from));
		from = slash ? slash + 1 : from; /* "page.c:12:3" */
	} else {
		return;
	}
	if (name_copy(name, from, to))
		crash_frame(r, name);
}

/* The name of the report with what it says, in one line. */
static void crash_summary(const struct crash_report *r, char out[CRASH_TEXT_MAX])
{
	const char *text = r->text;
	size_t length = strcspn(text, "\r\n");

	/* Rust from 1.73 on says where, and what on the next line; Java which thread, and what behind it. */
	if (r->kind->frames == FRAMES_RUST && length && text[length - 1] == ':')
		text = line_next(text);
	const char *thread = !strcmp(r->kind->name, "Java") ? memmem(text, length, "\" ", 2) : NULL;
	text = thread ? thread + 2 : text;
	length = strcspn(text, "\r\n");
	const char *stop = r->kind->names ? memmem(text, length, " on ", 4) : NULL;

	if (*r->last) {
		(void)snprintf(out, CRASH_TEXT_MAX, "%s: %.250s", r->kind->name, r->last);
		return;
	}
	length = stop ? (size_t)(stop - text) : length;
	(void)snprintf(out, CRASH_TEXT_MAX, "%s: %.*s", r->kind->name, (int)(length < 240 ? length : 240), text);
}

static char *crash_escape(const char *text)
{
	size_t room = 4 * strlen(text) + 1;
	char *shown = malloc(room);

	if (shown)
		tracemend_escape(shown, room, text);
	return shown;
}

bool try_crash_parse(const char *messages, struct try_crash *crash)
{
	struct crash_report r;
	char summary[CRASH_TEXT_MAX], site[CRASH_FRAMES * (CRASH_NAME_MAX + 3) + 1] = "";

	*crash = (struct try_crash){ 0 };
	if (!crash_find(messages, &r))
		return false;
	crash_frames(&r);
	if (!r.count)
		crash_place(&r);
	crash_summary(&r, summary);
	for (unsigned i = 0; i < r.count; i++) {
		size_t have = strlen(site);
		(void)snprintf(site + have, sizeof(site) - have, "%s%s", i ? " < " : "", r.names[i]);
	}
	crash->summary = crash_escape(summary);
	crash->site = *site ? crash_escape(site) : NULL;
	return true;
}

void try_crash_free(struct try_crash *crash)
{
	free(crash->summary);
	free(crash->site);
	*crash = (struct try_crash){ 0 };
}
