// A chat upstream with very low cost: one thread, one epoll. It responds at once, or streams tokens at a fixed rate.
//
//   upstream <port>
//
// POST …/chat/completions        a fixed completion; with "stream":true, tokens by the model's name: bench-<tokens>-<ms>
// POST …/responses               the same stream in the Responses API
// POST …/messages                the same stream in the Messages API
// POST …:streamGenerateContent   the same stream in the Gemini API
// GET …/models                   the models of the benchmark, except below /native/
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
  const struct Api *api;
  long long due_us;
  int active_index;
} Connection;

/** A stream in one API: what comes before the tokens, each token, and what comes after them. */
typedef struct Api {
  const char *path;
  const char *const *first;
  const char *token;
  const char *const *last;
  char token_chunk[512];
  int token_length;
} Api;

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

static const char *const NO_EVENTS[] = {NULL};
static const char *const CHAT_LAST[] = {FINISH_EVENT, USAGE_EVENT, DONE_EVENT, NULL};

#define EVENT(name, fields) "event: " name "\ndata: {\"type\":\"" name "\"," fields "}\n\n"
static const char *const MESSAGES_FIRST[] = {
    EVENT("message_start",
          "\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench\",\"content\":[],"
          "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}"),
    EVENT("content_block_start", "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}"), NULL};
static const char *const MESSAGES_LAST[] = {
    EVENT("content_block_stop", "\"index\":0"),
    EVENT("message_delta",
          "\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":50}"),
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", NULL};

#define GEMINI(part, more)                                                                                              \
  "data: {\"candidates\":[{\"content\":{\"parts\":[" part "],\"role\":\"model\"}" more "],\"modelVersion\":\"bench\","  \
  "\"responseId\":\"r1\"}\n\n"
static const char *const GEMINI_LAST[] = {
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],"
    "\"usageMetadata\":{\"promptTokenCount\":12,\"candidatesTokenCount\":50,\"totalTokenCount\":62},"
    "\"modelVersion\":\"bench\",\"responseId\":\"r1\"}\n\n",
    NULL};

#define RESPONSE(status, output, usage)                                                                                 \
  "\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"created_at\":1700000000,\"status\":\"" status                \
  "\",\"model\":\"bench\",\"output\":[" output "],\"usage\":" usage "}"
#define MESSAGE_ITEM(status, content)                                                                                   \
  "{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"" status "\",\"role\":\"assistant\",\"content\":[" content "]}"
#define TEXT_PART "{\"type\":\"output_text\",\"text\":\"\",\"annotations\":[]}"
#define PLACE "\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,"
static const char *const RESPONSES_FIRST[] = {
    EVENT("response.created", "\"sequence_number\":0," RESPONSE("in_progress", "", "null")),
    EVENT("response.output_item.added", "\"sequence_number\":1,\"output_index\":0,\"item\":" MESSAGE_ITEM("in_progress", "")),
    EVENT("response.content_part.added", "\"sequence_number\":2," PLACE "\"part\":" TEXT_PART), NULL};
static const char *const RESPONSES_LAST[] = {
    EVENT("response.output_item.done",
          "\"sequence_number\":9,\"output_index\":0,\"item\":" MESSAGE_ITEM("completed", TEXT_PART)),
    EVENT("response.completed",
          "\"sequence_number\":10," RESPONSE("completed", MESSAGE_ITEM("completed", TEXT_PART),
                                             "{\"input_tokens\":12,\"output_tokens\":50,\"total_tokens\":62}")),
    NULL};

static Api apis[] = {
    {"/chat/completions", NO_EVENTS, TOKEN_EVENT, CHAT_LAST, "", 0},
    {"/messages", MESSAGES_FIRST,
     EVENT("content_block_delta", "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" ~tok\"}"), MESSAGES_LAST, "", 0},
    {":streamGenerateContent", NO_EVENTS, GEMINI("{\"text\":\" ~tok\"}", ",\"index\":0}"), GEMINI_LAST, "", 0},
    {"/responses", RESPONSES_FIRST,
     EVENT("response.output_text.delta", "\"sequence_number\":3," PLACE "\"delta\":\" ~tok\",\"logprobs\":[]"),
     RESPONSES_LAST, "", 0},
};
enum { APIS = sizeof apis / sizeof apis[0] };

static char completion_answer[1024], models_answer[1024];
static int completion_length, models_length;

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
  char tail[4096];
  int length = 0;
  for (const char *const *event = connections[fd].api->last; *event != NULL; event++) {
    if (*event == USAGE_EVENT && !connections[fd].wants_usage) continue;
    length += chunk(tail + length, *event);
  }
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
      if (!send_all(fd, connection->api->token_chunk, connection->api->token_length)) break;
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

/** Some APIs have the model in the path. */
static const char *find_model(int fd, const char *body) {
  const char *model = strstr(body, "bench-");
  return model != NULL ? model : strstr(connections[fd].buffer, "bench-");
}

static void answer_chat(int fd, const Api *api, const char *body) {
  Connection *connection = &connections[fd];
  if (api == &apis[0] && !has_flag(body, "\"stream\"")) {
    send_all(fd, completion_answer, completion_length);
    return;
  }
  int tokens = 10, interval_ms = 0;
  const char *model = find_model(fd, body);
  if (model != NULL) sscanf(model, "bench-%d-%d", &tokens, &interval_ms);
  connection->api = api;
  connection->wants_usage = has_flag(body, "\"include_usage\"");
  connection->tokens_left = tokens;
  connection->interval_ms = interval_ms;
  connection->due_us = now_us();
  connection->active_index = active_count;
  active[active_count++] = fd;
  char head[4096];
  int length = sprintf(head, "%s", STREAM_HEAD);
  for (const char *const *event = api->first; *event != NULL; event++) length += chunk(head + length, *event);
  send_all(fd, head, length);
}

static const Api *find_api(const char *path, const char *path_end) {
  for (int index = 0; index < APIS; index++) {
    size_t length = strlen(apis[index].path);
    if ((size_t)(path_end - path) > length && strncmp(path_end - length, apis[index].path, length) == 0)
      return &apis[index];
  }
  return NULL;
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
  char *path = strchr(connection->buffer, ' ') + 1;
  char *path_end = strpbrk(path, " ?");
  const Api *api = find_api(path, path_end);
  if (api != NULL) answer_chat(fd, api, body);
  else if (path_end - path > 7 && strncmp(path_end - 7, "/models", 7) == 0 && strncmp(path, "/native/", 8) != 0) send_all(fd, models_answer, models_length);
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
  for (int index = 0; index < APIS; index++)
    apis[index].token_length = chunk(apis[index].token_chunk, apis[index].token);
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
