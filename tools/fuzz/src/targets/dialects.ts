import * as fc from 'fast-check';
import { like } from '../grammar/examples.ts';
import { jsonText } from '../grammar/json-text.ts';
import { onTheWire } from '../grammar/wire-text.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkCase, httpCases, sendCase, withCredential, type HttpCase } from './http-case.ts';

const headers = fc.constantFrom<Readonly<Record<string, string>>>(
  {},
  {},
  { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b,,\u00ff' },
  { 'x-service-cache': 'ttl=60' },
  { 'x-service-errors': 'upstream', accept: 'text/event-stream' },
);
/** The same stored item, named many times. */
const references = fc.integer({ min: 1, max: 500 }).map((count) => ({
  model: '{{model}}',
  input: Array.from({ length: count }, () => ({ type: 'item_reference', id: '{{item_id}}' })),
}));
const BODIES = {
  responses: fc.oneof(
    { weight: 9, arbitrary: like('responses-request') },
    { weight: 1, arbitrary: references },
  ),
  messages: like('messages-request'),
};
const PATHS: Readonly<Record<string, keyof typeof BODIES>> = {
  '/v1/responses': 'responses',
  '/v1/responses/input_tokens': 'responses',
  '/v1/messages': 'messages',
  '/v1/messages/count_tokens': 'messages',
};

/** Whole conversations with every kind of item, block and tool, for upstreams of every kind. */
export const dialects: Target<HttpCase, ServiceScene> = {
  name: 'dialects',
  about: 'bodies of /v1/responses, /v1/messages and what counts their tokens',
  scene: 'service',
  shortCases: 90,
  cases: () =>
    Promise.resolve(
      fc.oneof(
        ...Object.entries(PATHS).map(([path, name]) =>
          httpCases({
            path: fc.constant(path),
            headers: withCredential(['api_key'], headers),
            body: onTheWire(jsonText(BODIES[name])),
          }),
        ),
      ),
    ),
  async run(each, scene) {
    const answer = await sendCase(each, scene.restUrl, scene.values);
    return checkCase(each, answer, scene.restUrl, scene);
  },
};
