import type { ConversationStore } from '@model-gateway/accounts';
import {
  jwtCaller,
  settle,
  type AnsweredBy,
  type EndedResponse,
  type Meter,
  type Reservation,
} from '@model-gateway/inference';
import { describeError, withTimeout, type Log } from '@model-gateway/kernel';

/** Records the usage and transcripts of one realtime session. Failures are logged and never end the session. */
export interface SessionRecorder {
  /**
   * Meters a response, ends what it reserves, and stores its transcript; resolves when that is done or takes too long.
   */
  record(ended: EndedResponse, reserving: Promise<Reservation | undefined>): Promise<void>;
  /** Resolves when everything is stored. */
  settled(): Promise<void>;
}

interface SessionRecorderOptions {
  readonly userId: string;
  /** As the client named it. */
  readonly model: string;
  /** What serves the session. */
  readonly lease: AnsweredBy['lease'];
  readonly refId: string | null;
  readonly conversationId: string | undefined;
  readonly meter: Meter;
  readonly conversations: Pick<ConversationStore, 'addTurn'>;
  readonly log: Log;
}

/** A slow database must not delay the events of the model. */
const STORING_TIMEOUT_MS = 1_000;

export function createSessionRecorder(options: SessionRecorderOptions): SessionRecorder {
  const { userId, model, lease, refId, conversationId, meter, conversations, log } = options;
  const caller = jwtCaller(userId);
  let written: Promise<unknown> = Promise.resolve();

  async function meterUsage(
    { usage, ending, cachedTokens, mediaTokens }: Omit<EndedResponse, 'transcript'>,
    reserving: Promise<Reservation | undefined>,
  ): Promise<void> {
    const reservation = await reserving;
    if (usage === undefined) return reservation?.end();
    const call = { caller, surface: 'realtime', model, refId, reservation };
    const observed = { usage, unitsOf: () => ({ cachedTokens, mediaTokens }) };
    await settle(call, { lease }, observed, ending, meter);
  }

  async function add(transcript: string): Promise<void> {
    if (conversationId === undefined) return;
    try {
      await conversations.addTurn(conversationId, [
        { role: 'assistant', content: transcript, model: lease.model },
      ]);
    } catch (error) {
      log.error({ reason: describeError(error) }, 'storing a realtime transcript failed');
    }
  }

  /** One after another, so that the conversation keeps their order. */
  function store(transcript: string): Promise<unknown> {
    written = written.then(() => add(transcript));
    return written;
  }

  return {
    async record({ transcript, ...ended }, reserving) {
      const stored = transcript === undefined ? undefined : store(transcript);
      const metered = meterUsage(ended, reserving);
      written = Promise.all([written, metered]);
      await metered;
      if (stored !== undefined) await withTimeout(stored, STORING_TIMEOUT_MS, () => undefined);
    },
    async settled() {
      await written;
    },
  };
}
