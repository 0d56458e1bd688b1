/* Names of tracefiles. */
#include "formats/lttng/decode/lttng_name.h"

const char *lttng_name_base(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

size_t lttng_name_split(const char *base, int64_t *cpu, bool *loose)
{
	const char *bar = strrchr(base, '_');
	*cpu = -1;
	*loose = false;
	if (!bar || bar == base)
		return 0;
	const char *p = bar + 1;
	bool negative = *p == '-';
	p += negative;
	if (*p < '0' || *p > '9')
		return 0;
	const char *digits = p;
	int64_t value = 0;
	while (*p >= '0' && *p <= '9') {
		if (value < INT64_C(1) << 40)
			value = 10 * value + (*p - '0');
		p++;
	}
	*cpu = negative ? -value - 1 : value;
	*loose = *p != '\0' || (*digits == '0' && p - digits > 1);
	return (size_t)(bar - base);
}

bool lttng_name_is(const char *name, size_t length, const char *text)
{
	return strlen(text) == length && !memcmp(name, text, length);
}

bool lttng_name_is_flight(const char *base)
{
	return !strncmp(base, LTTNG_FLIGHT, LTTNG_FLIGHT_LENGTH);
}

bool lttng_name_is_metadata(const char *base)
{
	int64_t cpu;
	bool loose;
	if (lttng_name_is_flight(base))
		base += LTTNG_FLIGHT_LENGTH;
	size_t n = lttng_name_split(base, &cpu, &loose);
	return lttng_name_is(base, n, "metadata") || lttng_name_is(base, n, "facilities");
}

/* Some part of the path begins with a dot. */
bool lttng_name_is_hidden(const char *name)
{
	for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (*p == '.')
			return true;
	return false;
}

bool lttng_name_has_directory(const char *name, const char *directory)
{
	size_t n = strlen(directory);
	for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (!strncmp(p, directory, n) && p[n] == '/')
			return true;
	return false;
}
