import type { ChatRequest } from './chat-request.ts';
import { quote } from './demo-text.ts';
import { questionOf } from './question.ts';
import type { ToolCall } from './tool-calls.ts';

const QUOTE_CHARACTERS_MAX = 100;

/** What the demo model thinks before it answers: why it answers with text, JSON or a call. */
export function demoReasoning(request: ChatRequest, calls: readonly ToolCall[]): string {
  const { text, since } = questionOf(request);
  const results = since.filter(({ role }) => role === 'tool').length;
  return [
    `The user wrote: "${quote(text, QUOTE_CHARACTERS_MAX)}".`,
    results === 0
      ? ''
      : `There ${results === 1 ? 'is one result' : `are ${results} results`} of tools.`,
    decision(request, calls),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function decision({ tools, json }: ChatRequest, calls: readonly ToolCall[]): string {
  if (calls.length > 0) return `I call ${calls.map(({ name }) => name).join(' and ')}.`;
  const offered = tools.length === 0 ? '' : 'No other tool is needed. ';
  return `${offered}I answer with ${json === undefined ? 'a short text' : 'JSON'}.`;
}
