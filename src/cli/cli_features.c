/* Features of generated captures: --with, --without, --list-features. */
#include "cli/cli.h"

#include <string.h>

static int features_check(const char *format, const struct cli_list *list, const char *option)
{
	const char *names[128] = { NULL };
	const struct tracemend_feature *f;
	char hint[CLI_HINT_MAX];

	for (size_t i = 0; (f = tracemend_feature_at(format, i)) && i + 1 < sizeof(names) / sizeof(names[0]); i++)
		names[i] = f->name;
	for (size_t i = 0; i < list->count; i++) {
		size_t k = 0;
		while (names[k] && strcmp(names[k], list->items[i]) != 0)
			k++;
		if (!names[k])
			return cli_usage("--%s=%s: %s has no such feature%s; 'tracemend gen -f %s --list-features' lists them",
					 option, list->items[i], format, cli_hint(hint, "", list->items[i], names), format);
	}
	return CLI_CLEAN;
}

int cli_features_check(const struct cli_options *o, const char *format)
{
	int code = features_check(format, &o->with, "with");

	if (code || (code = features_check(format, &o->without, "without")))
		return code;
	for (size_t i = 0; i < o->with.count; i++)
		for (size_t k = 0; k < o->without.count; k++)
			if (!strcmp(o->with.items[i], o->without.items[k]))
				return cli_usage("--with and --without %s exclude each other", o->with.items[i]);
	return CLI_CLEAN;
}

static void features_of(const char *format, size_t width)
{
	const struct tracemend_feature *f;

	for (size_t i = 0; (f = tracemend_feature_at(format, i)); i++)
		printf("%-8s %-*s %c %s%s%s%s\n", format, (int)width, f->name, f->host ? ' ' : '-', f->text,
		       f->one_of ? " (one " : "", f->one_of ? f->one_of : "", f->one_of ? " each)" : "");
}

int cli_features_print(const char *format)
{
	size_t count;
	const struct tracemend_format *const *formats = tracemend_formats(&count);

	for (size_t i = 0; i < count; i++)
		if (!format || !strcmp(format, formats[i]->name))
			features_of(formats[i]->name, 16);
	puts("-: left out by --host");
	return CLI_CLEAN;
}
