/**
 * What a process needs to fork copies of itself, to be PID 1, to pass many descriptors at once, or to notify systemd, and Node does not give: system calls, and the one call of libuv
 * that makes an event loop usable in a copy. What is done with them is decided in the JavaScript beside this folder.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>
#include "values.h"

#ifndef SOURCE
#define SOURCE "" // the hash of these files, in a prebuilt addon
#endif

#define MAX_DESCRIPTORS 253 // of one message: SCM_MAX_FD in the kernel
#define MAX_MESSAGE 32768 // what the kernel keeps in one piece

/** @returns how many; -1: it has thrown */
static int integers (napi_env env, napi_value array, int *result) {
  uint32_t length;
  if (napi_get_array_length(env, array, &length) != napi_ok || length > MAX_DESCRIPTORS) {
    napi_throw_type_error(env, NULL, "an array of at most 253 numbers is wanted");
    return -1;
  }
  for (uint32_t i = 0; i < length; i++) {
    napi_value element;
    napi_get_element(env, array, i, &element);
    if (!integer(env, element, &result[i])) return -1;
  }
  return (int) length;
}

static napi_value numbers (napi_env env, const int *values, int count) {
  napi_value result;
  napi_create_array_with_length(env, count, &result);
  for (int i = 0; i < count; i++) napi_set_element(env, result, i, number(env, values[i]));
  return result;
}

/** A number as /proc/self/maps has it; `text` is behind it then. (sscanf has another name with each C library, and version.) */
static uintptr_t hexadecimal (const char **text) {
  uintptr_t value = 0;
  for (;; ++*text) {
    int digit = **text <= '9' ? **text - '0' : **text - 'a' + 10;
    if (digit < 0 || digit > 15) return value;
    value = value << 4 | (uintptr_t) digit;
  }
}

/**
 * V8 asks the kernel to leave its pages out of a copy (MADV_DONTFORK), for it expects an exec to follow. Read with plain
 * system calls: an allocation would change what is being read. What cannot be copied, as a device's memory, refuses.
 */
static bool copy_all_mappings (void) {
  static char text[1 << 16];
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  size_t kept = 0;
  ssize_t got;
  while ((got = read(maps, text + kept, sizeof text - 1 - kept)) > 0) {
    size_t length = kept + (size_t) got;
    text[length] = 0;
    char *line = text, *end;
    while ((end = strchr(line, '\n'))) {
      const char *numbers = line;
      uintptr_t from = hexadecimal(&numbers), to = (numbers++, hexadecimal(&numbers));
      madvise((void *) from, to - from, MADV_DOFORK);
      line = end + 1;
    }
    kept = length - (size_t) (line - text);
    memmove(text, line, kept);
  }
  int cause = errno;
  close(maps);
  errno = cause;
  return got == 0;
}

static int child_died = -1; // an eventfd
static struct sigaction action_before;

static void note_death (int signal) {
  (void) signal;
  int cause = errno;
  uint64_t one = 1;
  if (write(child_died, &one, sizeof one) < 0) { /* it is full: it is readable */ }
  errno = cause;
}

static bool watch_deaths (void) {
  if (child_died >= 0) return true;
  child_died = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (child_died < 0) return false;
  struct sigaction action = { .sa_handler = note_death, .sa_flags = SA_RESTART };
  sigfillset(&action.sa_mask);
  return sigaction(SIGCHLD, &action, &action_before) == 0;
}

/** Whose children died is the mold's business: the copy has none. */
static void forget_deaths (void) {
  if (child_died < 0) return;
  close(child_died);
  child_died = -1;
  sigaction(SIGCHLD, &action_before, NULL);
}

/** Puts one descriptor in another's place, with its mode: a stream that the mold has opened there expects it. */
static bool move (int from, int to) {
  int flags = fcntl(to, F_GETFL);
  if (flags >= 0) {
    int given = fcntl(from, F_GETFL);
    if (given < 0 || fcntl(from, F_SETFL, (given & ~O_NONBLOCK) | (flags & O_NONBLOCK)) < 0) return false;
  }
  int descriptor_flags = fcntl(to, F_GETFD);
  if (dup3(from, to, descriptor_flags >= 0 && (descriptor_flags & FD_CLOEXEC) ? O_CLOEXEC : 0) < 0) return false;
  close(from);
  return true;
}

/**
 * fork(from, to): copies this process. In the copy each descriptor of `from` is put in the place of its namesake in `to`
 * before the event loop is made anew, so that the streams there are connected elsewhere and do not notice.
 * Returns the copy's pid; in the copy 0.
 */
static napi_value Fork (napi_env env, napi_callback_info info) {
  napi_value values[2];
  int from[MAX_DESCRIPTORS], to[MAX_DESCRIPTORS];
  uv_loop_t *loop;
  if (!arguments(env, info, 2, values)) return NULL;
  int count = integers(env, values[0], from);
  if (count < 0 || integers(env, values[1], to) != count) return NULL;
  napi_get_uv_event_loop(env, &loop);
  if (!copy_all_mappings()) return fail(env, "madvise");
  fflush(NULL); // or each copy would print it again
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_t pid = fork();
  if (pid < 0) {
    int cause = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return fail(env, "fork");
  }
  if (pid == 0) {
    forget_deaths();
    for (int i = 0; i < count; i++) if (!move(from[i], to[i])) _exit(71); // EX_OSERR
    if (uv_loop_fork(loop) != 0) _exit(71);
    uv_update_time(loop); // it may have stood for long
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return number(env, pid);
}

/**
 * @returns a message's text and descriptors, of which some are missing where this process may have no more; null: the other end is closed;
 * undefined, with MSG_DONTWAIT: there is none yet; NULL: it has thrown
 */
static napi_value receive (napi_env env, int socket, int flags) {
  static char text[MAX_MESSAGE];
  char control[CMSG_SPACE(sizeof(int) * MAX_DESCRIPTORS)];
  struct iovec part = { .iov_base = text, .iov_len = sizeof text };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
  ssize_t length = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags);
  if (length < 0) return errno == EAGAIN && flags ? undefined(env) : fail(env, "recvmsg");
  int descriptors[MAX_DESCRIPTORS], count = 0;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int here = (int) ((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(descriptors + count, CMSG_DATA(part), sizeof(int) * (size_t) here);
    count += here;
  }
  napi_value result, message;
  if (length == 0) return napi_get_null(env, &result) == napi_ok ? result : NULL;
  napi_create_object(env, &result);
  napi_create_string_utf8(env, text, (size_t) length, &message);
  napi_set_named_property(env, result, "text", message);
  napi_set_named_property(env, result, "descriptors", numbers(env, descriptors, count));
  return result;
}

/**
 * wait(socket): blocks this thread, and with it the event loop, until there is something to do. Returns the end of a child
 * ({ pid, code, signal }), a message ({ text, descriptors }), or null when the socket's other end is closed.
 */
static napi_value Wait (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int socket;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &socket)) return NULL;
  if (!watch_deaths()) return fail(env, "sigaction");
  for (;;) {
    uint64_t deaths;
    if (read(child_died, &deaths, sizeof deaths) < 0 && errno != EAGAIN) return fail(env, "read");
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      note_death(SIGCHLD); // there may be more
      napi_value result;
      napi_create_object(env, &result);
      napi_set_named_property(env, result, "pid", number(env, pid));
      napi_set_named_property(env, result, "code", number(env, WIFEXITED(status) ? WEXITSTATUS(status) : 0));
      napi_set_named_property(env, result, "signal", number(env, WIFSIGNALED(status) ? WTERMSIG(status) : 0));
      return result;
    }
    struct pollfd ready[] = { { .fd = socket, .events = POLLIN }, { .fd = child_died, .events = POLLIN } };
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return fail(env, "poll");
    if (ready[0].revents) return receive(env, socket, 0);
  }
}

/** receive(socket): a message ({ text, descriptors }); undefined: there is none yet; null: the other end is closed. */
static napi_value Receive (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int socket;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &socket)) return NULL;
  return receive(env, socket, MSG_DONTWAIT);
}

/** send(socket, text, descriptors): one message, shorter than 32 KiB, with descriptors of this process. It does not wait: EAGAIN. */
static napi_value Send (napi_env env, napi_callback_info info) {
  napi_value values[3];
  int socket, descriptors[MAX_DESCRIPTORS];
  static char text[MAX_MESSAGE];
  size_t length;
  if (!arguments(env, info, 3, values) || !integer(env, values[0], &socket)) return NULL;
  int count = integers(env, values[2], descriptors);
  if (count < 0) return NULL;
  napi_get_value_string_utf8(env, values[1], NULL, 0, &length);
  if (length == 0 || length >= sizeof text) {
    errno = EMSGSIZE;
    return fail(env, "sendmsg");
  }
  napi_get_value_string_utf8(env, values[1], text, sizeof text, &length);
  char control[CMSG_SPACE(sizeof(int) * MAX_DESCRIPTORS)] = { 0 };
  struct iovec part = { .iov_base = text, .iov_len = length };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
  if (count > 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t) count);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t) count);
    memcpy(CMSG_DATA(rights), descriptors, sizeof(int) * (size_t) count);
  }
  if (sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return fail(env, "sendmsg");
  return undefined(env);
}

/** socketpair(): two connected ends of a stream. */
static napi_value Socketpair (napi_env env, napi_callback_info info) {
  (void) info;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return fail(env, "socketpair");
  return numbers(env, ends, 2);
}

/** peer(fd): the uid of the process at the other end of a unix socket, as it was when that one connected, or began to listen. */
static napi_value Peer (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return fail(env, "getsockopt");
  return number(env, peer.uid);
}

/** notify(path, text): one datagram, shorter than 32 KiB, to a unix socket; a path that begins with @ is an abstract one. It does not wait: EAGAIN. */
static napi_value Notify (napi_env env, napi_callback_info info) {
  napi_value values[2];
  struct sockaddr_un to = { .sun_family = AF_UNIX };
  static char text[MAX_MESSAGE];
  size_t path_length = 0, length = 0;
  if (!arguments(env, info, 2, values)) return NULL;
  napi_get_value_string_utf8(env, values[0], NULL, 0, &path_length);
  napi_get_value_string_utf8(env, values[1], NULL, 0, &length);
  if (path_length == 0 || path_length >= sizeof to.sun_path || length >= sizeof text) {
    errno = path_length == 0 ? EINVAL : length >= sizeof text ? EMSGSIZE : ENAMETOOLONG;
    return fail(env, "sendto");
  }
  napi_get_value_string_utf8(env, values[0], to.sun_path, sizeof to.sun_path, &path_length);
  napi_get_value_string_utf8(env, values[1], text, sizeof text, &length);
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (from < 0) return fail(env, "socket");
  ssize_t sent = sendto(from, text, length, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *) &to, (socklen_t) (offsetof(struct sockaddr_un, sun_path) + path_length));
  int cause = errno;
  close(from);
  errno = cause;
  return sent < 0 ? fail(env, "sendto") : undefined(env);
}

static pid_t original; // the process that asked for it
static int exit_code = -1; // it is not about to exit

/**
 * Node is done with its exit handlers and its report of an uncaught exception, and is about to join its threads. A copy has none
 * of them: there it waits for ever, or reads memory that is free. (Node also calls this before it sends itself a signal.)
 */
static void leave (void *unused) {
  (void) unused;
  if (getpid() == original || exit_code < 0) return;
  fflush(NULL);
  _exit(exit_code);
}

/** Node's addon API from before N-API, by the names that its symbols have; each NULL where there is none. */
extern void *current_isolate (void) __asm__("_ZN2v87Isolate10GetCurrentEv") __attribute__((weak));
extern void *current_context (void *isolate) __asm__("_ZN2v87Isolate17GetCurrentContextEv") __attribute__((weak));
extern void *environment_of (void *context) __asm__("_ZN4node21GetCurrentEnvironmentEN2v85LocalINS0_7ContextEEE") __attribute__((weak));
extern void at_exit (void *environment, void (*call)(void *), void *argument) __asm__("_ZN4node6AtExitEPNS_11EnvironmentEPFvPvES2_") __attribute__((weak));

static void leave_at_exit (void) {
  at_exit(environment_of(current_context(current_isolate())), leave, NULL);
}

/** guardExits(): makes copies of this process end by _exit where Node would join its threads. False: this Node has no such hook. */
static napi_value GuardExits (napi_env env, napi_callback_info info) {
  (void) info;
  bool is_there = current_isolate && current_context && environment_of && at_exit;
  if (is_there && !original) {
    original = getpid();
    leave_at_exit();
  }
  napi_value result;
  napi_get_boolean(env, is_there, &result);
  return result;
}

/** node::NodePlatform runs V8's tasks; `platform_of` is of the same old API, the methods of the class itself. */
extern void *platform_of (void *environment) __asm__("_ZN4node23GetMultiIsolatePlatformEPNS_11EnvironmentE") __attribute__((weak));
extern void drain_tasks (void *platform, void *isolate) __asm__("_ZN4node12NodePlatform10DrainTasksEPN2v87IsolateE") __attribute__((weak));
extern bool flush_foreground_tasks (void *platform, void *isolate) __asm__("_ZN4node12NodePlatform20FlushForegroundTasksEPN2v87IsolateE") __attribute__((weak));

/**
 * Before the event loop of a thread ends, Node waits until all background tasks are done. V8 gives such tasks even where it does the
 * work itself (on Node 26 in each scavenge, on Node 20 for WebAssembly), and in a copy no thread takes them: what is left to do is
 * what is to be done in this very thread.
 */
static void drain_alone (void *platform, void *isolate) {
  if (getpid() == original) return drain_tasks(platform, isolate);
  while (flush_foreground_tasks(platform, isolate)) { /* one task may give another */ }
}

static int is_code (struct dl_phdr_info *program, size_t size, void *address) {
  (void) size;
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type == PT_LOAD && part->p_flags & PF_X && (uintptr_t) address - (program->dlpi_addr + part->p_vaddr) < part->p_memsz) return 1;
  }
  return 0;
}

/** The place in an object's table of virtual methods that has this one; NULL: none has. The table ends where something else than code is named. */
static void **place_of (void *object, void *method) {
  void **methods = *(void ***) object;
  while (*methods != method && dl_iterate_phdr(is_code, *methods)) methods++;
  return *methods == method ? methods : NULL;
}

/** drainAlone(): copies of this process do not wait for threads that they do not have. False: this Node has no such method. */
static napi_value DrainAlone (napi_env env, napi_callback_info info) {
  (void) info;
  bool is_there = original && platform_of && drain_tasks && flush_foreground_tasks;
  void **place = is_there ? place_of(platform_of(environment_of(current_context(current_isolate()))), drain_tasks) : NULL;
  if (place) {
    size_t size = (size_t) sysconf(_SC_PAGESIZE);
    void *page = (void *) ((uintptr_t) place & ~(size - 1));
    if (mprotect(page, size, PROT_READ | PROT_WRITE) < 0) return fail(env, "mprotect");
    *place = drain_alone;
    mprotect(page, size, PROT_READ);
  }
  napi_value result;
  napi_get_boolean(env, place != NULL, &result);
  return result;
}

/** exitAs(code): the code by which a copy ends. */
static napi_value ExitAs (napi_env env, napi_callback_info info) {
  napi_value values[1];
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &exit_code)) return NULL;
  exit_code &= 0xff;
  leave_at_exit(); // a signal to itself, which it has survived, has used the first one up
  return undefined(env);
}

/** activeRequests(): how many operations of the event loop are under way, in the thread pool or in the kernel. */
static napi_value ActiveRequests (napi_env env, napi_callback_info info) {
  (void) info;
  uv_loop_t *loop;
  napi_get_uv_event_loop(env, &loop);
  return number(env, loop->active_reqs.count);
}

/** ignore(signal): it does nothing to this process, until a handler is set; processes that libuv starts do not inherit it. */
static napi_value Ignore (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int number;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &number)) return NULL;
  if (signal(number, SIG_IGN) == SIG_ERR) return fail(env, "signal");
  return undefined(env);
}

/** exit(code): ends this process here and now, without joining threads that a copy does not have. */
static napi_value Exit (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int code;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &code)) return NULL;
  _exit(code);
}

/** exited(): the pid of a child whose exit has not been collected, which it leaves so; 0: there is none. */
static napi_value Exited (napi_env env, napi_callback_info info) {
  (void) info;
  siginfo_t child = { .si_pid = 0 };
  if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != ECHILD) return fail(env, "waitid");
  return number(env, child.si_pid);
}

/** collect(pid): collects the exit of a child, so that it is no zombie any more. */
static napi_value Collect (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int pid;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &pid)) return NULL;
  if (waitpid(pid, NULL, WNOHANG) < 0) return fail(env, "waitpid");
  return undefined(env);
}

NAPI_MODULE_INIT () {
  const struct { const char *name; napi_callback call; } functions[] = {
    { "fork", Fork }, { "wait", Wait }, { "send", Send }, { "receive", Receive }, { "socketpair", Socketpair }, { "peer", Peer }, { "exit", Exit },
    { "guardExits", GuardExits }, { "exitAs", ExitAs }, { "drainAlone", DrainAlone }, { "activeRequests", ActiveRequests }, { "ignore", Ignore },
    { "exited", Exited }, { "collect", Collect }, { "notify", Notify },
    { "memory", Memory }, { "map", Map }, { "bytesOf", BytesOf }, { "unread", Unread }, { "shut", Shut },
    { "own", Own }, { "owner", Owner }, { "duplicate", Duplicate },
    { "watchReads", WatchReads }, { "keepReads", KeepReads }, { "forgetReads", ForgetReads }, { "sweepReads", SweepReads },
    { "guardQueue", GuardQueue }, { "unguardQueue", UnguardQueue },
    { "collections", Collections }
  };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  napi_value source;
  napi_create_string_utf8(env, SOURCE, NAPI_AUTO_LENGTH, &source);
  napi_set_named_property(env, exports, "source", source);
  return exports;
}
