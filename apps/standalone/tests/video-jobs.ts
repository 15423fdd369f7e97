import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rpcCall, type TestProcess } from '@model-gateway/testkit';
import type { RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { chatOnce, usageRows } from './standalone.ts';

const ORDER = { model: 'v-1', prompt: 'a cat', duration_seconds: 10 };

/** Registers the video backend with the admin token of the data directory. */
async function register({ url }: TestProcess, dataDir: string, backendUrl: string): Promise<void> {
  const adminToken = await readFile(join(dataDir, 'secrets', 'admin-token'), 'utf8');
  const response = await fetch(`${url}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken.trim()}` },
    body: JSON.stringify({ type: 'cloud-video', name: 'cloud', url: backendUrl, models: ['v-1'] }),
  });
  expect(response.status).toBe(200);
}

export async function submitVideo({ url }: TestProcess, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/video/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(ORDER),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

/** The notifications of a job until it ends, by their names. */
async function listen({ url }: TestProcess, jobId: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/rpc/events?session=${jobId}`);
  const names: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!names.some((name) => name !== 'video.progress')) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    names.push(...[...chunk.value.matchAll(/"method":"([^"]+)"/g)].map(([, name = '']) => name));
  }
  await reader?.cancel();
  return names;
}

/** Both APIs create a job; its notifications, result and usage are complete. Returns the key of its owner. */
export async function finishVideoJobs(
  standalone: TestProcess,
  dataDir: string,
  video: RunningCloudVideo,
): Promise<string> {
  await register(standalone, dataDir, video.url);
  const { token, key } = await chatOnce(standalone.url, 'owner@example.com');
  video.faults.next({ kind: 'slow-start', delayMs: 500 }, 2, 'submit');
  const rest = await submitVideo(standalone, key);
  const created = await rpcCall(standalone.url, 'video.create', ORDER, token);
  const { job_id: rpc } = created.result as { job_id: string };
  const names = await Promise.all([listen(standalone, rest), listen(standalone, rpc)]);
  // A listener that comes late has missed some of the progress.
  for (const heard of names) {
    expect(new Set(heard.slice(0, -1))).toEqual(new Set(['video.progress']));
    expect(heard.at(-1)).toBe('video.done');
  }
  expect(await videoJob(standalone, key, rest)).toMatchObject({
    status: 'done',
    progress: 100,
    cost: 0.05,
  });
  const rows = await usageRows(standalone.url, token, 3);
  expect(rows).toHaveLength(3);
  for (const id of [rest, rpc]) {
    expect(rows).toContainEqual(expect.objectContaining({ id, backend: 'video', cost: 0.05 }));
  }
  return key;
}

export async function videoJob({ url }: TestProcess, key: string, id: string): Promise<unknown> {
  const got = await fetch(`${url}/v1/video/generations/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return got.json();
}
