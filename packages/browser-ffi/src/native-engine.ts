import { describeError } from '@model-gateway/kernel';
import koffi from 'koffi';
import { NOT_SUPPORTED, type EngineOptions, type HostResponse } from './host-messages.ts';
import {
  EngineOpenError,
  loadNativeLibrary,
  type NativeLibrary,
  type Out,
  type Pointer,
} from './native-library.ts';

// The same as `BROWSER_ENGINE_ABI` in include/browser_engine.h.
const ENGINE_ABI = 1;
// An engine runs on the stack of its caller, and koffi's default is too small for that.
const STACK_BYTES = 8 * 1024 * 1024;

/** An engine with the functions of include/browser_engine.h. Every call runs on a worker thread. */
export interface NativeEngine {
  readonly capabilities: string;
  navigate(url: string): Promise<HostResponse>;
  evaluate(source: string): Promise<HostResponse>;
  screenshot(params: string): Promise<HostResponse>;
  call(method: string, params: string): Promise<HostResponse>;
  destroy(): Promise<void>;
}

/** Loads a vendor's library, checks its ABI and id, and starts its engine. */
export async function openNativeEngine(
  path: string,
  backend: string,
  options: EngineOptions,
  onEvent: (event: string) => void,
): Promise<NativeEngine> {
  koffi.config({ async_stack_size: STACK_BYTES, resident_async_pools: 1 });
  const library = loadNativeLibrary(path);
  await checkIdentity(library, backend);
  const problem: Out<Pointer> = [null];
  const engine = await run(library.create, JSON.stringify(options), problem);
  if (engine === null) {
    throw new EngineOpenError('not-created', takeText(library, problem[0]) ?? 'no reason given');
  }
  const stopListening = listen(library, engine, onEvent);
  const capabilities = library.capabilities === undefined ? null : await run(library.capabilities);
  const finish = (status: number, result: Out<Pointer>): HostResponse => ({
    status,
    json: takeText(library, result[0]),
  });
  return {
    capabilities: capabilities ?? '[]',
    async navigate(url) {
      const result: Out<Pointer> = [null];
      return finish(await run(library.navigate, engine, url, result), result);
    },
    async evaluate(source) {
      const result: Out<Pointer> = [null];
      return finish(await run(library.evaluate, engine, source, result), result);
    },
    async screenshot(params) {
      const bytes: Out<Pointer> = [null];
      const length: Out<number | bigint> = [0];
      const status = await run(library.screenshot, engine, params, bytes, length);
      return { status, json: null, bytes: takeBytes(library, bytes[0], Number(length[0])) };
    },
    async call(method, params) {
      if (library.call === undefined) return { status: NOT_SUPPORTED, json: null };
      const result: Out<Pointer> = [null];
      return finish(await run(library.call, engine, method, params, result), result);
    },
    async destroy() {
      await run(library.destroy, engine);
      stopListening();
    },
  };
}

async function checkIdentity(library: NativeLibrary, backend: string): Promise<void> {
  const abi = library.abi === undefined ? ENGINE_ABI : await run(library.abi);
  if (abi !== ENGINE_ABI) {
    throw new EngineOpenError(
      'wrong-abi',
      `it uses ABI ${abi}, but this tool uses ABI ${ENGINE_ABI}`,
    );
  }
  const id = library.id === undefined ? backend : await run(library.id);
  if (id !== backend) {
    throw new EngineOpenError('wrong-abi', `it is the engine "${id}", not "${backend}"`);
  }
}

/** Calls on a worker thread, so that this process can receive messages meanwhile. */
function run<Args extends unknown[], Result>(
  native: {
    readonly async: (...args: [...Args, (error: unknown, result: Result) => void]) => void;
  },
  ...args: Args
): Promise<Result> {
  return new Promise((resolve, reject) => {
    native.async(...args, (error, result) => {
      if (error === null || error === undefined) resolve(result);
      else reject(new Error(describeError(error), { cause: error }));
    });
  });
}

function listen(
  library: NativeLibrary,
  engine: Pointer,
  onEvent: (event: string) => void,
): () => void {
  if (library.onEvent === undefined) return () => undefined;
  const type = koffi.pointer(koffi.proto('void', ['void *', 'str']));
  const callback = koffi.register((_user: Pointer, event: string | null) => {
    if (event !== null) onEvent(event);
  }, type);
  library.onEvent(engine, callback, null);
  return () => koffi.unregister(callback);
}

function takeText(library: NativeLibrary, pointer: Pointer): string | null {
  if (pointer === null) return null;
  const text = koffi.decode.string(pointer);
  library.freeString(pointer);
  return text;
}

function takeBytes(library: NativeLibrary, pointer: Pointer, length: number): Uint8Array {
  if (pointer === null) return new Uint8Array();
  const copy = new Uint8Array(koffi.view(pointer, length)).slice();
  library.freeBytes(pointer, length);
  return copy;
}
