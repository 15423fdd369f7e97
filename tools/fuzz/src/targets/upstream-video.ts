import * as fc from 'fast-check';
import { answersWith, type UpstreamAnswer } from '../grammar/upstream-answer.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { ANSWER_TIMEOUT_MS, send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { scripted } from './ask-model.ts';

interface VideoCase {
  readonly submit: UpstreamAnswer;
  readonly queries: readonly UpstreamAnswer[];
  readonly file: UpstreamAnswer;
}

const POLL_MS = 25;
const JOBS = '/v1/video/generations';

/** Answers of a video API: to the submit, to queries, and about the file. */
export const upstreamVideo: Target<VideoCase, ServiceScene> = {
  name: 'upstream-video',
  about: 'answers of video APIs',
  scene: 'service',
  shortCases: 6,
  cases: () =>
    Promise.resolve(
      fc.record({
        submit: answersWith('video submit'),
        queries: fc.array(answersWith('video query'), { minLength: 1, maxLength: 3 }),
        file: answersWith('video file'),
      }),
    ),
  async run({ submit, queries, file }, scene) {
    const upstream = scene.upstreams.of.video;
    const left = [...queries];
    upstream.answerWith(({ url = '', method }) => {
      if (url.includes('/files/')) return scripted(file, scene.values);
      if (method === 'POST' && url.endsWith('/video_generation'))
        return scripted(submit, scene.values);
      const next = url.includes('/query/') ? left.shift() : undefined;
      // After those of the case, the task has failed.
      return next === undefined ? undefined : scripted(next, scene.values);
    });
    try {
      return await follow(scene);
    } finally {
      upstream.answerWith(undefined);
    }
  },
};

/** Creates a job and waits until it has ended. */
async function follow(scene: ServiceScene): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${scene.values['api_key']}` };
  const created = await send(scene.restUrl, {
    method: 'POST',
    path: JOBS,
    headers,
    pieces: [Buffer.from(JSON.stringify({ model: 'fuzz-video', prompt: 'a cat' }))],
  });
  const problems = checkAnswer(created, scene.secrets);
  if (problems.length > 0 || created.status >= 400) return problems;
  const { id } = JSON.parse(created.body.toString()) as { readonly id: string };
  const endsAt = performance.now() + ANSWER_TIMEOUT_MS;
  while (performance.now() < endsAt) {
    const polled = await send(scene.restUrl, {
      method: 'GET',
      path: `${JOBS}/${id}`,
      headers,
      pieces: [],
    });
    const wrong = checkAnswer(polled, scene.secrets);
    if (wrong.length > 0) return wrong;
    const { status } = JSON.parse(polled.body.toString()) as { readonly status?: string };
    if (status !== 'queued' && status !== 'running') return [];
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return [`the job ${id} does not end`];
}
