import * as fc from 'fast-check';
import { NATIVE_BODIES, type NativeKind } from '../grammar/native-body.ts';
import { answersWith, type UpstreamAnswer } from '../grammar/upstream-body.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send, type Answer } from '../run/send.ts';
import { modelOf } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkBlame, checkCut, dataOfEvents, isJson, scripted } from './upstream-http.ts';

const SURFACES = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 },
  '/v1/responses': { input: 'Hello', store: false },
};

interface NativeCase {
  readonly kind: NativeKind;
  readonly path: keyof typeof SURFACES;
  readonly isStream: boolean;
  readonly answer: UpstreamAnswer;
}

const KINDS = Object.keys(NATIVE_BODIES) as readonly NativeKind[];
const PATHS = Object.keys(SURFACES) as readonly (keyof typeof SURFACES)[];

/** Answers of upstreams with APIs of their own, each asked for over each surface. */
export const upstreamNative: Target<NativeCase, ServiceScene> = {
  name: 'upstream-native',
  about: 'answers of the APIs of Anthropic, Gemini and Azure, and of the Responses API',
  scene: 'service',
  shortCases: 120,
  cases: () =>
    Promise.resolve(
      fc
        .tuple(fc.constantFrom(...KINDS), fc.constantFrom(...PATHS), fc.boolean())
        .chain(([kind, path, isStream]) =>
          fc.record({
            kind: fc.constant(kind),
            path: fc.constant(path),
            isStream: fc.constant(isStream),
            answer: isStream
              ? answersWith(NATIVE_BODIES[kind].stream, 'text/event-stream')
              : answersWith(NATIVE_BODIES[kind].whole, 'application/json'),
          }),
        ),
    ),
  async run({ kind, path, isStream, answer }, scene) {
    const upstream = scene.upstreams.of[kind];
    upstream.answerWith(() => scripted(answer, scene.values));
    try {
      const body = { model: modelOf(kind), ...SURFACES[path], stream: isStream };
      const received = await send(scene.restUrl, {
        method: 'POST',
        path,
        headers: { authorization: `Bearer ${scene.values['api_key']}` },
        pieces: [Buffer.from(JSON.stringify(body))],
      });
      if (received.outcome === 'broken off') return checkCut(received);
      return [
        ...checkAnswer(received, scene.secrets),
        // The status of an upstream may pass to the client on these surfaces.
        ...(answer.status < 400 ? checkBlame(received) : []),
        ...checkBody(received, isStream),
      ];
    } finally {
      upstream.answerWith(undefined);
    }
  },
};

function checkBody({ status, body }: Answer, isStream: boolean): readonly string[] {
  const text = body.toString();
  const texts = status === 200 && isStream ? dataOfEvents(text) : [text];
  return texts
    .filter((one) => !isJson(one) && one.trim() !== '[DONE]')
    .map((one) => `status ${status}, not JSON: ${one.slice(0, 300)}`);
}
