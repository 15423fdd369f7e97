import { numberOf } from '@model-gateway/kernel';
import type { ResponsesBody } from './body.ts';
import { FieldProblem } from './field-problem.ts';
import type { Ignored } from './ignored.ts';
import { responsesBodySchema } from './body.ts';

const KNOWN = new Set([...Object.keys(responsesBodySchema.shape), 'conversation']);

/** What a client may ask to be included, and whether the gateway has it. */
const INCLUDES: ReadonlyMap<string, boolean> = new Map([
  ['reasoning.encrypted_content', true],
  ['message.output_text.logprobs', false],
  ['message.input_image.image_url', true],
  ['file_search_call.results', false],
  ['web_search_call.results', false],
  ['web_search_call.action.sources', false],
  ['computer_call_output.output.image_url', false],
  ['code_interpreter_call.outputs', false],
]);

/** Fields without which an answer would not be the one that was asked for. */
const REFUSED: Readonly<Record<string, string>> = {
  conversation: "is not supported; use 'previous_response_id', or 'conversation_id' of the gateway",
  prompt: 'is not supported: the gateway stores no prompt templates; send the text itself',
  moderation: 'is not supported; call a moderation model by itself',
};

/** Refuses the fields that cannot be translated. */
export function refuseFields(body: ResponsesBody): void {
  if (body.background === true) {
    const message = 'the gateway answers in the foreground only; leave it out and use a stream';
    throw new FieldProblem(['background'], message);
  }
  for (const [name, reason] of Object.entries(REFUSED)) {
    if ((body[name] ?? null) !== null) throw new FieldProblem([name], reason);
  }
  for (const [at, name] of (body.include ?? []).entries()) {
    if (!INCLUDES.has(name)) throw new FieldProblem(['include', at], `'${name}' is not known`);
  }
}

/** Names the fields that are left out. */
export function noteIgnored(body: ResponsesBody, ignored: Ignored): void {
  for (const name of body.include ?? []) {
    if (INCLUDES.get(name) === false) ignored.add(`include.${name}`);
  }
  // The gateway shortens no input, and only the service that runs a model knows its cache.
  if (body.truncation === 'auto') ignored.add('truncation');
  // Only the tools that a provider runs count in it.
  if (numberOf(body.max_tool_calls) !== undefined) ignored.add('max_tool_calls');
  if (typeof body.prompt_cache_key === 'string') ignored.add('prompt_cache_key');
  if (body.stream_options?.['include_obfuscation'] === true) {
    ignored.add('stream_options.include_obfuscation');
  }
  for (const name of Object.keys(body)) {
    if (!KNOWN.has(name) && (body[name] ?? null) !== null && !(name in REFUSED)) ignored.add(name);
  }
}
