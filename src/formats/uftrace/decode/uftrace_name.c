/* What a file of a recording is by its name. */
#include "formats/uftrace/decode/uftrace_name.h"

#include <stdint.h>
#include <string.h>

#include "core/text.h"
#include "formats/uftrace/decode/uftrace_layout.h"

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static bool ends_with(const char *name, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);
	return length > n && !memcmp(name + length - n, suffix, n);
}

/* uftrace-<sid>-<tid>-<seq>: a buffer that was left in /dev/shm. */
static bool name_is_leftover(struct uftrace_name *out, const char *name)
{
	const char *base = strrchr(name, '/');
	uint64_t sequence;

	base = base ? base + 1 : name;
	if (strncmp(base, "uftrace-", 8) != 0)
		return false;
	base += 8;
	size_t n = strcspn(base, "-");
	if (!n || n > UFTRACE_SID_LENGTH || base[n] != '-')
		return false;
	out->sid = base;
	out->sid_length = n;
	base += n + 1;
	n = digits(base);
	if (base[n] != '-' || !text_parse_u64(base, n, &out->number) || out->number > INT32_MAX)
		return false;
	base += n + 1;
	return text_parse_u64(base, strlen(base), &sequence);
}

static enum uftrace_kind numbered(struct uftrace_name *out, const char *name, const char *prefix, enum uftrace_kind kind)
{
	size_t n = strlen(prefix);

	if (strncmp(name, prefix, n) != 0)
		return UFTRACE_FILE_UNKNOWN;
	size_t d = digits(name + n);
	if (!d || strcmp(name + n + d, ".dat") != 0 || !text_parse_u64(name + n, d, &out->number))
		return UFTRACE_FILE_UNKNOWN;
	return kind;
}

enum uftrace_kind uftrace_name_read(struct uftrace_name *out, const char *name)
{
	static const struct {
		const char *name;
		enum uftrace_kind kind;
	} fixed[] = {
		{ "info", UFTRACE_FILE_INFO },	       { "task.txt", UFTRACE_FILE_TASK_TXT },
		{ "task", UFTRACE_FILE_TASK },	       { "kernel_header", UFTRACE_FILE_KERNEL_HEADER },
		{ "kallsyms", UFTRACE_FILE_KALLSYMS }, { "events.txt", UFTRACE_FILE_EVENTS },
		{ "default.opts", UFTRACE_FILE_OPTS }, { "extern.dat", UFTRACE_FILE_EXTERN },
		{ "note.txt", UFTRACE_FILE_NOTE },     { ".channel", UFTRACE_FILE_CHANNEL },
		{ "gmon.out", UFTRACE_FILE_NOTE },
	};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!strcmp(name, fixed[i].name))
			return fixed[i].kind;
	if (name_is_leftover(out, name))
		return UFTRACE_FILE_SHM;
	if (strchr(name, '/'))
		return UFTRACE_FILE_UNKNOWN;
	if (!strncmp(name, "sid-", 4)) {
		out->sid = name + 4;
		if (ends_with(name, length, ".map.tmp") && length > 12) {
			out->sid_length = length - 12;
			return UFTRACE_FILE_MAP_TMP;
		}
		if (ends_with(name, length, ".map") && length > 8) {
			out->sid_length = length - 8;
			return UFTRACE_FILE_MAP;
		}
		return UFTRACE_FILE_UNKNOWN;
	}
	if (ends_with(name, length, ".sym"))
		return UFTRACE_FILE_SYM;
	if (ends_with(name, length, ".dbg"))
		return UFTRACE_FILE_DBG;
	enum uftrace_kind kind = numbered(out, name, "perf-cpu", UFTRACE_FILE_PERF);
	if (kind == UFTRACE_FILE_UNKNOWN)
		kind = numbered(out, name, "kernel-cpu", UFTRACE_FILE_KERNEL_DAT);
	if (kind != UFTRACE_FILE_UNKNOWN)
		return kind;
	if (ends_with(name, length, ".dat") && name[0] >= '0' && name[0] <= '9') {
		size_t d = digits(name);
		if (d == length - 4 && (name[0] != '0' || d == 1) && text_parse_u64(name, d, &out->number) &&
		    out->number <= INT32_MAX && out->number > 0)
			return UFTRACE_FILE_DAT;
		return UFTRACE_FILE_DAT_ODD;
	}
	return UFTRACE_FILE_UNKNOWN;
}
