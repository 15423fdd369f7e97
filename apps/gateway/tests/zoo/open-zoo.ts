import type { UsageEvent } from '@model-gateway/contracts';
import { readStream, type ReadStream } from '@model-gateway/testkit';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import type { Fields } from '../matrix/facts.ts';
import { takeUsage } from '../money/usage-journal.ts';
import type { Fixture } from './fixture.ts';
import { startRawUpstream, type RawAnswer, type RawUpstream } from './raw-upstream.ts';

/** A request of a client. */
export interface Asked {
  readonly path: string;
  readonly body: Fields;
  readonly stream?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** The upstream's answer arrives in pieces of this size, which split lines, events and characters. */
  readonly pieceBytes: number;
}

/** What a client got. */
export interface Heard extends ReadStream {
  readonly status: number;
  readonly headers: Headers;
  readonly isStream: boolean;
  /** The model that was asked for. */
  readonly model: string;
  /** How often its upstream was asked. */
  readonly attempts: number;
  /** What is billed. */
  readonly row: UsageEvent | undefined;
}

/** Each has a model of its own, because what an upstream refuses is remembered by model. */
interface Question extends Asked {
  readonly model: string;
  readonly fixture: Fixture;
  readonly answer: RawAnswer;
}

/** One gateway for all files, and one upstream for each of its backends. */
export interface Zoo {
  /** Plans a request to the server of a fixture, which answers with this text; resolves to what the client got. */
  plan(fixture: Fixture, text: string, asked: Asked): () => Promise<Heard>;
  /** Sends all planned requests, some at a time. */
  askAll(): Promise<void>;
  close(): Promise<void>;
}

/** The name of the backend of a fixture. */
const backendOf = ({ kind, dialects = [] }: Fixture): string => [kind, ...dialects].join('-');

/** How many requests are under way at once. */
const LANES = 8;

export function createZoo(): Zoo {
  const questions: Question[] = [];
  const answers = new Map<string, Promise<Omit<Heard, 'attempts' | 'row'>>>();
  const rows = new Map<string | null, UsageEvent>();
  let gateway: GatewayUnderTest | undefined;
  const upstreams: RawUpstream[] = [];

  /** Each backend has an upstream that lists its own models. */
  async function register(name: string, own: readonly Question[], to: GatewayUnderTest) {
    const upstream = await startRawUpstream(
      new Map(own.map(({ model, answer }) => [model, answer])),
    );
    upstreams.push(upstream);
    const { url } = upstream;
    const { kind: type, dialects } = own[0]?.fixture ?? {};
    const backend = { type, name, url, capabilities: ['chat', 'embeddings'] };
    const models = own.map(({ model }) => model);
    const response = await registerBackend(to, {
      ...backend,
      models,
      ...(dialects === undefined ? {} : { dialects }),
    });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  }

  return {
    plan(fixture, text, asked) {
      const model = `zoo-${questions.length}`;
      questions.push({ ...asked, model, fixture, answer: answerOf(fixture, text, asked) });
      return async () => {
        const answered = await answers.get(model);
        if (answered === undefined) throw new Error(`${model} was not asked`);
        const attempts = upstreams.reduce((sum, { requestsOf }) => sum + requestsOf(model), 0);
        return { ...answered, attempts, row: rows.get(model) };
      };
    },
    async askAll() {
      const started = await startGateway({
        SERVICE_API_RATE_LIMIT_RPM: '100000',
        SERVICE_BREAKER_FAILURES: '100000',
      });
      gateway = started;
      for (const name of new Set(questions.map(({ fixture }) => backendOf(fixture)))) {
        const own = questions.filter(({ fixture }) => backendOf(fixture) === name);
        await register(name, own, started);
      }
      const waiting = questions.values();
      const lanes = Array.from({ length: LANES }, async () => {
        for (const question of waiting) {
          const answered = ask(question, started);
          answers.set(question.model, answered);
          // Its test fails by it.
          await answered.catch(() => undefined);
        }
      });
      await Promise.all(lanes);
      const served = questions.filter(({ fixture }) => isServed(fixture)).length;
      const { journal } = started.test.context.bus;
      for (const row of await takeUsage(journal, served)) rows.set(row.ref_id, row);
    },
    async close() {
      await gateway?.test.close();
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

function answerOf(fixture: Fixture, text: string, asked: Asked): RawAnswer {
  const { status, ending, lines } = fixture;
  return {
    status,
    headers: { 'content-type': typeOf(fixture, asked), ...fixture.headers },
    bytes: Buffer.from(lines === 'crlf' ? text.replaceAll('\n', '\r\n') : text),
    pieceBytes: asked.pieceBytes,
    ending,
  };
}

function typeOf({ kind, body }: Fixture, { stream = false }: Asked): string {
  if (!stream || body !== undefined) return 'application/json';
  return kind === 'local-server' ? 'application/x-ndjson' : 'text/event-stream';
}

/** Whether an upstream began to answer: that is metered. */
const isServed = ({ answer, vectors, error }: Fixture): boolean =>
  answer !== undefined || vectors !== undefined || error?.after !== undefined;

async function ask(
  { model, fixture, path, body, headers }: Question,
  { url, key }: GatewayUnderTest,
): Promise<Omit<Heard, 'attempts' | 'row'>> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-service-ref': model, ...headers },
    body: JSON.stringify({ ...body, model, provider: { only: [backendOf(fixture)] } }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const { status, headers: got } = response;
  return { ...(await readStream(response)), status, headers: got, isStream, model };
}
