import type { ChatRequest } from './chat-request.ts';

const QUOTE_CHARACTERS_MAX = 400;

/** The text of the built-in model: its name, the user's message, and how to use a real model. */
export function demoText({ model, messages }: ChatRequest): string {
  const last = messages.at(-1);
  if (last?.role === 'tool') {
    return `The tool answered: "${quote(last.text)}". A real model would now summarize it.`;
  }
  const images = messages.reduce((sum, message) => sum + message.images, 0);
  const sentences = [
    `Hello! This is ${model}, the built-in demo model.`,
    `You wrote: "${quote(messages.findLast(({ role }) => role === 'user')?.text ?? '')}".`,
    images === 0 ? '' : `You also sent ${images === 1 ? 'an image' : `${images} images`}.`,
    'I only repeat your message, but this response was routed, streamed and metered like any other.',
    'To use a real model, register a backend and set its model name in the same request.',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function quote(text: string): string {
  if (text.length <= QUOTE_CHARACTERS_MAX) return text;
  // Some characters are two units of a string: half of one is dropped.
  return `${text.slice(0, QUOTE_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
