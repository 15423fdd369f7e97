import { newId } from '@model-gateway/kernel';
import { startMemoryService } from '@model-gateway/testkit/upstreams';
import { keysOf, startGateway } from '../gateway.ts';
import type { Fields, ModelAnswer } from '../matrix/facts.ts';
import { KINDS, type Kind } from '../matrix/kinds.ts';
import { registerKind } from '../matrix/register-kind.ts';
import type { MatrixUpstream, WireServer } from '../matrix/upstreams/wire-server.ts';
import { steady } from './steady.ts';

const TOKEN = 'the token of the memory service';
/** Recalled by requests that have these words in common with it. */
const REMEMBERED = 'The tea that I like is green';

/** Who asks, and where. */
export interface Asker {
  readonly url: string;
  readonly key: string;
  readonly userId: string;
}

/** Two gateways, one of them with a memory, and an upstream of every kind that both have as a backend. */
export interface WireScene {
  readonly plain: Asker;
  /** A new user, of whom something is remembered. */
  remembered(): Promise<Asker>;
  newConversation({ userId }: Asker): Promise<string>;
  upstream(kind: Kind): MatrixUpstream;
  /** Of a kind that speaks HTTP. */
  wire(kind: Kind): WireServer;
  /** What the upstream was sent since the last time. */
  sent(kind: Kind): readonly object[];
  close(): Promise<void>;
}

const isWire = (upstream: MatrixUpstream): upstream is WireServer => 'received' in upstream;

export async function openScene(): Promise<WireScene> {
  const memory = await startMemoryService({ token: TOKEN });
  const limits = { SERVICE_API_RATE_LIMIT_RPM: '100000', SERVICE_BREAKER_FAILURES: '100000' };
  const plain = await startGateway(limits);
  const remembering = await startGateway({
    ...limits,
    SERVICE_MEMORY_URL: memory.url,
    SERVICE_MEMORY_TOKEN: TOKEN,
    SERVICE_MEMORY_TIMEOUT_MS: '30000',
  });
  const upstreams = new Map<Kind, MatrixUpstream>();
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const upstream = await KINDS[kind].start();
    upstreams.set(kind, upstream);
    await registerKind(plain, kind, upstream);
    await registerKind(remembering, kind, upstream);
  }
  const seen = new Map<Kind, number>();
  const upstreamOf = (kind: Kind): MatrixUpstream => {
    const upstream = upstreams.get(kind);
    if (upstream === undefined) throw new Error(`no upstream of the kind ${kind}`);
    return upstream;
  };
  return {
    plain,
    async remembered() {
      const { test, url } = remembering;
      const id = newId();
      const account = { email: `${id}@example.com`, name: 'Ann', passwordHash: 'not used' };
      await test.context.database.users.create({ id, ...account });
      const { secret } = await keysOf(test).create({ userId: id, name: 'test' });
      memory.remember(id, REMEMBERED);
      return { url, key: secret, userId: id };
    },
    async newConversation({ userId }) {
      const id = newId();
      const { conversations } = plain.test.context.database;
      await conversations.create({ id, userId, title: 'talk' });
      return id;
    },
    upstream: upstreamOf,
    wire(kind) {
      const upstream = upstreamOf(kind);
      if (!isWire(upstream)) throw new Error(`${kind} does not speak HTTP`);
      return upstream;
    },
    sent(kind) {
      const upstream = upstreamOf(kind);
      const since = seen.get(kind) ?? 0;
      seen.set(kind, upstream.requests.length);
      if (!isWire(upstream)) return upstream.requests.slice(since).map(steadyBody);
      return upstream.received.slice(since).map(({ path, headers, text }) => ({
        path: steady(path),
        headers: steadyHeaders(headers),
        text: steady(text),
      }));
    },
    async close() {
      await plain.test.close();
      await remembering.test.close();
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
      await memory.close();
    },
  };
}

const steadyBody = (body: Fields): Fields => JSON.parse(steady(JSON.stringify(body))) as Fields;

/** Of these it is worth knowing that they are there. */
const OTHER_VALUES = ['traceparent', 'request-id'];
/** Of the connection, or on every response. */
const OMITTED = [
  'host',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'vary',
  'x-request-id',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
];

/** Headers with values that are the same in every run. */
export function steadyHeaders(headers: Readonly<Record<string, unknown>>): Fields {
  const kept = Object.entries(headers).filter(([name]) => !OMITTED.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      return [name, OTHER_VALUES.includes(name) ? 'any' : steady(String(value))];
    }),
  );
}

/** An answer to every question of a test. */
export const GREETING: ModelAnswer = {
  text: 'Good morning! How can I help you today? Just ask.',
  finish: 'stop',
  usage: { prompt: 20, completion: 12 },
};
