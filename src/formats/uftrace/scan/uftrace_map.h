/* sid-<sid>.map: what was mapped where in a session. */
#ifndef UFTRACE_MAP_H
#define UFTRACE_MAP_H

#include "formats/uftrace/decode/uftrace_map_line.h"
#include "formats/uftrace/scan/uftrace_walk.h"

#include "core/edits.h"
#include "core/map.h"

#define UFTRACE_ORPHANS_MAX 8u

struct uftrace_mapping {
	uint64_t start, end;
	struct uftrace_str path, build_id;
	uint32_t module;  /* index of its symbols; UFTRACE_NONE */
	uint32_t program; /* of struct uftrace_infer; UFTRACE_NONE */
	uint32_t column;  /* of its path */
	uint32_t lines;	  /* of the map, that are in it; 0: it was added */
	bool used;	  /* a record has an address in it */
	bool id_lost;	  /* behind the path stands something that is no build id of 40 digits */
};

struct uftrace_map {
	uint32_t file;
	char *text; /* owned */
	size_t size;
	struct uftrace_mapping *list; /* owned, ascending */
	size_t count, capacity;
	bool stack;	 /* has a [stack] line */
	bool unreadable; /* has lines that are no mappings: they may have been */
	size_t nowhere;	 /* mappings whose range is one that no address can be in */
	bool build_ids;
	bool referenced;     /* by a session */
	struct finding *cut; /* a line of it goes, or it has none: why something is not in it */
	struct edits edits;  /* only with a plan */
};

struct uftrace_maps {
	struct uftrace_map *list; /* owned; the first `sorted` by their files */
	size_t count, capacity, sorted;
	size_t mappings; /* of all */
	/* Those that no session names, or the first of them: of programs whose SESS line is lost. */
	uint32_t orphans[UFTRACE_ORPHANS_MAX];
	unsigned orphan_count;
	unsigned placings;     /* tries to find where a program was mapped */
	struct map identities; /* of mappings: hashes of paths with build ids, and of paths -> 0 */
	bool ids_lost;	       /* of a mapping */
};

bool uftrace_map_walk(struct uftrace_walk *w);
/* Gives a mapping of that map the build id that its file has. */
void uftrace_map_identify(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_mapping *m, struct uftrace_str build_id,
			  unsigned rule);
/* Adds a mapping that is not in the text of the map; the list stays in order. */
bool uftrace_map_add(struct uftrace_walk *w, struct uftrace_map *map, const struct uftrace_map_line *line);
/* Where the line of a mapping begins; the size of the map where it is not in its text. */
uint64_t uftrace_map_line_at(const struct uftrace_map *map, const struct uftrace_mapping *m);
/* Whether addresses can be in a mapping. */
bool uftrace_map_is_somewhere(const struct uftrace_walk *w, uint64_t start, uint64_t end);
/* Gives a mapping, whose range is wrong, the one that it had; the list stays in order, so that `m` is another then. */
void uftrace_map_move(struct uftrace_walk *w, struct uftrace_map *map, struct uftrace_mapping *m, uint64_t start, uint64_t end);
/* Lists the line of a mapping as doubtful. */
void uftrace_map_doubt(struct uftrace_walk *w, const struct uftrace_map *map, const struct uftrace_mapping *m);
/* Writes all maps; after everything that may change them. */
bool uftrace_map_write(struct uftrace_walk *w);
/* Reads one map. UFTRACE_NONE: w->status. */
uint32_t uftrace_map_load(struct uftrace_walk *w, uint32_t file);
/* The map of a session, or UFTRACE_NONE. */
uint32_t uftrace_map_of(const struct uftrace_walk *w, struct uftrace_str sid);
/* What the maps announce of the other files; after the records, which show which mappings are used. */
bool uftrace_map_check(struct uftrace_walk *w);
struct uftrace_mapping *uftrace_map_find(const struct uftrace_map *map, uint64_t address);
/* Whether there was a mapping of that path with that build id, or one of that path, when the maps were read or mappings were added.
 * Takes no look at each mapping; where the author of the maps wants it, it is true of another path. */
bool uftrace_map_has(const struct uftrace_walk *w, struct uftrace_str path, struct uftrace_str build_id);
bool uftrace_map_has_path(const struct uftrace_walk *w, struct uftrace_str path);
/* Whether the map has anything but the kernel's own pages. */
bool uftrace_map_useful(const struct uftrace_map *map);
/* Whether the address may be of a program whose session is lost. */
bool uftrace_map_has_orphan(const struct uftrace_walk *w, uint64_t address);
void uftrace_map_free(struct uftrace_maps *maps);

#endif
