#include "core/issue.h"

void issue_add_at(struct issues *list, struct issue issue)
{
	if (issue.severity > list->worst)
		list->worst = issue.severity;
	if (list->count == list->room)
		list->more++;
	else
		list->list[list->count++] = issue;
}
