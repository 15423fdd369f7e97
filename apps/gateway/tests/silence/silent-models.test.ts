import { startGateway, type GatewayUnderTest } from '../gateway.ts';
import { stateOf } from '../gateway-processes.ts';
import { KINDS, type Kind } from '../matrix/kinds.ts';
import { registerKind } from '../matrix/register-kind.ts';
import type { MatrixUpstream } from '../matrix/upstreams/wire-server.ts';

/** Stands for 120 s. */
const IDLE_MS = 300;
/** Stands for 300 s. */
const SILENT_MS = 750;
const SAID = { text: 'Hello', finish: 'stop', usage: { prompt: 3, completion: 1 } } as const;
const messages = [{ role: 'user', content: 'Hi' }];
const SURFACES = {
  'chat/completions': { messages },
  messages: { messages, max_tokens: 9 },
  responses: { input: 'Hi' },
};
const PATHS = Object.keys(SURFACES) as (keyof typeof SURFACES)[];

const SIGN_OF_LIFE = /^200 (?:: keep-alive|event: (?:ping|response\.created))/;
const LIMITS = { SERVICE_API_RATE_LIMIT_RPM: '100000', SERVICE_BREAKER_FAILURES: '3' };

/** The idle time is for streams; a whole answer may take the total time. */
const GATEWAYS = {
  whole: { SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS) },
  streamed: { SERVICE_STREAM_KEEPALIVE_SECS: '0.1' },
};
const FORMS = Object.keys(GATEWAYS) as (keyof typeof GATEWAYS)[];

const KIND_NAMES = Object.keys(KINDS) as Kind[];
const gateways = new Map<string, GatewayUnderTest>();
const upstreams: MatrixUpstream[] = [];

beforeAll(async () => {
  for (const form of FORMS) {
    const gateway = await startGateway({ ...LIMITS, ...GATEWAYS[form] });
    gateways.set(form, gateway);
    for (const kind of KIND_NAMES) {
      const upstream = await KINDS[kind].start();
      upstreams.push(upstream);
      upstream.answer(SAID, { stream: form === 'streamed' });
      upstream.answerAfter(SILENT_MS);
      await registerKind(gateway, kind, upstream);
    }
  }
});
afterAll(async () => {
  await Promise.all([...gateways.values()].map(({ test }) => test.close()));
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

test.each(FORMS.flatMap((form) => KIND_NAMES.map((kind) => ({ form, kind }))))(
  '$form answers of a silent model of the kind $kind arrive; four at once open no circuit',
  async ({ form, kind }) => {
    const gateway = gateways.get(form);
    if (gateway === undefined) throw new Error(`no gateway for answers that are ${form}`);
    const stream = form === 'streamed';
    const ask = async (path: (typeof PATHS)[number]): Promise<string> => {
      const response = await fetch(`${gateway.url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ ...SURFACES[path], model: 'm', provider: { only: [kind] }, stream }),
      });
      return `${response.status} ${await response.text()}`;
    };
    const asked = PATHS.flatMap((path) => Array.from({ length: 4 }, () => ask(path)));
    for (const text of await Promise.all(asked)) {
      // A stream has it in pieces.
      expect(text).toMatch(/Hel[^]*lo/);
      expect(text).toMatch(stream ? SIGN_OF_LIFE : /^200 \{/);
    }
    expect(await stateOf(gateway, kind)).toBe('Healthy, closed');
  },
);
