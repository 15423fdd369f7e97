import { validateHeaderName, validateHeaderValue } from 'node:http';
import { Transform } from 'node:stream';
import type { TunneledResponse } from '@model-gateway/contracts';

/** The response of a node, as it is passed on. */
export interface RelayedResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** How many bytes its body must have, if the node said so. */
  readonly length: number | undefined;
}

// These headers say where a response ends on this connection, which later serves requests to other nodes.
const OF_THIS_HOP = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const LENGTH = /^\d{1,15}$/;
const WITHOUT_BODY: readonly number[] = [204, 304];

/** Throws for headers that cannot be sent: a node can send anything. */
export function relayedResponse({ status, headers }: TunneledResponse): RelayedResponse {
  const passed = headers.filter(([name]) => !OF_THIS_HOP.has(name.toLowerCase()));
  for (const [name, value] of passed) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  const length = WITHOUT_BODY.includes(status) ? undefined : lengthOf(headers);
  const announced = length === undefined ? [] : ['content-length', String(length)];
  return { status, headers: [...passed.flat(), ...announced], length };
}

function lengthOf(headers: TunneledResponse['headers']): number | undefined {
  const [length, ...others] = headers.flatMap(([name, value]) =>
    name.toLowerCase() === 'content-length' ? [value] : [],
  );
  if (length === undefined) return undefined;
  if (others.length > 0 || !LENGTH.test(length)) throw new Error('invalid content-length');
  return Number(length);
}

/** Fails when more or fewer bytes pass: the rest would look like the next response. */
export function exactly(length: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > length) done(new Error('the node sent more than it announced'));
      else done(null, chunk);
    },
    flush(done) {
      done(bytes === length ? null : new Error('the node sent less than it announced'));
    },
  });
}
