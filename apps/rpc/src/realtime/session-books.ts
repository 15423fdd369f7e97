import type { ConversationStore } from '@model-gateway/accounts';
import type { TokenUsage } from '@model-gateway/contracts';
import { jwtCaller, type EndedResponse, type Meter } from '@model-gateway/inference';
import { describeError, withTimeout, type Log } from '@model-gateway/kernel';

/** What is written down about one realtime session. Failures are logged and never end it. */
export interface SessionBooks {
  /** Meters a response and keeps what was said in it; resolves when that is done, or takes too long to be waited for. */
  enter(ended: EndedResponse): Promise<void>;
  /** Keeps what was said in a response that never ended. */
  keep(transcript: string): void;
  /** Resolves when everything is written down. */
  settled(): Promise<void>;
}

interface SessionBooksOptions {
  readonly userId: string;
  /** As the backend lists it. */
  readonly model: string;
  readonly refId: string | null;
  readonly conversationId: string | undefined;
  readonly meter: Meter;
  readonly conversations: Pick<ConversationStore, 'addTurn'>;
  readonly log: Log;
}

/** A database that does not answer must not hold up what the model says. */
const KEEPING_TIMEOUT_MS = 1_000;

export function createSessionBooks(options: SessionBooksOptions): SessionBooks {
  const { userId, model, refId, conversationId, meter, conversations, log } = options;
  const caller = jwtCaller(userId);
  let written: Promise<unknown> = Promise.resolve();

  async function record(usage: TokenUsage | undefined): Promise<void> {
    if (usage === undefined) return;
    await meter.record({ caller, model, surface: 'realtime', usage, refId });
  }

  async function add(transcript: string): Promise<void> {
    if (conversationId === undefined) return;
    try {
      await conversations.addTurn(conversationId, [
        { role: 'assistant', content: transcript, model },
      ]);
    } catch (error) {
      log.error({ reason: describeError(error) }, 'what was said in a session could not be kept');
    }
  }

  /** One after another: the conversation has them in the order in which they were said. */
  function keep(transcript: string): Promise<unknown> {
    written = written.then(() => add(transcript));
    return written;
  }

  return {
    async enter({ usage, transcript }) {
      const kept = transcript === undefined ? undefined : keep(transcript);
      const recorded = record(usage);
      written = Promise.all([written, recorded]);
      await recorded;
      if (kept !== undefined) await withTimeout(kept, KEEPING_TIMEOUT_MS, () => undefined);
    },
    keep: (transcript) => void keep(transcript),
    async settled() {
      await written;
    },
  };
}
