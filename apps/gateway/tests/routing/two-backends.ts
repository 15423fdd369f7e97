import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

export const messages = [{ role: 'user', content: 'Hi' }];

/** A gateway with two backends; each serves a model of its own, and both serve a third. */
export interface TwoBackends {
  readonly gateway: GatewayUnderTest;
  /** Serves `primary` and `both`. */
  readonly first: RunningChatUpstream;
  /** Serves `spare` and `both`. */
  readonly second: RunningChatUpstream;
  readonly post: (path: string, body: object, key?: string) => Promise<Response>;
  readonly chat: (body: object, key?: string) => Promise<Response>;
  /** The usage event of one request. */
  readonly usage: () => ReturnType<typeof takeUsage>;
  clearFaults(): void;
  close(): Promise<void>;
}

export async function startTwoBackends(): Promise<TwoBackends> {
  const gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  const first = await startChatUpstream({ models: ['primary', 'both'] });
  const second = await startChatUpstream({ models: ['spare', 'both'] });
  await registerBackend(gateway, { type: 'external', name: 'first', url: first.url });
  await registerBackend(gateway, { type: 'external', name: 'second', url: second.url });

  const post = (path: string, body: object, key = gateway.key): Promise<Response> =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(body),
    });
  return {
    gateway,
    first,
    second,
    post,
    chat: (body, key) => post('chat/completions', { messages, ...body }, key),
    usage: () => takeUsage(gateway.test.context.bus.journal, 1),
    clearFaults() {
      for (const { faults } of [first, second]) faults.clear();
    },
    async close() {
      await gateway.test.close();
      await Promise.all([first.close(), second.close()]);
    },
  };
}
