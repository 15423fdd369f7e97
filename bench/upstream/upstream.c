// A chat upstream with very low cost: one thread, one epoll. It responds at once, or streams tokens at a fixed rate.
//
//   upstream <port>
//
// POST …/chat/completions   a fixed completion; with "stream":true, tokens by the model's name: bench-<tokens>-<ms>
// GET …/models              the models of the benchmark
//
// Only for the benchmark: it trusts its callers and expects keep-alive connections on the loopback address.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 8192, REQUEST_BYTES_MAX = 65536, EVENTS_MAX = 256, BACKLOG = 4096 };

typedef struct {
  char *buffer;
  int length;
  int is_open;
  // The current stream, if tokens_left is not negative.
  int tokens_left;
  int interval_ms;
  int wants_usage;
  long long due_us;
  int active_index;
} Connection;

static Connection connections[CONNECTIONS_MAX];
static int active[CONNECTIONS_MAX];
static int active_count = 0;
static int epoll_fd;

static const char COMPLETION_BODY[] =
    "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"bench\",\"choices\":[{\"index\":0,"
    "\"message\":{\"role\":\"assistant\",\"content\":\"The quick brown fox jumps over the lazy dog.\"},\"logprobs\":null,"
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":10,\"total_tokens\":22}}";
static const char MODELS_BODY[] =
    "{\"object\":\"list\",\"data\":[{\"id\":\"bench\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"bench\"},"
    "{\"id\":\"bench-10-0\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"bench\"},"
    "{\"id\":\"bench-50-20\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"bench\"},"
    "{\"id\":\"bench-30-100\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"bench\"},"
    "{\"id\":\"bench-100-100\",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"bench\"}]}";
static const char STREAM_HEAD[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
#define CHUNK_START                                                                                                      \
  "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\",\"choices\":"
static const char TOKEN_EVENT[] =
    CHUNK_START "[{\"index\":0,\"delta\":{\"content\":\" ~tok\"},\"finish_reason\":null}]}\n\n";
static const char FINISH_EVENT[] = CHUNK_START "[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
static const char USAGE_EVENT[] =
    CHUNK_START "[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":50,\"total_tokens\":62}}\n\n";
static const char DONE_EVENT[] = "data: [DONE]\n\n";

static char completion_answer[1024], models_answer[1024], token_chunk[512];
static int completion_length, models_length, token_length;

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int json_answer(char *into, size_t size, const char *body) {
  return snprintf(into, size, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                  strlen(body), body);
}

static int chunk(char *into, const char *event) {
  return sprintf(into, "%zx\r\n%s\r\n", strlen(event), event);
}

static void stop_stream(Connection *connection) {
  if (connection->tokens_left < 0) return;
  int last = active[--active_count];
  active[connection->active_index] = last;
  connections[last].active_index = connection->active_index;
  connection->tokens_left = -1;
}

static void close_connection(int fd) {
  stop_stream(&connections[fd]);
  connections[fd].is_open = 0;
  close(fd);
}

/** Sends all data or closes the connection; the data always fits into the socket's buffer. */
static int send_all(int fd, const char *bytes, int length) {
  if (send(fd, bytes, length, MSG_NOSIGNAL) == length) return 1;
  close_connection(fd);
  return 0;
}

static void finish_stream(int fd) {
  char tail[2048];
  int length = chunk(tail, FINISH_EVENT);
  if (connections[fd].wants_usage) length += chunk(tail + length, USAGE_EVENT);
  length += chunk(tail + length, DONE_EVENT);
  length += sprintf(tail + length, "0\r\n\r\n");
  stop_stream(&connections[fd]);
  send_all(fd, tail, length);
}

/** Sends the tokens that are due and returns the time of the next one, if any. */
static long long send_due_tokens(void) {
  long long now = now_us(), next = -1;
  for (int index = active_count - 1; index >= 0; index--) {
    int fd = active[index];
    Connection *connection = &connections[fd];
    while (connection->tokens_left > 0 && connection->due_us <= now) {
      if (!send_all(fd, token_chunk, token_length)) break;
      connection->due_us += connection->interval_ms * 1000LL;
      connection->tokens_left--;
    }
    if (!connection->is_open) continue;
    if (connection->tokens_left == 0) {
      finish_stream(fd);
      continue;
    }
    if (next < 0 || connection->due_us < next) next = connection->due_us;
  }
  return next;
}

static int has_flag(const char *body, const char *name) {
  const char *found = strstr(body, name);
  if (found == NULL) return 0;
  found += strlen(name);
  while (*found == ' ' || *found == ':') found++;
  return strncmp(found, "true", 4) == 0;
}

static void answer_chat(int fd, const char *body) {
  Connection *connection = &connections[fd];
  if (!has_flag(body, "\"stream\"")) {
    send_all(fd, completion_answer, completion_length);
    return;
  }
  int tokens = 10, interval_ms = 0;
  const char *model = strstr(body, "\"bench-");
  if (model != NULL) sscanf(model, "\"bench-%d-%d", &tokens, &interval_ms);
  connection->wants_usage = has_flag(body, "\"include_usage\"");
  connection->tokens_left = tokens;
  connection->interval_ms = interval_ms;
  connection->due_us = now_us();
  connection->active_index = active_count;
  active[active_count++] = fd;
  send_all(fd, STREAM_HEAD, sizeof STREAM_HEAD - 1);
}

/** Responds to the request at the start of the buffer if it is complete; returns its number of bytes. */
static int answer_request(int fd) {
  static const char NOT_FOUND[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  Connection *connection = &connections[fd];
  char *head_end = strstr(connection->buffer, "\r\n\r\n");
  if (head_end == NULL) return 0;
  char *body = head_end + 4;
  int head_length = body - connection->buffer, body_length = 0, is_chunked = 0;
  for (char *line = strstr(connection->buffer, "\r\n") + 2; line < head_end; line = strstr(line, "\r\n") + 2) {
    if (strncasecmp(line, "content-length:", 15) == 0) body_length = atoi(line + 15);
    if (strncasecmp(line, "transfer-encoding:", 18) == 0) is_chunked = 1;
  }
  if (is_chunked) {
    // Only its end and its content matter here, so the chunk sizes may stay in the text.
    char *end = strstr(body, "0\r\n\r\n");
    if (end == NULL) return 0;
    body_length = end + 5 - body;
  }
  if (connection->length < head_length + body_length) return 0;
  char after = body[body_length];
  body[body_length] = '\0';
  char *path_end = strpbrk(strchr(connection->buffer, ' ') + 1, " ?");
  size_t path_length = path_end - connection->buffer;
  if (path_length > 17 && strncmp(path_end - 17, "/chat/completions", 17) == 0) answer_chat(fd, body);
  else if (path_length > 7 && strncmp(path_end - 7, "/models", 7) == 0) send_all(fd, models_answer, models_length);
  else send_all(fd, NOT_FOUND, sizeof NOT_FOUND - 1);
  body[body_length] = after;
  return head_length + body_length;
}

static void read_connection(int fd) {
  Connection *connection = &connections[fd];
  ssize_t count = recv(fd, connection->buffer + connection->length, REQUEST_BYTES_MAX - connection->length, 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    close_connection(fd);
    return;
  }
  connection->length += count;
  connection->buffer[connection->length] = '\0';
  int used;
  while (connection->is_open && connection->length > 0 && (used = answer_request(fd)) > 0) {
    connection->length -= used;
    memmove(connection->buffer, connection->buffer + used, connection->length + 1);
  }
}

static void accept_connections(int listener) {
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    if (fd >= CONNECTIONS_MAX) {
      close(fd);
      continue;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection *connection = &connections[fd];
    if (connection->buffer == NULL) connection->buffer = malloc(REQUEST_BYTES_MAX + 1);
    connection->length = 0;
    connection->is_open = 1;
    connection->tokens_left = -1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
  if (listen(listener, BACKLOG) < 0) fail("listen");
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event);
  return listener;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: upstream <port>\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct rlimit limit = {CONNECTIONS_MAX, CONNECTIONS_MAX};
  setrlimit(RLIMIT_NOFILE, &limit);
  completion_length = json_answer(completion_answer, sizeof completion_answer, COMPLETION_BODY);
  models_length = json_answer(models_answer, sizeof models_answer, MODELS_BODY);
  token_length = chunk(token_chunk, TOKEN_EVENT);
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  int listener = listen_on(atoi(argv[1]));
  struct epoll_event events[EVENTS_MAX];
  for (;;) {
    long long due = send_due_tokens();
    // Microseconds are rounded up, because an early wake-up would only spin.
    int wait_ms = due < 0 ? -1 : (int)((due - now_us() + 999) / 1000);
    if (due >= 0 && wait_ms < 0) wait_ms = 0;
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, wait_ms);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < count; index++) {
      int fd = events[index].data.fd;
      if (fd == listener) accept_connections(listener);
      else if (connections[fd].is_open) read_connection(fd);
    }
  }
}
