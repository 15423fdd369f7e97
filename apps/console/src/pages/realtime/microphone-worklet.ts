// Runs beside the page, in the thread of the audio: it only passes on what the microphone hears.

interface WorkletScope {
  AudioWorkletProcessor: new () => { readonly port: MessagePort };
  readonly registerProcessor: (name: string, processor: unknown) => void;
}

const { AudioWorkletProcessor, registerProcessor } = globalThis as unknown as WorkletScope;

class MicrophoneProcessor extends AudioWorkletProcessor {
  process(inputs: readonly (readonly Float32Array[])[]): boolean {
    const channel = inputs[0]?.[0];
    // A port has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    if (channel !== undefined) this.port.postMessage(channel.slice());
    return true;
  }
}

registerProcessor('microphone', MicrophoneProcessor);
