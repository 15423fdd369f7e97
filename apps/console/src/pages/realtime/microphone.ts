import { createResampler, pcm16Of } from './pcm16.ts';
import workletUrl from './microphone-worklet.ts?worker&url';

/** A microphone that is open. */
export interface Microphone {
  /** Whether what it hears is passed on. */
  setOn(isOn: boolean): void;
  close(): void;
}

interface MicrophoneOptions {
  /** Samples a second. */
  readonly rate: number;
  /** Gets 16-bit samples. */
  readonly onAudio: (audio: Uint8Array) => void;
}

/** Asks the user for the microphone. The browser indicates that it is open; until it is on, nothing of it is used. */
export async function openMicrophone({ rate, onAudio }: MicrophoneOptions): Promise<Microphone> {
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
  });
  const context = new AudioContext();
  let isOn = false;
  const close = (): void => {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  };
  try {
    await context.audioWorklet.addModule(workletUrl);
    await context.resume();
  } catch (error) {
    close();
    throw error;
  }
  const processor = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
  const resample = createResampler(context.sampleRate, rate);
  processor.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
    if (isOn) onAudio(pcm16Of(resample(data)));
  });
  processor.port.start();
  context.createMediaStreamSource(stream).connect(processor);
  return {
    setOn(next) {
      isOn = next;
    },
    close,
  };
}

/** Whether this page may have a microphone at all: only over https, or on this machine. */
export const hasMicrophone = (): boolean => navigator.mediaDevices !== undefined;
