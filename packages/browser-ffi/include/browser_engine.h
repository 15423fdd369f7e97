/*
 * browser_engine.h: the interface between the browser tool and a browser engine, ABI 1.
 *
 * Strings are UTF-8 and end with NUL. Memory that the engine returns through a `char **` or `unsigned char **` belongs to the caller,
 * who frees it with browser_engine_free_string or browser_engine_free_bytes. Memory that is returned as `const char *` belongs to the
 * engine. All calls for one engine come from one thread at a time; callbacks may come from any thread.
 *
 * Required are new, destroy, navigate, evaluate, screenshot and the two free functions. All others are optional, and a library without
 * abi counts as ABI 1: the tool then clicks, types, reads the page and waits with scripts that it evaluates in the page. An engine whose
 * evaluate cannot run those (they are async functions that return strings) can only open pages, take screenshots and evaluate the
 * callers' scripts, which it gets unchanged; the tool then takes the page's URL from the result of navigate.
 */
#ifndef BROWSER_ENGINE_H
#define BROWSER_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef BROWSER_ENGINE_API
#ifdef _WIN32
#define BROWSER_ENGINE_API __declspec(dllexport)
#else
#define BROWSER_ENGINE_API __attribute__((visibility("default")))
#endif
#endif

#define BROWSER_ENGINE_ABI 1u

/* The return values of navigate, evaluate, screenshot and call; any other value is a failure like BROWSER_ENGINE_FAILED. */
#define BROWSER_ENGINE_OK 0
#define BROWSER_ENGINE_FAILED 1
#define BROWSER_ENGINE_NOT_SUPPORTED 2

typedef struct browser_engine browser_engine;

/*
 * One event as JSON; the text is read before the callback returns. Fields with a question mark are optional; the engine chooses the ids.
 *   {"type":"console","level":"error|warning|info|debug","text":…,"source?":"console|exception|network|worker|security",
 *    "url?":…,"line?":1,"column?":1,"stack?":…}
 *   {"type":"network","id":…,"event":"started|finished|failed","url?":…,"method?":…,"resource?":"document|fetch|…","status?":200,
 *    "size?":0,"error?":…,"request_headers?":{…},"response_headers?":{…},"post_data?":…}
 *   {"type":"websocket","id":…,"event":"created|opened|frame|closed|failed","url?":…,"direction?":"sent|received","opcode?":1,
 *    "payload?":… (base64 if the opcode is not 1),"error?":…}
 *   {"type":"dialog","kind":"alert|confirm|prompt|beforeunload","message?":…,"action":"accepted|dismissed"}
 *   {"type":"navigated","url":…}
 *   {"type":"crashed","reason?":…}
 */
typedef void (*browser_event_cb)(void *user, const char *event_json);

/* BROWSER_ENGINE_ABI of the header that the library was built with. */
BROWSER_ENGINE_API uint32_t browser_engine_abi(void);

/* "firefox" or "servo". */
BROWSER_ENGINE_API const char *browser_engine_id(void);

/*
 * A JSON array, such as ["navigate","evaluate","screenshot","events"]. The tool uses two of them: "events" means that the engine reports
 * every navigation, and "dialog" that it answers dialogs; without it the tool answers them in the page.
 */
BROWSER_ENGINE_API const char *browser_engine_capabilities(void);

/* Options: {"url":…,"proxy":…,"viewport":{"width":…,"height":…},"user_data_dir":…}. NULL and {"code":…,"message":…} on failure. */
BROWSER_ENGINE_API browser_engine *browser_engine_new(const char *options_json, char **error_json);

BROWSER_ENGINE_API void browser_engine_destroy(browser_engine *engine);

/* Returns once the document is loaded. Result: {"url":…,"status":200,"title":…}, all optional; {"code":…,"message":…} on failure. */
BROWSER_ENGINE_API int browser_engine_navigate(browser_engine *engine, const char *url, char **result_json);

/* An expression; a promise is awaited. Result: {"result":…,"type":"…"}; {"message":…,"name":…,"stack":…} on failure. */
BROWSER_ENGINE_API int browser_engine_evaluate(browser_engine *engine, const char *js, char **result_json);

/* Params: {"clip":{"x":…,"y":…,"width":…,"height":…,"scale":…}|null,"full_page":false,"omit_background":false}. Returns a PNG. */
BROWSER_ENGINE_API int browser_engine_screenshot(browser_engine *engine, const char *params_json, unsigned char **png,
                                                 size_t *len);

/*
 * Other methods, by name; BROWSER_ENGINE_NOT_SUPPORTED for unknown ones. The tool calls
 *   click {"x":…,"y":…,"button":"left|middle|right","double":false,"modifiers":["Shift",…]}, in pixels of the viewport
 *   type {"text":…,"slowly":false}, into the focused element, replacing the selection
 *   press {"key":"Control+A"}
 *   back {}, forward {}, reload {}; a failure with the code "NO_HISTORY" means that there is no such page
 *   resize {"width":…,"height":…,"device_scale_factor":null,"mobile":false}
 */
BROWSER_ENGINE_API int browser_engine_call(browser_engine *engine, const char *method, const char *params_json,
                                           char **result_json);

/* At most one callback; NULL removes it. */
BROWSER_ENGINE_API void browser_engine_on_event(browser_engine *engine, browser_event_cb callback, void *user);

BROWSER_ENGINE_API void browser_engine_free_string(char *text);
BROWSER_ENGINE_API void browser_engine_free_bytes(unsigned char *bytes, size_t len);

#ifdef __cplusplus
}
#endif

#endif
