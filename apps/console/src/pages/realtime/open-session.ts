import type { Api } from '../../api/api.ts';
import { createAudioSender } from './audio-sender.ts';
import { openMicrophone, type Microphone } from './microphone.ts';
import { bytesOf } from './pcm16.ts';
import { createSpeaker } from './speaker.ts';
import { soundOf } from './transcript.ts';

/** A session that is open. */
export interface RealtimeSession {
  /** Passes on what the microphone hears from now on. */
  listen(): void;
  /** Ends the question and asks for the answer. */
  ask(): void;
  /** Stops the answer. */
  interrupt(): void;
  close(): void;
}

interface SessionOptions {
  readonly model: string;
  /** Samples a second that the model expects. */
  readonly rate: number;
  /** The settings of the session, as the upstream takes them. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly onEvent: (event: unknown) => void;
  /** Called once, when the session is over; without an error when it was closed here. */
  readonly onEnd: (error?: unknown) => void;
}

/** Opens the microphone and a session with the model. */
export async function openSession(
  api: Pick<Api, 'call' | 'subscribe'>,
  { model, rate, config, onEvent, onEnd }: SessionOptions,
): Promise<RealtimeSession> {
  const ending = new AbortController();
  const speaker = createSpeaker();
  let microphone: Microphone | undefined;
  let sessionId: string | undefined;

  function end(error?: unknown): void {
    if (ending.signal.aborted) return;
    ending.abort();
    microphone?.close();
    speaker.close();
    // One that the upstream has ended is gone already.
    if (sessionId !== undefined)
      void api.call('realtime.stop', { session_id: sessionId }).catch(() => undefined);
    onEnd(error);
  }

  const sender = createAudioSender({
    send: async ({ type, ...fields }) => {
      if (sessionId !== undefined)
        await api.call('realtime.event', {
          session_id: sessionId,
          event: { type, ...fields },
        });
    },
    onError: end,
  });

  async function follow(streamId: string): Promise<void> {
    for await (const event of api.subscribe(streamId, ending.signal)) {
      if (!('method' in event) || event.method !== 'realtime.event') continue;
      const sound = soundOf(event.params.event);
      if (sound !== undefined) speaker.play(bytesOf(sound));
      onEvent(event.params.event);
    }
    throw new Error('the session has ended');
  }

  try {
    microphone = await openMicrophone({ rate, onAudio: (audio) => sender.sendAudio(audio) });
    const started = await api.call('realtime.start', { model, config: { ...config } });
    sessionId = started.session_id;
    follow(started.stream_session).catch(end);
  } catch (error) {
    end(error);
    throw error;
  }
  const opened = microphone;
  return {
    listen() {
      speaker.hush();
      opened.setOn(true);
    },
    ask() {
      opened.setOn(false);
      sender.send({ type: 'input_audio_buffer.commit' });
      sender.send({ type: 'response.create' });
    },
    interrupt() {
      speaker.hush();
      sender.send({ type: 'response.cancel' });
    },
    close: () => end(),
  };
}
