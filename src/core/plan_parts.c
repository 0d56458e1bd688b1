/* What every file of the edit plan needs. */
#include "core/plan_parts.h"

#include <stdlib.h>

#include "core/array.h"

void pieces_free(struct pieces *list)
{
	free(list->items);
	free(list->runs);
	*list = (struct pieces){ 0 };
}

void plan_fail(struct plan *p, enum tracemend_status status)
{
	if (p->status == TM_OK)
		p->status = status;
}

bool plan_room(struct plan *p, void *list, size_t *capacity, size_t count, size_t size, size_t max)
{
	if (p->status != TM_OK)
		return false;
	enum tracemend_status status = array_room(list, capacity, count, size, max);
	if (status == TM_LIMIT)
		(void)fault_set(&p->in->error, TM_LIMIT, "the repair of %s needs more than %zu separate changes", p->in->path, max);
	if (status != TM_OK)
		plan_fail(p, status);
	return status == TM_OK;
}

void plan_clear(struct plan *p)
{
	for (size_t i = 0; i < p->output_count; i++) {
		free(p->outputs[i].name);
		pieces_free(&p->outputs[i].pieces);
		free(p->outputs[i].offsets);
	}
	free(p->outputs);
	map_free(&p->by_name);
	pieces_free(&p->dropped);
	pieces_free(&p->doubtful);
	bytes_free(&p->literals);
	for (size_t i = 0; i < p->why_count; i++)
		free(p->whys[i]);
	free(p->whys);
	window_close(&p->near.window);
	*p = (struct plan){ .in = p->in, .table = p->table, .rules = p->rules };
}
