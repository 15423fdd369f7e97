import type { TokenUsage } from '@model-gateway/contracts';
import {
  choicesOf,
  contentOf,
  isFirstChoice,
  property,
  textOfDelta,
  toolCallsOf,
  usageOf,
} from './chunk-fields.ts';
import { createReplyCollector, type Reply } from '../chat/reply-collector.ts';
import type { CallOutcome } from '../upstream/upstream-telemetry.ts';

/** What a stream has told so far: what it is billed by, and whether it came to its end. */
export interface StreamObserver {
  /** Looks at one chunk of the chat-completions convention. */
  observe(chunk: unknown): void;
  /** A piece of the answer whose chunk was not parsed. */
  addText(text: string): void;
  readonly usage: TokenUsage | undefined;
  /** Everything that was generated, for an estimate where the upstream reports no usage. */
  readonly text: string;
  readonly isFinished: boolean;
  /** Why the answer ended, and the model that gave it, as far as parsed chunks said so. */
  readonly finishReason: string | undefined;
  readonly model: string | undefined;
  /** The reply so far: the first choice. Empty unless it is kept. */
  readReply(): Reply;
}

interface StreamObserverOptions {
  /** Whether the reply will be asked for. */
  readonly keepsReply: boolean;
}

/** What an observed stream came to, for whoever watches the call. */
export const outcomeOf = (
  { finishReason, model }: StreamObserver,
  usage: TokenUsage | undefined,
): CallOutcome => ({
  usage,
  model,
  ...(finishReason === undefined ? {} : { finishReasons: [finishReason] }),
});

const NO_REPLY: Reply = { content: '', toolCalls: [] };

export function createStreamObserver({ keepsReply }: StreamObserverOptions): StreamObserver {
  const pieces: string[] = [];
  const reply = keepsReply ? createReplyCollector() : undefined;
  let usage: TokenUsage | undefined;
  let isFinished = false;
  let finishReason: string | undefined;
  let model: string | undefined;

  function observeChoice(choice: unknown): void {
    const delta = property(choice, 'delta');
    pieces.push(textOfDelta(delta));
    const reason = property(choice, 'finish_reason');
    if (typeof reason === 'string') isFinished = true;
    if (!isFirstChoice(choice)) return;
    if (typeof reason === 'string') finishReason = reason;
    if (reply === undefined) return;
    reply.addText(contentOf(delta));
    reply.addToolCalls(toolCallsOf(delta));
  }

  return {
    observe(chunk) {
      usage = usageOf(chunk) ?? usage;
      if (model === undefined) {
        const named = property(chunk, 'model');
        if (typeof named === 'string') model = named;
      }
      for (const choice of choicesOf(chunk)) observeChoice(choice);
    },
    addText(text) {
      pieces.push(text);
      reply?.addText(text);
    },
    get usage() {
      return usage;
    },
    get text() {
      return pieces.join('');
    },
    get isFinished() {
      return isFinished;
    },
    get finishReason() {
      return finishReason;
    },
    get model() {
      return model;
    },
    readReply: () => reply?.read() ?? NO_REPLY,
  };
}
