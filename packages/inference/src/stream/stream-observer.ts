import {
  type AnswerPart,
  type MediaTokens,
  readCachedTokens,
  readCacheWriteTokens,
  readMediaTokens,
  readUsage,
  type TokenUsage,
  type TurnEvent,
  type TurnUsage,
} from '@model-gateway/contracts';
import { chatDelta } from '@model-gateway/dialects';
import {
  choicesOf,
  contentOf,
  isFirstChoice,
  property,
  textOfDelta,
  toolCallsOf,
} from './chunk-fields.ts';
import { createReplyCollector, type Reply } from '../chat/history/reply-collector.ts';
import type { AttemptOutcome } from '../upstream/upstream-telemetry.ts';

/** The observed part of a stream: its usage, and whether it is complete. */
export interface StreamObserver {
  /** Observes one chunk of the chat-completions convention, or of a text completion. */
  observe(chunk: unknown): void;
  /** Observes one part of an answer of another API. */
  observePart(part: AnswerPart): void;
  /** The text of a chunk that was not parsed. */
  addText(text: string): void;
  /** Whether anything of the answer itself was seen: a text, a thought, a tool call or a finish reason, not only a role. */
  readonly hasContent: boolean;
  /** The latest usage that the upstream reported. */
  readonly usage: TokenUsage | undefined;
  /** The part of the prompt that the upstream read from its cache, as it reported. */
  readonly cachedTokens: number | undefined;
  /** The part that it wrote to its cache. */
  readonly cacheWriteTokens: number | undefined;
  /** Which of the tokens are no text, as it reported. */
  readonly mediaTokens: MediaTokens | undefined;
  /** All generated text, to estimate the usage if the upstream reports none. */
  readonly text: string;
  /** The part of it that came after the latest report of the usage. */
  readonly unreportedText: string;
  /** Whether there is more text than can be kept for an estimate. */
  readonly isTooLong: boolean;
  /** Whether every choice that began has a reason to end. */
  readonly isFinished: boolean;
  /** The same before an end mark: some upstreams send an empty reason. */
  readonly isFinishedByMark: boolean;
  /** The finish reason and the model, if parsed chunks had them. */
  readonly finishReason: string | undefined;
  readonly model: string | undefined;
  /** The reply so far: the first choice. Empty unless `keepsReply` is set. */
  readReply(): Reply;
}

interface StreamObserverOptions {
  /** Whether the reply will be needed. */
  readonly keepsReply: boolean;
}

/** The outcome of an observed stream for its trace. */
export const streamOutcome = ({ finishReason, model }: StreamObserver): AttemptOutcome => ({
  model,
  ...(finishReason === undefined ? {} : { finishReasons: [finishReason] }),
});

/** Whether a delta has more than a role and empty fields. */
const saysSomething = (delta: unknown): boolean =>
  typeof delta === 'object' &&
  delta !== null &&
  Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

const isReason = (reason: unknown): reason is string => typeof reason === 'string' && reason !== '';

type Units = Pick<TurnUsage, 'cachedTokens' | 'cacheWriteTokens' | 'mediaTokens'>;

const usageOfTurn = ({ promptTokens, completionTokens }: TurnUsage): TokenUsage => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

const TEXT_CHARS_MAX = 32 * 1024 * 1024;
const NO_REPLY: Reply = { content: '', toolCalls: [] };

export function createStreamObserver({ keepsReply }: StreamObserverOptions): StreamObserver {
  const pieces: string[] = [];
  let reportedPieces = 0;
  let chars = 0;
  let hasContent = false;
  const reply = keepsReply ? createReplyCollector() : undefined;
  let usage: TokenUsage | undefined;
  let cachedTokens: number | undefined;
  let cacheWriteTokens: number | undefined;
  let mediaTokens: MediaTokens | undefined;
  /** The choices that have begun and not ended. */
  const open = new Set<unknown>();
  const finished = new Set<unknown>();
  let hasEmptyReason = false;
  let finishReason: string | undefined;
  let model: string | undefined;

  function keep(text: string): void {
    if (text === '') return;
    hasContent = true;
    pieces.push(text);
    chars += text.length;
  }

  function observeChoice(choice: unknown): void {
    const delta = property(choice, 'delta');
    // A text completion has the text in the choice itself.
    keep(
      delta === undefined ? contentOf({ content: property(choice, 'text') }) : textOfDelta(delta),
    );
    const reason = property(choice, 'finish_reason');
    hasContent ||= isReason(reason) || saysSomething(delta);
    observeReason(property(choice, 'index') ?? 0, reason);
    if (!isFirstChoice(choice)) return;
    if (isReason(reason)) finishReason = reason;
    if (reply === undefined) return;
    reply.addText(contentOf(delta));
    reply.addToolCalls(toolCallsOf(delta));
  }

  function observeReason(index: unknown, reason: unknown): void {
    hasEmptyReason ||= reason === '';
    if (isReason(reason)) {
      open.delete(index);
      finished.add(index);
    } else if (!finished.has(index)) open.add(index);
  }

  function observeEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
      case 'tool_arguments':
        return keep(event.text);
      case 'reasoning':
        hasContent ||= event.signature !== undefined || event.encrypted !== undefined;
        return keep(event.text);
      case 'tool_call':
        hasContent = true;
        return keep(event.name);
      case 'finish':
        hasContent = true;
        finishReason = event.reason;
        return observeReason(0, event.reason);
      case 'usage':
        return reportTurn(event.usage);
      default:
        hasContent = true;
    }
  }

  const reportTurn = (turn: TurnUsage): void => report(usageOfTurn(turn), turn);

  /** A report includes the text of its own part. */
  function report(counts: TokenUsage, units: Units): void {
    usage = counts;
    cachedTokens = units.cachedTokens ?? cachedTokens;
    cacheWriteTokens = units.cacheWriteTokens ?? cacheWriteTokens;
    mediaTokens = units.mediaTokens ?? mediaTokens;
    reportedPieces = pieces.length;
  }

  return {
    observe(chunk) {
      if (model === undefined) {
        const named = property(chunk, 'model');
        if (typeof named === 'string' && named !== '') model = named;
      }
      for (const choice of choicesOf(chunk)) observeChoice(choice);
      const usageFields = property(chunk, 'usage');
      const counts = readUsage(usageFields, model);
      if (counts === undefined) return;
      report(counts, {
        cachedTokens: readCachedTokens(usageFields),
        cacheWriteTokens: readCacheWriteTokens(usageFields),
        mediaTokens: readMediaTokens(usageFields),
      });
    },
    observePart(part) {
      model ??= part.model;
      for (const event of part.events) observeEvent(event);
      if (part.usageSoFar !== undefined) reportTurn(part.usageSoFar);
      if (reply === undefined) return;
      const delta = chatDelta(part.events);
      reply.addText(contentOf(delta));
      reply.addToolCalls(toolCallsOf(delta));
    },
    addText(text) {
      keep(text);
      reply?.addText(text);
    },
    get hasContent() {
      return hasContent;
    },
    get usage() {
      return usage;
    },
    get cachedTokens() {
      return cachedTokens;
    },
    get cacheWriteTokens() {
      return cacheWriteTokens;
    },
    get mediaTokens() {
      return mediaTokens;
    },
    get text() {
      return pieces.join('');
    },
    get unreportedText() {
      return pieces.slice(reportedPieces).join('');
    },
    get isTooLong() {
      return chars > TEXT_CHARS_MAX;
    },
    get isFinished() {
      return finished.size > 0 && open.size === 0;
    },
    get isFinishedByMark() {
      return hasEmptyReason || (finished.size > 0 && open.size === 0);
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
