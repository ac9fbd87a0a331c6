/* The timeline of a report of several profilers. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"
#include "reports/joining_parts.h"

/* Makes a timeline with room for all that the members have kept, if one of them has a timeline. Returns 0 without
   memory. */
ZT__PRIVATE int zt__begin_joined_timeline(zt__joining *joining);

/* Copies what a member has kept, whose collector is held, and the entries of phases that are not over. Returns 0 without
   memory. */
ZT__PRIVATE int zt__copy_member_timeline(zt__joining *joining, zt__member *member);

/* Sorts what was copied, and removes what several members have. Returns 0 without memory. */
ZT__PRIVATE int zt__end_joined_timeline(zt__joining *joining);
