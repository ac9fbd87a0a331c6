/* Declarations that older headers lack. */
#ifndef SOFTGPU_NEWER_H
#define SOFTGPU_NEWER_H

#include <level_zero/ze_api.h>

#endif
