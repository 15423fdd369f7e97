import { pick, randomFrom, upTo, type Random } from '@model-gateway/testkit';

/** Who pays, and what the key allows. */
const PAYERS = [
  'wallet',
  'small wallet',
  'small tier',
  'pool',
  'small pool',
  'cache',
  'budget',
  'one model',
  'tier',
] as const;

export type Payer = (typeof PAYERS)[number];

/** A key of a user of its own, whose requests follow one another. */
export interface Lane {
  readonly name: string;
  readonly payer: Payer;
}

const LANES_EACH = 2;

export const LANES: readonly Lane[] = PAYERS.flatMap((payer) =>
  Array.from({ length: LANES_EACH }, (_, index) => ({ name: `${payer} ${index + 1}`, payer })),
);

/** A request, and what its client does. */
export interface LedgerRequest {
  readonly ref: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Leaves when the upstream has the request, which it never answers. */
  readonly leavesUnanswered?: boolean;
  /** Leaves after so many pieces of text; the upstream then sends no more. */
  readonly leavesAfter?: number;
}

/** What all upstreams answer at most: one Chinese character is one token, both as upstreams count and as the gateway estimates. */
export const ANSWER = '好'.repeat(24);

export const PRICED = 'gpt-4o-exact';
const UNPRICED = 'plain';
const EMBEDDING = 'text-embedding-3-small';
const STALLS = [2, 5, 9] as const;
const stalling = (chunks: number): string => `${PRICED}@stall:${chunks}`;
const HANGING = `${PRICED}@hang`;
const DOWN = `${PRICED}@status:503`;
const BROKEN = `${PRICED}@status:500`;
const NO_USAGE = `${PRICED}@no-usage`;
const FAILING = `${PRICED}@error-chunk:4`;
const ENDLESS = `${PRICED}@no-done`;

/** The models of the upstream, with the faults that their names ask for. */
export const MODELS: readonly string[] = [
  PRICED,
  UNPRICED,
  EMBEDDING,
  HANGING,
  DOWN,
  BROKEN,
  NO_USAGE,
  FAILING,
  ENDLESS,
  ...STALLS.map(stalling),
];

/** Routes over these models, in the order of their targets. */
export const ROUTES: Readonly<
  Record<string, { readonly targets: readonly string[]; readonly hedgeAfterMs?: number }>
> = {
  falling: { targets: [DOWN, PRICED] },
  'all-down': { targets: [DOWN, BROKEN] },
  hedged: { targets: [HANGING, PRICED], hedgeAfterMs: 1 },
};

interface Kind {
  readonly weight: number;
  readonly make: (random: Random, text: string) => Omit<LedgerRequest, 'ref'>;
}

const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

const chat = (weight: number, fields: (random: Random) => object): Kind => ({
  weight,
  make: (random, text) => ({
    path: '/v1/chat/completions',
    body: { model: PRICED, max_tokens: upTo(random, 24), ...ask(text), ...fields(random) },
  }),
});

const KINDS: readonly Kind[] = [
  chat(5, () => ({})),
  chat(3, () => ({ stream: true, stream_options: { include_usage: true } })),
  chat(3, () => ({ stream: true })),
  chat(2, () => ({ model: UNPRICED })),
  chat(2, (random) => ({ model: 'falling', stream: random() < 0.5 })),
  chat(1, () => ({ model: DOWN, models: [PRICED] })),
  chat(1, () => ({ model: 'all-down' })),
  chat(3, (random) => ({ model: 'hedged', stream: random() < 0.5 })),
  chat(1, (random) => ({ model: NO_USAGE, stream: random() < 0.5 })),
  chat(1, () => ({ model: FAILING, stream: true, max_tokens: 20 })),
  chat(1, () => ({ model: ENDLESS, stream: true })),
  chat(1, () => ({ model: 'nobody-serves-this' })),
  chat(1, () => ({ messages: 'none' })),
  {
    weight: 2,
    make: (random, text) => ({
      path: '/v1/messages',
      body: { model: PRICED, max_tokens: upTo(random, 24), ...ask(text), stream: random() < 0.5 },
    }),
  },
  {
    weight: 1,
    make: (random, text) => ({
      path: '/v1/responses',
      body: { model: PRICED, max_output_tokens: 16 + upTo(random, 8), input: text },
    }),
  },
  {
    weight: 1,
    make: (_random, text) => ({ path: '/v1/embeddings', body: { model: EMBEDDING, input: text } }),
  },
  {
    weight: 3,
    make: (random, text) => ({
      path: '/v1/chat/completions',
      body: { model: HANGING, ...ask(text), stream: random() < 0.5 },
      leavesUnanswered: true,
    }),
  },
  {
    weight: 4,
    make: (random, text) => {
      const chunks = pick(random, STALLS);
      return {
        path: '/v1/chat/completions',
        body: { model: stalling(chunks), max_tokens: 24, ...ask(text), stream: true },
        leavesAfter: chunks - 1,
      };
    },
  },
];
const EACH_KIND = KINDS.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

const SEED = 20_261_119;
const REQUESTS_EACH = 28;
const REPEATED = 0.2;

/** The same requests in every run, 504 in all. Some ask what was asked before in their lane, which a cache answers. */
export function ledgerRequests(): ReadonlyMap<Lane, readonly LedgerRequest[]> {
  return new Map(LANES.map((lane, index) => [lane, requestsOf(lane, randomFrom(SEED + index))]));
}

function requestsOf({ name }: Lane, random: Random): readonly LedgerRequest[] {
  const requests: LedgerRequest[] = [];
  for (let number = 1; number <= REQUESTS_EACH; number += 1) {
    const ref = `${name}, ${String(number).padStart(2, '0')}`;
    const earlier = requests.slice(0, -2).filter(isRead);
    const isRepeat = random() < REPEATED && earlier.length > 0;
    const made = isRepeat
      ? pick(random, earlier)
      : pick(random, EACH_KIND).make(random, `${ref}: ${'问'.repeat(upTo(random, 40))}`);
    requests.push({ ...made, ref });
  }
  return requests;
}

const isRead = ({ leavesAfter, leavesUnanswered }: LedgerRequest): boolean =>
  leavesAfter === undefined && leavesUnanswered !== true;
