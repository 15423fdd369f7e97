import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { fullSize, rpcCall } from '@model-gateway/testkit';

// Load that takes every core would make the processes under test start late.
const THINK_MS = fullSize(0, { small: 300 });

/** An account of the service. */
export interface TestAccount {
  readonly email: string;
  readonly token: string;
  /** Calls a method of any replica; throws its error. */
  call<Result>(url: string, method: string, params?: object): Promise<Result>;
}

/** The result of one request. */
export interface ChatResult {
  readonly ref: string;
  readonly status: number;
  readonly text: string;
}

/** The first account with the admin token is the platform admin. */
export async function register(
  rpcUrl: string,
  name: string,
  adminToken?: string,
): Promise<TestAccount> {
  const email = `${name}@example.com`;
  const password = 'a long enough password';
  const { access_token: token } = await callAs<{ access_token: string }>(
    rpcUrl,
    'auth.register',
    { email, password },
    adminToken,
  );
  return {
    email,
    token,
    call: (url, method, params = {}) => callAs(url, method, params, token),
  };
}

export async function callAs<Result>(
  url: string,
  method: string,
  params: object,
  bearer: string | undefined,
): Promise<Result> {
  const { result, error } = await rpcCall(url, method, params, bearer);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Result;
}

/** Sends one request to a gateway; a failed connection has the status 0. */
export async function postChat(
  url: string,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<ChatResult> {
  const ref = newId();
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'x-service-ref': ref,
      },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
    });
    return { ref, status: response.status, text: await response.text() };
  } catch (error) {
    return { ref, status: 0, text: String(error) };
  }
}

/** A stream that has started; `text` settles when it is complete. */
export interface OpenStream {
  readonly text: Promise<string>;
}

interface ChatStreamEvent {
  readonly params: { readonly token: string; readonly is_complete: boolean };
}

interface ChatChunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

/** Streams a response of a gateway; resolves with the first token. */
export function followChat(url: string, key: string, model: string): Promise<OpenStream> {
  return follow(async (started) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    let received = '';
    for await (const data of dataOf(response)) {
      if (data === '[DONE]') return received;
      received += (JSON.parse(data) as ChatChunk).choices[0]?.delta.content ?? '';
      if (received !== '') started();
    }
    throw new Error(`the stream was cut after: ${received}`);
  });
}

/** Reads a `chat.send` stream from the event stream of any replica; resolves with the first token. */
export function followChatStream(url: string, streamId: string): Promise<OpenStream> {
  return follow(async (started) => {
    const response = await fetch(`${url}/api/rpc/events?session=${streamId}`);
    let received = '';
    for await (const data of dataOf(response)) {
      const { params } = JSON.parse(data) as ChatStreamEvent;
      received += params.token;
      if (params.is_complete) return received;
      started();
    }
    throw new Error(`the stream was cut after: ${received}`);
  });
}

async function follow(read: (started: () => void) => Promise<string>): Promise<OpenStream> {
  let started = (): void => undefined;
  const hasStarted = new Promise<void>((resolve) => {
    started = resolve;
  });
  const text = read(() => started());
  // The caller may not await the text yet.
  text.catch(() => undefined);
  await Promise.race([hasStarted, text]);
  return { text };
}

async function* dataOf({ body }: Response): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length);
  }
}

/** Several clients, each sending one request after another until the load is stopped. */
export function startLoad<Outcome>(
  clients: number,
  runOnce: () => Promise<Outcome>,
): { readonly outcomes: readonly Outcome[]; stop(): Promise<void> } {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const running = Array.from({ length: clients }, async () => {
    while (!isOver) {
      outcomes.push(await runOnce());
      await sleep(THINK_MS);
    }
  });
  return {
    outcomes,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}
