import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import {
  createGate,
  fullSize,
  preparedDataDir,
  rpcCall,
  waitUntil,
  type TestProcess,
} from '@model-gateway/testkit';
import { chat, chatOnce, startStandalone } from './standalone.ts';

const ADMIN_TOKEN = 'the admin token of the tests';
const UNLIMITED = { monthly_usd_quota: null, monthly_token_quota: null, rpm: null };
const MEBIBYTE = 1024 * 1024;
const BODY_BYTES = 30 * MEBIBYTE;
const BODIES = fullSize(20, { small: 8 });
const POOL_BYTES = 64 * MEBIBYTE;

/** An upstream that answers when a test lets it. */
async function startSlowUpstream() {
  const gate = createGate();
  let arrived = 0;
  const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'yes' } }] };
  const server = createServer({ keepAliveTimeout: 0 }, (asked, response) => {
    asked.resume();
    response.on('error', () => undefined);
    asked.on('end', () => {
      if (asked.url === '/v1/models') {
        response.end(JSON.stringify({ data: [{ id: 'slow' }] }));
        return;
      }
      arrived += 1;
      void gate.opened.then(() => response.end(JSON.stringify(answer)));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived: () => arrived,
    open: () => gate.open(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const largeChat = Buffer.from(
  `{"model":"slow","messages":[{"role":"user","content":"${'x'.repeat(BODY_BYTES)}"}]}`,
);

async function sendLarge(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-length': largeChat.length };
  const asked = request(`${url}/v1/chat/completions`, { method: 'POST', headers });
  asked.end(largeChat);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  asked.on('error', () => undefined);
  await readAll(response);
  return response.statusCode ?? 0;
}

/** The most memory that a process has had, in bytes. */
async function peakOf({ pid }: TestProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

async function metricOf({ url }: TestProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

/** Sends many large bodies at once to a process of its own, and answers them when `isFull`. */
async function load(
  bytesMax: number,
  isFull: (standalone: TestProcess, arrived: number) => boolean | Promise<boolean>,
) {
  const folder = await preparedDataDir();
  const upstream = await startSlowUpstream();
  const standalone = await startStandalone(folder.path, {
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '1000',
    SERVICE_PROBE_TIMEOUT_MS: '600000',
    SERVICE_REQUEST_BODIES_BYTES_MAX: String(bytesMax),
  });
  try {
    const { url } = standalone;
    await rpcCall(url, 'billing.tiers.set', { name: 'free', ...UNLIMITED }, ADMIN_TOKEN);
    const { key } = await chatOnce(url, 'ann@example.com');
    const registered = await fetch(`${url}/api/admin/backends`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: JSON.stringify({ type: 'external', name: 'slow', url: upstream.url }),
    });
    expect(await registered.json()).toMatchObject({ state: 'Healthy' });
    const before = await peakOf(standalone);
    const sent = Array.from({ length: BODIES }, () => sendLarge(url, key));
    await waitUntil(() => isFull(standalone, upstream.arrived()), { what: 'large bodies' });
    // A small chat is served meanwhile.
    const small = (await chat(url, key)).status;
    const arrived = upstream.arrived();
    upstream.open();
    const statuses = new Set(await Promise.all(sent));
    return { small, arrived, statuses, grown: (await peakOf(standalone)) - before };
  } finally {
    upstream.open();
    await standalone.stop();
    upstream.close();
    await folder.remove();
  }
}

test('many large bodies at once take the memory of a few', async () => {
  const control = await load(1024 * MEBIBYTE * 1024, (_standalone, arrived) => arrived === BODIES);
  expect(control).toMatchObject({ small: 200, arrived: BODIES, statuses: new Set([200]) });
  const limited = await load(
    POOL_BYTES,
    async (standalone) =>
      (await metricOf(standalone, 'service_request_bodies_waiting')) === BODIES - 1,
  );
  expect(limited.small).toBe(200);
  expect(limited.arrived).toBeLessThanOrEqual(1);
  // The last ones may have waited too long on a slow machine.
  expect([...limited.statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
  expect(limited.statuses).toContain(200);
  expect(limited.grown).toBeLessThan(control.grown / 2);
});
