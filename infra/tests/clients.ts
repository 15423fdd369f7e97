import { newId } from '@model-gateway/kernel';
import { rpcCall } from '@model-gateway/testkit';

/** An account of the service. */
export interface Person {
  readonly email: string;
  readonly token: string;
  /** Calls a method over any replica; throws what it is refused with. */
  call<Result>(url: string, method: string, params?: object): Promise<Result>;
}

/** What a client saw of one request. */
export interface Asked {
  readonly ref: string;
  readonly status: number;
  readonly text: string;
}

export async function register(rpcUrl: string, name: string): Promise<Person> {
  const email = `${name}@example.com`;
  const password = 'long enough for anybody';
  const { access_token: token } = await callAs<{ access_token: string }>(
    rpcUrl,
    'auth.register',
    { email, password },
    undefined,
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

/** Asks a gateway once; a connection that fails has the status 0. */
export async function askChat(
  url: string,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Asked> {
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

/** A stream that has begun; its text when it is whole. */
export interface Following {
  readonly text: Promise<string>;
}

interface ChatStreamEvent {
  readonly params: { readonly token: string; readonly is_complete: boolean };
}

interface ChatChunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

/** Streams an answer of a gateway; resolves with the first token. */
export function followChat(url: string, key: string, model: string): Promise<Following> {
  return follow(async (begun) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    let said = '';
    for await (const data of dataOf(response)) {
      if (data === '[DONE]') return said;
      said += (JSON.parse(data) as ChatChunk).choices[0]?.delta.content ?? '';
      if (said !== '') begun();
    }
    throw new Error(`the stream was cut after: ${said}`);
  });
}

/** Listens to a `chat.send` stream at any replica's event sidecar; resolves with the first token. */
export function followChatStream(url: string, streamId: string): Promise<Following> {
  return follow(async (begun) => {
    const response = await fetch(`${url}/api/rpc/events?session=${streamId}`);
    let said = '';
    for await (const data of dataOf(response)) {
      const { params } = JSON.parse(data) as ChatStreamEvent;
      said += params.token;
      if (params.is_complete) return said;
      begun();
    }
    throw new Error(`the stream was cut after: ${said}`);
  });
}

async function follow(read: (begun: () => void) => Promise<string>): Promise<Following> {
  let begun = (): void => undefined;
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const text = read(() => begun());
  // Whoever waits for the text is told; nobody may be waiting yet.
  text.catch(() => undefined);
  await Promise.race([hasBegun, text]);
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

/** Several clients, each asking one request after another until the load is stopped. */
export function startLoad<Outcome>(
  clients: number,
  askOnce: () => Promise<Outcome>,
): { readonly outcomes: readonly Outcome[]; stop(): Promise<void> } {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const running = Array.from({ length: clients }, async () => {
    while (!isOver) outcomes.push(await askOnce());
  });
  return {
    outcomes,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}
