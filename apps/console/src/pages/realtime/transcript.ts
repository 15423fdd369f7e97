/** What was said by one side. */
export interface Said {
  readonly who: 'user' | 'model';
  readonly text: string;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  /** From the end of the question to the first sound or word. */
  readonly firstMs?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A session so far. */
export interface Transcript {
  readonly said: readonly Said[];
  /** What the upstream reported last; it continues afterwards. */
  readonly problem: string | undefined;
  readonly askedAt: number | undefined;
}

export const EMPTY: Transcript = { said: [], problem: undefined, askedAt: undefined };

/** The user has finished talking. */
export const asked = (before: Transcript, now: number): Transcript => ({
  said: [...before.said, { who: 'user', text: '', state: 'done' }],
  problem: undefined,
  askedAt: now,
});

// Both generations: response.audio_transcript.delta, response.output_text.delta, …
const WORDS = /^response\.(?:output_)?(?:audio_transcript|text)\.delta$/;
const SOUND = /^response\.(?:output_)?audio\.delta$/;
const HEARD = 'conversation.item.input_audio_transcription.completed';
const SAID_MAX = 200;

interface ServerEvent {
  readonly type?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly error?: { readonly message?: string };
  readonly response?: {
    readonly status?: string;
    readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number } | null;
  };
}

/** The sound of an event as base64; undefined for other events. */
export function soundOf(event: unknown): string | undefined {
  const { type = '', delta } = event as ServerEvent;
  return SOUND.test(type) ? delta : undefined;
}

/** The session after an event of the upstream. */
export function withEvent(before: Transcript, event: unknown, now: number): Transcript {
  const { type = '', delta = '', transcript, error, response } = event as ServerEvent;
  if (type === 'error') return { ...before, problem: error?.message ?? 'error' };
  if (type === HEARD) return { ...before, said: heard(before.said, transcript ?? '') };
  if (type === 'response.created') {
    const answer: Said = { who: 'model', text: '', state: 'running' };
    return { ...before, said: [...before.said, answer].slice(-SAID_MAX) };
  }
  if (WORDS.test(type) || SOUND.test(type))
    return changed(before, (answer) => ({
      ...answer,
      text: WORDS.test(type) ? answer.text + delta : answer.text,
      ...(before.askedAt === undefined || answer.firstMs !== undefined
        ? {}
        : { firstMs: now - before.askedAt }),
    }));
  if (type !== 'response.done') return before;
  const usage = response?.usage;
  return changed(before, (answer) => ({
    ...answer,
    state: STATES[response?.status ?? ''] ?? 'done',
    ...(usage?.input_tokens === undefined ? {} : { inputTokens: usage.input_tokens }),
    ...(usage?.output_tokens === undefined ? {} : { outputTokens: usage.output_tokens }),
  }));
}

const STATES: Readonly<Record<string, Said['state']>> = { cancelled: 'stopped', failed: 'failed' };

/** Changes the answer that is running. */
function changed(before: Transcript, change: (answer: Said) => Said): Transcript {
  const place = before.said.findLastIndex(({ state }) => state === 'running');
  if (place === -1) return before;
  return {
    ...before,
    said: before.said.map((each, index) => (index === place ? change(each) : each)),
  };
}

/** Adds what the upstream understood to the first question without a text. */
function heard(said: readonly Said[], text: string): readonly Said[] {
  const place = said.findIndex((each) => each.who === 'user' && each.text === '');
  return said.map((each, index) => (index === place ? { ...each, text } : each));
}
