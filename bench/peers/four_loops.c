/* The four loops that McCalpin's STREAM is defined by, timed and printed as STREAM prints them; not STREAM itself.
   bench.peers.host_vs_tools compiles it where no stream.c is given. */
#include <stdio.h>
#include <time.h>

static double a[STREAM_ARRAY_SIZE], b[STREAM_ARRAY_SIZE], c[STREAM_ARRAY_SIZE];

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec + at.tv_nsec * 1e-9;
}

int main(void) {
  const char *names[] = {"Copy", "Scale", "Add", "Triad"};
  const double arrays[] = {2, 2, 3, 3};
  double best[] = {1e9, 1e9, 1e9, 1e9}, factor = 3.0;
  long j;
  for (j = 0; j < STREAM_ARRAY_SIZE; j++) { a[j] = 1.0; b[j] = 2.0; c[j] = 0.0; }
  for (int pass = 0; pass < NTIMES; pass++) {
    double at[5];
    at[0] = now();
    for (j = 0; j < STREAM_ARRAY_SIZE; j++) c[j] = a[j];
    at[1] = now();
    for (j = 0; j < STREAM_ARRAY_SIZE; j++) b[j] = factor * c[j];
    at[2] = now();
    for (j = 0; j < STREAM_ARRAY_SIZE; j++) c[j] = a[j] + b[j];
    at[3] = now();
    for (j = 0; j < STREAM_ARRAY_SIZE; j++) a[j] = b[j] + factor * c[j];
    at[4] = now();
    for (int k = 0; pass && k < 4; k++)
      if (at[k + 1] - at[k] < best[k]) best[k] = at[k + 1] - at[k];
  }
  for (int k = 0; k < 4; k++)
    printf("%s: %.1f 0 0 0\n", names[k], 1e-6 * arrays[k] * sizeof(double) * STREAM_ARRAY_SIZE / best[k]);
  return a[7] + b[7] + c[7] == 0;
}
