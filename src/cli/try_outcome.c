/* The outcome of a reader on a capture. */
#include <stdlib.h>
#include <string.h>

#include "cli/try.h"

static const char *const try_names[TRY_OUTCOMES] = { "fine", "silent", "rejected", "count", "differ",
						     "hang", "memory", "crash",	   "signal" };

const char *try_outcome_name(enum try_outcome outcome)
{
	return try_names[outcome];
}

/* The line that has a match of --crash-pattern, escaped; NULL: none. */
static char *try_pattern_line(const struct cli_options *o, const char *messages)
{
	regmatch_t at;

	if (!o->crash_pattern || regexec(o->crash_pattern, messages, 1, &at, 0))
		return NULL;
	const char *from = messages + at.rm_so;
	while (from > messages && from[-1] != '\n')
		from--;
	char *line = strndup(from, strcspn(from, "\r\n")), *shown = line ? malloc(4 * strlen(line) + 1) : NULL;
	if (shown)
		tracemend_escape(shown, 4 * strlen(line) + 1, line);
	free(line);
	return shown;
}

/* Whether the reader says that memory ran out, in the words of its language. */
static bool try_lacks_memory(const char *messages)
{
	static const char *const words[] = { "std::bad_alloc",
					     "\nMemoryError",
					     "java.lang.OutOfMemoryError",
					     "JavaScript heap out of memory",
					     "memory allocation of ",
					     "fatal error: runtime: out of memory",
					     "fatal error: runtime: cannot allocate memory",
					     "fatal error: out of memory",
					     "Sanitizer: out of memory",
					     "Sanitizer: out-of-memory",
					     "Sanitizer: allocation-size-too-big",
					     "Sanitizer: requested allocation size",
					     "libFuzzer: out-of-memory" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(messages, words[i]))
			return true;
	return false;
}

enum try_outcome try_outcome_judge(const struct cli_options *o, bool valid, const struct child_result *r, struct try_crash *crash)
{
	const char *messages = r->trail ? r->trail : "";
	bool reports = try_crash_parse(messages, crash);

	if (r->end == CHILD_HUNG)
		return TRY_HANG;
	if ((r->end == CHILD_KILLED || r->code) && try_lacks_memory(messages))
		return TRY_MEMORY;
	if (r->end == CHILD_KILLED)
		return TRY_SIGNAL;
	if (!reports && (crash->summary = try_pattern_line(o, messages)))
		reports = true;
	if (reports || (o->crash_exit && r->code == (int)o->crash_exit))
		return TRY_CRASH;
	if (valid)
		return r->code ? TRY_REJECTED : TRY_FINE;
	return !r->code && !r->wrote_messages ? TRY_SILENT : TRY_FINE;
}
