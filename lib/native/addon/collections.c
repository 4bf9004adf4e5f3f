/**
 * Counts V8's garbage collections and how long each paused the main thread. An observer of Node's does the same by several objects and two turns of the event
 * loop for each, which is up to a tenth of the CPU time of short requests. V8's calls are taken by the names of its public interface.
 */

#include "values.h"
#include <stdint.h>

/** v8::GCType */
#define MARK_SWEEP 4
#define MARKING_BEGINS 8
#define WEAK_CALLBACKS 16

extern uint64_t uv_hrtime (void); // uv.h does not go together with linux/tcp.h
typedef void (*OnCollection) (void *isolate, int type, int flags);
extern void *isolate_now (void) __asm__("_ZN2v87Isolate10GetCurrentEv") __attribute__((weak));
extern void on_begin (void *isolate, OnCollection call, int types) __asm__("_ZN2v87Isolate21AddGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEES2_") __attribute__((weak));
extern void on_end (void *isolate, OnCollection call, int types) __asm__("_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEES2_") __attribute__((weak));

static struct kind { double count, total_ms, longest_ms; } scavenges, mark_sweeps, *last = &scavenges;
static uint64_t began;

static void begins (void *isolate, int type, int flags) {
  (void) isolate, (void) type, (void) flags;
  began = uv_hrtime();
}

/** The start of marking adds to the mark-sweep that follows, callbacks of weak references to the collection before them. */
static void ends (void *isolate, int type, int flags) {
  (void) isolate, (void) flags;
  double ms = (double) (uv_hrtime() - began) / 1e6;
  if (type != WEAK_CALLBACKS) last = type == MARK_SWEEP || type == MARKING_BEGINS ? &mark_sweeps : &scavenges;
  if (type != WEAK_CALLBACKS && type != MARKING_BEGINS) last->count++;
  last->total_ms += ms;
  if (ms > last->longest_ms) last->longest_ms = ms;
}

/** collections(): of scavenges and of mark-sweeps, since the first call, how many and how long in all; and the longest since the last call. Undefined: V8 does not tell. */
napi_value Collections (napi_env env, napi_callback_info info) {
  (void) info;
  static bool has_begun;
  if (!isolate_now || !on_begin || !on_end) return undefined(env);
  if (!has_begun) {
    has_begun = true;
    on_begin(isolate_now(), begins, ~0);
    on_end(isolate_now(), ends, ~0);
  }
  struct kind *kinds[] = { &scavenges, &mark_sweeps };
  napi_value result;
  napi_create_array_with_length(env, 6, &result);
  for (uint32_t i = 0; i < 2; i++) {
    napi_set_element(env, result, 3 * i, number(env, kinds[i]->count));
    napi_set_element(env, result, 3 * i + 1, number(env, kinds[i]->total_ms));
    napi_set_element(env, result, 3 * i + 2, number(env, kinds[i]->longest_ms));
    kinds[i]->longest_ms = 0;
  }
  return result;
}
