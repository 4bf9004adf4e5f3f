/**
 * Has a function called in the middle of whatever JavaScript runs, when a signal comes: by V8's interrupts, which even an endless loop looks for.
 * N-API has no call for that. The two of V8 that are taken here by their names are of its public interface, and the same in Node.js 20 to 26.
 *
 * A signal handler may not call V8, so it wakes a thread of 64 KiB, as Node's own for SIGUSR1 does.
 */

#define _GNU_SOURCE
#define NAPI_VERSION 8

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <node_api.h>

#ifndef SOURCE
#define SOURCE "" // the hash of this file, in a prebuilt addon
#endif

#define STACK_BYTES (64 * 1024)

typedef void (*Interrupt) (void *isolate, void *data);

static void (*request_interrupt) (void *isolate, Interrupt interrupt, void *data);
static void *isolate;
static napi_env owner;
static napi_ref function;
static sem_t asked;
static atomic_bool is_pending;
static atomic_bool has_ended;

static void call (void *of, void *data) {
  (void) of;
  (void) data;
  atomic_store(&is_pending, false);
  napi_handle_scope scope;
  if (atomic_load(&has_ended) || napi_open_handle_scope(owner, &scope) != napi_ok) return;
  napi_value callback, receiver, ignored;
  if (napi_get_reference_value(owner, function, &callback) == napi_ok && napi_get_global(owner, &receiver) == napi_ok) {
    if (napi_call_function(owner, receiver, callback, 0, NULL, &ignored) == napi_pending_exception) napi_get_and_clear_last_exception(owner, &ignored);
  }
  napi_close_handle_scope(owner, scope);
}

static void *wait_for_signals (void *ignored) {
  for (;;) {
    while (sem_wait(&asked) != 0 && errno == EINTR);
    if (!atomic_load(&has_ended) && !atomic_exchange(&is_pending, true)) request_interrupt(isolate, call, NULL);
  }
  return ignored;
}

static void hear (int number) {
  (void) number;
  int before = errno;
  sem_post(&asked);
  errno = before;
}

static void end (void *ignored) {
  (void) ignored;
  atomic_store(&has_ended, true);
}

/** It takes no signal of the process's. */
static bool start_thread (void) {
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = pthread_create(&thread, &attributes, wait_for_signals, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return is_started;
}

/** onSignal(number, function): false where this Node has no such calls, or it was called before. */
static napi_value on_signal (napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value arguments[2], result = NULL;
  int32_t number;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count < 2 || napi_get_value_int32(env, arguments[0], &number) != napi_ok) {
    napi_throw_type_error(env, NULL, "a signal and a function");
    return NULL;
  }
  void *(*current) (void);
  *(void **) &current = dlsym(RTLD_DEFAULT, "_ZN2v87Isolate10GetCurrentEv");
  *(void **) &request_interrupt = dlsym(RTLD_DEFAULT, "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_");
  struct sigaction action = { .sa_handler = hear, .sa_flags = SA_RESTART };
  sigemptyset(&action.sa_mask);
  bool is_set = owner == NULL && current != NULL && request_interrupt != NULL && (isolate = current()) != NULL &&
    napi_create_reference(env, arguments[1], 1, &function) == napi_ok && napi_add_env_cleanup_hook(env, end, NULL) == napi_ok &&
    sem_init(&asked, 0, 0) == 0;
  if (is_set) {
    owner = env;
    is_set = start_thread() && sigaction(number, &action, NULL) == 0;
  }
  napi_get_boolean(env, is_set, &result);
  return result;
}

NAPI_MODULE_INIT () {
  napi_value exported;
  napi_create_function(env, "onSignal", NAPI_AUTO_LENGTH, on_signal, NULL, &exported);
  napi_set_named_property(env, exports, "onSignal", exported);
  napi_create_string_utf8(env, SOURCE, NAPI_AUTO_LENGTH, &exported);
  napi_set_named_property(env, exports, "source", exported);
  return exports;
}
