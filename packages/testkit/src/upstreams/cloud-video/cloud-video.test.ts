import { asObject, type JsonObject } from '@model-gateway/demo-model/answers';
import { startCloudVideo, type RunningCloudVideo } from './cloud-video.ts';

let video: RunningCloudVideo;
beforeEach(async () => {
  video = await startCloudVideo({ apiKey: 'secret' });
});
afterEach(() => video.close());

const headers = { authorization: 'Bearer secret' };
const get = (path: string): Promise<Response> => fetch(`${video.url}${path}`, { headers });
const post = (key?: string): Promise<Response> =>
  fetch(`${video.url}/v1/video_generation`, {
    method: 'POST',
    headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({ model: 'demo-video', prompt: 'a cat' }),
  });
const jsonOf = async (response: Promise<Response>): Promise<JsonObject> =>
  asObject(await (await response).json());
const submit = async (key?: string): Promise<string> => String((await jsonOf(post(key))).task_id);
const query = (taskId: string): Promise<Response> =>
  get(`/v1/query/video_generation?task_id=${taskId}`);
const retrieve = (fileId: unknown): Promise<Response> =>
  get(`/v1/files/retrieve?file_id=${String(fileId)}`);
const statusCode = (body: JsonObject): unknown => asObject(body.base_resp).status_code;

describe('the video API', () => {
  it('takes a task through its states, one a poll, to a file that can be fetched', async () => {
    const taskId = await submit();
    const poll = async (): Promise<unknown> => (await jsonOf(query(taskId))).status;
    expect([await poll(), await poll(), await poll()]).toEqual([
      'Preparing',
      'Queueing',
      'Processing',
    ]);
    const done = await jsonOf(query(taskId));
    expect(done).toMatchObject({ status: 'Success', progress: 100, base_resp: { status_code: 0 } });
    const file = asObject((await jsonOf(retrieve(done.file_id))).file);
    const download = await fetch(String(file.download_url));
    expect(download.headers.get('content-type')).toBe('video/mp4');
    expect(video.tasks).toMatchObject([{ taskId, polls: 4, status: 'Success' }]);
  });

  it('makes one task for one idempotency key', async () => {
    const first = await submit('job-1');
    expect(await submit('job-1')).toBe(first);
    expect(await submit('job-2')).not.toBe(first);
    expect(video.taskCount).toBe(2);
    expect(video.tasks.map((task) => task.idempotencyKey)).toEqual(['job-1', 'job-2']);
  });

  it('leaves every step to the test if configured', async () => {
    await video.close();
    video = await startCloudVideo({ apiKey: 'secret', steps: [] });
    const taskId = await submit();
    expect(await jsonOf(query(taskId))).toMatchObject({ status: 'Queueing' });
    video.setTask(taskId, 'Fail', 'no GPU');
    expect(await jsonOf(query(taskId))).toMatchObject({ status: 'Fail', error: 'no GPU' });
  });

  it('refuses a wrong key, an unknown task, and a file that is not there yet', async () => {
    const wrong = await fetch(`${video.url}/v1/query/video_generation?task_id=x`);
    expect(wrong.status).toBe(401);
    expect(statusCode(await jsonOf(query('x')))).toBe(2013);
    expect(statusCode(await jsonOf(retrieve('x')))).toBe(2013);
  });
});

describe('faults of the video API', () => {
  it('answers 429 and 5xx in its own error shape', async () => {
    video.faults.next({ kind: 'status', status: 429, retryAfterSecs: 1 }, 1, 'query');
    video.faults.next({ kind: 'status', status: 503 }, 1, 'query');
    const taskId = await submit();
    const limited = await query(taskId);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect(statusCode(asObject(await limited.json()))).toBe(1002);
    expect((await query(taskId)).status).toBe(503);
    expect(video.tasks[0]?.polls).toBe(0);
  });

  it('answers garbage, and refusals with HTTP 200', async () => {
    video.faults.next({ kind: 'garbage-json' });
    await expect(jsonOf(post())).rejects.toThrow('in JSON');
    video.faults.next({ kind: 'refused', code: 1008, message: 'insufficient balance' });
    expect(statusCode(await jsonOf(post()))).toBe(1008);
    expect(video.taskCount).toBe(0);
  });

  it('loses the answer of a submit that arrived', async () => {
    video.faults.next({ kind: 'lost-answer' });
    await expect(post('job-1')).rejects.toThrow('fetch failed');
    expect(video.taskCount).toBe(1);
    expect(await submit('job-1')).toBe(video.tasks[0]?.taskId);
  });

  it('holds the answer of a submit that arrived', async () => {
    video.faults.next({ kind: 'held-answer' });
    const gone = new AbortController();
    const held = fetch(`${video.url}/v1/video_generation`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': 'job-1' },
      body: JSON.stringify({ model: 'demo-video' }),
      signal: gone.signal,
    });
    await video.until(() => video.taskCount === 1);
    gone.abort();
    await expect(held).rejects.toThrow('aborted');
    expect(await submit('job-1')).toBe(video.tasks[0]?.taskId);
  });

  it('loses a task, fails it, never finishes it', async () => {
    const taskId = await submit();
    video.faults.always({ kind: 'never-finish' });
    for (let polls = 0; polls < 6; polls += 1) await query(taskId);
    expect(await jsonOf(query(taskId))).toMatchObject({ status: 'Processing' });
    video.faults.clear();
    video.faults.next({ kind: 'fail', reason: 'blocked prompt' }, 1, 'query');
    const other = await submit();
    expect(await jsonOf(query(other))).toMatchObject({ status: 'Fail', error: 'blocked prompt' });
    video.faults.next({ kind: 'lost-task' }, 1, 'query');
    expect(statusCode(await jsonOf(query(other)))).toBe(2013);
  });

  it('leaves the download address out', async () => {
    const taskId = await submit();
    video.setTask(taskId, 'Success');
    video.faults.next({ kind: 'no-download-url' });
    const answer = await jsonOf(retrieve(video.tasks[0]?.fileId));
    expect(answer.file).not.toHaveProperty('download_url');
  });
});
