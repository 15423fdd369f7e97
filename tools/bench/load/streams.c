// Many concurrent streams: the delay of the first token, whether the rate is kept, and failures.
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES_MAX = 1 << 16, CONNECT_TIMEOUT_MS = 10000, LATE_MS = 250 };

// The text of a token from the upstream. Neither pattern repeats its first character, so one position is enough to continue in the
// next read.
static const char TOKEN[] = "~tok";

typedef struct {
  int fd;
  int is_connected;
  int is_finished;
  int status;
  int status_digits;
  int token_matched;
  int done_matched;
  int tokens;
  long long due_us;
  long long sent_us;
  long long last_token_us;
} Stream;

static Stream streams[CONNECTIONS_MAX];
static const Options *options;
static Samples first_tokens, gaps, durations;
static int statuses[STATUSES_MAX];
static int epoll_fd, open_streams = 0, failed = 0, in_time = 0;
static size_t end_length;
static long tokens = 0;
static long long start_us, ideal_end_us, last_token_us;

static void end_stream(int index, int is_whole) {
  Stream *stream = &streams[index];
  stream->is_finished = 1;
  open_streams--;
  statuses[stream->status < STATUSES_MAX ? stream->status : 0]++;
  if (is_whole && stream->status == 200 && stream->tokens == options->tokens)
    add_sample(&durations, now_us() - stream->sent_us);
  else failed++;
  close(stream->fd);
}

static void count_token(Stream *stream, long long now) {
  add_sample(stream->tokens == 0 ? &first_tokens : &gaps,
             now - (stream->tokens == 0 ? stream->sent_us : stream->last_token_us));
  stream->tokens++;
  stream->last_token_us = last_token_us = now;
  tokens++;
  if (now <= ideal_end_us) in_time++;
}

static int matches(int *matched, const char *pattern, int length, char byte) {
  *matched = byte == pattern[*matched] ? *matched + 1 : byte == pattern[0];
  if (*matched < length) return 0;
  *matched = 0;
  return 1;
}

/** The status follows the first space of a response. */
static void read_status(Stream *stream, char byte) {
  if (stream->status_digits == 0) stream->status_digits = byte == ' ' ? 1 : 0;
  else if (stream->status_digits <= 3) {
    stream->status = stream->status * 10 + (byte - '0');
    stream->status_digits++;
  }
}

static void read_stream(int index) {
  static char bytes[READ_BYTES_MAX];
  Stream *stream = &streams[index];
  ssize_t count = recv(stream->fd, bytes, sizeof bytes, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    end_stream(index, 0);
    return;
  }
  long long now = now_us();
  for (ssize_t position = 0; position < count; position++) {
    char byte = bytes[position];
    if (stream->status_digits <= 3) read_status(stream, byte);
    // Some APIs repeat the text at the end.
    if (matches(&stream->token_matched, TOKEN, sizeof TOKEN - 1, byte) && stream->tokens < options->tokens)
      count_token(stream, now);
    if (matches(&stream->done_matched, options->end, end_length, byte)) {
      end_stream(index, 1);
      return;
    }
  }
  // An error has no end marker, only a status.
  if (stream->status_digits > 3 && stream->status != 200) end_stream(index, 0);
}

/** Opens the connections before the clock starts, so that only the streams are measured. */
static void connect_all(void) {
  struct epoll_event events[EVENTS_MAX];
  int connected = 0;
  for (int index = 0; index < options->connections; index++) {
    streams[index].fd = connect_to(options->ports[index % options->port_count]);
    if (streams[index].fd < 0) fail("connect");
    watch(epoll_fd, EPOLL_CTL_ADD, streams[index].fd, EPOLLOUT, index);
  }
  long long give_up_us = now_us() + CONNECT_TIMEOUT_MS * 1000LL;
  while (connected < options->connections && now_us() < give_up_us) {
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, 10);
    for (int event = 0; event < count; event++) {
      int index = events[event].data.u32;
      if (events[event].events & EPOLLERR) fail("a connection was refused");
      streams[index].is_connected = 1;
      connected++;
      watch(epoll_fd, EPOLL_CTL_MOD, streams[index].fd, EPOLLIN, index);
    }
  }
  if (connected < options->connections) fail("not every connection could be made");
}

/** Sends the requests that are due; returns how many remain. */
static int send_due(void) {
  static int next = 0;
  long long now = now_us();
  for (; next < options->connections && streams[next].due_us <= now; next++) {
    streams[next].sent_us = now_us();
    if (!streams[next].is_finished && !send_request(streams[next].fd, options)) end_stream(next, 0);
  }
  return options->connections - next;
}

static void print_result(void) {
  double seconds = (last_token_us - start_us) / 1e6;
  double expected = (double)options->connections * options->tokens;
  printf("{\"streams\":%d,\"failed\":%d,\"tokens\":%ld,\"seconds\":%.3f,\"in_time\":%.4f,", options->connections, failed,
         tokens, seconds, in_time / expected);
  print_percentiles("first_token_us", &first_tokens);
  printf(",");
  print_percentiles("gap_us", &gaps);
  printf(",");
  print_percentiles("duration_us", &durations);
  printf(",");
  print_statuses(statuses);
  printf("}\n");
}

int run_streams(const Options *given) {
  options = given;
  end_length = strlen(options->end);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  connect_all();
  start_us = last_token_us = now_us();
  open_streams = options->connections;
  for (int index = 0; index < options->connections; index++)
    streams[index].due_us = start_us + options->ramp_ms * 1000LL * index / options->connections;
  // The time at which a proxy without any delay has forwarded the last token of the last stream.
  ideal_end_us =
      start_us + (options->ramp_ms + (options->tokens - 1LL) * options->interval_ms + LATE_MS) * 1000LL;
  long long give_up_us = start_us + options->timeout_ms * 1000LL;
  struct epoll_event events[EVENTS_MAX];
  while (open_streams > 0 && now_us() < give_up_us) {
    int unsent = send_due();
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, unsent > 0 ? 1 : 10);
    for (int event = 0; event < count; event++) {
      int index = events[event].data.u32;
      if (!streams[index].is_finished) read_stream(index);
    }
  }
  for (int index = 0; index < options->connections; index++)
    if (!streams[index].is_finished) end_stream(index, 0);
  print_result();
  return 0;
}
