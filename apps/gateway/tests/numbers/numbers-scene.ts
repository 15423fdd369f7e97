import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { chatApi } from '../matrix/upstreams/chat-api.ts';
import { startWireServer, type WireServer } from '../matrix/upstreams/wire-server.ts';

/** A gateway with one backend that passes chats, Responses and embeddings on, spoken to in texts. */
export interface NumbersScene {
  readonly gateway: GatewayUnderTest;
  readonly upstream: WireServer;
  /** The upstream answers with this JSON, or with events. */
  answer(text: string): void;
  /** The text of the answer to a body; throws unless it is a success. */
  ask(path: string, body: string | undefined): Promise<string>;
  close(): Promise<void>;
}

export async function openNumbersScene(
  env: Readonly<Record<string, string>> = {},
): Promise<NumbersScene> {
  const gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000', ...env });
  const upstream = await startWireServer(chatApi);
  const response = await registerBackend(gateway, {
    name: 'up',
    type: 'external',
    url: upstream.url,
    models: ['m'],
    dialects: ['responses'],
    capabilities: ['chat', 'completions', 'embeddings', 'rerank'],
  });
  if (!response.ok) throw new Error(await response.text());
  return {
    gateway,
    upstream,
    answer(text) {
      const type = text.startsWith('{') ? 'application/json' : 'text/event-stream';
      upstream.respond({ status: 200, type, text });
    },
    async ask(path, body) {
      const answered = await fetch(`${gateway.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        ...(body === undefined ? {} : { body }),
      });
      const text = await answered.text();
      if (!answered.ok) throw new Error(`${answered.status}: ${text}`);
      return text;
    },
    async close() {
      await gateway.test.close();
      await upstream.close();
    },
  };
}
