import { describeAttachments } from './attachments.ts';
import type { ChatMessage, ChatRequest } from './chat-request.ts';
import { questionOf } from './question.ts';

const QUOTE_CHARACTERS_MAX = 400;
const RESULTS_MAX = 8;

/** The text of the built-in model: its name, the user's message, and how to use a real model. */
export function demoText(request: ChatRequest): string {
  const { model, messages } = request;
  const { text, since } = questionOf(request);
  const results = since.filter(({ role }) => role === 'tool');
  if (results.length > 0) return resultText(results, messages);
  const sentences = [
    `Hello! This is ${model}, the built-in demo model.`,
    `You wrote: "${quote(text)}".`,
    describeAttachments(messages.flatMap(({ attachments }) => attachments)),
    'I only repeat your message, but this response was routed, streamed and metered like any other.',
    'To use a real model, register a backend and set its model name in the same request.',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function resultText(results: readonly ChatMessage[], messages: readonly ChatMessage[]): string {
  const names = new Map(
    messages.flatMap(({ toolCalls }) => toolCalls.map(({ id, name }) => [id, name] as const)),
  );
  const sentences = results.slice(-RESULTS_MAX).map(({ text, toolCallId }) => {
    const name = names.get(toolCallId ?? '');
    return `The tool${name === undefined ? '' : ` ${name}`} answered: "${quote(text)}".`;
  });
  return [...sentences, 'A real model would now summarize it.'].join(' ');
}

/** The beginning of a text. */
export function quote(text: string, charactersMax = QUOTE_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  // Some characters are two units of a string: half of one is dropped.
  return `${text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
