/**
 * Where a process has no descriptor left, libuv takes every connection out of the listening socket's queue and closes it. So its call of accept4(2) is
 * led through here (hook.c): the connections stay in the queue, and the server is told once, by ENOBUFS, to which libuv does nothing of its own.
 */

#define _GNU_SOURCE

#include "values.h"
#include <stdatomic.h>
#include <sys/socket.h>

#define MOST 64 // listening sockets; those beyond have what libuv does

/** `fd` is -1 where there is none. An app's threads accept as well, from sockets of their own. */
static struct queue { atomic_int fd; bool is_told; } queues[MOST];
static int count;

static struct queue *queue_of (int fd) {
  for (int i = 0; i < count; i++) if (queues[i].fd == fd) return &queues[i];
  return NULL;
}

/** Called by libuv in place of accept4(). */
static int guarded_accept (int fd, struct sockaddr *address, socklen_t *length, int flags) {
  int client = accept4(fd, address, length, flags);
  if (client >= 0 || (errno != EMFILE && errno != ENFILE)) return client;
  struct queue *queue = queue_of(fd);
  if (!queue) return client;
  errno = queue->is_told ? EAGAIN : ENOBUFS; // some versions of libuv go on until there is no other error
  queue->is_told = true;
  return client;
}

/** guardQueue(fd): from here on, until unguardQueue(fd). False: this Node.js cannot be hooked. */
napi_value GuardQueue (napi_env env, napi_callback_info info) {
  static bool is_tried, is_hooked;
  napi_value values[1], result;
  int fd;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  if (!is_tried) is_hooked = hook("accept4", (void *) guarded_accept);
  is_tried = true;
  struct queue *queue = queue_of(fd);
  if (!queue) queue = queue_of(-1);
  if (!queue && count < MOST) queue = &queues[count++];
  if (queue && fd >= 0) {
    queue->is_told = false;
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
  if (queue) queue->fd = -1;
  return undefined(env);
}
