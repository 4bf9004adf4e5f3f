/**
 * Keeps what this process reads from some connections, in memory that another process can read when this one is dead. Node.js has no place for that
 * between the kernel and its parser, so the call of read(2) by libuv is led through here (hook.c).
 * What is done with it is decided in lib/features/failover/.
 */

#define _GNU_SOURCE

#include "values.h"
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SERIAL 0 // of a row: lib/features/failover/row.js
#define KEPT 6
#define PLACE 7
#define PREFIX 8 // of a place: when the first of it came
#define NOT_KEPT -1 // there was no place

extern uint64_t uv_now (const void *loop); // uv.h does not go together with linux/tcp.h
static const void *loop; // of the main thread, which alone reads what is watched

struct sizes { size_t bytes, from, count, next, free_count; uint32_t *free; };
static struct sizes sizes[2];

/** Of a descriptor: its row, and the place of what was read since its connection was idle. `wants`: the size that its requests have had. */
struct watched { double *row; size_t kept; int size, wants; uint32_t place; bool is_idle; };
static struct watched *watched;
static size_t watched_count, watched_until;
static char *memory; // of all places, and the spill; `memory_from` is its offset in the file
static size_t memory_from;

/** What a place has no room for, from the moment of its read until a larger place has it too. `at`: how much of the same is in the place. */
static struct spill { double serial, at; char bytes[]; } *spill;
static size_t spill_bytes;

static char *bytes_of (const struct watched *entry) {
  return memory + (sizes[entry->size].from - memory_from) + sizes[entry->size].bytes * entry->place;
}

static size_t room_of (const struct watched *entry) {
  return sizes[entry->size].bytes - PREFIX - entry->kept;
}

static size_t least (size_t a, size_t b) {
  return a < b ? a : b;
}

static void free_place (const struct watched *entry) {
  if (entry->size >= 0) sizes[entry->size].free[sizes[entry->size].free_count++] = entry->place;
}

static void give_back (struct watched *entry) {
  entry->row[PLACE] = 0;
  free_place(entry);
  entry->size = -1;
}

/** A place of this size or of a larger one, with what is kept. */
static bool grow (struct watched *entry, int size) {
  if (entry->size >= size) return true;
  struct sizes *of = &sizes[size];
  struct watched larger = *entry;
  larger.size = size;
  if (of->free_count > 0) larger.place = of->free[--of->free_count];
  else if (of->next < of->count) larger.place = (uint32_t) of->next++;
  else return false;
  if (entry->size >= 0) memcpy(bytes_of(&larger), bytes_of(entry), PREFIX + entry->kept);
  entry->row[PLACE] = (double) (of->from + of->bytes * larger.place);
  free_place(entry);
  *entry = larger;
  return true;
}

/** Of CLOCK_MONOTONIC, which the primary has too, as of the last poll; later than the moment before: what is read in one turn keeps its order. ms */
static double moment (void) {
  static double last;
  double now = (double) uv_now(loop);
  last = now > last ? now : last + 1e-3;
  return last;
}

/** Where what is read next is to be kept, or was, `age` ms ago. False: there is no place. */
static bool prepare (struct watched *entry, double age) {
  entry->is_idle = false;
  if (entry->row[KEPT] == 0) entry->kept = 0; // it has been idle
  if (!grow(entry, entry->wants) && !grow(entry, 0)) return false;
  if (entry->kept == 0) {
    double ms = moment() - age;
    memcpy(bytes_of(entry), &ms, sizeof ms);
  }
  return true;
}

/** Those of `length` bytes that are not in their place yet. A negative count is of the beginning alone: the rest has no room. */
static void keep (struct watched *entry, const char *data, size_t length, size_t in_place) {
  if (length > room_of(entry) && entry->wants == 0) {
    entry->wants = 1;
    entry->kept += in_place;
    data += in_place;
    length -= in_place;
    in_place = 0;
    grow(entry, 1);
  }
  size_t fits = least(length, room_of(entry));
  if (fits > in_place) memcpy(bytes_of(entry) + PREFIX + entry->kept + in_place, data + in_place, fits - in_place);
  entry->kept += fits;
  if (fits < length) entry->row[KEPT] = -(double) entry->kept;
  else entry->row[KEPT] = (double) entry->kept;
}

/** What the place has no room for is read into the spill as well. */
static ssize_t read_more (int fd, struct watched *entry, void *to, size_t size) {
  char *place = bytes_of(entry) + PREFIX + entry->kept;
  size_t first = least(size, room_of(entry));
  bool is_spilt = entry->size == 0 && first < size;
  size_t second = is_spilt ? least(size - first, spill_bytes) : size - first; // less than was asked for: libuv reads again
  struct iovec parts[2] = { { place, first }, { is_spilt ? spill->bytes : (char *) to + first, second } };
  if (is_spilt) {
    spill->at = (double) (entry->kept + first);
    spill->serial = entry->row[SERIAL];
  }
  struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
  ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT);
  if (length > 0) {
    size_t in_place = least((size_t) length, first);
    memcpy(to, place, in_place);
    if (is_spilt) memcpy((char *) to + in_place, spill->bytes, (size_t) length - in_place);
    keep(entry, to, (size_t) length, in_place);
  }
  atomic_signal_fence(memory_order_seq_cst); // not before all of it is in its place
  spill->serial = 0;
  return length;
}

/**
 * Called by libuv in place of read(). The kernel writes into the place itself: a process that is killed as it reads has kept what it has read. All that is
 * watched is a socket, of which recv() goes a shorter way.
 */
static ssize_t keeping_read (int fd, void *to, size_t size) {
  struct watched *entry = (size_t) fd < watched_until ? &watched[fd] : NULL;
  if (!entry || !entry->row || entry->row[KEPT] < 0) return read(fd, to, size);
  if (!prepare(entry, 0)) {
    ssize_t length = recv(fd, to, size, 0);
    if (length > 0) entry->row[KEPT] = NOT_KEPT;
    return length;
  }
  size_t room = room_of(entry);
  if (room == 0) return read_more(fd, entry, to, size);
  const char *place = bytes_of(entry) + PREFIX + entry->kept;
  ssize_t length = recv(fd, (void *) place, least(size, room), 0);
  if (length <= 0) return length;
  memcpy(to, place, (size_t) length);
  keep(entry, to, (size_t) length, (size_t) length);
  if ((size_t) length < room || (size_t) length == size) return length;
  ssize_t more = read_more(fd, entry, (char *) to + length, size - (size_t) length);
  return more > 0 ? length + more : length; // the end, or an error, comes again
}

static bool is_hooked;

/** watchReads(fd, from, bytes, count, from, bytes, count, spill): places of two sizes in that memory, and the spill's bytes behind them. False: this Node.js cannot be hooked. */
napi_value WatchReads (napi_env env, napi_callback_info info) {
  napi_value values[8], result;
  int given[8];
  struct rlimit limit = { 0, 0 };
  if (!arguments(env, info, 8, values)) return NULL;
  for (int i = 0; i < 8; i++) if (!integer(env, values[i], &given[i])) return NULL;
  struct uv_loop_s *own;
  if (!watched && napi_get_uv_event_loop(env, &own) == napi_ok && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    loop = own;
    watched_count = limit.rlim_cur < (1 << 20) ? (size_t) limit.rlim_cur : 1 << 20;
    watched = calloc(watched_count, sizeof *watched);
    memory_from = (size_t) given[1];
    size_t length = 0;
    for (int i = 0; i < 2; i++) {
      sizes[i] = (struct sizes) { .from = (size_t) given[1 + 3 * i], .bytes = (size_t) given[2 + 3 * i], .count = (size_t) given[3 + 3 * i] };
      sizes[i].free = calloc(sizes[i].count, sizeof *sizes[i].free);
      length += sizes[i].bytes * sizes[i].count;
    }
    spill_bytes = (size_t) given[7] - sizeof *spill;
    memory = mmap(NULL, length + (size_t) given[7], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, given[0], (off_t) memory_from);
    spill = (struct spill *) (memory + length);
    if (watched && sizes[0].free && sizes[1].free && memory != MAP_FAILED) is_hooked = hook("read", (void *) keeping_read);
  }
  napi_get_boolean(env, is_hooked, &result);
  return result;
}

/** keepReads(fd, rows, offset, bytes, age): from here on what is read from it; `bytes` were before, the first of them `age` ms ago. */
napi_value KeepReads (napi_env env, napi_callback_info info) {
  napi_value values[5];
  int fd, offset, age;
  void *rows, *bytes;
  size_t size, length;
  if (!arguments(env, info, 5, values) || !integer(env, values[4], &age) || !integer(env, values[0], &fd) || !integer(env, values[2], &offset)) return NULL;
  if (napi_get_arraybuffer_info(env, values[1], &rows, &size) != napi_ok || napi_get_buffer_info(env, values[3], &bytes, &length) != napi_ok) return NULL;
  if (!is_hooked || fd < 0 || (size_t) fd >= watched_count || offset < 0 || (size_t) offset + 64 > size) return undefined(env);
  struct watched *entry = &watched[fd];
  if (entry->row) give_back(entry);
  *entry = (struct watched) { .row = (double *) ((char *) rows + offset), .size = -1 };
  entry->row[KEPT] = entry->row[PLACE] = 0;
  if (length > 0 && prepare(entry, age)) keep(entry, bytes, length, 0);
  else if (length > 0) entry->row[KEPT] = NOT_KEPT;
  if ((size_t) fd >= watched_until) watched_until = (size_t) fd + 1;
  return undefined(env);
}

/** forgetReads(fd): to be called before it is closed. */
napi_value ForgetReads (napi_env env, napi_callback_info info) {
  napi_value values[1];
  int fd;
  if (!arguments(env, info, 1, values) || !integer(env, values[0], &fd)) return NULL;
  if (fd < 0 || (size_t) fd >= watched_until || !watched[fd].row) return undefined(env);
  give_back(&watched[fd]);
  watched[fd].row = NULL;
  return undefined(env);
}

/** sweepReads(): frees the places of connections that have been idle since the last time. How many bytes of places have been used. */
napi_value SweepReads (napi_env env, napi_callback_info info) {
  (void) info;
  for (size_t fd = 0; fd < watched_until; fd++) {
    struct watched *entry = &watched[fd];
    if (!entry->row || entry->size < 0 || entry->row[KEPT] != 0) continue;
    if (entry->is_idle) give_back(entry);
    entry->is_idle = true;
  }
  return number(env, (double) (sizes[0].bytes * sizes[0].next + sizes[1].bytes * sizes[1].next));
}
