import { samplesOf } from './pcm16.ts';

/** Plays what a model says. */
export interface Speaker {
  /** Plays 16-bit samples after what is playing. */
  play(audio: Uint8Array): void;
  /** Drops what has not been played. */
  hush(): void;
  close(): void;
}

/** What realtime models answer with. */
const RATE = 24_000;

export function createSpeaker(): Speaker {
  const context = new AudioContext();
  let playing = new Set<AudioBufferSourceNode>();
  let endsAt = 0;
  return {
    play(audio) {
      const samples = samplesOf(audio);
      if (samples.length === 0) return;
      const buffer = context.createBuffer(1, samples.length, RATE);
      buffer.copyToChannel(samples, 0);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      endsAt = Math.max(endsAt, context.currentTime);
      source.start(endsAt);
      endsAt += buffer.duration;
      playing.add(source);
      source.addEventListener('ended', () => playing.delete(source));
    },
    hush() {
      for (const source of playing) source.stop();
      playing = new Set();
      endsAt = 0;
    },
    close: () => void context.close(),
  };
}
