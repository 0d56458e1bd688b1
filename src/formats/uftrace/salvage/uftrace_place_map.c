/* Where a program was mapped whose line in the map is lost, or has a wrong range: at the page from which on the addresses of its
 * records are those of its functions. Each pair of an address and a function votes for a page; the one that explains nearly all
 * addresses around it holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "formats/uftrace/decode/uftrace_record.h"
#include "formats/uftrace/repair/uftrace_repair.h"
#include "formats/uftrace/salvage/uftrace_salvage.h"
#include "formats/uftrace/scan/uftrace_dir.h"
#include "formats/uftrace/scan/uftrace_info.h"
#include "formats/uftrace/scan/uftrace_map.h"
#include "formats/uftrace/scan/uftrace_sym.h"

#define PAGE 4096u
#define FILES_MAX 64u
#define BYTES_MAX 16384u /* of a file */
#define ADDRESSES_MAX 256u
#define VOTERS_MAX 16u
#define PAGES_MAX 4096u
/* In a recording: its first programs and sessions, in whose maps they are or not, so that a repaired recording has no others. */
#define TRIES_MAX 32u
#define FITTING_MIN 3u /* addresses of different functions */
#define EXTENT_MAX (UINT64_C(1) << 32)

struct placing {
	const struct uftrace_module *module;
	uint64_t addresses[ADDRESSES_MAX]; /* ascending, each once */
	size_t count;
	uint64_t extent; /* of the program in memory */
};

static bool is_function(const struct uftrace_symbol *symbol)
{
	return symbol->type && strchr("TtwWP", symbol->type) != NULL;
}

/* How many there are that are the program's own. */
static unsigned functions(const struct uftrace_module *m)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->count; i++)
		n += is_function(&m->symbols[i]) && m->symbols[i].type != 'P';
	return n;
}

static void add_address(struct placing *p, uint64_t address)
{
	size_t i;

	array_search(i, p->count, p->addresses[i] < address);
	if (p->count >= ADDRESSES_MAX || (i < p->count && p->addresses[i] == address))
		return;
	memmove(p->addresses + i + 1, p->addresses + i, (p->count - i) * sizeof(*p->addresses));
	p->addresses[i] = address;
	p->count++;
}

/* The addresses of calls that nothing is mapped at, or that program. Records lie at multiples of eight; values between them that
 * look like one are outvoted. */
static bool read_addresses(struct uftrace_walk *w, const struct uftrace_map *map, uint64_t since, struct placing *p)
{
	uint8_t *data = malloc(BYTES_MAX);
	unsigned files = 0;

	if (!data)
		return uftrace_walk_fail(w, TM_NO_MEMORY);
	for (size_t i = 0; i < w->dir->count && files < FILES_MAX; i++) {
		struct source *source = w->dir->files[i].source;
		size_t size = source->size < BYTES_MAX ? (size_t)source->size : BYTES_MAX;
		if (w->dir->files[i].kind != UFTRACE_FILE_DAT || size < UFTRACE_RECORD_SIZE)
			continue;
		files++;
		if (source_read(source, 0, data, size) != TM_OK) {
			free(data);
			return uftrace_walk_fail(w, w->in->error.status);
		}
		for (size_t at = 0; at + UFTRACE_RECORD_SIZE <= size; at += 8) {
			uint64_t word = load_u64(data + at + 8, w->info->head.big_endian);
			uint64_t address = uftrace_word_address(word);
			if (uftrace_word_magic(word) != UFTRACE_RECORD_MAGIC || uftrace_word_type(word) > UFTRACE_EXIT ||
			    load_u64(data + at, w->info->head.big_endian) < since || address < PAGE)
				continue;
			const struct uftrace_mapping *m = uftrace_map_find(map, address);
			if (!m || uftrace_str_equal(m->path, p->module->path))
				add_address(p, address);
		}
	}
	free(data);
	return true;
}

/* Whether a function begins right in front of the address. */
static bool fits(const struct placing *p, uint64_t relative)
{
	const struct uftrace_module *m = p->module;
	size_t low = uftrace_sym_behind(m, relative);

	for (unsigned back = 0; low > 0 && back < 4; low--, back++)
		if (is_function(&m->symbols[low - 1]))
			return relative - m->symbols[low - 1].address <= UFTRACE_PROLOGUE_MAX;
	return false;
}

/* How many addresses are of functions if the program is mapped from `base` on; *around: of all that are in it. */
static unsigned score(const struct placing *p, uint64_t base, unsigned *around)
{
	unsigned fitting = 0;

	*around = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (p->addresses[i] < base || p->addresses[i] - base >= p->extent)
			continue;
		++*around;
		fitting += fits(p, p->addresses[i] - base);
	}
	return fitting;
}

/* The page from which on the program was mapped; 0: the addresses do not show it. */
static uint64_t find_base(const struct placing *p)
{
	uint64_t found = 0, tried = 0;
	unsigned best = 0, second = 0, best_around = 0, pages = 0;

	for (size_t i = 0; i < p->count && i < VOTERS_MAX; i++) {
		uint64_t address = p->addresses[i * p->count / (p->count < VOTERS_MAX ? p->count : VOTERS_MAX)];
		for (size_t k = 0; k < p->module->count && pages < PAGES_MAX; k++) {
			const struct uftrace_symbol *symbol = &p->module->symbols[k];
			if (!is_function(symbol) || symbol->address >= address ||
			    (address - symbol->address) % PAGE > UFTRACE_PROLOGUE_MAX)
				continue;
			uint64_t base = (address - symbol->address) & ~(uint64_t)(PAGE - 1);
			if (!base || base == found || base == tried)
				continue;
			unsigned around, fitting = score(p, base, &around);
			pages++;
			tried = base;
			if (fitting > best) {
				second = best;
				best = fitting;
				best_around = around;
				found = base;
			} else if (fitting > second) {
				second = fitting;
			}
		}
	}
	return best >= FITTING_MIN && best * 10 >= best_around * 9 && second * 2 <= best ? found : 0;
}

/* Where the line of the first mapping behind `base` begins. */
static uint64_t line_behind(const struct uftrace_map *map, uint64_t base)
{
	for (size_t i = 0; i < map->count; i++) {
		uint64_t at = uftrace_map_line_at(map, &map->list[i]);
		if (map->list[i].start >= base && at < map->size)
			return at;
	}
	return map->size;
}

/* Writes the line of a program that is in no line of the map. */
static bool add_line(struct uftrace_walk *w, struct uftrace_map *map, const struct placing *p, const struct uftrace_map_line *line)
{
	const int digits = w->info->head.class == UFTRACE_32 ? 8 : 12;
	uint64_t at = line_behind(map, line->start);
	bool id = line->build_id.length == 40;
	char text[UFTRACE_PATH_MAX + 160];

	bool ended = !at || map->text[at - 1] == '\n';
	int n = snprintf(text, sizeof(text), "%s%0*llx-%0*llx r-xp 00000000 00:00 0                          %.*s%s%.*s\n",
			 ended ? "" : "\n", digits, (unsigned long long)line->start, digits, (unsigned long long)line->end,
			 (int)p->module->path.length, p->module->path.text, id ? " build-id:" : "", id ? 40 : 0,
			 id ? line->build_id.text : "");
	uftrace_edit_add(w, &map->edits, at, 0, text, (size_t)n, UFTRACE_RULE_map_exe_missing,
			 "the program where the addresses of the records are those of its functions");
	return uftrace_map_add(w, map, line);
}

/* Writes another range into the line of the program. */
static void move_line(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_mapping *m,
		      const struct uftrace_map_line *line)
{
	const int digits = w->info->head.class == UFTRACE_32 ? 8 : 12;
	const uint64_t at = uftrace_map_line_at(map, m);
	char text[64];

	int n = snprintf(text, sizeof(text), "%0*llx-%0*llx", digits, (unsigned long long)line->start, digits,
			 (unsigned long long)line->end);
	uftrace_edit_add(w, &map->edits, at, strcspn(map->text + at, " "), text, (size_t)n, UFTRACE_RULE_map_exe_missing,
			 "the range where the addresses of the records are those of its functions");
	uftrace_map_move(w, map, m, line->start, line->end);
}

static bool overlaps(const struct uftrace_map *map, const struct uftrace_mapping *own, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < map->count; i++)
		if (&map->list[i] != own && map->list[i].start < end && start < map->list[i].end)
			return true;
	return false;
}

/* own: the line of the program, whose range is another; NULL: it has none. */
static bool place(struct uftrace_walk *w, struct uftrace_session *session, const struct placing *p, uint64_t base,
		  struct uftrace_mapping *own)
{
	struct uftrace_map *map = &w->maps->list[session->map];
	struct uftrace_map_line line = {
		.start = base, .end = base + p->extent, .path = p->module->path, .build_id = p->module->build_id
	};

	if (overlaps(map, own, line.start, line.end))
		return true;
	/* Where of the two addresses only the first is wrong. */
	if (own && own->end > line.end && own->end - base <= EXTENT_MAX && !overlaps(map, own, line.start, own->end))
		line.end = own->end;
	char shown[TEXT_QUOTE_SIZE];
	if (map->cut)
		finding_explains(map->cut, 1);
	else
		finding_report(
			w->findings, UFTRACE_RULE_map_exe_missing, w->dir->files[map->file].source,
			own ? uftrace_map_line_at(map, own) : line_behind(map, base), 0,
			own ? "the program '%s' is not where its line in the map says: its records have addresses from 0x%llx on"
			    : "the program '%s' of the session is not in its map, and its records have addresses from 0x%llx on",
			text_quote(shown, line.path.text, line.path.length), (unsigned long long)base);
	if (w->plan)
		plan_lost_other(w->plan); /* what the line said beside */
	session->unmapped = session->nameless = false;
	if (!own)
		return add_line(w, map, p, &line);
	move_line(w, map, own, &line);
	return true;
}

/* The line of the program in the map of its session; NULL: it has none, or several, as older writers have. */
static struct uftrace_mapping *own_line(const struct uftrace_map *map, const struct placing *p)
{
	for (size_t i = 0; i < map->count; i++)
		if (uftrace_str_equal(map->list[i].path, p->module->path))
			return map->list[i].lines == 1 && uftrace_map_line_at(map, &map->list[i]) < map->size ? &map->list[i]
													      : NULL;
	return NULL;
}

/* Whether addresses can show that a program is not where its line says. Where there are several sessions, or libraries that are in
 * no map, they may be of another program. */
static bool is_alone(const struct uftrace_walk *w)
{
	const bool relative = !w->info->head.present || w->info->head.feat & UFTRACE_BIT(UFTRACE_F_SYM_REL_ADDR);

	return w->sessions->count == 1 && !w->sessions->library_count && relative;
}

/* Whether the addresses of the records are hardly ever those of functions, as the program is mapped. */
static bool is_elsewhere(const struct placing *p, const struct uftrace_mapping *own)
{
	unsigned around = 0, fitting = 0;

	if (p->count < FITTING_MIN)
		return false;
	for (size_t i = 0; i < p->count; i++) {
		if (p->addresses[i] < own->start || p->addresses[i] >= own->end)
			continue;
		around++;
		fitting += fits(p, p->addresses[i] - own->start);
	}
	return around ? fitting * 4 < around : own->start < own->end;
}

static bool place_session(struct uftrace_walk *w, struct uftrace_session *session, struct placing *p)
{
	struct uftrace_map *map = &w->maps->list[session->map];
	struct uftrace_mapping *own = own_line(map, p);

	p->count = 0;
	if (w->maps->placings++ >= TRIES_MAX || (!session->unmapped && !(own && is_alone(w))))
		return true;
	if (!read_addresses(w, map, session->time, p))
		return false;
	const bool elsewhere = !session->unmapped && is_elsewhere(p, own);
	if (!session->unmapped && !elsewhere)
		return true;
	session->nameless = elsewhere && session->line != UFTRACE_NONE && functions(p->module) >= FITTING_MIN;
	const uint64_t base = find_base(p);
	/* Where the width of addresses was hit, the range is none by that. */
	const bool there = base && own && base == own->start && own->start < own->end;
	session->unmapped &= !there;
	return !base || there || !uftrace_map_is_somewhere(w, base, base + p->extent) || place(w, session, p, base, own);
}

bool uftrace_place_map(struct uftrace_walk *w, const struct uftrace_module *m)
{
	struct placing p = { .module = m };

	if (!m->headed || !m->count || w->info->foreign || !uftrace_str_is_text(m->path) || m->path.length > UFTRACE_PATH_MAX ||
	    memchr(m->path.text, ' ', m->path.length))
		return true;
	for (size_t i = 0; i < m->count; i++) {
		const struct uftrace_symbol *symbol = &m->symbols[i];
		uint64_t end = symbol->end == UINT64_MAX ? symbol->address + 1 : symbol->end;
		p.extent = end > p.extent ? end : p.extent;
	}
	if (p.extent > EXTENT_MAX)
		return true;
	p.extent = (p.extent + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (size_t i = 0; i < w->sessions->count; i++) {
		struct uftrace_session *session = &w->sessions->list[i];
		if (session->map != UFTRACE_NONE && uftrace_str_equal(session->exename, m->path) && !place_session(w, session, &p))
			return false;
	}
	return true;
}
