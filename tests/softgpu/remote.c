/* Program debug between processes: requests and answers through a socket in the abstract namespace, which the
 * target's agent listens at. Each end checks whom it talks to. */
#define _GNU_SOURCE /* struct ucred */
#include "remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct answer {
    ze_result_t result;
    uint64_t session;
} answer;

static socklen_t address_of(pid_t process, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length =
        snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "softgpu-debug-%ld", (long)process);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Of the same user, or the system's. */
static bool is_trusted(int socket, pid_t process) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == geteuid() || peer.uid == 0) && (!process || peer.pid == process);
}

/* ---- messages -------------------------------------------------------------------------------------------- */

/* A structure, bytes behind it, and a descriptor that goes with them, or -1. */
static bool send_message(int to, const void *head, size_t head_size, const void *bytes, size_t size,
                         int with) {
    struct iovec parts[] = {{(void *)(uintptr_t)head, head_size}, {(void *)(uintptr_t)bytes, size}};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof with)] = {0};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = size ? 2 : 1};
    if (with >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        *part = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof with)};
        memcpy(CMSG_DATA(part), &with, sizeof with);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)(head_size + size);
}

/* How many bytes came; 0: the other end is gone. */
static size_t receive_message(int from, void *head, size_t head_size, void *bytes, size_t room, int *with) {
    struct iovec parts[] = {{head, head_size}, {bytes, room}};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof *with)];
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = room ? 2 : 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t size;
    do
        size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    struct cmsghdr *part = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (part && with && part->cmsg_type == SCM_RIGHTS)
        memcpy(with, CMSG_DATA(part), sizeof *with);
    return size < (ssize_t)head_size ? 0 : (size_t)size;
}

/* Bytes that go with a request, and those that its answer has; SIZE_MAX: there is no such request. */
static size_t bytes_of(const sg_debug_request *request, bool is_answer) {
    const bool reads = request->call == SG_DEBUG_READ_MEMORY || request->call == SG_DEBUG_READ_REGISTERS;
    const bool writes = request->call == SG_DEBUG_WRITE_MEMORY || request->call == SG_DEBUG_WRITE_REGISTERS;
    const bool is_memory = request->call == SG_DEBUG_READ_MEMORY || request->call == SG_DEBUG_WRITE_MEMORY;
    size_t size = (size_t)request->size;
    if (!reads && !writes)
        return 0;
    if (is_memory ? request->size > SG_DEBUG_CHUNK
                  : sg_registers_check(request->type, request->start, request->count, writes, &size) !=
                        ZE_RESULT_SUCCESS)
        return SIZE_MAX;
    return reads == is_answer ? size : 0;
}

/* ---- the tool's end -------------------------------------------------------------------------------------- */

ze_result_t sg_remote_connect(pid_t process, int *connection) {
    struct sockaddr_un address;
    socklen_t size = address_of(process, &address);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made < 0)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    bool is_there = !connect(made, (struct sockaddr *)&address, size);
    if (is_there && is_trusted(made, process)) {
        *connection = made;
        return ZE_RESULT_SUCCESS;
    }
    close(made);
    return is_there ? ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS : ZE_RESULT_NOT_READY;
}

ze_result_t sg_remote_ask(int connection, sg_debug_request *request, int *events, uint8_t *bytes) {
    answer got = {ZE_RESULT_ERROR_NOT_AVAILABLE, 0};
    size_t sent = bytes_of(request, false), expected = bytes_of(request, true);
    int with = -1;
    if (!send_message(connection, request, sizeof *request, bytes, sent, -1) ||
        !receive_message(connection, &got, sizeof got, bytes, expected, &with))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    request->session = got.session;
    if (events)
        *events = with;
    return got.result;
}

/* ---- the target's end ------------------------------------------------------------------------------------ */

int sg_remote_listen(void) {
    struct sockaddr_un address;
    socklen_t size = address_of(getpid(), &address);
    int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (made >= 0 && (bind(made, (struct sockaddr *)&address, size) || listen(made, 8))) {
        close(made);
        made = -1;
    }
    return made;
}

int sg_remote_accept(int listener) {
    int made = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    const answer refused = {ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, 0};
    if (made >= 0 && !is_trusted(made, 0)) {
        send_message(made, &refused, sizeof refused, NULL, 0, -1);
        close(made);
        return -1;
    }
    return made;
}

static ze_result_t may_attach(void) {
    if (!sg_debug_is_enabled() || sg_behaviour_is_on(SOFTGPU_DEBUG_UNSUPPORTED))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return sg_behaviour_is_on(SOFTGPU_DEBUG_NO_PERMISSION) ? ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS
                                                           : ZE_RESULT_SUCCESS;
}

bool sg_remote_serve(int connection, sg_debug_request *attached) {
    static uint8_t bytes[SG_DEBUG_CHUNK]; /* the agent's alone */
    sg_debug_request request;
    int events = -1;
    if (!receive_message(connection, &request, sizeof request, bytes, sizeof bytes, NULL))
        return false;
    bool is_attachment = request.call == SG_DEBUG_ATTACH;
    size_t answered = bytes_of(&request, true);
    answer given = {ZE_RESULT_ERROR_INVALID_ARGUMENT, 0};
    if (!is_attachment)
        request.session = attached->session;
    if (answered != SIZE_MAX && is_attachment == !attached->session)
        given.result = is_attachment ? may_attach() : ZE_RESULT_SUCCESS;
    if (given.result == ZE_RESULT_SUCCESS)
        given.result = sg_debug_serve(&request, &events, bytes);
    if (given.result == ZE_RESULT_SUCCESS && is_attachment)
        *attached = request;
    given.session = attached->session;
    bool is_sent = send_message(connection, &given, sizeof given, bytes,
                                given.result == ZE_RESULT_SUCCESS ? answered : 0, events);
    if (events >= 0)
        close(events);
    return is_sent;
}
