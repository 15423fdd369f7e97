/*
 * The smallest engine that fits the interface: it opens everything, evaluates one expression, and draws one pixel. TEST_ERRORS makes
 * every other expression a failure instead of the same answer.
 */
#include "browser_engine.h"

#include <stdlib.h>
#include <string.h>

struct browser_engine {
  int unused;
};

static const unsigned char PIXEL[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00, 0x00, 0x00,
    0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x64, 0xf8, 0xcf, 0x50, 0x0f, 0x00, 0x03, 0x86, 0x01, 0x80,
    0x5a, 0x34, 0x7d, 0x6b, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

static char *copy(const char *text) {
  char *made = malloc(strlen(text) + 1);
  strcpy(made, text);
  return made;
}

browser_engine *browser_engine_new(const char *options_json, char **error_json) {
  (void)options_json;
  (void)error_json;
  return calloc(1, sizeof(browser_engine));
}

void browser_engine_destroy(browser_engine *engine) { free(engine); }

int browser_engine_navigate(browser_engine *engine, const char *url, char **result_json) {
  (void)engine;
  const char *format = "{\"url\":\"\",\"status\":200}";
  char *made = malloc(strlen(format) + strlen(url) + 1);
  strcpy(made, "{\"url\":\"");
  strcat(made, url);
  strcat(made, "\",\"status\":200}");
  *result_json = made;
  return BROWSER_ENGINE_OK;
}

int browser_engine_evaluate(browser_engine *engine, const char *js, char **result_json) {
  (void)engine;
#ifdef TEST_ERRORS
  if (strcmp(js, "6*7") != 0) {
    *result_json = copy("{\"name\":\"SyntaxError\",\"message\":\"only products are known\"}");
    return BROWSER_ENGINE_FAILED;
  }
#else
  (void)js;
#endif
  *result_json = copy("{\"result\":42,\"type\":\"number\"}");
  return BROWSER_ENGINE_OK;
}

int browser_engine_screenshot(browser_engine *engine, const char *params_json, unsigned char **png, size_t *len) {
  (void)engine;
  (void)params_json;
  *png = malloc(sizeof PIXEL);
  memcpy(*png, PIXEL, sizeof PIXEL);
  *len = sizeof PIXEL;
  return BROWSER_ENGINE_OK;
}

void browser_engine_free_string(char *text) { free(text); }

void browser_engine_free_bytes(unsigned char *bytes, size_t len) {
  (void)len;
  free(bytes);
}
