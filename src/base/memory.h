/* The application's allocator. */

#pragma once

#include "base/compiler.h"
#include "base/system.h"

/* Returns memory filled with zeros, or NULL. Like every function with a parameter `allocator`, it may call
   the application's functions: no mutex may be held. */
ZT__PRIVATE void *zt__allocate(const zt_allocator *allocator, size_t count, size_t size);

ZT__PRIVATE void zt__free(const zt_allocator *allocator, void *memory);

/* Returns a copy of a text, or NULL without memory. */
ZT__PRIVATE char *zt__duplicate_text(const zt_allocator *allocator, const char *text);

/* Copies a configuration of `size` bytes. NULL stands for one of zeros, which is the default. */
ZT__PRIVATE void zt__copy_config(void *to, const void *given, size_t size);

extern const zt_allocator zt__default_allocator;
