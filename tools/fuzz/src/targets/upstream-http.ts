import * as fc from 'fast-check';
import { answersWith, type UpstreamAnswer } from '../grammar/upstream-answer.ts';
import { modelOf } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene, Target } from '../target.ts';
import { askModel, CHAT, EMBEDDINGS, MESSAGES, scripted } from './ask-model.ts';

const OPERATIONS = [
  'external chat',
  'external stream',
  'external embeddings',
  'local chat',
  'local stream',
  'local embeddings',
] as const;

interface UpstreamCase {
  readonly operation: (typeof OPERATIONS)[number];
  readonly answer: UpstreamAnswer;
  /** The client asks for usage in the stream. */
  readonly wantsUsage: boolean;
}

/** Answers of `external` and `local-server` backends: JSON, event streams and lines of JSON. */
export const upstreamHttp: Target<UpstreamCase, ServiceScene> = {
  name: 'upstream-http',
  about: 'answers of HTTP upstreams: JSON, SSE and NDJSON',
  scene: 'service',
  shortCases: 80,
  cases: () =>
    Promise.resolve(
      fc.oneof(
        ...OPERATIONS.map((operation) =>
          fc.record({
            operation: fc.constant(operation),
            answer: answersWith(operation),
            wantsUsage: fc.boolean(),
          }),
        ),
      ),
    ),
  async run({ operation, answer, wantsUsage }, scene) {
    const kind = operation.startsWith('local') ? 'local' : 'external';
    const model = modelOf(kind);
    const stream = operation.endsWith('stream');
    const upstream = scene.upstreams.of[kind];
    upstream.answerWith(() => scripted(answer, scene.values));
    try {
      if (operation.endsWith('embeddings'))
        return await askModel(scene, EMBEDDINGS, { model, input: 'Hello' }, answer.status);
      const options = stream && wantsUsage ? { stream_options: { include_usage: true } } : {};
      const body = { model, messages: MESSAGES, stream, ...options };
      return await askModel(scene, CHAT, body, answer.status);
    } finally {
      upstream.answerWith(undefined);
    }
  },
};
