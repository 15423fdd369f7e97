import * as fc from 'fast-check';
import { bytesOf, cutAt, cuts, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send, type Answer } from '../run/send.ts';
import type { AnyScene } from '../target.ts';

/** A request over HTTP; `{{name}}` stands for a value of the scene. */
export interface HttpCase {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText | null;
  readonly cuts: readonly number[];
  /** Leaves before the announced body is complete. */
  readonly hangsUp: boolean;
}

type Headers = fc.Arbitrary<Readonly<Record<string, string>>>;

interface Parts {
  readonly path: fc.Arbitrary<string>;
  /** `POST` by default; sometimes another one is tried. */
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: fc.Arbitrary<WireText>;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];

/** Requests, some of them with another method, in pieces, or cut off. */
export function httpCases({ path, method = 'POST', headers, body }: Parts): fc.Arbitrary<HttpCase> {
  const isCutOff = fc.oneof(
    { weight: 30, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  );
  return fc.record({
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
    ),
    path,
    headers: headers ?? fc.constant({}),
    body: body ?? fc.constant(null),
    cuts,
    hangsUp: body === undefined ? fc.constant(false) : isCutOff,
  });
}

/** The names of the credentials of the service. */
const CREDENTIALS = ['user_jwt', 'admin_jwt', 'admin_token', 'api_key', 'node_token'];

/** Mostly one of these credentials; sometimes another one, or none. */
export const withCredential = (usual: readonly string[], more?: Headers): Headers =>
  fc
    .tuple(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...(usual.length === 0 ? [''] : usual)) },
        { weight: 1, arbitrary: fc.constantFrom('', ...CREDENTIALS) },
      ),
      more ?? fc.constant({}),
    )
    .map(([name, others]) => ({
      ...(name === '' ? {} : { authorization: `Bearer {{${name}}}` }),
      ...others,
    }));

/** Mostly none; sometimes a few headers of these names with any value. */
export const oddHeaders = (names: readonly string[], values: readonly string[]): Headers =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.dictionary(
        fc.constantFrom(...names),
        fc.oneof(
          fc.constantFrom(...values),
          fc.string().map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')),
        ),
        { maxKeys: 2, noNullPrototype: true },
      ),
    },
  );

/** Mostly none; sometimes a query with these names. */
export const oddQuery = (names: readonly string[], value: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 })
    .map((pairs) =>
      pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`,
    );

type Filling = Readonly<Record<string, string>>;

/** Puts the values of a scene into a text. */
export const fill = (text: string, values: Filling): string =>
  bytesOf({ text }, values).toString('latin1');

/** Puts the values of a scene into headers. */
export const filled = (headers: HttpCase['headers'], values: Filling): HttpCase['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, fill(text, values)]));

/** Sends a case. */
export function sendCase(
  each: HttpCase,
  baseUrl: string,
  values: Filling,
  more: { readonly firstPieceOnly?: boolean; readonly headersOnly?: boolean } = {},
): Promise<Answer> {
  const { method, path, headers, body, hangsUp } = each;
  return send(baseUrl, {
    method,
    path: fill(path, values),
    headers: filled(headers, values),
    pieces: body === null ? [] : cutAt(bytesOf(body, values), each.cuts),
    hangsUp: hangsUp && body !== null,
    ...more,
  });
}

/** What must hold of the answer to any case. */
export async function checkCase(
  { hangsUp, body }: HttpCase,
  answer: Answer,
  baseUrl: string,
  { secrets }: AnyScene,
): Promise<readonly string[]> {
  if (hangsUp && body !== null) {
    // The service logs that the client left before it answers what came later.
    await send(baseUrl, { method: 'GET', path: '/healthz', headers: {}, pieces: [] });
    return [];
  }
  if (answer.outcome === 'broken off') return ['the connection broke'];
  return checkAnswer(answer, secrets);
}
