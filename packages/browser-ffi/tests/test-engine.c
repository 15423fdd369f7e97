/*
 * An engine for tests. It has no browser of its own: it asks the process that the proxy of its options leads to, in messages of
 * one letter, a length and a text. Some URLs make it misbehave. TEST_ABI, TEST_ID and TEST_MINIMAL change what it offers.
 */
#include "browser_engine.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif
#ifndef TEST_ABI
#define TEST_ABI BROWSER_ENGINE_ABI
#endif
#ifndef TEST_ID
#define TEST_ID "servo"
#endif

struct browser_engine {
  int socket;
  browser_event_cb callback;
  void *user;
};

static long strings_out = 0;

static char *copy_text(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  memcpy(copy, text, length);
  copy[length] = 0;
  __atomic_add_fetch(&strings_out, 1, __ATOMIC_SEQ_CST);
  return copy;
}

static char *copy_string(const char *text) { return copy_text(text, strlen(text)); }

static int send_all(int socket, const void *bytes, size_t length) {
  for (size_t sent = 0; sent < length;) {
    ssize_t count = send(socket, (const char *)bytes + sent, length - sent, MSG_NOSIGNAL);
    if (count <= 0) return -1;
    sent += (size_t)count;
  }
  return 0;
}

static int receive_all(int socket, void *bytes, size_t length) {
  for (size_t received = 0; received < length;) {
    ssize_t count = recv(socket, (char *)bytes + received, length - received, 0);
    if (count <= 0) return -1;
    received += (size_t)count;
  }
  return 0;
}

static int ask(browser_engine *engine, char kind, const char *text, unsigned char **answer, size_t *length) {
  uint32_t header = htonl((uint32_t)strlen(text));
  uint32_t head[2];
  if (send_all(engine->socket, &kind, 1) || send_all(engine->socket, &header, 4) ||
      send_all(engine->socket, text, strlen(text)) || receive_all(engine->socket, head, 8))
    return BROWSER_ENGINE_FAILED;
  *length = ntohl(head[1]);
  *answer = malloc(*length + 1);
  __atomic_add_fetch(&strings_out, 1, __ATOMIC_SEQ_CST);
  (*answer)[*length] = 0;
  if (receive_all(engine->socket, *answer, *length)) return BROWSER_ENGINE_FAILED;
  return (int)ntohl(head[0]);
}

struct event {
  browser_engine *engine;
  char *text;
};

static void *emit(void *given) {
  struct event *event = given;
  event->engine->callback(event->engine->user, event->text);
  return NULL;
}

uint32_t browser_engine_abi(void) { return TEST_ABI; }

#ifndef TEST_MINIMAL
const char *browser_engine_id(void) { return TEST_ID; }

const char *browser_engine_capabilities(void) { return "[\"navigate\",\"evaluate\",\"screenshot\",\"events\"]"; }

int browser_engine_call(browser_engine *engine, const char *method, const char *params_json, char **result_json) {
  char *text = malloc(strlen(method) + strlen(params_json) + 2);
  sprintf(text, "%s %s", method, params_json);
  size_t length;
  int status = ask(engine, 'c', text, (unsigned char **)result_json, &length);
  free(text);
  return status;
}

void browser_engine_on_event(browser_engine *engine, browser_event_cb callback, void *user) {
  engine->callback = callback;
  engine->user = user;
}
#endif

browser_engine *browser_engine_new(const char *options_json, char **error_json) {
  const char *proxy = strstr(options_json, "\"proxy\":\"http://127.0.0.1:");
  int port = proxy == NULL ? 0 : atoi(proxy + strlen("\"proxy\":\"http://127.0.0.1:"));
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  int handle = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(handle, (struct sockaddr *)&address, sizeof address)) {
    close(handle);
    *error_json = copy_string("{\"code\":\"NO_DISPLAY\",\"message\":\"there is no display\"}");
    return NULL;
  }
  int yes = 1;
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  browser_engine *engine = calloc(1, sizeof *engine);
  engine->socket = handle;
  unsigned char *answer = NULL;
  size_t length;
  ask(engine, 'o', options_json, &answer, &length);
  browser_engine_free_string((char *)answer);
  return engine;
}

void browser_engine_destroy(browser_engine *engine) {
  close(engine->socket);
  free(engine);
}

int browser_engine_navigate(browser_engine *engine, const char *url, char **result_json) {
  if (strncmp(url, "http://hang/", 12) == 0)
    for (;;) sleep(1000);
  if (strncmp(url, "http://crash/", 13) == 0) abort();
  if (strncmp(url, "http://print/", 13) == 0) {
    printf("words on standard output\n");
    fflush(stdout);
    *result_json = NULL;
    return BROWSER_ENGINE_OK;
  }
  if (strncmp(url, "http://event/#", 14) == 0) {
    struct event event = {engine, (char *)url + 14};
    pthread_t thread;
    emit(&event);
    pthread_create(&thread, NULL, emit, &event);
    pthread_join(thread, NULL);
    return BROWSER_ENGINE_OK;
  }
  if (strncmp(url, "http://memory/", 14) == 0) {
    char text[64];
    snprintf(text, sizeof text, "{\"message\":\"%ld texts\"}", strings_out);
    *result_json = copy_string(text);
    return BROWSER_ENGINE_FAILED;
  }
  size_t length;
  return ask(engine, 'n', url, (unsigned char **)result_json, &length);
}

int browser_engine_evaluate(browser_engine *engine, const char *js, char **result_json) {
  size_t length;
  return ask(engine, 'e', js, (unsigned char **)result_json, &length);
}

int browser_engine_screenshot(browser_engine *engine, const char *params_json, unsigned char **png, size_t *len) {
  return ask(engine, 's', params_json, png, len);
}

void browser_engine_free_string(char *text) {
  if (text != NULL) __atomic_sub_fetch(&strings_out, 1, __ATOMIC_SEQ_CST);
  free(text);
}

void browser_engine_free_bytes(unsigned char *bytes, size_t len) {
  (void)len;
  browser_engine_free_string((char *)bytes);
}
