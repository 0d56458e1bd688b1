/* Damage of a kind that crashes and bad disks cause, for captures of any format. */
#ifndef CORE_DAMAGE_H
#define CORE_DAMAGE_H

#include "core/format.h"

/* Damages one file of a generated capture. g->choices decides which file, and where. */
void damage_apply(struct gen *g, enum tracemend_damage damage);

#endif
