/* tracemend: the commands, and how the program ends. */
#include "cli/cli.h"
#include "cli/reader.h"
#include "cli/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define INPUTS \
	"PATH is a file, a directory (uftrace, lttng, the files of a killed trace-cmd record), an archive or\n" \
	"compressed file of these (.tar .tar.gz .tar.zst .gz .zst), or - for standard input. The format is\n" \
	"recognised from the content, not from the name.\n"

#define SIGNALS "  130 interrupted, 143 terminated, 141 the reader of standard output went away\n"

#define FAILURES \
	"  2   usage: nothing was examined\n" \
	"  4   not recognised as one of the formats, or empty\n" \
	"  5   I/O: a file cannot be opened, read or written, or is a FIFO, socket or device\n" \
	"  6   a limit stopped the work: the verdict is incomplete\n" \
	"  70  internal check failed: nothing was written\n" SIGNALS

static const char *const reports_try[] = { "text", "json", "sarif", NULL };
static const char *const reports_plain[] = { "text", "json", NULL };
static const char *const reports_dump[] = { "text", "jsonl", NULL };
static const char *const reports_rules[] = { "text", "json", "markdown", NULL };

const struct cli_command cli_commands[] = {
	{
		.name = "check",
		.summary = "report defects of captures",
		.synopsis = "check [OPTIONS] PATH...",
		.description = "Checks captures and reports defects: file, offset, record, field, the expected and the actual\n"
			       "value, and the clause of the specification. A defect is one finding; defects that follow from\n"
			       "it are counted with it.\n\n" INPUTS
			       "A directory or archive that is no capture is searched for captures; other files are passed over\n"
			       "and counted. Symbolic links in it are not followed.\n",
		.ending = "Severities:\n"
			  "  error    violates the specification, or stops a documented reader\n"
			  "  warning  legal, but likely to mislead a reader or a person\n"
			  "  note     normal, worth knowing\n\n"
			  "Exit status:\n"
			  "  0   nothing at or above --fail-on\n"
			  "  1   findings at or above --fail-on\n" FAILURES
			  "With several inputs the most serious wins: 70, 5, 6, 4, 1, 0.\n\n"
			  "Examples:\n"
			  "  tracemend check trace.fxt\n"
			  "  tracemend check --fail-on=warning --format=sarif -j4 traces/*.dat > report.sarif\n"
			  "  tracemend check --ignore='*-order' --severity fxt/no-events=warning trace.fxt\n",
		.accepts = "fpFABJLOISxMQzjuyCqvhZ",
		.run = cli_check,
	},
	{
		.name = "report",
		.summary = "make one report of those of several runs",
		.synopsis = "report [OPTIONS] JSONL...",
		.description =
			"Reads reports that 'tracemend check --format jsonl' wrote, on this machine or on others, and prints\n"
			"them as one report in any format. The captures are not needed. JSONL is a file, or - for standard\n"
			"input. A report that is damaged or cut is read up to the damage, and stands in the new one as an\n"
			"input that was not checked.\n",
		.ending = "Exit status: that of one run of check over all inputs\n"
			  "  0   nothing at or above --fail-on\n"
			  "  1   findings at or above --fail-on\n"
			  "  2   usage: nothing was read\n"
			  "  4   a damaged JSONL file, or an input of a run was not recognised\n"
			  "  5   I/O, here or in a run\n"
			  "  6   a limit stopped the work, here or in a run: the verdict is incomplete\n"
			  "  70  internal check failed in a run\n" SIGNALS "\n"
			  "Examples:\n"
			  "  tracemend report job-*.jsonl\n"
			  "  tracemend report --format junit --save html=report.html job-*.jsonl > report.xml\n",
		.accepts = "FABJLOISxMyCqvhZ",
		.run = cli_report,
	},
	{
		.name = "repair",
		.summary = "salvage a damaged capture into a new file or directory",
		.synopsis = "repair [OPTIONS] PATH... [-o OUT]",
		.description =
			"Writes a copy that checks without errors. It keeps every record that still decodes, invents no\n"
			"events, and reports what is lost, or that this is unknown. A capture without errors is copied\n"
			"byte for byte. The input is never written to. OUT appears as a whole or not at all.\n"
			"Without -o, it is NAME.mended.EXT beside the input. With several inputs, OUT is a directory.\n\n" INPUTS,
		.ending = "Exit status:\n"
			  "  0   the output is valid and nothing was lost, or there was nothing to repair\n"
			  "  1   with -n: there is something to repair\n"
			  "  3   a valid output was written, but content was lost, or it is unknown whether any was\n"
			  "  3   also if the command of --verify-with failed: nothing was written\n"
			  "  2   usage: nothing was examined\n"
			  "  4   not recognised, or nothing can be salvaged: nothing was written\n"
			  "  5   I/O: a file cannot be opened, read or written\n"
			  "  6   a limit stopped the work: nothing was written\n"
			  "  70  internal check failed: nothing was written\n" SIGNALS "\n"
			  "Examples:\n"
			  "  tracemend repair -n crashed.fxt\n"
			  "  tracemend repair crashed.fxt -o mended.fxt --manifest mended.json --report mended.html\n"
			  "  tracemend repair killed/ -o mended.dat --donor good.dat\n"
			  "  tracemend repair cut.dat -o mended.dat --verify-with 'trace-cmd report {} > report.txt'\n",
		.accepts = "fpFoPnmgwTYEDjuyCqvhZ",
		.run = cli_repair,
	},
	{
		.name = "gen",
		.summary = "make test files: valid, broken in one way, or damaged",
		.synopsis = "gen [OPTIONS] -f FORMAT -o DIR",
		.description = "Makes captures for tests of trace readers; the same options give the same captures. Labels are\n"
			       "written to DIR/labels.jsonl: a JSON object on each line, with file, format, seed, rule, expect\n"
			       "(the rules that check must report), damage, and records. Labels of earlier runs are kept.\n",
		.ending = "Exit status:\n"
			  "  0   all captures were made\n"
			  "  2   usage\n"
			  "  5   I/O: a file cannot be written\n"
			  "  6   a limit stopped the work\n"
			  "  70  internal check failed: nothing was written\n" SIGNALS "\n"
			  "Examples:\n"
			  "  tracemend gen -f fxt -o files --count 1000\n"
			  "  tracemend gen -f fxt -o files --rule dangling-string-ref --seed 7\n"
			  "  tracemend gen -f uftrace -o files --damage truncate --size 10M\n"
			  "  tracemend gen -f fxt -o files --count 100 --without profiler --without large\n",
		.accepts = "fposcbl456VR0KqvhZ",
		.run = cli_gen,
	},
	{
		.name = "try",
		.summary = "test a trace reader: crashes, hangs, wrong verdicts",
		.synopsis = "try [OPTIONS] -f FORMAT -- COMMAND {}\n       tracemend try [OPTIONS] PATH... -- COMMAND {}\n"
			    "       tracemend try [OPTIONS] -f FORMAT --reader 'COMMAND {}' --reader 'COMMAND {}'",
		.description =
			"Runs a command on captures, with limits on time and memory, and reports the captures with which it\n"
			"crashes or hangs, valid ones that it rejects, and invalid ones that it accepts silently (exit 0 and\n"
			"nothing on standard error). Reports of sanitizers, panics and uncaught exceptions are crashes, too.\n"
			"They are grouped by the place of the crash, which the report or gdb tells, else by the last line that\n"
			"the reader prints, else by defect. {} is the capture: a file, or a directory for uftrace and lttng.\n"
			"Without PATH, captures are generated: valid ones, one with each defect, and damaged ones. What the\n"
			"reader does with the valid capture of the same seed as well is not put down to the defect.\n"
			"-o DIR writes a folder for each group: a reduced sample, report.md and report.casrep; and an index.\n"
			"A shell script that runs a reader should end in 'exec READER'.\n"
			"Several readers (--reader) are compared: whether all read a capture, and count the same in it.\n",
		.ending =
			"Exit status:\n"
			"  0   no findings\n"
			"  1   findings\n"
			"  2   usage: nothing was run\n"
			"  5   I/O: the command cannot be run, or a file cannot be opened, read or written\n"
			"  6   a limit stopped the work\n"
			"  70  internal check failed: nothing was written\n" SIGNALS "\n"
			"Examples:\n"
			"  tracemend try -f tracedat -j2 -o found -- trace-cmd report {}\n"
			"  tracemend try -f uftrace --count 5 --outcomes signal,hang -- uftrace replay --no-pager -d {}\n"
			"  tracemend try corpus/*.fxt --format json -- ./my-reader --strict {} > tried.json\n"
			"  tracemend try -f tracedat --valid --host --count-with '[[][0-9]+[]] +[0-9.]+:' -- trace-cmd report {}\n"
			"  tracemend try -f fxt --reader './my-reader {}' --reader './my-reader --strict {}'\n",
		.accepts = "-fpFosjcbl45VRKOITYUik23NGyqvhZ",
		.reports = reports_try,
		.tries = 400,
		.run = cli_try,
	},
	{
		.name = "reduce",
		.summary = "reduce a capture that shows a defect or makes a command fail",
		.synopsis = "reduce [OPTIONS] PATH -o OUT --rule RULE\n"
			    "       tracemend reduce [OPTIONS] PATH -o OUT --command 'COMMAND {}'\n"
			    "       tracemend reduce [OPTIONS] PATH -o OUT -- COMMAND {}\n"
			    "       tracemend reduce [OPTIONS] PATH -o OUT --reader 'COMMAND {}' --reader 'COMMAND {}'",
		.description =
			"Removes files, groups of records, records and parts of records, and corrects sizes, counts and\n"
			"offsets, while check reports the rule, or the command ends in the same way (by the same signal, at\n"
			"the place where gdb, if it is installed, finds the crash; by the same exit code; or at the time\n"
			"limit). No single record of the result can be removed. With --rule, the result has no errors that\n"
			"the whole capture does not have, unless it would be larger than 1 KB (tracedat: 8 KB) otherwise,\n"
			"which is reported then. With --count-with, the result has no errors, and the command prints another\n"
			"number of records than check counts; with --reader, the readers disagree as they do on the whole\n"
			"capture. Only regular files of a directory are used:\n"
			"symbolic links and FIFOs are ignored, since they lead out of the capture.\n\n" INPUTS,
		.ending = "Exit status:\n"
			  "  0   the result was written\n"
			  "  2   usage\n"
			  "  4   the capture does not meet the condition, or is not recognised\n"
			  "  5   I/O: a file cannot be opened, read or written, or the command cannot be run\n"
			  "  6   a limit stopped the work: nothing was written\n"
			  "  70  internal check failed: nothing was written\n"
			  "  128+N  stopped by signal N: the smallest so far was written, if there is one\n\n"
			  "Examples:\n"
			  "  tracemend reduce big.fxt -o small.fxt --rule dangling-string-ref\n"
			  "  tracemend reduce crash.dat -o small.dat -- trace-cmd report {}\n"
			  "  tracemend reduce crash.dat -o small.dat --repeat 10 --enough 3 --budget 600 -- trace-cmd report {}\n",
		.accepts = "-fpoWHXTYNde123GyqvhZ",
		.run = cli_reduce,
	},
	{
		.name = "info",
		.summary = "describe a capture: format, version, counts, times, clocks, threads",
		.synopsis = "info [OPTIONS] PATH...",
		.description = "Prints what captures contain; on a terminal, or with -v, also a histogram of the records over "
			       "time.\n\n" INPUTS,
		.ending = "Exit status:\n"
			  "  0   all captures were read\n" FAILURES,
		.accepts = "fpFuyCqvhZ",
		.reports = reports_plain,
		.run = cli_info,
	},
	{
		.name = "dump",
		.summary = "print the records of captures, one a line",
		.synopsis = "dump [OPTIONS] PATH...",
		.description =
			"Prints each record: offset, time, what it happened on (thread, CPU, task), kind, name and arguments.\n"
			"There are as many lines as 'tracemend info' counts records. Damaged places, marked with !!, go to "
			"standard\n"
			"error as they are found; in jsonl they are objects between the records.\n\n" INPUTS,
		.ending = "Exit status:\n"
			  "  0   all records were read\n"
			  "  1   there are damaged places\n" FAILURES "\n"
			  "Examples:\n"
			  "  tracemend dump trace.fxt\n"
			  "  tracemend dump --around 0x41c0 crashed.fxt\n"
			  "  tracemend dump --format jsonl --times 1000000-2000000 uftrace.data\n",
		.accepts = "fpFrtauyqhZ",
		.reports = reports_dump,
		.run = cli_dump,
	},
	{
		.name = "diff",
		.summary = "compare the records of two captures",
		.synopsis = "diff [OPTIONS] A B",
		.description =
			"Prints the records that two captures do not share: - for those of A, + for those of B. Records are the\n"
			"same if kind, time, thread or CPU, name and arguments are; where they stand does not matter. So it\n"
			"shows what a repair took away.\n\n" INPUTS,
		.ending = "Exit status:\n"
			  "  0   the records are the same\n"
			  "  1   they differ\n" FAILURES "\n"
			  "Example:\n"
			  "  tracemend diff crashed.fxt mended.fxt\n",
		.accepts = "fpuyqhZ",
		.run = cli_diff,
	},
	{
		.name = "rules",
		.summary = "list everything that check can report",
		.synopsis = "rules [-f FORMAT] [--format text|json|markdown]",
		.description = "Lists the rules: id, severity, class and title.\n",
		.ending = "Example:\n"
			  "  tracemend rules -f lttng --format json\n",
		.accepts = "fFCqvhZ",
		.reports = reports_rules,
		.tables = true,
		.run = cli_rules,
	},
	{
		.name = "explain",
		.summary = "explain rules",
		.synopsis = "explain RULE...",
		.description = "Explains rules: the defect, why it matters, the clause of the specification, and what repair does\n"
			       "about it. RULE is an id such as fxt/dangling-string-ref, or its second half if only one format\n"
			       "has it.\n",
		.ending = NULL,
		.accepts = "CqvhZ",
		.run = cli_explain,
	},
	{ 0 },
};

static void main_help(FILE *out)
{
	fputs("tracemend checks, repairs and generates binary trace captures: fxt (Fuchsia), uftrace,\n"
	      "tracedat (trace-cmd), ktrace (Darwin) and lttng (before CTF).\n\n"
	      "Usage: tracemend COMMAND [OPTIONS] ARGUMENTS...\n\n"
	      "Commands:\n",
	      out);
	for (const struct cli_command *c = cli_commands; c->name; c++)
		fprintf(out, "  %-9s %s\n", c->name, c->summary);
	fputs("\nOptions:\n"
	      "  -h, --help  print this help; 'tracemend COMMAND --help' prints that of a command\n"
	      "  --version   print the version\n",
	      out);
}

static const struct cli_command *main_find(const char *name)
{
	for (const struct cli_command *c = cli_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int main_unknown(const char *name)
{
	const char *names[32] = { NULL };
	char hint[CLI_HINT_MAX];

	for (size_t i = 0; cli_commands[i].name && i + 1 < sizeof(names) / sizeof(names[0]); i++)
		names[i] = cli_commands[i].name;
	if (!access(name, F_OK))
		return cli_usage("unknown command '%s'; to check it: tracemend check %s", name, name);
	return cli_usage("unknown command '%s'%s; 'tracemend --help' lists the commands", name, cli_hint(hint, "", name, names));
}

/* Before anything of a capture is read. What runs programs for this one is started first. */
static bool main_confine(struct cli_options *o, int *code)
{
	*code = reader_start(o);
	if (*code)
		return false;
	sandbox_enter(o);
	return true;
}

static int main_run(int argc, char **argv)
{
	struct cli_options options;
	int code;

	if (argc < 2) {
		main_help(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || (!strcmp(argv[1], "help") && argc == 2)) {
		main_help(stdout);
		return CLI_CLEAN;
	}
	if (!strcmp(argv[1], "--version")) {
		sandbox_print_version(stdout);
		return CLI_CLEAN;
	}
	if (!strcmp(argv[1], "--generate") && argc == 3)
		return cli_generate(cli_commands, argv[2]);
	bool help = !strcmp(argv[1], "help");
	const struct cli_command *command = main_find(argv[help ? 2 : 1]);
	if (!command && argv[1][0] == '-')
		return cli_usage("unknown option '%s' before the command; 'tracemend --help' lists the commands", argv[1]);
	if (!command)
		return main_unknown(argv[help ? 2 : 1]);
	if (help) {
		cli_options_help(command, stdout);
		return CLI_CLEAN;
	}
	cli_signals_catch();
	if (cli_options_parse(&options, cli_commands, command, argc - 1, argv + 1, &code) && main_confine(&options, &code) &&
	    cli_options_settle(&options, &code))
		code = command->run(&options);
	reader_stop(options.readers);
	cli_options_free(&options);
	return code;
}

int main(int argc, char **argv)
{
	int code = main_run(argc, argv);

	/* A report that could not be written is a failure. */
	bool gone = cli_output_gone();
	errno = 0;
	bool written = !ferror(stdout) && !fflush(stdout);
	int why = errno;
	if (fclose(stdout))
		written = false;
	if (!written && gone)
		return CLI_SIGNAL + SIGPIPE; /* as "| head" does: nothing is said */
	if (!written) {
		if (why != EPIPE)
			cli_error("standard output cannot be written: %s", why ? strerror(why) : "an earlier write failed");
		code = cli_worse(code, CLI_IO);
	}
	return code;
}
