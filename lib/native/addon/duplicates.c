/**
 * What connections need that outlive their worker, and Node does not give: memory that another process can read when this one is dead, and what
 * the kernel knows of a connection. What is done with them is decided in lib/features/failover/.
 */

#define _GNU_SOURCE

#include "values.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/** memory(bytes): the descriptor of memory without a name, which takes room only where it is written to. */
napi_value Memory (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int bytes;
  struct rlimit limit;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &bytes)) return NULL;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t) bytes) {
    errno = EFBIG; // ftruncate would send SIGXFSZ
    return fail(env, "ftruncate");
  }
  int fd = memfd_create("recycle", MFD_CLOEXEC);
  if (fd < 0) return fail(env, "memfd_create");
  if (ftruncate(fd, bytes) < 0) {
    int cause = errno;
    close(fd);
    errno = cause;
    return fail(env, "ftruncate");
  }
  return number(env, fd);
}

static void unmap (napi_env env, void *data, void *length) {
  (void) env;
  munmap(data, (size_t) (uintptr_t) length);
}

/** map(fd, offset, length): that part of it, an ArrayBuffer; offset and length are of whole pages. */
napi_value Map (napi_env env, napi_callback_info info) {
  napi_value values[3], result;
  int fd, offset, length;
  if (!arguments(env, info, 3, values) || !integer(env, values[0], &fd) || !integer(env, values[1], &offset) || !integer(env, values[2], &length)) return NULL;
  void *data = mmap(NULL, (size_t) length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (data == MAP_FAILED) return fail(env, "mmap");
  if (napi_create_external_arraybuffer(env, data, (size_t) length, unmap, (void *) (uintptr_t) length, &result) != napi_ok) {
    munmap(data, (size_t) length);
    errno = ENOTSUP;
    return fail(env, "mmap");
  }
  return result;
}

#define CLOSE_WAIT 8 // TCP_CLOSE_WAIT of netinet/tcp.h, which does not go together with linux/tcp.h

/**
 * bytesOf(fd): of a TCP connection, [read, written, unread, state]: the bytes that processes have read from it and written to it since
 * it was opened, those that have come and are not read, and the kernel's state (1: established, 8: the client has ended its half, which
 * the kernel counts as a byte). Undefined: it is none.
 */
napi_value BytesOf (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd, unread = 0, unacknowledged = 0;
  struct tcp_info tcp;
  socklen_t length = sizeof tcp;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  for (int before[2], tries = 0; tries < 100; tries++) { // bytes may come, and be acknowledged, between these calls
    memset(&tcp, 0, sizeof tcp);
    length = sizeof tcp;
    if (ioctl(fd, SIOCINQ, &before[0]) < 0 || ioctl(fd, SIOCOUTQ, &before[1]) < 0) return undefined(env);
    bool is_known = getsockopt(fd, IPPROTO_TCP, TCP_INFO, &tcp, &length) == 0 && length >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof tcp.tcpi_bytes_received;
    if (!is_known || ioctl(fd, SIOCINQ, &unread) < 0 || ioctl(fd, SIOCOUTQ, &unacknowledged) < 0) return undefined(env);
    if (unread == before[0] && unacknowledged == before[1]) break;
  }
  int end = tcp.tcpi_state == CLOSE_WAIT;
  const double bytes[] = { (double) tcp.tcpi_bytes_received - unread - end, (double) tcp.tcpi_bytes_acked + unacknowledged, unread, tcp.tcpi_state };
  napi_value result;
  napi_create_array_with_length(env, 4, &result);
  for (uint32_t i = 0; i < 4; i++) napi_set_element(env, result, i, number(env, bytes[i]));
  return result;
}

/**
 * own(fd, pid): notes with a socket, for all that have a descriptor of it, which process has it. The kernel keeps the note as long as the
 * socket is open, whichever of them die. Nothing, where that process has ended. (It would be sent SIGURG with data out of band, which Node
 * ignores.)
 */
napi_value Own (napi_env env, napi_callback_info info) {
  napi_value values[2];
  int fd, pid;
  if (!arguments(env, info, 2, values) || !integer(env, values[0], &fd) || !integer(env, values[1], &pid)) return NULL;
  fcntl(fd, F_SETOWN, pid);
  return undefined(env);
}

/** owner(fd): the pid of that process; 0: there is no note, or it has ended. */
napi_value Owner (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  int pid = fcntl(fd, F_GETOWN);
  return pid < 0 ? fail(env, "fcntl") : number(env, pid);
}

/** duplicate(fd): another descriptor of what it is of. */
napi_value Duplicate (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  return copy < 0 ? fail(env, "fcntl") : number(env, copy);
}

/** unread(fd): how many bytes wait in a pipe, a socket or what is left of a file. Undefined: that is not known. */
napi_value Unread (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd, unread = 0;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  return ioctl(fd, FIONREAD, &unread) < 0 ? undefined(env) : number(env, unread);
}

/**
 * shut(fd, reset): ends a TCP connection of which another process has a descriptor too, as close() would if this one were the last: with a
 * reset where that is asked for, or where bytes have come that nothing has read.
 */
napi_value Shut (napi_env env, napi_callback_info info) {
  napi_value values[2];
  int fd, unread = 0;
  bool is_reset;
  if (!arguments(env, info, 2, values) || !integer(env, values[0], &fd) || napi_get_value_bool(env, values[1], &is_reset) != napi_ok) return NULL;
  struct sockaddr none = { .sa_family = AF_UNSPEC };
  if (is_reset || (ioctl(fd, SIOCINQ, &unread) == 0 && unread > 0)) connect(fd, &none, sizeof none); // disconnects
  else shutdown(fd, SHUT_RDWR);
  return undefined(env);
}
