import { rpcNotifications } from './notifications.ts';

const id = '0198d3c8-6f0e-7c5a-9d55-2f1a33b0c001';
const stream = { stream_id: 'a' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const end = { ...stream, token: '', is_complete: true, finish_reason: 'stop', usage, model: 'm' };
const job = { job_id: id, stream_id: id };

test.each([
  { why: 'a token', name: 'chat.stream', params: { ...stream, token: 'Hi', is_complete: false } },
  {
    why: 'a tool call',
    name: 'chat.stream',
    params: { ...stream, token: '', is_complete: false, tool_calls: [{ index: 0 }] },
  },
  { why: 'the end', name: 'chat.stream', params: { ...end, message_id: id } },
  {
    why: 'a failure',
    name: 'chat.stream',
    params: {
      ...stream,
      token: 'Stream error: lost',
      is_complete: true,
      error: { code: -32_000, message: 'lost' },
    },
  },
  {
    why: 'a deployment',
    name: 'models.progress',
    params: { ...stream, agent_id: id, model_id: 'm', status: 'pulling', progress: 12.5 },
  },
  {
    why: 'an event of any shape',
    name: 'realtime.event',
    params: { session_id: 's', event: { type: 'x', deep: [1] } },
  },
  {
    why: 'a running job',
    name: 'video.progress',
    params: { ...job, status: 'running', progress: 99 },
  },
  {
    why: 'a finished job',
    name: 'video.done',
    params: { ...job, status: 'done', progress: 100, result: { url: 'https://x/y' }, cost: 0.2 },
  },
  {
    why: 'a cancelled job',
    name: 'video.failed',
    params: { ...job, status: 'cancelled', error: 'cancelled' },
  },
] as const)('$name carries $why', ({ name, params }) => {
  expect(rpcNotifications[name].params.parse(params)).toEqual(params);
});

test.each([
  { why: 'an end without usage', name: 'chat.stream', params: { ...end, usage: undefined } },
  {
    why: 'a running job that is done',
    name: 'video.progress',
    params: { ...job, status: 'running', progress: 100 },
  },
  { why: 'a job without a result', name: 'video.done', params: { ...job, status: 'done' } },
] as const)('$name does not carry $why', ({ name, params }) => {
  expect(rpcNotifications[name].params.safeParse(params).success).toBe(false);
});
