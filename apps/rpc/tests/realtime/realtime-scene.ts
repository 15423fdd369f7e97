import { eventsUrl, type TestUser } from '../chat/chat-scene.ts';
import { openStream, type TestStream } from '../rpc-server.ts';

type Event = Readonly<Record<string, unknown>>;

/** A client of a realtime session. */
export interface RealtimeTalk {
  readonly sessionId: string;
  readonly streamId: string;
  say(event: Event): Promise<unknown>;
  /** The error of a refused event. */
  refusal(event?: Event): Promise<{ readonly code: number; readonly message: string }>;
  stop(): Promise<unknown>;
  /** The next event of the upstream. */
  next(): Promise<Event>;
  /** Events up to and including the first of this type. */
  until(type: string): Promise<readonly Event[]>;
  /** The unchanged text of the next notification. */
  nextText(): Promise<string>;
  /** Requests a response and returns its events. */
  respond(): Promise<readonly Event[]>;
  close(): void;
}

/** Opens a session and subscribes immediately. */
export async function startRealtimeTalk(
  user: TestUser,
  url: string,
  params: object,
): Promise<RealtimeTalk> {
  const { session_id, stream_session } = (await user.call('realtime.start', params)) as {
    session_id: string;
    stream_session: string;
  };
  const stream = await openStream(eventsUrl(url, stream_session));
  return talkOver({ user, sessionId: session_id, streamId: stream_session, stream });
}

function talkOver(line: {
  readonly user: TestUser;
  readonly sessionId: string;
  readonly streamId: string;
  readonly stream: TestStream;
}): RealtimeTalk {
  const { user, sessionId, streamId, stream } = line;
  const say = (event: Event): Promise<unknown> =>
    user.call('realtime.event', { session_id: sessionId, event });

  async function nextText(): Promise<string> {
    const text = await stream.next();
    return text.startsWith('data: ') ? text.slice('data: '.length) : nextText();
  }
  async function next(): Promise<Event> {
    const notification = JSON.parse(await nextText()) as {
      readonly method: string;
      readonly params: { readonly session_id: string; readonly event: Event };
    };
    expect(notification).toMatchObject({
      method: 'realtime.event',
      params: { session_id: sessionId },
    });
    return notification.params.event;
  }
  async function until(type: string): Promise<readonly Event[]> {
    const events: Event[] = [];
    while (events.at(-1)?.['type'] !== type) events.push(await next());
    return events;
  }

  return {
    sessionId,
    streamId,
    say,
    refusal: (event = { type: 'response.create' }) =>
      user.refusal('realtime.event', { session_id: sessionId, event }),
    stop: () => user.call('realtime.stop', { session_id: sessionId }),
    next,
    until,
    nextText,
    async respond() {
      await say({ type: 'response.create' });
      return until('response.done');
    },
    close: () => stream.close(),
  };
}
