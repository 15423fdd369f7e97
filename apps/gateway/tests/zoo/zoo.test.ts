import type { ClientName } from '../matrix/features.ts';
import { expectedBy, specified, statusFor } from './expected-by.ts';
import { readFixtures } from './fixture.ts';
import { CLIENTS, observe } from './observe.ts';
import { createZoo, type Asked } from './open-zoo.ts';
import { readVectors } from './read-officially.ts';

// Every client API against the raw answers of real servers: README.md says how to add one.

const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];
const PIECE_BYTES: Readonly<Record<ClientName, number>> = {
  chat: 100_000,
  responses: 64,
  messages: 7,
};
/** A client of OpenAI by its looks, so that errors come in the form that it knows. */
const OPENAI_FORM = { 'x-stainless-lang': 'js' };
const INPUT = ['one', 'two'];
const ANY_COUNT: unknown = expect.any(Number);

const zoo = createZoo();
beforeAll(() => zoo.askAll());
afterAll(() => zoo.close());

const chatOf = (client: ClientName, stream: boolean): Asked => ({
  path: CLIENTS[client].path,
  body: {
    ...CLIENTS[client].write({ messages: [{ role: 'user', text: 'Hello!' }], maxTokens: 100 }),
    stream,
  },
  stream,
  headers: OPENAI_FORM,
  pieceBytes: PIECE_BYTES[client],
});

const FIXTURES = readFixtures();
const TURNS = FIXTURES.flatMap((fixture) =>
  [fixture.whole ?? fixture.body, fixture.stream ?? fixture.body].flatMap((text, at) =>
    text === undefined ? [] : { fixture, text, isStream: at === 1 },
  ),
);

const ROWS = TURNS.flatMap(({ fixture, text, isStream }) =>
  (fixture.dialects ?? CLIENT_NAMES).map((client) => ({
    name: `${fixture.name}, ${client}${isStream ? ', streamed' : ''}`,
    client,
    hear: zoo.plan(fixture, text, chatOf(client, isStream)),
    expected: expectedBy(client, fixture, isStream),
  })),
);

test.each(ROWS)('$name', async ({ client, hear, expected }) => {
  expect(await observe(client, await hear())).toMatchObject(expected);
});

const REFUSED = TURNS.flatMap(({ fixture, text, isStream }) => {
  const { name, error, dialects } = fixture;
  if (error === undefined || error.after !== undefined || dialects !== undefined) return [];
  const hear = zoo.plan(fixture, text, { ...chatOf('chat', isStream), headers: {} });
  return [{ name: `${name}${isStream ? ', streamed' : ''}`, error, hear }];
});

test.each(REFUSED)('$name, to a client that shows nothing of itself', async ({ error, hear }) => {
  expect(await observe('chat', await hear())).toMatchObject(specified(error));
});

const EMBEDDING = { path: '/v1/embeddings', body: { input: INPUT }, headers: OPENAI_FORM };
const VECTORS = FIXTURES.flatMap((fixture) => {
  const { name, embeddings, vectors, error, status } = fixture;
  if (embeddings === undefined) return [];
  const hear = zoo.plan(fixture, embeddings, { ...EMBEDDING, pieceBytes: 64 });
  return [{ name, hear, vectors, error, status }];
});

test.each(VECTORS.filter(({ vectors }) => vectors !== undefined))(
  '$name',
  async ({ hear, vectors }) => {
    const heard = await hear();
    const { data, model } = await readVectors(heard, INPUT);
    expect(data.map(({ embedding }) => embedding)).toEqual(vectors?.vectors);
    expect(model).toBe(vectors?.model ?? heard.model);
    const prompt_tokens = vectors?.prompt === 'estimated' ? ANY_COUNT : vectors?.prompt;
    expect(heard.row).toMatchObject({ status: 200, prompt_tokens });
  },
);

test.each(VECTORS.filter(({ error }) => error !== undefined))(
  '$name',
  async ({ hear, error, status }) => {
    await expect(readVectors(await hear(), INPUT)).rejects.toMatchObject({
      status: statusFor('chat', status),
      message: expect.stringContaining(error?.message ?? '') as string,
    });
  },
);
