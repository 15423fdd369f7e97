import type { UpstreamChat } from '@model-gateway/contracts';
import { UpstreamFailure } from '@model-gateway/router';
import type { AdaptedChat } from './adapted-chat.ts';
import { withOneSystemMessage } from './system-messages.ts';

interface SentChat<Answer> {
  readonly answer: Answer;
  /** What the upstream was sent otherwise, or not at all. */
  readonly ignored: readonly string[];
}

/** What a model refuses, and how it takes the same chat. */
interface Refusal {
  readonly statuses: readonly number[];
  readonly message: RegExp;
  adapt(body: UpstreamChat, options: ChatOptions): AdaptedChat;
}

interface ChatOptions {
  /** Whether the effort of the body may be left out: agents ask every model to think. */
  readonly mayLeaveEffort: boolean;
}

const EFFORT = 'reasoning_effort';
const KNOWN_MAX = 1_000;
const NOTHING: ReadonlySet<Refusal> = new Set();

/** Templates that take one system message, at the beginning. Some servers answer it as their own error. */
const STRICT_TEMPLATE: Refusal = {
  statuses: [400, 500],
  message: /system message must be|roles must alternate/i,
  adapt: withOneSystemMessage,
};

/** Models that do not think. */
const NO_THOUGHTS: Refusal = {
  statuses: [400, 422],
  message: /reasoning_?effort|not support thinking|think value/i,
  adapt(body, { mayLeaveEffort }) {
    return typeof body[EFFORT] === 'string' && mayLeaveEffort
      ? { body: { ...body, [EFFORT]: undefined }, ignored: [EFFORT] }
      : { body, ignored: [] };
  },
};

const REFUSALS = [STRICT_TEMPLATE, NO_THOUGHTS];

/**
 * Sends chats to servers whose models refuse what agents send to all: such a model is asked again in the form that it takes,
 * and the next time at once.
 */
export function createChatSender() {
  const known = new Map<string, ReadonlySet<Refusal>>();

  function remember(key: string, applied: ReadonlySet<Refusal>): void {
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(key, applied);
  }

  return async function sendChat<Answer>(
    given: UpstreamChat,
    options: ChatOptions,
    send: (body: UpstreamChat) => Promise<Answer>,
  ): Promise<SentChat<Answer>> {
    let applied = known.size === 0 ? NOTHING : (known.get(keyOf(given)) ?? NOTHING);
    for (;;) {
      const { body, ignored } = adapted(given, applied, options);
      try {
        const answer = await send(body);
        if (applied !== NOTHING) remember(keyOf(given), applied);
        return { answer, ignored };
      } catch (error) {
        const next = REFUSALS.find((refusal) => !applied.has(refusal) && isRefusal(error, refusal));
        if (next === undefined || next.adapt(body, options).body === body) throw error;
        applied = new Set([...applied, next]);
      }
    }
  };
}

/** A model may take another effort than the one that it refused. */
const keyOf = (body: UpstreamChat): string => JSON.stringify([body.model, body[EFFORT]]);

const isRefusal = (error: unknown, { statuses, message }: Refusal): boolean =>
  error instanceof UpstreamFailure &&
  error.status !== undefined &&
  statuses.includes(error.status) &&
  message.test(error.message);

function adapted(
  given: UpstreamChat,
  refusals: ReadonlySet<Refusal>,
  options: ChatOptions,
): AdaptedChat {
  let body = given;
  const ignored: string[] = [];
  for (const refusal of refusals) {
    const next = refusal.adapt(body, options);
    body = next.body;
    ignored.push(...next.ignored);
  }
  return { body, ignored };
}
