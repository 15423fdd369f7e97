import * as fc from 'fast-check';
import type { WebSocket } from 'ws';
import { like } from '../grammar/examples.ts';
import { jsonText } from '../grammar/json-text.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { ANSWER_TIMEOUT_MS, type Answer } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { callRpc } from './call-rpc.ts';
import { checkEnvelopes } from './rpc-envelope.ts';

interface RealtimeCase {
  readonly frames: readonly { readonly body: WireText; readonly isBinary: boolean }[];
  /** What the client sends as `event`. */
  readonly event: WireText;
  /** The upstream leaves after its frames. */
  readonly closes: boolean;
}

const LAST_EVENT = JSON.stringify({ type: 'fuzz.last' });

/** Events of a realtime API, and the events that a client sends to it. */
export const upstreamRealtime: Target<RealtimeCase, ServiceScene> = {
  name: 'upstream-realtime',
  about: 'events of realtime APIs, and of their clients',
  scene: 'service',
  shortCases: 25,
  cases: () =>
    Promise.resolve(
      fc.record({
        frames: fc.array(
          fc.record({
            body: onTheWire(jsonText(like('realtime-event'))),
            isBinary: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
          }),
          { maxLength: 6 },
        ),
        event: onTheWire(jsonText(like('realtime-client-event'))),
        closes: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
      }),
    ),
  async run({ frames, event, closes }, scene) {
    const upstream = scene.upstreams.of.realtime;
    let socket: WebSocket | undefined;
    upstream.talkWith((opened) => (socket = opened));
    try {
      const started = await call(scene, '"realtime.start"', '{"model":"fuzz-realtime"}');
      const { result } = JSON.parse(started.body.toString()) as { readonly result?: Session };
      if (result === undefined || socket === undefined) return check(started, scene);
      const listener = await listen(scene, result.stream_session);
      const isGone = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
      for (const { body, isBinary } of frames)
        socket.send(bytesOf(body, scene.values), { binary: isBinary });
      socket.send(LAST_EVENT);
      if (closes) socket.close();
      const sessionId = JSON.stringify(result.session_id);
      const params = `{"session_id":${sessionId},"event":${bytesOf(event).toString('latin1')}}`;
      const sent = await call(scene, '"realtime.event"', params);
      await Promise.race([listener.seen('fuzz.last'), isGone]);
      const stopped = await call(scene, '"realtime.stop"', `{"session_id":${sessionId}}`);
      const text = listener.close();
      return [
        ...check(sent, scene),
        ...check(stopped, scene),
        ...checkNotifications(text),
        ...scene.secrets.namesIn(text).map((name) => `the stream contains ${name}`),
      ];
    } finally {
      upstream.talkWith(undefined);
      socket?.terminate();
    }
  },
};

interface Session {
  readonly session_id: string;
  readonly stream_session: string;
}

const call = (scene: ServiceScene, method: string, params: string): Promise<Answer> =>
  callRpc(scene, 'user_jwt', method, params);

const check = (answer: Answer, scene: ServiceScene): readonly string[] =>
  answer.outcome === 'broken off'
    ? ['the connection broke']
    : [...checkAnswer(answer, scene.secrets), ...checkEnvelopes(answer.body.toString())];

/** Opens an event stream; resolves when it is live. */
async function listen(scene: ServiceScene, streamId: string) {
  const leaving = new AbortController();
  const response = await fetch(`${scene.rpcUrl}/api/rpc/events?session=${streamId}`, {
    signal: leaving.signal,
  });
  let text = '';
  let onText = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  void (async () => {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      onText();
    }
  })().catch(() => undefined);
  return {
    /** Until the stream contains a word, or for as long as an answer may take. */
    seen: (word: string) =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ANSWER_TIMEOUT_MS);
        onText = () => {
          if (!text.includes(word)) return;
          clearTimeout(timer);
          resolve();
        };
        onText();
      }),
    close: () => {
      clearTimeout(timer);
      leaving.abort();
      return text;
    },
  };
}

function checkNotifications(text: string): readonly string[] {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .flatMap((line) => {
      try {
        const notification = JSON.parse(line.replace('data: ', '')) as {
          readonly method?: unknown;
        };
        return typeof notification.method === 'string'
          ? []
          : [`no notification: ${line.slice(0, 300)}`];
      } catch {
        return [`not JSON: ${line.slice(0, 300)}`];
      }
    });
}
