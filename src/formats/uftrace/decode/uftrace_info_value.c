/* Lines of info whose values have one form, whatever is recorded. */
#include "formats/uftrace/decode/uftrace_info_value.h"

#include <stddef.h>

#include "formats/uftrace/decode/uftrace_layout.h"

/* In a form, '#' stands for digits, '@' for a letter of the alphabet, and '%', at its end, for printable text. */
static const struct {
	unsigned bit;
	const char *form;
} forms[] = {
	{ UFTRACE_I_EXIT_STATUS, "#" },
	{ UFTRACE_I_EXIT_STATUS, "-#" },
	{ UFTRACE_I_CPUINFO, "lines=#" },
	{ UFTRACE_I_CPUINFO, "nr_cpus=# / # (online/possible)" },
	{ UFTRACE_I_CPUINFO, "desc=%" },
	{ UFTRACE_I_MEMINFO, "#.# / #.# @B (free / total)" },
	{ UFTRACE_I_OSINFO, "lines=#" },
	{ UFTRACE_I_OSINFO, "kernel=%" },
	{ UFTRACE_I_OSINFO, "hostname=%" },
	{ UFTRACE_I_OSINFO, "distro=%" },
	{ UFTRACE_I_USAGEINFO, "lines=#" },
	{ UFTRACE_I_USAGEINFO, "systime=#.#" },
	{ UFTRACE_I_USAGEINFO, "usrtime=#.#" },
	{ UFTRACE_I_USAGEINFO, "ctxsw=# / # (voluntary / involuntary)" },
	{ UFTRACE_I_USAGEINFO, "maxrss=#" },
	{ UFTRACE_I_USAGEINFO, "pagefault=# / # (major / minor)" },
	{ UFTRACE_I_USAGEINFO, "iops=# / # (read / write)" },
	{ UFTRACE_I_LOADINFO, "#.# / #.# / #.#" },
	{ UFTRACE_I_RECORD_DATE, "%" },
	{ UFTRACE_I_VERSION, "%" },
	{ UFTRACE_I_UTC_OFFSET, "#" },
	{ UFTRACE_I_UTC_OFFSET, "-#" },
	{ UFTRACE_I_SYSCTL, "perf_event_paranoid=# kptr_restrict=#" },
	{ UFTRACE_I_SYSCTL, "perf_event_paranoid=-# kptr_restrict=#" },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool matches(const char *form, struct uftrace_str value)
{
	size_t at = 0;

	for (; *form; form++) {
		size_t first = at;
		if (*form == '%') {
			while (at < value.length && value.text[at] >= ' ' && value.text[at] < 127)
				at++;
		} else if (*form == '#') {
			while (at < value.length && is_digit(value.text[at]))
				at++;
			if (at == first)
				return false;
		} else {
			bool letter = at < value.length && value.text[at] >= 'A' && value.text[at] <= 'Z';
			if (at == value.length || (*form == '@' ? !letter : value.text[at] != *form))
				return false;
			at++;
		}
	}
	return at == value.length;
}

bool uftrace_info_value_fits(unsigned bit, bool elapsed_time, struct uftrace_str value)
{
	bool known = false;

	if (!value.length || value.text[value.length - 1] == '=')
		return true;
	if (bit == UFTRACE_I_RECORD_DATE && elapsed_time)
		return matches("#.# sec", value);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].bit != bit)
			continue;
		known = true;
		if (matches(forms[i].form, value))
			return true;
	}
	return !known;
}
