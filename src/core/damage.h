/* Damage as crashes and bad disks do it, to any capture. */
#ifndef CORE_DAMAGE_H
#define CORE_DAMAGE_H

#include "core/format.h"

/* Damages one file of a generated capture; which and where is drawn from g->choices. */
void damage_apply(struct gen *g, enum tracemend_damage damage);

#endif
