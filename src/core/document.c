#include "core/document.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GITHUB "https://github.com/"

static const struct document documents[] = {
	{ "trace-format.md", "Fuchsia trace format", "https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format",
	  DOCUMENT_HYPHENS },
	{ "uftrace wiki", "uftrace wiki, Data Format", GITHUB "namhyung/uftrace/wiki/Data-Format", DOCUMENT_WHOLE },
	{ "uftrace 0.13", "source of uftrace 0.13", GITHUB "namhyung/uftrace/blob/v0.13/", DOCUMENT_SOURCES },
	{ "trace-cmd.dat.v6(5)", "manual page trace-cmd.dat.v6(5)", "https://man7.org/linux/man-pages/man5/trace-cmd.dat.v6.5.html",
	  DOCUMENT_CAPITALS },
	{ "trace-cmd.dat.v7(5)", "manual page trace-cmd.dat.v7(5)", "https://man7.org/linux/man-pages/man5/trace-cmd.dat.v7.5.html",
	  DOCUMENT_CAPITALS },
	{ "trace-cmd 3.1.6", "source of trace-cmd 3.1.6", GITHUB "rostedt/trace-cmd/blob/0a68daed9f58e4429c0f1e7818f7cc0634873112/",
	  DOCUMENT_SOURCES },
	{ "trace-cmd 3.3.1", "source of trace-cmd 3.3.1", GITHUB "rostedt/trace-cmd/blob/5f20c4770b6ca280999e553c54afb58f03bd9c4f/",
	  DOCUMENT_SOURCES },
	{ "trace-cmd 3.4", "source of trace-cmd 3.4", GITHUB "rostedt/trace-cmd/blob/3ce20923b3efa60d417da7acc8a327615fbd1419/",
	  DOCUMENT_SOURCES },
	{ "libtraceevent 1.8.4", "source of libtraceevent 1.8.4",
	  GITHUB "rostedt/libtraceevent/blob/bd47bd544c9ebc9f44bd88c2b2f2049230741058/", DOCUMENT_SOURCES },
	{ "Linux 5.10", "source of Linux 5.10", GITHUB "torvalds/linux/blob/v5.10/", DOCUMENT_SOURCES },
	{ "ktrace(5)", "manual page ktrace(5) of macOS 10.12.6", "https://www.manpagez.com/man/5/ktrace/", DOCUMENT_PAGE },
	{ "xnu 7195", "source of xnu 7195", GITHUB "apple-oss-distributions/xnu/blob/xnu-7195.141.2/", DOCUMENT_SOURCES },
	{ "xnu 8792", "source of xnu 8792", GITHUB "apple-oss-distributions/xnu/blob/xnu-8792.61.2/", DOCUMENT_SOURCES },
	{ "Apple's libktrace (observed)", "behaviour of Apple's libktrace", NULL, DOCUMENT_WHOLE },
	{ "Apple's kperfdata (observed)", "behaviour of Apple's kperfdata", NULL, DOCUMENT_WHOLE },
	{ "Apple's libktrace and kperfdata (observed)", "behaviour of Apple's libktrace and kperfdata", NULL, DOCUMENT_WHOLE },
	{ "pykdebugparser 1.2.7", "pykdebugparser 1.2.7", GITHUB "matan1008/pykdebugparser", DOCUMENT_WHOLE },
	{ "The LTTng trace format", "The LTTng trace format, 2008-06-02",
	  "https://git.lttng.org/?p=lttv.git;a=blob_plain;f=doc/developer/format.html;hb=b72cc11e887a1f8410b93de4c5da7c18c6ca74ae",
	  DOCUMENT_PAGE },
	{ "LTTV", "source of the viewer LTTV", "https://git.lttng.org/?p=lttv.git", DOCUMENT_WHOLE },
	{ "LTTng", "the tracer LTTng, before 2.0", NULL, DOCUMENT_WHOLE },
	{ "The Unicode Standard", "The Unicode Standard", "https://www.unicode.org/versions/latest/", DOCUMENT_WHOLE },
	{ "RFC", "Request for Comments", "https://www.rfc-editor.org/rfc/rfc", DOCUMENT_RFC },
	{ "POSIX.1", "POSIX.1, pax", "https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html", DOCUMENT_PAGE },
	{ "README.md", "README.md of this project", NULL, DOCUMENT_WHOLE },
};

static bool document_matches(const char *clause, const char *name, size_t length)
{
	return !strncmp(clause, name, length) && strchr(", ;:", clause[length]);
}

const struct document *document_of(const char *clause, const char **section, size_t *length)
{
	const struct document *found = NULL;
	size_t best = 0;

	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		size_t name = strlen(documents[i].name);
		if (name > best && document_matches(clause, documents[i].name, name)) {
			found = &documents[i];
			best = name;
		}
	}
	if (!section)
		return found;
	/* A version goes up to the comma. */
	const char *at = clause + best;
	if (found && *at == ' ')
		at += strcspn(at, ",:;");
	at += strspn(at, " ,:");
	*section = at;
	*length = strcspn(at, ";");
	return found;
}

struct url {
	char *out;
	size_t size, at;
};

static void url_put(struct url *u, char c)
{
	if (u->at + 1 < u->size)
		u->out[u->at++] = c;
	u->out[u->at] = '\0';
}

static void url_text(struct url *u, const char *text, size_t length, const char *plain)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		if (isalnum(c) || strchr(plain, c)) {
			url_put(u, (char)c);
		} else {
			url_put(u, '%');
			url_put(u, digits[c >> 4]);
			url_put(u, digits[c & 15]);
		}
	}
}

/* The title of a section: what is between its quotes, or all of it up to a colon or a bracket. */
static const char *section_title(const char *section, size_t *length)
{
	if (*section == '"') {
		const char *end = memchr(section + 1, '"', *length - 1);
		*length = end ? (size_t)(end - section) - 1 : *length - 1;
		return section + 1;
	}
	for (size_t i = 0; i < *length; i++)
		if (section[i] == ':')
			*length = i;
	return section;
}

const char *document_url(const char *clause, char *out, size_t size)
{
	struct url u = { .out = out, .size = size };
	const char *section;
	size_t length;
	const struct document *d = document_of(clause, &section, &length);

	*out = '\0';
	if (!d || !d->url)
		return out;
	for (const char *p = d->url; *p; p++)
		url_put(&u, *p);
	if (d->kind == DOCUMENT_RFC) {
		for (const char *p = clause + strlen(d->name) + 1; isdigit((unsigned char)*p); p++)
			url_put(&u, *p);
		return out;
	}
	if (d->kind == DOCUMENT_SOURCES) {
		url_text(&u, section, strcspn(section, ",:;"), "-._~/");
		return out;
	}
	const char *title = section_title(section, &length);
	if (d->kind == DOCUMENT_WHOLE || (d->kind == DOCUMENT_PAGE && title == section))
		return out; /* what is not quoted is not on the page in these words */
	if (d->kind == DOCUMENT_PAGE) {
		for (const char *p = "#:~:text="; *p; p++)
			url_put(&u, *p);
		url_text(&u, title, length, "._~"); /* a hyphen means something in a text fragment */
		return out;
	}
	url_put(&u, '#');
	for (size_t i = 0; i < length && title[i] != '('; i++) {
		char c = title[i];
		bool last = i + 1 == length || title[i + 1] == '(';
		if (c == ' ' && last)
			break;
		if (c == ' ')
			url_put(&u, d->kind == DOCUMENT_HYPHENS ? '-' : '_');
		else
			url_put(&u, d->kind == DOCUMENT_HYPHENS ? (char)tolower((unsigned char)c) : c);
	}
	return out;
}
