import { createHash } from 'node:crypto';
import {
  argumentPieces,
  countCompletionTokens,
  parseJson,
  type Answer,
  type Chunk,
  type ToolCall,
} from '@model-gateway/demo-model/answers';

interface ChatOptions {
  readonly model: string;
  readonly answer: Answer;
  /** Whether token counts are included. */
  readonly counts: boolean;
}

const MODEL_BYTES = 522_653_767;

/** The last object of a stream; with the complete message it is also the response that is not streamed. */
function finalMessage({ model, answer, counts }: ChatOptions, message: unknown) {
  const evalCount = countCompletionTokens(answer);
  return {
    model,
    created_at: new Date().toISOString(),
    message,
    done: true,
    done_reason: answer.finishReason === 'length' ? 'length' : 'stop',
    total_duration: 1_000_000,
    load_duration: 100_000,
    // The real server omits a count of zero.
    ...(counts && answer.promptTokens > 0 ? { prompt_eval_count: answer.promptTokens } : {}),
    prompt_eval_duration: 200_000,
    ...(counts && evalCount > 0 ? { eval_count: evalCount } : {}),
    eval_duration: 700_000,
  };
}

/** The response that is not streamed. */
export function wholeMessage(options: ChatOptions) {
  const { reasoning, tokens, toolCalls } = options.answer;
  const message = messageOf(tokens.join(''), toolCalls, reasoning.join(''));
  return finalMessage(options, message);
}

/** The lines of a streamed response: one per token, one per tool call, and the last with the counts. */
export function* messageLines(options: ChatOptions & { readonly done: boolean }): Generator<Chunk> {
  const { model, answer } = options;
  const line = (message: unknown, tokens: number): Chunk => ({
    text: ndjson({ model, created_at: new Date().toISOString(), message, done: false }),
    tokens,
  });
  for (const token of answer.reasoning) yield line(messageOf('', [], token), 1);
  for (const token of answer.tokens) yield line(messageOf(token, []), 1);
  for (const call of answer.toolCalls)
    yield line(messageOf('', [call]), 1 + argumentPieces(call).length);
  if (options.done) yield { text: ndjson(finalMessage(options, messageOf('', []))), tokens: 0 };
}

/** One entry of the tag listing. */
export function tagOf(name: string) {
  return {
    name,
    model: name,
    modified_at: '2025-06-01T12:00:00.000000000Z',
    size: MODEL_BYTES,
    digest: createHash('sha256').update(name).digest('hex'),
    details: {
      parent_model: '',
      format: 'gguf',
      family: 'demo',
      families: ['demo'],
      parameter_size: '751.63M',
      quantization_level: 'Q4_K_M',
    },
  };
}

/** One line of a stream. */
export const ndjson = (value: unknown): string => `${JSON.stringify(value)}\n`;

function messageOf(content: string, toolCalls: readonly ToolCall[], thinking = '') {
  // Arguments are an object here; in the chat-completions API they are a string.
  const calls = toolCalls.map((call, index) => ({
    id: call.id,
    function: { index, name: call.name, arguments: parseJson(call.arguments) },
  }));
  return {
    role: 'assistant',
    content,
    ...(thinking === '' ? {} : { thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}
