/** Values of JavaScript, for the files of this addon. */

#ifndef VALUES_H
#define VALUES_H

#define NAPI_VERSION 8

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <node_api.h>

extern const char *uv_err_name (int error); // uv.h does not go together with linux/tcp.h

static inline napi_value number (napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

static inline napi_value undefined (napi_env env) {
  napi_value result = NULL;
  napi_get_undefined(env, &result);
  return result;
}

/** Throws an Error with the `code`, `errno` and `syscall` that Node's own have. */
static inline napi_value fail (napi_env env, const char *syscall) {
  int cause = errno;
  char text[256];
  snprintf(text, sizeof text, "%s: %s", syscall, strerror(cause));
  napi_value code, message, error, name;
  napi_create_string_utf8(env, uv_err_name(-cause), NAPI_AUTO_LENGTH, &code);
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &message);
  napi_create_string_utf8(env, syscall, NAPI_AUTO_LENGTH, &name);
  napi_create_error(env, code, message, &error);
  napi_set_named_property(env, error, "errno", number(env, -cause));
  napi_set_named_property(env, error, "syscall", name);
  napi_throw(env, error);
  return NULL;
}

static inline bool arguments (napi_env env, napi_callback_info info, size_t count, napi_value *values) {
  size_t given = count;
  if (napi_get_cb_info(env, info, &given, values, NULL, NULL) == napi_ok && given >= count) return true;
  napi_throw_type_error(env, NULL, "too few arguments");
  return false;
}

static inline bool integer (napi_env env, napi_value value, int *result) {
  int32_t given;
  if (napi_get_value_int32(env, value, &given) != napi_ok) {
    napi_throw_type_error(env, NULL, "a number is wanted");
    return false;
  }
  *result = given;
  return true;
}

/* duplicates.c */
napi_value Memory (napi_env env, napi_callback_info info);
napi_value Map (napi_env env, napi_callback_info info);
napi_value BytesOf (napi_env env, napi_callback_info info);
napi_value Unread (napi_env env, napi_callback_info info);
napi_value Shut (napi_env env, napi_callback_info info);
napi_value Own (napi_env env, napi_callback_info info);
napi_value Owner (napi_env env, napi_callback_info info);
napi_value Duplicate (napi_env env, napi_callback_info info);
/* reads.c */
napi_value WatchReads (napi_env env, napi_callback_info info);
napi_value KeepReads (napi_env env, napi_callback_info info);
napi_value ForgetReads (napi_env env, napi_callback_info info);
napi_value SweepReads (napi_env env, napi_callback_info info);
/* queue.c */
napi_value GuardQueue (napi_env env, napi_callback_info info);
napi_value UnguardQueue (napi_env env, napi_callback_info info);
/* hook.c */
bool hook (const char *name, void *function);
/* collections.c */
napi_value Collections (napi_env env, napi_callback_info info);

#endif
