import { waitUntil } from '@model-gateway/testkit';
import type { LedgerRequest } from './ledger-requests.ts';
import type { LaneKey, LedgerScene } from './ledger-scene.ts';

/** What the client of a request saw. */
export interface LedgerAnswer {
  readonly request: LedgerRequest;
  /** Null where the client left before a response. */
  readonly status: number | null;
  /** Headers that say who answered. */
  readonly route: string | null;
  readonly cache: string | null;
  readonly code: string | null;
  readonly hasLeft: boolean;
}

/** Sends one request, and waits until all that it leaves behind is written. */
export async function sendRequest(
  scene: LedgerScene,
  key: LaneKey,
  request: LedgerRequest,
): Promise<LedgerAnswer> {
  const answer = await ask(scene, key, request);
  const isServed = answer.status === 200 || answer.hasLeft;
  await waitUntil(
    () => scene.stores.isIdle(key.userId) && (!isServed || scene.stores.isSettled(request.ref)),
    { timeoutMs: 120_000, what: `the request "${request.ref}" is settled` },
  );
  return answer;
}

async function ask(
  { url, upstream }: LedgerScene,
  { secret }: LaneKey,
  request: LedgerRequest,
): Promise<LedgerAnswer> {
  const leaving = new AbortController();
  const asked = fetch(`${url}${request.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': secret,
      'x-service-ref': request.ref,
    },
    body: JSON.stringify(request.body),
    signal: leaving.signal,
  });
  if (request.leavesUnanswered === true) {
    const text = JSON.stringify(request.body['messages']);
    const hasArrived = (): boolean =>
      upstream.requests.some(({ body }) => JSON.stringify(body).includes(text.slice(1, -1)));
    let isAnswered = false;
    const answered = asked.then(() => (isAnswered = true)).catch(() => undefined);
    await waitUntil(() => isAnswered || hasArrived());
    if (!isAnswered) {
      leaving.abort();
      await answered;
      return { request, ...NOTHING, hasLeft: true };
    }
  }
  const response = await asked;
  const { status, headers } = response;
  const seen = {
    status,
    route: headers.get('x-service-route'),
    cache: headers.get('x-service-cache'),
  };
  if (status !== 200)
    return { request, ...seen, code: codeOf(await response.text()), hasLeft: false };
  const hasLeft = await readText(response, request.leavesAfter);
  if (hasLeft) leaving.abort();
  return { request, ...seen, code: null, hasLeft };
}

const NOTHING = { status: null, route: null, cache: null, code: null } as const;

function codeOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; type?: string } };
    return error?.code ?? error?.type ?? 'none';
  } catch {
    return text;
  }
}

const PIECE = /"content":"好/g;

/** Reads a response, or the first pieces of it; returns whether there may be more. */
async function readText(response: Response, leavesAfter: number | undefined): Promise<boolean> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    if (leavesAfter !== undefined && (text.match(PIECE)?.length ?? 0) >= leavesAfter) return true;
    const part = await reader?.read().catch(() => undefined);
    if (part === undefined || part.done) return false;
    text += part.value;
  }
}
