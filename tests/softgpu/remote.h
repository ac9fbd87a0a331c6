/* Program debug between processes. */
#ifndef SOFTGPU_REMOTE_H
#define SOFTGPU_REMOTE_H

#include "stop.h"

#pragma GCC visibility push(hidden)

/* ---- the tool's end -------------------------------------------------------------------------------------- */

/* NOT_READY: the process has no driver yet, or one that was not told that it may be debugged. */
ze_result_t sg_remote_connect(pid_t process, int *connection);

/* As sg_debug_serve(), in the other process. */
ze_result_t sg_remote_ask(int connection, sg_debug_request *request, int *events, uint8_t *bytes);

/* ---- the target's end: on the agent's thread ------------------------------------------------------------- */

int sg_remote_listen(void);         /* a socket; below 0: none */
int sg_remote_accept(int listener); /* a connection; below 0: none */

/* Answers a request; `attached` is that which has attached the connection's tool, or has no session. False:
 * the tool is gone. */
bool sg_remote_serve(int connection, sg_debug_request *attached);

#pragma GCC visibility pop

#endif
