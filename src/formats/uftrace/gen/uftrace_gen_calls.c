/* What the tasks of a generated capture did: their .dat files, and the lines of task.txt that this makes. */
#include "formats/uftrace/gen/uftrace_gen.h"

#include <stdio.h>

enum { WORD_ENTRY, WORD_EXIT, WORD_LOST, WORD_EVENT };

enum {
	WORD_MORE = 1 << 2,
	WORD_MAGIC = 5 << 3,
	WORD_DEPTH_SHIFT = 6,
	WORD_ADDRESS_SHIFT = 16,
	TEXT_MAX = 98,	   /* longest string that a writer stores */
	SMALL_CALLS = 40,  /* calls of one task where no size is asked for */
	CALLS_BETWEEN = 4, /* calls between two incidents */
};

/* A function that the running task can call. */
struct call {
	uint64_t address;
	const struct uftrace_gen_symbol *symbol;
};

struct run {
	struct uftrace_gen *g;
	unsigned task;
	struct uftrace_gen_task *t;
	struct bytes *out;
	unsigned depth; /* open frames */
	bool first;	/* the next record starts a file, an image, or follows LOST */
	bool plain;	/* no function has a spec: records need no search */
	struct call calls[UFTRACE_GEN_CALLS_MAX];
	unsigned call_count, plain_count; /* plain: without the library calls that change tasks */
};

/* ---- one record ---- */

static void mark(struct run *r, uint64_t offset, unsigned type, uint64_t address, const struct uftrace_gen_symbol *symbol,
		 bool more, bool text)
{
	struct uftrace_gen *g = r->g;

	if (g->g->rule < 0 || g->mark_count == UFTRACE_GEN_MARKS_MAX)
		return;
	g->marks[g->mark_count++] = (struct uftrace_gen_mark){
		.offset = offset,
		.time = r->t->time,
		.address = address,
		.length = (uint32_t)(r->out->size - offset),
		.depth = (uint16_t)r->depth,
		.task = (uint8_t)r->task,
		.type = (uint8_t)type,
		.more = more,
		.first = r->first,
		.text = text,
		.symbol = symbol,
	};
}

static void put(struct run *r, unsigned type, bool more, unsigned depth, uint64_t value)
{
	uint8_t *p = bytes_grow(r->out, 16);

	if (!p)
		return;
	/* The depth is added without a mask, as writers do: from 1024 on it carries into the address. */
	store_u64(p, type == WORD_LOST ? 0 : r->t->time, r->out->big_endian);
	store_u64(p + 8,
		  (type | (more ? WORD_MORE : 0u) | WORD_MAGIC) + ((uint64_t)depth << WORD_DEPTH_SHIFT) +
			  (value << WORD_ADDRESS_SHIFT),
		  r->out->big_endian);
	r->t->records++;
}

static void put_text(struct run *r, const struct uftrace_gen_item *item)
{
	static const char *const words[] = {
		"", "hello", "bread and butter", "a=1&b=%20", "/opt/shop/etc/shop.conf", "gr\xc3\xbc\xc3\x9f"
	};
	static const char sentence[] = "the quick brown fox jumps over the lazy dog while five boxing wizards pack my box with "
				       "twelve dozen liquor jugs and one more";
	struct uftrace_gen *g = r->g;
	const char *text = words[uftrace_gen_below(g, 6)];
	char long_text[TEXT_MAX + 1];

	(void)item;
	switch (uftrace_gen_below(g, 8)) {
	case 6: /* NULL; before 0.9 four 0xff bytes */
		text = g->version >= 90 ? "NULL" : "\xff\xff\xff\xff";
		break;
	case 7: /* cut by the writer */
		(void)snprintf(long_text, sizeof(long_text), "%.95s...", &sentence[uftrace_gen_below(g, 30)]);
		text = long_text;
		break;
	default:
		break;
	}
	bytes_u16(r->out, (uint16_t)strlen(text));
	bytes_text(r->out, text);
}

static void put_item(struct run *r, const struct uftrace_gen_item *item, size_t payload)
{
	if (item->kind == UFTRACE_GEN_TEXT) {
		put_text(r, item);
	} else {
		uint64_t value = choices_number(r->g->g->choices);

		for (unsigned i = 0; i < item->size; i++)
			bytes_u8(r->out, (uint8_t)(value >> (8 * (i % 8))));
	}
	while (!r->out->failed && (r->out->size - payload) % 4)
		bytes_u8(r->out, 0);
}

/* ENTRY or EXIT of a function, at the depth r->depth. */
static void put_call(struct run *r, unsigned type, const struct uftrace_gen_frame *frame)
{
	const struct uftrace_gen_spec *spec = r->plain ? NULL : uftrace_gen_spec_of(r->g, frame->symbol);
	bool more = spec && (type == WORD_ENTRY ? spec->count > 0 : spec->returns);
	bool text = false;
	uint64_t offset = r->out->size;

	put(r, type, more, r->depth, frame->address);
	if (more) {
		size_t payload = r->out->size;

		for (unsigned i = 0; type == WORD_ENTRY && i < spec->count; i++)
			put_item(r, &spec->items[i], payload);
		if (type == WORD_EXIT)
			put_item(r, &spec->value, payload);
		bytes_align(r->out, 8);
		text = (type == WORD_ENTRY ? spec->items[0].kind : spec->value.kind) == UFTRACE_GEN_TEXT;
	}
	mark(r, offset, type, frame->address, frame->symbol, more, text);
	r->first = false;
}

static void enter(struct run *r, struct call call)
{
	struct uftrace_gen_frame frame = { call.address, call.symbol };

	put_call(r, WORD_ENTRY, &frame);
	r->g->frames[r->depth++] = frame;
}

static void leave(struct run *r)
{
	r->depth--;
	put_call(r, WORD_EXIT, &r->g->frames[r->depth]);
}

static bool has_room(const struct run *r, unsigned levels)
{
	return r->depth + levels <= r->g->max_stack && r->depth + levels <= UFTRACE_GEN_FRAMES_MAX;
}

static void pass_time(struct run *r, uint64_t at_most)
{
	r->t->time += 1 + choices_below(r->g->g->choices, at_most);
}

/* ---- what a task can call ---- */

static void add_calls(struct run *r, unsigned module, uint64_t base)
{
	const struct uftrace_gen_module *m = &r->g->modules[module];

	for (unsigned i = 0; i < m->symbol_count && r->call_count < UFTRACE_GEN_CALLS_MAX; i++) {
		const struct uftrace_gen_symbol *s = &m->symbols[i];

		if (s->type == 'T' || s->type == 't' || s->type == 'w')
			r->calls[r->call_count++] = (struct call){ base + s->address + s->hook, s };
	}
	r->plain_count = r->call_count;
	/* Calls that change tasks (fork, exec, ...) are made where that happens. */
	for (unsigned i = 0; i < m->symbol_count && r->call_count < UFTRACE_GEN_CALLS_MAX; i++) {
		static const char special[] = " fork execve posix_spawn pthread_create dlopen _setjmp longjmp ";
		const struct uftrace_gen_symbol *s = &m->symbols[i];
		char word[72];

		(void)snprintf(word, sizeof(word), " %s ", s->name);
		if (s->type == 'P' && !strstr(special, word))
			r->calls[r->call_count++] = (struct call){ base + s->address, s };
	}
	r->plain_count = r->call_count;
}

/* Everything in the image of the task's session: its first function first. */
static void list_calls(struct run *r)
{
	const struct uftrace_gen_session *session = &r->g->sessions[r->t->session];

	r->call_count = 0;
	for (unsigned i = 0; i < session->map_count; i++)
		add_calls(r, session->maps[i].module, session->maps[i].base);
	r->plain = r->g->spec_count == 0;
}

/* A library call of the program by name; its first function where the program does not have it. */
static struct call library_call(struct run *r, const char *name)
{
	const struct uftrace_gen_session *session = &r->g->sessions[r->t->session];
	const struct uftrace_gen_module *m = &r->g->modules[session->program];

	for (unsigned i = 0; i < m->symbol_count; i++)
		if (m->symbols[i].type == 'P' && strcmp(m->symbols[i].name, name) == 0)
			return (struct call){ session->maps[0].base + m->symbols[i].address, &m->symbols[i] };
	return r->calls[0];
}

/* ---- random calls ---- */

/* Some calls, returns and leaf calls. Ends at or after `limit` bytes of the file, or after count steps. With the
 * choices used up these are leaf calls. */
static void wander(struct run *r, uint64_t count, uint64_t limit)
{
	unsigned floor = r->depth;

	for (; count && r->call_count && r->out->size < limit && !r->out->failed; count--) {
		uint64_t bits = choices_u64(r->g->g->choices);
		struct call call = r->calls[(bits >> 8) % r->call_count];

		r->t->time += 1 + ((bits >> 24) & 0x3ff);
		switch (bits & 7) {
		case 1:
		case 2:
		case 3:
			if (has_room(r, 1) && r->depth < floor + 24) {
				enter(r, call);
				break;
			}
			/* fall through */
		case 4:
		case 5:
			if (r->depth > floor) {
				leave(r);
				break;
			}
			/* fall through */
		default:
			if (!has_room(r, 1))
				break;
			enter(r, call);
			r->t->time += (bits >> 40) & 0xff;
			leave(r);
			break;
		}
	}
}

/* ---- incidents ---- */

static struct uftrace_gen_line *add_line(struct uftrace_gen *g, int kind, uint64_t time, int pid, int other)
{
	if (g->line_count == UFTRACE_GEN_LINES_MAX)
		return NULL;

	struct uftrace_gen_line *line = &g->lines[g->line_count++];

	*line = (struct uftrace_gen_line){ .time = time, .pid = pid, .other = other };
	line->kind = kind == UFTRACE_GEN_SESS	  ? UFTRACE_GEN_SESS
		     : kind == UFTRACE_GEN_TASK	  ? UFTRACE_GEN_TASK
		     : kind == UFTRACE_GEN_FORKED ? UFTRACE_GEN_FORKED
						  : UFTRACE_GEN_DLOP;
	return line;
}

/* A new task that runs later; NULL when there are enough. Five lines are kept for what it may add to task.txt. */
static struct uftrace_gen_task *add_task(struct uftrace_gen *g, unsigned session, uint64_t time)
{
	if (g->task_count == UFTRACE_GEN_TASKS_MAX || g->line_count + 5 > UFTRACE_GEN_LINES_MAX)
		return NULL;

	struct uftrace_gen_task *t = &g->tasks[g->task_count++];

	g->next_pid += 1 + (int)uftrace_gen_below(g, 3);
	*t = (struct uftrace_gen_task){ .tid = g->next_pid, .session = session, .time = time };
	return t;
}

/* SESS and TASK of an image that starts in process pid. */
static void start_image(struct uftrace_gen *g, struct uftrace_gen_task *t, unsigned program)
{
	struct uftrace_gen_line *line;

	t->session = uftrace_gen_make_session(g, program);
	g->modules[program].used = true;
	t->time += 1 + uftrace_gen_below(g, 100000);
	line = add_line(g, UFTRACE_GEN_SESS, t->time, t->pid, 0);
	if (line)
		line->session = t->session;
	t->time += 1 + uftrace_gen_below(g, 100000);
	(void)add_line(g, UFTRACE_GEN_TASK, t->time, t->tid, t->pid);
}

static void do_thread(struct run *r)
{
	struct uftrace_gen_task *t;

	enter(r, library_call(r, "pthread_create"));
	pass_time(r, 5000);
	t = add_task(r->g, r->t->session, r->t->time);
	if (t) {
		t->pid = r->t->pid;
		(void)add_line(r->g, UFTRACE_GEN_TASK, t->time, t->tid, t->pid);
	}
	pass_time(r, 5000);
	leave(r);
}

static void do_fork(struct run *r, bool exec)
{
	struct uftrace_gen_task *t;

	if (r->depth >= UFTRACE_GEN_INHERITED_MAX)
		return;
	enter(r, library_call(r, "fork"));
	pass_time(r, 5000);
	t = add_task(r->g, r->t->session, r->t->time);
	if (t) {
		t->pid = t->tid;
		t->forked = true;
		t->exec = exec;
		t->inherited_count = r->depth;
		memcpy(t->inherited, r->g->frames, r->depth * sizeof(t->inherited[0]));
		(void)add_line(r->g, UFTRACE_GEN_FORKED, t->time, t->tid, r->t->pid);
	}
	pass_time(r, 5000);
	leave(r);
}

static void do_spawn(struct run *r)
{
	struct uftrace_gen_task *t;

	enter(r, library_call(r, "posix_spawn"));
	pass_time(r, 5000);
	t = r->g->session_count + 2 < UFTRACE_GEN_SESSIONS_MAX ? add_task(r->g, 0, r->t->time) : NULL;
	if (t) {
		t->pid = t->tid;
		start_image(r->g, t, uftrace_gen_other_program(r->g));
	}
	pass_time(r, 5000);
	leave(r);
}

/* The open frames stay as they are; the new image starts at depth 0. */
static void do_exec(struct run *r)
{
	if (r->g->session_count + 1 >= UFTRACE_GEN_SESSIONS_MAX || r->g->line_count + 2 > UFTRACE_GEN_LINES_MAX)
		return;
	enter(r, library_call(r, "execve"));
	start_image(r->g, r->t, uftrace_gen_other_program(r->g));
	pass_time(r, 5000);
	r->depth = 0;
	r->first = true;
	list_calls(r);
	enter(r, r->calls[0]);
}

static void do_dlopen(struct run *r)
{
	int plugin = uftrace_gen_plugin(r->g);
	uint64_t base = r->g->sessions[r->t->session].plugin_base;
	struct uftrace_gen_line *line;

	if (plugin < 0)
		return;
	line = add_line(r->g, UFTRACE_GEN_DLOP, r->t->time, r->t->tid, 0);
	if (!line)
		return;
	line->session = r->t->session;
	line->module = (unsigned)plugin;
	r->g->modules[plugin].used = true;
	line->base = base;
	enter(r, library_call(r, "dlopen"));
	pass_time(r, 5000);
	leave(r);
	add_calls(r, (unsigned)plugin, base);
	pass_time(r, 100);
	if (has_room(r, 1)) {
		enter(r, r->calls[r->call_count - 1]);
		pass_time(r, 100);
		leave(r);
	}
}

/* Records were lost, and what is open afterwards is not what was open before. */
static void do_lost(struct run *r)
{
	uint64_t offset = r->out->size;
	uint64_t count = 1 + choices_below(r->g->g->choices, 100000);

	put(r, WORD_LOST, false, uftrace_gen_below(r->g, 8), count);
	mark(r, offset, WORD_LOST, count, NULL, false, false);
	pass_time(r, 1000000);
	if (uftrace_gen_below(r->g, 2) && r->depth > 1)
		r->depth--;
	else if (uftrace_gen_below(r->g, 2) && has_room(r, 1))
		r->g->frames[r->depth++] = (struct uftrace_gen_frame){ r->calls[0].address, r->calls[0].symbol };
	r->first = true;
	if (r->depth && uftrace_gen_below(r->g, 2)) {
		leave(r);
	} else if (has_room(r, 1)) {
		enter(r, r->calls[0]);
		pass_time(r, 100);
		leave(r);
	}
}

struct event {
	uint32_t id;
	uint16_t length;
	unsigned since;
};

static void put_event(struct run *r, const struct event *event)
{
	uint64_t offset = r->out->size;
	uint16_t length = event->length;

	if (event->id == 100012) /* the address of the variable, and its value */
		length = (uint16_t)(uftrace_gen_long_size(r->g) + (1u << uftrace_gen_below(r->g, 4)));
	put(r, WORD_EVENT, length != 0, 0, event->id);
	if (length) {
		bytes_u16(r->out, length);
		for (unsigned i = 0; i < length; i++)
			bytes_u8(r->out, (uint8_t)uftrace_gen_below(r->g, 256));
		bytes_align(r->out, 8);
	}
	mark(r, offset, WORD_EVENT, event->id, NULL, length != 0, false);
}

static void do_event(struct run *r)
{
	static const struct event events[] = {
		{ 100001, 24, 80 }, { 100002, 16, 80 }, { 100003, 24, 83 }, { 100004, 16, 83 }, { 100005, 16, 83 },
		{ 100006, 16, 83 }, { 100007, 16, 83 }, { 100008, 16, 83 }, { 100009, 16, 83 }, { 100010, 16, 83 },
		{ 100011, 4, 93 },  { 100012, 0, 170 }, { 100013, 8, 200 },
	};
	unsigned count = 0;

	while (count < sizeof(events) / sizeof(events[0]) && events[count].since <= r->g->version)
		count++;
	if (count)
		put_event(r, &events[uftrace_gen_below(r->g, count)]);
}

static void do_probe(struct run *r)
{
	struct event event = { 1000000 + uftrace_gen_below(r->g, r->g->probes), 0, 80 };

	put_event(r, &event);
}

/* longjmp() back over two frames: they vanish, and _setjmp exits a second time. */
static void do_longjmp(struct run *r)
{
	struct call setjmp_call = library_call(r, "_setjmp");
	struct uftrace_gen_frame frame = { setjmp_call.address, setjmp_call.symbol };

	if (!has_room(r, 3))
		return;
	enter(r, setjmp_call);
	pass_time(r, 50);
	leave(r);
	pass_time(r, 50);
	enter(r, r->calls[uftrace_gen_below(r->g, r->plain_count)]);
	pass_time(r, 50);
	enter(r, library_call(r, "longjmp"));
	pass_time(r, 50);
	r->depth -= 2;
	put_call(r, WORD_EXIT, &frame);
}

/* Recursion beyond what the depth field can say. */
static void do_deep(struct run *r)
{
	unsigned bottom = r->depth;
	unsigned top = 1024 + 1 + uftrace_gen_below(r->g, 40);

	while (r->depth < top && has_room(r, 1)) {
		enter(r, r->calls[0]);
		r->t->time += 5;
	}
	while (r->depth > bottom) {
		leave(r);
		r->t->time += 5;
	}
}

/* Goes back up until there is room for an incident. */
static void unwind(struct run *r)
{
	while (r->depth > 1 && (!has_room(r, 4) || r->depth > 10)) {
		pass_time(r, 100);
		leave(r);
	}
}

static void repeat(struct run *r, uint64_t feature, void (*incident)(struct run *), unsigned at_most)
{
	if (!uftrace_gen_has(r->g, feature))
		return;
	for (unsigned n = 1 + uftrace_gen_below(r->g, at_most); n; n--) {
		wander(r, uftrace_gen_below(r->g, CALLS_BETWEEN), UINT64_MAX);
		unwind(r);
		pass_time(r, 100);
		incident(r);
	}
}

static void do_plain_fork(struct run *r)
{
	do_fork(r, false);
}

static void do_fork_exec(struct run *r)
{
	do_fork(r, true);
}

/* ---- a task from its first record to its last ---- */

/* Every function once, so that each breaker finds what it needs. */
static void call_all(struct run *r)
{
	for (unsigned i = 0; i < r->call_count && has_room(r, 1); i++) {
		pass_time(r, 100);
		enter(r, r->calls[i]);
		pass_time(r, 100);
		leave(r);
	}
}

static void run_task(struct uftrace_gen *g, unsigned index)
{
	struct run r = { .g = g, .task = index, .t = &g->tasks[index], .first = true };
	char name[24];
	bool main_task = index == 0;

	(void)snprintf(name, sizeof(name), "%d.dat", r.t->tid);
	r.out = gen_file(g->g, name);
	if (!r.out)
		return;
	r.out->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
	list_calls(&r);
	pass_time(&r, 1000);
	if (r.t->forked) { /* the child returns from fork() inside the parent's frames */
		memcpy(g->frames, r.t->inherited, r.t->inherited_count * sizeof(g->frames[0]));
		r.depth = r.t->inherited_count;
		leave(&r);
		while (r.depth && uftrace_gen_below(g, 4) == 3) {
			pass_time(&r, 500);
			leave(&r);
		}
		if (r.t->exec) {
			wander(&r, uftrace_gen_below(g, CALLS_BETWEEN), UINT64_MAX);
			do_exec(&r);
		}
	} else {
		enter(&r, r.calls[0]);
	}
	if (main_task && g->g->rule >= 0)
		call_all(&r);
	if (main_task) {
		repeat(&r, UFTRACE_GEN_DLOPEN, do_dlopen, 2);
		repeat(&r, UFTRACE_GEN_THREADS, do_thread, 5);
		repeat(&r, UFTRACE_GEN_FORK, do_plain_fork, 3);
		repeat(&r, UFTRACE_GEN_FORK_EXEC, do_fork_exec, 2);
		repeat(&r, UFTRACE_GEN_SPAWN, do_spawn, 2);
	}
	if (main_task || uftrace_gen_below(g, 2)) {
		repeat(&r, UFTRACE_GEN_EVENTS, do_event, 6);
		repeat(&r, UFTRACE_GEN_PROBES, do_probe, 3);
		repeat(&r, UFTRACE_GEN_LONGJMP, do_longjmp, 2);
	}
	if (main_task)
		repeat(&r, UFTRACE_GEN_DEEP, do_deep, 1);
	if (main_task || uftrace_gen_below(g, 4) == 3)
		repeat(&r, UFTRACE_GEN_LOST, do_lost, 2);
	if (main_task)
		repeat(&r, UFTRACE_GEN_EXEC, do_exec, 1);

	unwind(&r);
	if (main_task) /* no other task starts tasks: now it is known how many there are */
		g->budget = g->g->size / g->task_count;
	if (g->g->size)
		wander(&r, UINT64_MAX, g->budget);
	else
		wander(&r, uftrace_gen_below(g, SMALL_CALLS), UINT64_MAX);
	while (r.depth && !(uftrace_gen_has(g, UFTRACE_GEN_OPEN) && r.depth < 3)) {
		pass_time(&r, 500);
		leave(&r);
	}
	if (r.t->time > g->end)
		g->end = r.t->time;
	g->g->records += r.t->records;
}

/* The QEMU plugin: one task a CPU and privilege level, depth from 1 and one less on return. */
static void run_foreign(struct uftrace_gen *g)
{
	unsigned cpus = 1 + uftrace_gen_below(g, 3);

	g->budget = g->g->size / cpus;
	g->start = 1700000000000000000 + choices_below(g->g->choices, 1000000000);
	(void)uftrace_gen_make_session(g, 0);
	g->modules[0].used = true;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		struct uftrace_gen_task *t = &g->tasks[g->task_count++];
		struct run r = { .g = g, .task = cpu, .t = t, .first = true };
		char name[24];

		*t = (struct uftrace_gen_task){ .tid = (int)(100 * (cpu + 1) + 3 * uftrace_gen_below(g, 2)), .time = g->start };
		t->pid = t->tid;
		(void)add_line(g, UFTRACE_GEN_SESS, 0, t->tid, 0);
		(void)add_line(g, UFTRACE_GEN_TASK, 0, t->tid, t->pid);
		(void)snprintf(name, sizeof(name), "%d.dat", t->tid);
		r.out = gen_file(g->g, name);
		if (!r.out)
			return;
		r.out->big_endian = uftrace_gen_has(g, UFTRACE_GEN_BIG_ENDIAN);
		list_calls(&r);
		/* Three at least: a breaker may need one between others. */
		for (uint64_t n = 3 + uftrace_gen_below(g, SMALL_CALLS); (n || r.out->size < g->budget) && !r.out->failed;
		     n -= n > 0) {
			struct call call = r.calls[uftrace_gen_below(g, r.call_count)];
			struct uftrace_gen_frame frame = { call.address, call.symbol };
			unsigned levels = 1 + uftrace_gen_below(g, 4);

			for (r.depth = 1; r.depth <= levels; r.depth++) {
				pass_time(&r, 500);
				put_call(&r, WORD_ENTRY, &frame);
			}
			for (r.depth = levels; r.depth > 0; r.depth--) {
				pass_time(&r, 500);
				r.depth--;
				put_call(&r, WORD_EXIT, &frame);
				r.depth++;
			}
		}
		if (t->time > g->end)
			g->end = t->time;
		g->g->records += t->records;
	}
}

/* task.txt is in the order of arrival, which is that of time. */
static void sort_lines(struct uftrace_gen *g)
{
	for (unsigned i = 1; i < g->line_count; i++) {
		struct uftrace_gen_line line = g->lines[i];
		unsigned at = i;

		for (; at && g->lines[at - 1].time > line.time; at--)
			g->lines[at] = g->lines[at - 1];
		g->lines[at] = line;
	}
}

void uftrace_gen_make_calls(struct uftrace_gen *g)
{
	struct uftrace_gen_task *first;

	if (uftrace_gen_has(g, UFTRACE_GEN_FOREIGN)) {
		run_foreign(g);
		return;
	}
	g->start = 5043000000000 + choices_below(g->g->choices, 1000000000000);
	g->next_pid = 1000 + (int)uftrace_gen_below(g, 20000);
	g->probes = 1 + uftrace_gen_below(g, 4);
	first = add_task(g, 0, g->start);
	if (!first)
		return;
	first->pid = first->tid;
	start_image(g, first, 0);
	for (unsigned i = 0; i < g->task_count && !g->g->failed; i++)
		run_task(g, i);
	sort_lines(g);
}
