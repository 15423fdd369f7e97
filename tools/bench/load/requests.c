// Closed loop: every connection sends its next request when the previous response is complete.
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 1 << 18, GRACE_MS = 2000, ERRORS_MAX = 10000 };

typedef struct {
  int fd;
  int is_connected;
  char *answer;
  size_t length;
  long long sent_us;
} Client;

static Client clients[CONNECTIONS_MAX];
static const Options *options;
static Samples latencies;
static int statuses[STATUSES_MAX];
static int epoll_fd, in_flight = 0;
static long requests = 0, errors = 0;
static long long measure_from_us, end_us;

static void open_client(int index) {
  Client *client = &clients[index];
  client->length = 0;
  client->sent_us = 0;
  client->is_connected = 0;
  client->fd = connect_to(options->ports[index % options->port_count]);
  if (client->fd >= 0) watch(epoll_fd, EPOLL_CTL_ADD, client->fd, EPOLLOUT, index);
}

static void end_request(Client *client) {
  if (client->sent_us == 0) return;
  in_flight--;
  client->sent_us = 0;
}

/** A broken connection counts as an error and is replaced. */
static void reopen_client(int index) {
  if (++errors > ERRORS_MAX) fail("nearly every connection breaks");
  end_request(&clients[index]);
  close(clients[index].fd);
  if (now_us() < end_us) open_client(index);
}

static void send_next(int index) {
  Client *client = &clients[index];
  client->length = 0;
  client->sent_us = now_us();
  in_flight++;
  if (!send_request(client->fd, options)) reopen_client(index);
}

static int is_whole(const Client *client) {
  const char *head_end = strstr(client->answer, "\r\n\r\n");
  if (head_end == NULL) return 0;
  const char *body = head_end + 4;
  size_t body_length = client->length - (body - client->answer);
  for (const char *line = strstr(client->answer, "\r\n") + 2; line < head_end; line = strstr(line, "\r\n") + 2) {
    if (strncasecmp(line, "content-length:", 15) == 0) return body_length >= (size_t)atol(line + 15);
    if (strncasecmp(line, "transfer-encoding:", 18) == 0)
      return body_length >= 5 && strcmp(client->answer + client->length - 5, "0\r\n\r\n") == 0;
  }
  return 1;
}

static void count_answer(int index) {
  Client *client = &clients[index];
  long long now = now_us();
  if (now >= measure_from_us && now < end_us) {
    int status = client->length > 12 ? atoi(client->answer + 9) : 0;
    statuses[status > 0 && status < STATUSES_MAX ? status : 0]++;
    requests++;
    add_sample(&latencies, now - client->sent_us);
  }
  end_request(client);
  if (now < end_us) send_next(index);
}

static void read_answer(int index) {
  Client *client = &clients[index];
  ssize_t count = recv(client->fd, client->answer + client->length, ANSWER_BYTES_MAX - client->length, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    reopen_client(index);
    return;
  }
  client->length += count;
  client->answer[client->length] = '\0';
  if (is_whole(client)) count_answer(index);
}

static void on_event(int index, unsigned events) {
  Client *client = &clients[index];
  if (events & EPOLLERR) {
    reopen_client(index);
  } else if (!client->is_connected) {
    client->is_connected = 1;
    watch(epoll_fd, EPOLL_CTL_MOD, client->fd, EPOLLIN, index);
    if (now_us() < end_us) send_next(index);
  } else {
    read_answer(index);
  }
}

int run_requests(const Options *given) {
  options = given;
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  measure_from_us = now_us() + options->warmup_ms * 1000LL;
  end_us = measure_from_us + options->duration_ms * 1000LL;
  for (int index = 0; index < options->connections; index++) {
    clients[index].answer = malloc(ANSWER_BYTES_MAX + 1);
    open_client(index);
  }
  struct epoll_event events[EVENTS_MAX];
  // Waits for running requests at the end, so that no server sees a disconnected client.
  while (now_us() < end_us || (in_flight > 0 && now_us() < end_us + GRACE_MS * 1000LL)) {
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, 10);
    for (int index = 0; index < count; index++) on_event(events[index].data.u32, events[index].events);
  }
  printf("{\"requests\":%ld,\"errors\":%ld,\"per_second\":%.1f,", requests, errors,
         requests * 1000.0 / options->duration_ms);
  print_percentiles("latency_us", &latencies);
  printf(",");
  print_statuses(statuses);
  printf("}\n");
  return 0;
}
