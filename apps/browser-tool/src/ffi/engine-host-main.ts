import { rmSync } from 'node:fs';
import { describeError } from '@model-gateway/kernel';
import type { HostResponse, HostMessage, NumberedRequest, HostRequest } from './host-messages.ts';
import { openNativeEngine, type NativeEngine } from './native-engine.ts';
import { EngineOpenError } from './native-library.ts';

// A process of its own for a vendor's library: one that hangs or crashes takes nothing else with it, and whatever it started
// ends with this process's group.
const DESTROY_MS = 1_000;

let engine: NativeEngine | undefined;
let profile: string | undefined;

process.on('message', (order: NumberedRequest) => {
  void answer(order.request)
    .catch((error: unknown): HostResponse => {
      const problem = error instanceof EngineOpenError ? error.problem : 'not-created';
      return { problem, message: describeError(error) };
    })
    .then((result) => send({ id: order.id, answer: result }))
    .then(() => (order.request.kind === 'close' ? end() : undefined));
});

// The tool is gone, however it went.
process.on('disconnect', () => {
  const limit = new Promise((resolve) => {
    setTimeout(resolve, DESTROY_MS);
  });
  void Promise.race([engine?.destroy().catch(() => undefined), limit]).then(end);
});

async function answer(request: HostRequest): Promise<HostResponse> {
  if (request.kind === 'open') {
    profile = request.options.user_data_dir;
    engine = await openNativeEngine(request.library, request.backend, request.options, (event) => {
      void send({ event });
    });
    return { status: 0, json: engine.capabilities };
  }
  if (engine === undefined) return { problem: 'not-created', message: 'there is no engine' };
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

/** Node would wait for a thread that hangs in the library, so nothing less than a kill ends this process for sure. */
function end(): void {
  if (profile !== undefined) rmSync(profile, { recursive: true, force: true });
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
}
