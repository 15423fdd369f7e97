import * as fc from 'fast-check';
import { bearerAmong, bearerHeader, type Bearer } from '../grammar/bearer.ts';
import { DIALECT_BODIES } from '../grammar/dialect-body.ts';
import { mutated, textOf } from '../grammar/hostile.ts';
import { rarely } from '../grammar/rarely.ts';
import { bytesOf, cutAt, cuts, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';

interface DialectRequest {
  readonly path: string;
  readonly bearer: Bearer;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  {},
  { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b,,\u00ff' },
  { 'x-service-cache': 'ttl=60' },
  { 'x-service-errors': 'upstream', accept: 'text/event-stream' },
);

/** Whole conversations with every kind of item, block and tool, for upstreams of every kind. */
export const dialects: Target<DialectRequest, ServiceScene> = {
  name: 'dialects',
  about: 'bodies of /v1/responses, /v1/messages and what counts their tokens',
  scene: 'service',
  shortCases: 90,
  cases: () =>
    Promise.resolve(
      fc.oneof(
        ...Object.entries(DIALECT_BODIES).map(([path, body]) =>
          fc.record({
            path: fc.constant(path),
            bearer: bearerAmong('api_key'),
            headers,
            body: onTheWire(textOf(mutated(body))),
            cuts,
            hangsUp: rarely(),
          }),
        ),
      ),
    ),
  async run({ path, bearer, headers: more, body, cuts: positions, hangsUp }, scene) {
    const answer = await send(scene.restUrl, {
      method: 'POST',
      path,
      headers: { ...more, ...bearerHeader(bearer, scene.values) },
      pieces: cutAt(bytesOf(body, scene.values), positions),
      hangsUp,
    });
    if (hangsUp) return afterHangUp(scene.restUrl);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return checkAnswer(answer, scene.secrets);
  },
};
