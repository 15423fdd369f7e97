import * as fc from 'fast-check';
import {
  COUNT_MAX,
  choiceCount,
  countFields,
  infinityIn,
  namedChoices,
  namedTokens,
  tokenCount,
  tokenLimit,
} from './counts.ts';
import { parsedRequest } from './problems.ts';
import { chatRequestSchema } from './rest/chat.ts';
import { embeddingsRequestSchema } from './rest/embeddings.ts';
import {
  completionsRequestSchema,
  imagesRequestSchema,
  moderationsRequestSchema,
  rerankRequestSchema,
  speechRequestSchema,
} from './rest/relayed.ts';
import { rpcMethods } from './rpc/methods.ts';

const NAMES = Object.keys(countFields).filter((name) => name !== 'options');
const HOSTILE = ['1e999', '-1e999', '1e308', '-2', '1.5', '"5"', '0', '-1'];

test.each([
  { name: 'token count', schema: tokenCount, good: [0, 1, COUNT_MAX], bad: [-1, COUNT_MAX + 1] },
  { name: 'token limit', schema: tokenLimit, good: [-1, 0, COUNT_MAX], bad: [-2, COUNT_MAX + 1] },
  { name: 'choice count', schema: choiceCount, good: [1, 128], bad: [0, -1, 129] },
])('a $name is a whole number within its range', ({ schema, good, bad }) => {
  for (const value of good) expect(schema.safeParse(value).success).toBe(true);
  for (const value of [...bad, 1.5, Infinity, -Infinity, NaN, 1e308, '5', true, [1], {}, null])
    expect(schema.safeParse(value).success).toBe(false);
});

const hello = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

/** Those of the hostile values that are within the range of a field. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    NAMES.filter((name) => !/^n$|best|num_ret|candidate/.test(name)).map((name) => [name, ['0']]),
  ),
  max_tokens: ['0', '-1'],
  max_completion_tokens: ['0', '-1'],
};

/** Every surface with counts that pass through, by a body that it accepts. */
const SURFACES = [
  { name: 'chat', schema: chatRequestSchema, body: hello },
  { name: 'completions', schema: completionsRequestSchema, body: { model: 'm', prompt: 'Hi' } },
  { name: 'embeddings', schema: embeddingsRequestSchema, body: { model: 'm', input: 'Hi' } },
  {
    name: 'rerank',
    schema: rerankRequestSchema,
    body: { model: 'm', query: 'Hi', documents: ['a'] },
  },
  { name: 'moderations', schema: moderationsRequestSchema, body: { model: 'm', input: 'Hi' } },
  { name: 'images', schema: imagesRequestSchema, body: { model: 'm', prompt: 'Hi' } },
  { name: 'speech', schema: speechRequestSchema, body: { model: 'm', input: 'Hi' } },
];

/** Whether the reservation of a request with these counts is a number that sums can hold. */
function isCountable(...accepted: readonly unknown[]): boolean {
  const reserved = (namedTokens(...accepted) ?? 256) * namedChoices(...accepted);
  return Number.isSafeInteger(reserved) && reserved > 0;
}

describe.each(SURFACES)('$name', ({ schema, body }) => {
  test.each(['the body', 'extra'])('refuses every hostile count of %s by its name', (where) => {
    const tried = NAMES.flatMap((name) => HOSTILE.map((text) => ({ name, text })));
    const outcomes = tried.map(({ name, text }) => {
      const fields = JSON.parse(`{"${name}":${text}}`) as object;
      const request = where === 'extra' ? { ...body, extra: fields } : { ...body, ...fields };
      const { error } = parsedRequest(schema, request);
      return { fields, refused: error?.issues[0]?.path.join('.') };
    });
    const prefix = where === 'extra' ? 'extra.' : '';
    expect(outcomes.map(({ refused }) => refused)).toEqual(
      tried.map(({ name, text }) =>
        ALLOWED[name]?.includes(text) === true ? undefined : `${prefix}${name}`,
      ),
    );
    const accepted = outcomes.filter(({ refused }) => refused === undefined);
    expect(accepted.filter(({ fields }) => !isCountable(fields))).toEqual([]);
  });

  test('refuses a number that no double can hold, wherever it is', () => {
    const field = fc.constantFrom('temperature', 'seed', 'x', 'metadata', '__proto__');
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 4 }), fc.boolean(), (path, isIn) => {
        const open = path.map((name) => `{"${name}":[`).join('');
        const inner = `${open}${isIn ? '1e999' : '-1e400'}${']}'.repeat(path.length)}`;
        const value = { ...body, tool_choice: JSON.parse(inner) as unknown };
        expect(parsedRequest(schema, value).error?.issues[0]?.message).toBe(
          'must be a finite number',
        );
      }),
      { numRuns: 50 },
    );
  });
});

test('any combination of counts that a chat accepts reserves a number of tokens that sums can hold', () => {
  const number = fc.oneof(
    fc.constantFrom(0, -1, 1, 128, COUNT_MAX, Infinity, -Infinity, NaN, 1e308, 1.5, '5', null),
    fc.integer(),
    fc.double(),
  );
  const fields = fc.dictionary(fc.constantFrom(...NAMES), number, { maxKeys: 6 });
  fc.assert(
    fc.property(fields, fields, (inside, extra) => {
      // The amounts hold also without the door.
      const tokens = namedTokens(inside, extra) ?? 256;
      expect(tokens > 0 && tokens <= Number.MAX_SAFE_INTEGER).toBe(true);
      const request = { ...hello, ...inside, extra };
      const isRefused = !parsedRequest(chatRequestSchema, request).success;
      expect(isRefused || isCountable(inside, extra)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('-1 means no limit where servers know that word, and reserves as an absent limit', () => {
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const request = { ...hello, [name]: -1, extra: { [name]: -1 } };
    expect(chatRequestSchema.parse(request)).toEqual(request);
    expect(completionsRequestSchema.parse({ model: 'm', prompt: 'Hi', [name]: -1 })).toBeDefined();
    expect(namedTokens(request, request.extra)).toBeUndefined();
  }
  const send = rpcMethods['chat.send'].params;
  expect(send.parse({ ...hello, max_tokens: -1, extra: { max_tokens: -1 } })).toBeDefined();
  const options = { num_predict: -2 };
  expect(chatRequestSchema.parse({ ...hello, options })).toEqual({ ...hello, options });
});

test.each([
  { method: 'chat.send', path: 'extra.n', params: { ...hello, extra: { n: 129 } } },
  { method: 'chat.send', path: 'max_tokens', params: { ...hello, max_tokens: 1.5 } },
  {
    method: 'realtime.start',
    path: 'config.max_output_tokens',
    params: { model: 'm', config: { max_output_tokens: -1 } },
  },
  {
    method: 'realtime.event',
    path: 'event.response.max_output_tokens',
    params: {
      session_id: 's',
      event: { type: 'response.create', response: { max_output_tokens: 2 ** 31 } },
    },
  },
] as const)('$method refuses $path', ({ method, path, params }) => {
  const { error } = parsedRequest(rpcMethods[method].params, params);
  expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

test('a realtime session has no limit of an answer by the word of its API', () => {
  const event = { type: 'session.update', session: { max_output_tokens: 'inf' } };
  expect(rpcMethods['realtime.event'].params.safeParse({ session_id: 's', event }).success).toBe(
    true,
  );
});

test('numbers that pass through are left alone', () => {
  const request = { ...hello, temperature: 1e308, seed: -7, top_p: 0, x: [1e-300, { y: -0.5 }] };
  expect(infinityIn(request)).toBeUndefined();
  expect(chatRequestSchema.parse(request)).toEqual(request);
});
