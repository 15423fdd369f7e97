import * as fc from 'fast-check';
import { answersWith, type UpstreamAnswer } from '../grammar/upstream-answer.ts';
import { modelOf } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene, Target } from '../target.ts';
import { askModel, CHAT, MESSAGES, scripted } from './ask-model.ts';

const SURFACES = {
  [CHAT]: { messages: MESSAGES },
  '/v1/messages': { messages: MESSAGES, max_tokens: 9 },
  '/v1/responses': { input: 'Hello', store: false },
};
const KINDS = ['anthropic', 'gemini', 'azure', 'responses'] as const;
const PATHS = Object.keys(SURFACES) as readonly (keyof typeof SURFACES)[];

interface NativeCase {
  readonly kind: (typeof KINDS)[number];
  readonly path: keyof typeof SURFACES;
  readonly isStream: boolean;
  readonly answer: UpstreamAnswer;
}

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
          answersWith(`${kind} ${isStream ? 'stream' : 'chat'}`).map((answer) => ({
            kind,
            path,
            isStream,
            answer,
          })),
        ),
    ),
  async run({ kind, path, isStream, answer }, scene) {
    const upstream = scene.upstreams.of[kind];
    upstream.answerWith(() => scripted(answer, scene.values));
    try {
      const body = { model: modelOf(kind), ...SURFACES[path], stream: isStream };
      const problems = await askModel(scene, path, body, answer.status);
      // The status of an upstream may become another one of its kind on these surfaces.
      return answer.status < 400 ? problems : problems.filter((each) => !/is blamed/.test(each));
    } finally {
      upstream.answerWith(undefined);
    }
  },
};
