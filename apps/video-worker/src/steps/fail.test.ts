import { silentLog } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { createFail, failedUpstream, jobTimedOut } from './fail.ts';

const JOB = { userId: 'user', model: 'v-1', backend: 'cloud' };

function scene(fails: () => Promise<typeof JOB | undefined>) {
  const lines: unknown[] = [];
  const published: string[] = [];
  const fail = createFail({
    jobs: { fail: fails },
    admission: { endCall: () => undefined },
    notifications: { failed: (_id, error) => Promise.resolve(void published.push(error)) },
    log: { ...silentLog, warn: (fields, message) => void lines.push({ ...fields, message }) },
  });
  return { fail, lines, published };
}

test('a failed job is logged once, with what identifies it and without the text of the upstream', async () => {
  const answers = [JOB, undefined];
  const { fail, lines, published } = scene(() => Promise.resolve(answers.shift()));
  const failure = failedUpstream(
    new UpstreamFailure('upstream 400: bad prompt "a cat"', {
      isBackendAtFault: false,
      loggedAs: 'upstream 400',
    }),
  );
  await fail('job', failure);
  await fail('job', failure);
  expect(lines).toEqual([
    {
      job_id: 'job',
      user_id: 'user',
      model: 'v-1',
      backend: 'cloud',
      code: 'bad_gateway',
      reason: 'upstream 400',
      message: 'video job failed',
    },
  ]);
  expect(published).toEqual(['upstream 400: bad prompt "a cat"']);
});

test('a job whose time is over says what it waited for', () => {
  const timing = { expiredText: 'not finished within 60 s' };
  expect(jobTimedOut(timing, { message: 'upstream 500: "a cat"', reason: 'upstream 500' })).toEqual(
    {
      code: 'timed_out',
      message: 'not finished within 60 s: upstream 500: "a cat"',
      reason: 'upstream 500',
    },
  );
});
