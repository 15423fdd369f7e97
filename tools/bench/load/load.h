// Shared by both kinds of load: connections to loopback ports, a clock, and measurements.
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stddef.h>

enum { CONNECTIONS_MAX = 8192, PORTS_MAX = 8, EVENTS_MAX = 256, STATUSES_MAX = 600 };

typedef struct {
  int ports[PORTS_MAX];
  int port_count;
  int connections;
  int warmup_ms;
  int duration_ms;
  int ramp_ms;
  int timeout_ms;
  int tokens;
  int interval_ms;
  char *request;
  /** What ends a stream; its first character must not occur in it again. */
  const char *end;
  size_t request_length;
  /** What is replaced by a number in each request; NULL if nothing is. */
  const char *number;
  char *number_at;
  size_t number_length;
} Options;

/** All durations in microseconds. */
typedef struct {
  unsigned *values;
  size_t count;
  size_t capacity;
} Samples;

int run_requests(const Options *options);
int run_streams(const Options *options);

long long now_us(void);
void fail(const char *what);
/** A connection that is being opened; epoll reports when it is writable. */
int connect_to(int port);
void watch(int epoll_fd, int operation, int fd, unsigned events, int index);
/** Sends a request, which always fits into the socket's buffer. */
int send_request(int fd, const Options *options);
void add_sample(Samples *samples, long long duration_us);
void print_percentiles(const char *name, Samples *samples);
void print_statuses(const int *statuses);

#endif
