/*
 * What the kernel alone takes for the guard's reading: /proc/<pid>/statm on descriptors kept open, by a program that
 * does nothing else. As bench:meter does it: everybody, then a rest; and without the rests.
 *
 *     statm <seconds> <rest in ms> <pid>...     prints {"us":…,"warmUs":…,"readings":…}: medians, µs per process
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST 1000000

static int *fds, count;
static double figures[MOST];

static double now(void) /* µs */
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double again(double seconds, int rest_ms, int *polls)
{
  struct timespec rest = { 0, rest_ms * 1000000L };
  double end = now() + seconds * 1e6;
  int n = 0;
  while (n < MOST && (n < 5 || now() < end)) {
    char text[256];
    if (rest_ms) nanosleep(&rest, NULL);
    double began = now();
    for (int i = 0; i < count; i++)
      if (pread(fds[i], text, sizeof text, 0) <= 0) exit(1);
    figures[n++] = (now() - began) / count;
  }
  qsort(figures, n, sizeof *figures, ascending);
  *polls = n;
  return n % 2 ? figures[n / 2] : (figures[n / 2 - 1] + figures[n / 2]) / 2;
}

int main(int argc, char **argv)
{
  if (argc < 4) return 2;
  double seconds = atof(argv[1]);
  fds = calloc(argc, sizeof *fds);
  if (!fds) return 1;
  for (int i = 3; i < argc; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/statm", atoi(argv[i]));
    if ((fds[count++] = open(path, O_RDONLY | O_CLOEXEC)) == -1) return 1;
  }
  int cold, warm;
  double us = again(seconds, atoi(argv[2]), &cold), warm_us = again(seconds, 0, &warm);
  printf("{\"us\":%.3f,\"warmUs\":%.3f,\"readings\":%d}\n", us, warm_us, cold * count);
  return 0;
}
