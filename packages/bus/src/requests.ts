import { createPendingCalls } from '@model-gateway/json-rpc';
import {
  describeError,
  randomToken,
  RequestError,
  tryParse,
  withTimeout,
  type Channels,
  type Log,
  type Requests,
  type Subscription,
} from '@model-gateway/kernel';
import { z } from 'zod';

/** Request and reply over any channels: each process has its own channel for replies. */
export interface ChannelRequests extends Requests {
  /** Fails the pending calls and closes the reply channel. */
  close(): Promise<void>;
}

interface RequestsOptions {
  readonly channels: Channels;
  readonly log: Log;
  readonly waitingMax?: number;
}

const WAITING_CALLS_MAX = 10_000;

const requestSchema = z.object({
  id: z.string(),
  replyTo: z.string(),
  payload: z.unknown().optional(),
});
const replySchema = z.discriminatedUnion('ok', [
  z.object({ id: z.string(), ok: z.literal(true), value: z.unknown().optional() }),
  z.object({ id: z.string(), ok: z.literal(false), message: z.string() }),
]);
type CallReply = z.infer<typeof replySchema>;

export function createRequests(options: RequestsOptions): ChannelRequests {
  const { channels, log, waitingMax = WAITING_CALLS_MAX } = options;
  const replyChannel = `reply:${randomToken()}`;
  const calls = createPendingCalls<string, CallReply>();
  let listening: Promise<Subscription> | undefined;
  let closed = false;

  function onReply(text: string): void {
    const reply = tryParse(replySchema, text);
    // A late or second reply is ignored.
    if (reply !== undefined) calls.settle(reply.id, reply);
  }

  async function listenForReplies(): Promise<void> {
    listening ??= channels.subscribe(replyChannel, onReply);
    try {
      await listening;
    } catch (error) {
      listening = undefined;
      throw error;
    }
  }

  async function answerRequest(
    text: string,
    answer: (payload: unknown) => Promise<unknown>,
  ): Promise<void> {
    const request = tryParse(requestSchema, text);
    if (request === undefined) {
      log.warn({}, 'a message that is not a request was ignored');
      return;
    }
    const { id, replyTo, payload } = request;
    await channels.publish(replyTo, await answerText(id, () => answer(payload)));
  }

  async function send(address: string, request: string): Promise<number> {
    await listenForReplies();
    return channels.publish(`request:${address}`, request);
  }

  return {
    serve: (address, answer) =>
      channels.subscribe(`request:${address}`, (text) => {
        answerRequest(text, answer).catch((error: unknown) => {
          log.error({ address, error }, 'sending a reply failed');
        });
      }),
    async call(address, payload, { timeoutMs }) {
      if (closed) throw new RequestError('unreachable', 'this process is closing');
      if (calls.size >= waitingMax) {
        throw new RequestError('failed', `${waitingMax} calls are waiting for an answer already`);
      }
      const id = randomToken();
      const request = JSON.stringify({ id, replyTo: replyChannel, payload });
      const reply = calls.add(id, valueOf);
      const unreachable = (why: string) => calls.fail(id, new RequestError('unreachable', why));
      send(address, request).then(
        (reached) => reached === 0 && unreachable(`no process serves ${address}`),
        (error: unknown) => unreachable(describeError(error)),
      );
      const onTimeout = (): never => {
        throw new RequestError('timeout', `${address} did not answer within ${timeoutMs} ms`);
      };
      return withTimeout(reply, timeoutMs, onTimeout).finally(() => calls.fail(id, undefined));
    },
    async close() {
      closed = true;
      calls.failAll(new RequestError('unreachable', 'this process is closing'));
      await listening?.then(
        (subscription) => subscription.close(),
        () => undefined,
      );
    },
  };
}

function valueOf(reply: CallReply): unknown {
  if (reply.ok) return reply.value;
  throw new RequestError('failed', reply.message);
}

async function answerText(id: string, answer: () => Promise<unknown>): Promise<string> {
  try {
    // A result that cannot be serialized is a failure of the handler as well.
    return JSON.stringify({ id, ok: true, value: await answer() });
  } catch (error) {
    return JSON.stringify({ id, ok: false, message: describeError(error) });
  }
}
