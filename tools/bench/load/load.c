// The load generator: one thread, one epoll, so that it does not limit a measurement on a small machine.
//
//   load requests --ports 8080[,8081] --request FILE --connections N --warmup-ms N --duration-ms N [--number MARK]
//   load streams  --ports 8080[,8081] --request FILE --connections N --tokens N --interval-ms N --ramp-ms N --timeout-ms N
//
// FILE contains the text of an HTTP/1.1 request. The first MARK in it is replaced by another number of as many digits in each request.
// The result is one JSON object on standard output.
#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// The generator always ends.
enum { LIFETIME_SECONDS_MAX = 180, REQUEST_BYTES_MAX = 65536, SAMPLES_MIN = 4096 };

long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

void fail(const char *what) {
  if (errno != 0) perror(what);
  else fprintf(stderr, "load: %s\n", what);
  exit(1);
}

int connect_to(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0) fail("socket");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
    close(fd);
    return -1;
  }
  return fd;
}

void watch(int epoll_fd, int operation, int fd, unsigned events, int index) {
  struct epoll_event event = {.events = events, .data.u32 = index};
  if (epoll_ctl(epoll_fd, operation, fd, &event) < 0) fail("epoll_ctl");
}

static void number_request(const Options *options) {
  static unsigned long long number = 0;
  if (number == 0) number = now_us();
  number++;
  unsigned long long rest = number;
  for (size_t index = options->number_length; index > 0; index--, rest /= 10)
    options->number_at[index - 1] = '0' + rest % 10;
}

int send_request(int fd, const Options *options) {
  if (options->number_at != NULL) number_request(options);
  ssize_t sent = send(fd, options->request, options->request_length, MSG_NOSIGNAL);
  return sent == (ssize_t)options->request_length;
}

void add_sample(Samples *samples, long long duration_us) {
  if (samples->count == samples->capacity) {
    samples->capacity = samples->capacity == 0 ? SAMPLES_MIN : samples->capacity * 2;
    samples->values = realloc(samples->values, samples->capacity * sizeof *samples->values);
    if (samples->values == NULL) fail("realloc");
  }
  samples->values[samples->count++] = (unsigned)duration_us;
}

static int by_value(const void *left, const void *right) {
  unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
  return (a > b) - (a < b);
}

static unsigned percentile(const Samples *samples, double share) {
  return samples->count == 0 ? 0 : samples->values[(size_t)(share * (samples->count - 1) + 0.5)];
}

void print_percentiles(const char *name, Samples *samples) {
  if (samples->count > 0) qsort(samples->values, samples->count, sizeof *samples->values, by_value);
  printf("\"%s\":{\"count\":%zu,\"p50\":%u,\"p90\":%u,\"p99\":%u,\"max\":%u}", name, samples->count,
         percentile(samples, 0.5), percentile(samples, 0.9), percentile(samples, 0.99), percentile(samples, 1));
}

void print_statuses(const int *statuses) {
  const char *separator = "";
  printf("\"statuses\":{");
  for (int status = 0; status < STATUSES_MAX; status++) {
    if (statuses[status] == 0) continue;
    printf("%s\"%d\":%d", separator, status, statuses[status]);
    separator = ",";
  }
  printf("}");
}

static void read_request(Options *options, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path);
  options->request = calloc(1, REQUEST_BYTES_MAX + 1);
  options->request_length = fread(options->request, 1, REQUEST_BYTES_MAX, file);
  fclose(file);
}

static void read_ports(Options *options, char *list) {
  for (char *port = strtok(list, ","); port != NULL && options->port_count < PORTS_MAX; port = strtok(NULL, ","))
    options->ports[options->port_count++] = atoi(port);
}

static void read_option(Options *options, const char *name, char *value) {
  if (strcmp(name, "--ports") == 0) read_ports(options, value);
  else if (strcmp(name, "--request") == 0) read_request(options, value);
  else if (strcmp(name, "--connections") == 0) options->connections = atoi(value);
  else if (strcmp(name, "--warmup-ms") == 0) options->warmup_ms = atoi(value);
  else if (strcmp(name, "--duration-ms") == 0) options->duration_ms = atoi(value);
  else if (strcmp(name, "--ramp-ms") == 0) options->ramp_ms = atoi(value);
  else if (strcmp(name, "--timeout-ms") == 0) options->timeout_ms = atoi(value);
  else if (strcmp(name, "--tokens") == 0) options->tokens = atoi(value);
  else if (strcmp(name, "--interval-ms") == 0) options->interval_ms = atoi(value);
  else if (strcmp(name, "--end") == 0) options->end = value;
  else if (strcmp(name, "--number") == 0) options->number = value;
  else fail(name);
}

int main(int argc, char **argv) {
  Options options = {.connections = 1, .duration_ms = 1000, .timeout_ms = 10000, .end = "[DONE]"};
  for (int index = 2; index + 1 < argc; index += 2) read_option(&options, argv[index], argv[index + 1]);
  if (options.port_count == 0 || options.request == NULL || options.connections < 1 ||
      options.connections > CONNECTIONS_MAX / 2)
    fail("the first lines of load.c say how it is called");
  if (options.number != NULL) {
    options.number_at = strstr(options.request, options.number);
    options.number_length = strlen(options.number);
    if (options.number_at == NULL) fail("the request does not contain the mark");
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(LIFETIME_SECONDS_MAX);
  struct rlimit limit = {CONNECTIONS_MAX, CONNECTIONS_MAX};
  setrlimit(RLIMIT_NOFILE, &limit);
  if (strcmp(argv[1], "requests") == 0) return run_requests(&options);
  if (strcmp(argv[1], "streams") == 0) return run_streams(&options);
  fail(argv[1]);
}
