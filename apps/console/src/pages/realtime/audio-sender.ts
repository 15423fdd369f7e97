import { base64Of } from './pcm16.ts';

/** An event for the model. */
export interface ClientEvent {
  readonly type:
    | 'input_audio_buffer.append'
    | 'input_audio_buffer.commit'
    | 'input_audio_buffer.clear'
    | 'response.create'
    | 'response.cancel';
  readonly audio?: string;
}

/** Sends events one after the other, because calls that are made at the same time can arrive in another order. */
export interface AudioSender {
  /** Sends audio; what gathers while a call is on its way is one event. */
  sendAudio(audio: Uint8Array): void;
  send(event: ClientEvent): void;
}

interface AudioSenderOptions {
  readonly send: (event: ClientEvent) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

/** A second and a half at 16 kHz, far below what a call may carry. */
const AUDIO_BYTES_PER_EVENT = 48_000;
/** About half a minute: a connection that is so slow cannot be used to talk. */
const AUDIO_BYTES_MAX = 1_000_000;

export function createAudioSender({ send, onError }: AudioSenderOptions): AudioSender {
  let queue: (ClientEvent | Uint8Array)[] = [];
  let audioBytes = 0;
  let isSending = false;

  /** The next event: the audio at the front as one, or another event. */
  function take(): ClientEvent | undefined {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (let first = queue[0]; first instanceof Uint8Array; first = queue[0]) {
      if (bytes > 0 && bytes + first.length > AUDIO_BYTES_PER_EVENT) break;
      pieces.push(first);
      bytes += first.length;
      queue.shift();
    }
    audioBytes -= bytes;
    if (bytes > 0)
      return { type: 'input_audio_buffer.append', audio: base64Of(joined(pieces, bytes)) };
    const event = queue.shift();
    return event instanceof Uint8Array ? undefined : event;
  }

  async function run(): Promise<void> {
    isSending = true;
    try {
      for (let event = take(); event !== undefined; event = take()) await send(event);
    } catch (error) {
      queue = [];
      audioBytes = 0;
      onError(error);
    }
    isSending = false;
  }

  function add(item: ClientEvent | Uint8Array): void {
    queue.push(item);
    if (!isSending) void run();
  }

  return {
    sendAudio(audio) {
      if (audio.length === 0) return;
      audioBytes += audio.length;
      if (audioBytes <= AUDIO_BYTES_MAX) return add(audio);
      queue = [];
      audioBytes = 0;
      return onError(new Error('the connection is too slow for the microphone'));
    },
    send: add,
  };
}

function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let start = 0;
  for (const piece of pieces) {
    whole.set(piece, start);
    start += piece.length;
  }
  return whole;
}
