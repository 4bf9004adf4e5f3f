/**
 * Where a process has no descriptor left, libuv takes every connection out of the listening socket's queue and closes it. So its call of accept4(2) is
 * led through here (hook.c): the connections stay in the queue, and libuv's epoll does not look at it until guardQueue() is called again; it would find
 * something in each turn of the loop.
 */

#define _GNU_SOURCE

#include "values.h"
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define MOST 64 // listening sockets; those beyond have what libuv does

extern int uv_backend_fd (const void *loop); // uv.h does not go together with linux/tcp.h
static const void *loop; // of the main thread, which alone has guarded sockets

/** `fd` is -1 where there is none. An app's threads accept as well, from sockets of their own. */
static struct queue { atomic_int fd; bool is_silent; } queues[MOST];
static int count;

static struct queue *queue_of (int fd) {
  for (int i = 0; i < count; i++) if (queues[i].fd == fd) return &queues[i];
  return NULL;
}

/** What libuv hears of it. */
static bool poll_for (uint32_t events, int fd) {
  struct epoll_event wanted = { .events = events, .data.fd = fd };
  return epoll_ctl(uv_backend_fd(loop), EPOLL_CTL_MOD, fd, &wanted) == 0;
}

/** Called by libuv in place of accept4(). */
static int guarded_accept (int fd, struct sockaddr *address, socklen_t *length, int flags) {
  int client = accept4(fd, address, length, flags);
  if (client >= 0 || (errno != EMFILE && errno != ENFILE)) return client;
  struct queue *queue = queue_of(fd);
  if (!queue) return client;
  queue->is_silent = poll_for(0, fd);
  errno = EAGAIN;
  return client;
}

/** guardQueue(fd): from here on, until unguardQueue(fd); again: there may be a descriptor by now. -1: of none, to ask. False: this Node.js cannot be hooked. */
napi_value GuardQueue (napi_env env, napi_callback_info info) {
  static bool is_tried, is_hooked;
  napi_value values[1], result;
  int fd;
  struct uv_loop_s *own;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  if (fd < 0) {
    napi_get_boolean(env, hook("accept4", NULL), &result);
    return result;
  }
  if (!is_tried && napi_get_uv_event_loop(env, &own) == napi_ok) {
    loop = own;
    is_hooked = hook("accept4", (void *) guarded_accept);
  }
  is_tried = true;
  struct queue *queue = queue_of(fd);
  if (queue && queue->is_silent) poll_for(EPOLLIN, fd);
  if (!queue) queue = queue_of(-1);
  if (!queue && count < MOST) queue = &queues[count++];
  if (queue) {
    queue->is_silent = false;
    queue->fd = fd;
  }
  napi_get_boolean(env, is_hooked && queue != NULL, &result);
  return result;
}

/** unguardQueue(fd): to be called before it is closed. */
napi_value UnguardQueue (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  struct queue *queue = fd >= 0 ? queue_of(fd) : NULL;
  if (queue) {
    queue->is_silent = false;
    queue->fd = -1;
  }
  return undefined(env);
}
