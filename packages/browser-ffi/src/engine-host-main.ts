import { rmSync } from 'node:fs';
import { describeError, withTimeout } from '@model-gateway/kernel';
import type { HostResponse, HostMessage, NumberedRequest, HostRequest } from './host-messages.ts';
import { openNativeEngine, type NativeEngine } from './native-engine.ts';
import { EngineOpenError } from './native-library.ts';

// A separate process for a vendor's library: if it hangs or crashes, the tool keeps running, and all processes that it started end
// with this process's group.
const DESTROY_MS = 1_000;

let engine: NativeEngine | undefined;
let profile: string | undefined;

process.on('message', ({ id, request }: NumberedRequest) => {
  void respond(request)
    .catch((error: unknown): HostResponse => {
      const problem = error instanceof EngineOpenError ? error.problem : 'not-created';
      return { problem, message: describeError(error) };
    })
    .then((response) => send({ id, response }))
    .then(() => (request.kind === 'close' ? end() : undefined));
});

// The tool has ended, for any reason.
process.on('disconnect', () => {
  const destroyed = engine === undefined ? Promise.resolve() : engine.destroy();
  void withTimeout(destroyed, DESTROY_MS)
    .catch(() => undefined)
    .then(end);
});

async function respond(request: HostRequest): Promise<HostResponse> {
  if (request.kind === 'open') {
    profile = request.options.user_data_dir;
    engine = await openNativeEngine(request.library, request.backend, request.options, (event) => {
      void send({ event });
    });
    return { status: 0, json: engine.capabilities };
  }
  if (engine === undefined) return { problem: 'not-created', message: 'no engine is open' };
  switch (request.kind) {
    case 'navigate':
      return engine.navigate(request.url);
    case 'evaluate':
      return engine.evaluate(request.source);
    case 'screenshot':
      return engine.screenshot(request.params);
    case 'call':
      return engine.call(request.method, request.params);
    case 'close':
      await engine.destroy();
      return { status: 0, json: null };
  }
}

function send(message: HostMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });
}

/** Kills the process, because Node would wait for a thread that hangs in the library. */
function end(): void {
  if (profile !== undefined) rmSync(profile, { recursive: true, force: true });
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
}
