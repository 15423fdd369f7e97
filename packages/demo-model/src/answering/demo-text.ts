import type { ChatRequest } from './chat-request.ts';

const QUOTE_CHARACTERS_MAX = 400;

/** What the built-in model says: who it is, what it was told, and how to get a real one. */
export function demoText({ model, messages }: ChatRequest): string {
  const last = messages.at(-1);
  if (last?.role === 'tool') {
    return `The tool answered: "${quote(last.text)}". A real model would now put that into its own words.`;
  }
  const images = messages.reduce((sum, message) => sum + message.images, 0);
  const sentences = [
    `Hello! This is ${model}, the built-in demo model.`,
    `You wrote: "${quote(messages.findLast(({ role }) => role === 'user')?.text ?? '')}".`,
    images === 0 ? '' : `You also sent ${images === 1 ? 'an image' : `${images} images`}.`,
    'I only repeat what I am told, but this answer took the way of any other: routed, streamed and metered.',
    'Register a backend of your own and put its model name in the same request to talk to a real one.',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function quote(text: string): string {
  if (text.length <= QUOTE_CHARACTERS_MAX) return text;
  // A character outside the basic plane is two units of a string: half of one is dropped.
  return `${text.slice(0, QUOTE_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
