import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { ClientName } from '../matrix/features.ts';
import type { Heard } from './open-zoo.ts';

/** What the official client of an API makes of an answer: its text and the names of its calls, or the error that it throws. */
export type OfficialRead =
  | { readonly text: string; readonly calls: readonly string[] }
  | { readonly status: unknown; readonly message: string };

export async function readOfficially(client: ClientName, heard: Heard): Promise<OfficialRead> {
  try {
    return await READERS[client](heard);
  } catch (error) {
    return { status: Reflect.get(Object(error), 'status'), message: messageOf(error) };
  }
}

/** The vectors that the official client reads. */
export const readVectors = (heard: Heard, input: readonly string[]) =>
  new OpenAI(replayed(heard)).embeddings.create({
    model: 'm',
    input: [...input],
    encoding_format: 'float',
  });

/** The Responses client throws the event. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : JSON.stringify(error);

/** A client whose request gets the bytes that were heard. */
const replayed = ({ text, status, headers }: Heard) => ({
  apiKey: 'unused',
  baseURL: 'http://127.0.0.1',
  maxRetries: 0,
  fetch: async () => new Response(text, { status, headers }),
});

const messages = [{ role: 'user' as const, content: 'Hello!' }];

const READERS: Readonly<Record<ClientName, (heard: Heard) => Promise<OfficialRead>>> = {
  async chat(heard) {
    const { chat } = new OpenAI(replayed(heard));
    const body = { model: 'm', messages };
    const { choices } = heard.isStream
      ? await chat.completions.stream(body).finalChatCompletion()
      : await chat.completions.create(body);
    const message = choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    return {
      text: message?.content ?? '',
      calls: calls.flatMap((call) => (call.type === 'function' ? call.function.name : [])),
    };
  },
  async responses(heard) {
    const { responses } = new OpenAI(replayed(heard));
    const body = { model: 'm', input: 'Hello!' };
    const { output, output_text: text } = heard.isStream
      ? await responses.stream(body).finalResponse()
      : await responses.create(body);
    return {
      text,
      calls: output.flatMap((item) => (item.type === 'function_call' ? item.name : [])),
    };
  },
  async messages(heard) {
    const { messages: api } = new Anthropic(replayed(heard));
    const body = { model: 'm', max_tokens: 100, messages };
    const { content } = heard.isStream
      ? await api.stream(body).finalMessage()
      : await api.create(body);
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) => (block.type === 'tool_use' ? block.name : [])),
    };
  },
};
