import type { KindFacts } from '@model-gateway/router';
import { billedUnits, boundedUnits, unitsOfUpload } from './billed-units.ts';
import { RELAYED_OPERATIONS } from './operations.ts';
import { tokenUsage } from './reported-usage.ts';

const { images, speech, transcriptions } = RELAYED_OPERATIONS;
const TEN_SECONDS = 10;

/** What is billed of an answer that reports these units. */
function billed(facts: KindFacts, { operation, fields = {}, seconds, reported }: Case) {
  const tokens = tokenUsage(operation.promptTokens(fields, seconds), 0);
  return boundedUnits(facts, billedUnits(operation, fields, reported, tokens), () =>
    billedUnits(operation, fields, unitsOfUpload(seconds), tokens),
  );
}

interface Case {
  readonly operation: (typeof RELAYED_OPERATIONS)[keyof typeof RELAYED_OPERATIONS];
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly seconds?: number;
  readonly reported: { readonly images?: number; readonly audioSeconds?: number };
}

const TOO_MUCH = [
  { operation: images, fields: { n: 2 }, reported: { images: 500 }, bounded: { images: 2 } },
  { operation: images, reported: { images: 2 }, bounded: { images: 1 } },
  {
    operation: transcriptions,
    seconds: TEN_SECONDS,
    reported: { audioSeconds: 1e9 },
    bounded: { audioSeconds: 40 },
  },
  // 200 tokens a minute.
  {
    operation: speech,
    fields: { input: 'x'.repeat(400) },
    reported: { audioSeconds: 1e9 },
    bounded: { audioSeconds: 120 },
  },
];

test.each(TOO_MUCH)('a node that reports too much for $operation.path: $reported', (row) => {
  expect(billed({ isBounded: true }, row)).toMatchObject(row.bounded);
  // An upstream of the operator is believed.
  expect(billed({}, row)).toMatchObject(row.reported);
});

test.each([
  { operation: images, fields: { n: 2 }, reported: { images: 1 } },
  { operation: transcriptions, seconds: TEN_SECONDS, reported: { audioSeconds: 39 } },
  { operation: transcriptions, seconds: TEN_SECONDS, reported: { audioSeconds: 0 } },
])('a node that reports what can be for $operation.path: $reported', (row) => {
  expect(billed({ isBounded: true }, row)).toMatchObject(row.reported);
});

test('what the model reads of an image or of audio is estimated by its prompt or its length', () => {
  expect(images.promptTokens({ prompt: 'x'.repeat(40) })).toBe(10);
  expect(transcriptions.promptTokens({}, 6 * TEN_SECONDS)).toBe(200);
});
