/* Runs the oracle over files and directories of files, and over generated captures: for the tests, and to replay what a fuzzer
 * found.
 *
 *   replay [-f FORMAT] [-k FAULTS] [-q] PATH...             every property over each file (a tar is a directory)
 *          [-c CUTS] [-b PLACES [-v VALUES]]                and over a number of its prefixes and single-byte changes
 *   replay -f FORMAT -g COUNT [-s FIRST] [-r RULE|all]      COUNT generated captures from seed FIRST on
 *   replay -f FORMAT -d COUNT [-s FIRST]                    the same, with each kind of damage
 *   replay -C PATH...                                       files as archives and compressed files (oracle_container)
 *
 * The last line is the count of captures. A broken promise aborts; the capture is named on stderr. */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/array.h"
#include "oracle.h"

static struct oracle oracle = { .effort = ORACLE_ALL, .faults = 12 };
static unsigned cuts, places, values = 3;
static bool quiet, container;
static uint64_t done, errors, changed;
static char current[4096];

/* Names the capture, after the message of the oracle. */
static void on_abort(int number)
{
	static const char text[] = "replay: while on ";
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 || write(STDERR_FILENO, current, strlen(current)) < 0 ||
	    write(STDERR_FILENO, "\n", 1) < 0)
		_exit(1);
	signal(number, SIG_DFL);
	raise(number);
}

static uint8_t *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	if (!f || fstat(fileno(f), &st)) {
		perror(path);
		exit(2);
	}
	*size = (size_t)st.st_size;
	/* Exactly as large as the file, so that a sanitizer sees a read past its end. */
	uint8_t *data = malloc(*size ? *size : 1);
	if (!data || fread(data, 1, *size, f) != *size) {
		perror(path);
		exit(2);
	}
	fclose(f);
	return data;
}

static void replay_file(const char *path)
{
	size_t size;
	uint8_t *data = slurp(path, &size);
	snprintf(current, sizeof(current), "%s", path);
	if (container) {
		oracle_container(data, size);
	} else {
		struct capture c;
		capture_parse(&c, data, size);
		struct oracle_verdict v = oracle_capture(&oracle, &c);
		if (cuts) {
			struct oracle o = oracle;
			o.effort = ORACLE_REPAIR;
			oracle_prefixes(&o, &c, cuts);
		}
		if (places) {
			struct oracle o = oracle;
			o.effort = ORACLE_REPAIR;
			oracle_byte_changes(&o, &c, places, values);
		}
		errors += v.errors != 0;
		changed += v.changed;
		if (!quiet)
			printf("%s: %" PRIu64 " records, %" PRIu64 " errors, %" PRIu64 " warnings, %" PRIu64 " notes%s\n", path,
			       v.records, v.errors, v.warnings, v.notes,
			       !v.recognised ? ", not recognised"
			       : v.changed   ? ", repaired"
					     : "");
		capture_free(&c);
	}
	free(data);
	done++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void replay_path(const char *path)
{
	struct stat st;
	char **names = NULL;
	size_t count = 0, capacity = 0;
	if (stat(path, &st)) {
		perror(path);
		exit(2);
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(path);
		return;
	}
	DIR *dir = opendir(path);
	if (!dir) {
		perror(path);
		exit(2);
	}
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.' || strstr(entry->d_name, ".jsonl"))
			continue;
		if (array_room(&names, &capacity, count, sizeof(*names), SIZE_MAX) != TM_OK ||
		    asprintf(&names[count++], "%s/%s", path, entry->d_name) < 0)
			exit(2);
	}
	closedir(dir);
	if (count)
		qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++) {
		replay_path(names[i]);
		free(names[i]);
	}
	free(names);
}

static void replay_recipe(const char *rule, enum tracemend_damage damage, uint64_t seed)
{
	struct tracemend_recipe recipe = {
		.format = oracle.format, .profile = oracle.profile, .rule = rule, .damage = damage, .seed = seed
	};
	snprintf(current, sizeof(current), "gen -f %s --seed %" PRIu64 "%s%s%s%s", oracle.format, seed, rule ? " --rule " : "",
		 rule ? rule : "", damage ? " --damage " : "", damage ? tracemend_damage_name(damage) : "");
	oracle_recipe(&oracle, &recipe);
	done++;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);
	if (!*text || *end) {
		fprintf(stderr, "replay: '%s' is not a number\n", text);
		exit(2);
	}
	return value;
}

/* The captures to generate. */
struct generated {
	uint64_t generate, damage, first;
	const char *rule;
};

static bool take_options(int argc, char **argv, struct generated *g)
{
	for (int option; (option = getopt(argc, argv, "f:p:k:c:b:v:g:d:s:r:e:qC")) != -1;) {
		switch (option) {
		case 'f':
			oracle.format = optarg;
			break;
		case 'p':
			oracle.profile = optarg;
			break;
		case 'k':
			oracle.faults = (unsigned)number(optarg);
			break;
		case 'c':
			cuts = (unsigned)number(optarg);
			break;
		case 'b':
			places = (unsigned)number(optarg);
			break;
		case 'v':
			values = (unsigned)number(optarg);
			break;
		case 'g':
			g->generate = number(optarg);
			break;
		case 'd':
			g->damage = number(optarg);
			break;
		case 's':
			g->first = number(optarg);
			break;
		case 'r':
			g->rule = optarg;
			break;
		case 'e':
			oracle.effort = !strcmp(optarg, "check")    ? ORACLE_CHECK
					: !strcmp(optarg, "repair") ? ORACLE_REPAIR
								    : ORACLE_ALL;
			break;
		case 'q':
			quiet = true;
			break;
		case 'C':
			container = true;
			break;
		default:
			return false;
		}
	}
	return true;
}

static void replay_generated(const struct generated *g)
{
	for (uint64_t i = 0; i < g->generate; i++) {
		if (g->rule && !strcmp(g->rule, "all")) {
			for (size_t k = 0; k < tracemend_rule_count(oracle.format); k++)
				replay_recipe(tracemend_rule_at(oracle.format, k)->id, TM_DAMAGE_NONE, g->first + i);
		} else {
			replay_recipe(g->rule, TM_DAMAGE_NONE, g->first + i);
		}
	}
	for (uint64_t i = 0; i < g->damage; i++)
		for (int kind = TM_DAMAGE_NONE + 1; kind < TM_DAMAGE_COUNT; kind++)
			replay_recipe(g->rule, (enum tracemend_damage)kind, g->first + i);
}

int main(int argc, char **argv)
{
	struct generated g = { .first = 1 };

	if (!take_options(argc, argv, &g))
		return 2;
	if ((g.generate || g.damage) && !oracle.format) {
		fprintf(stderr, "replay: -g and -d need -f\n");
		return 2;
	}
	signal(SIGABRT, on_abort);
	replay_generated(&g);
	for (int i = optind; i < argc; i++)
		replay_path(argv[i]);
	printf("%" PRIu64 " captures\n", done);
	return 0;
}
