import { describeError } from '@model-gateway/kernel';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';
import type { OpenProblem } from './host-messages.ts';

/** Memory that the library owns. */
export type Pointer = bigint | null;

/** An output parameter. */
export type Out<Value> = [Value];

type Bound<Signature extends (...args: never[]) => unknown> = KoffiFunc<Signature>;

/** The functions of include/browser_engine.h; optional ones may be undefined. */
export interface NativeLibrary {
  readonly create: Bound<(options: string, problem: Out<Pointer>) => Pointer>;
  readonly destroy: Bound<(engine: Pointer) => void>;
  readonly navigate: Bound<(engine: Pointer, url: string, result: Out<Pointer>) => number>;
  readonly evaluate: Bound<(engine: Pointer, source: string, result: Out<Pointer>) => number>;
  readonly screenshot: Bound<
    (engine: Pointer, params: string, bytes: Out<Pointer>, length: Out<number | bigint>) => number
  >;
  readonly freeString: Bound<(text: Pointer) => void>;
  readonly freeBytes: Bound<(bytes: Pointer, length: number) => void>;
  readonly abi: Bound<() => number> | undefined;
  readonly id: Bound<() => string | null> | undefined;
  readonly capabilities: Bound<() => string | null> | undefined;
  readonly call:
    | Bound<(engine: Pointer, method: string, params: string, result: Out<Pointer>) => number>
    | undefined;
  readonly onEvent: Bound<(engine: Pointer, callback: Pointer, user: Pointer) => void> | undefined;
}

/** An engine could not be opened. */
export class EngineOpenError extends Error {
  override readonly name = 'EngineOpenError';
  readonly problem: OpenProblem;

  constructor(problem: OpenProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Loads a library and its functions. Returned memory is declared as `void *`, so that it can be freed. */
export function loadNativeLibrary(path: string): NativeLibrary {
  const handle = load(path);
  const needed = <Signature extends (...args: never[]) => unknown>(
    declaration: string,
  ): Bound<Signature> => {
    const found = optional<Signature>(declaration);
    if (found !== undefined) return found;
    const name = /browser_engine_\w+/.exec(declaration)?.[0];
    throw new EngineOpenError('wrong-abi', `it has no function ${name}`);
  };
  const optional = <Signature extends (...args: never[]) => unknown>(
    declaration: string,
  ): Bound<Signature> | undefined => {
    try {
      // The C declarations match the types above.
      return handle.func(declaration) as unknown as Bound<Signature>;
    } catch {
      return undefined;
    }
  };
  return {
    create: needed('void *browser_engine_new(const char *options_json, _Out_ void **error_json)'),
    destroy: needed('void browser_engine_destroy(void *engine)'),
    navigate: needed(
      'int browser_engine_navigate(void *engine, const char *url, _Out_ void **result_json)',
    ),
    evaluate: needed(
      'int browser_engine_evaluate(void *engine, const char *js, _Out_ void **result_json)',
    ),
    screenshot: needed(
      'int browser_engine_screenshot(void *engine, const char *params_json, _Out_ void **png, _Out_ size_t *len)',
    ),
    freeString: needed('void browser_engine_free_string(void *text)'),
    freeBytes: needed('void browser_engine_free_bytes(void *bytes, size_t len)'),
    abi: optional('uint32_t browser_engine_abi()'),
    id: optional('const char *browser_engine_id()'),
    capabilities: optional('const char *browser_engine_capabilities()'),
    call: optional(
      'int browser_engine_call(void *engine, const char *method, const char *params_json, _Out_ void **result_json)',
    ),
    onEvent: optional('void browser_engine_on_event(void *engine, void *callback, void *user)'),
  };
}

function load(path: string): LibraryHandle {
  try {
    return koffi.load(path);
  } catch (error) {
    throw new EngineOpenError('not-loaded', describeError(error));
  }
}
