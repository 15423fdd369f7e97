import {
  fieldsOf,
  listOf,
  present,
  type ModelRequest,
  type RequestMessage,
  type Call,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import { readTool } from './chat-api.ts';
import { events, pieces, type UpstreamApi } from './upstream.ts';

const FINISH_REASONS: Readonly<Record<ModelAnswer['finish'], string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
};

/** The number of tokens that each effort may think. */
const BUDGETS: Readonly<Record<string, number>> = { low: 1_024, medium: 8_192, high: 24_576 };

/** The kind `gemini`. */
export const geminiApi: UpstreamApi = {
  registration: { type: 'gemini' },
  listing: { models: [{ name: 'models/m', supportedGenerationMethods: ['generateContent'] }] },
  whole: (said) => answerOf(partsOf(said), said),
  stream: (said) =>
    events([...streamedParts(said).map((part) => answerOf([part])), answerOf([], said)]),
  read: readBody,
  error: (status, message) => ({ error: { code: status, message, status: 'WHY' } }),
  gets: (asked) => ({ ...asked, messages: asked.messages.map(withoutThought) }),
  says: ({ thought, ...said }) => present({ ...said, thought: thought && { text: thought.text } }),
};

/** Thoughts are not sent back, only their signatures with the calls. */
function withoutThought(message: RequestMessage): RequestMessage {
  if (message.role !== 'assistant') return message;
  const { thought: _thought, ...reply } = message;
  return reply;
}

const partsOf = ({ thought, text, calls = [] }: ModelAnswer): readonly Fields[] => [
  ...(thought === undefined ? [] : [{ text: thought.text, thought: true }]),
  ...(text === undefined ? [] : [{ text }]),
  ...calls.map(callPart),
];

const callPart = ({ id, name, arguments: args, signature }: Call): Fields => ({
  functionCall: { id, name, args },
  ...(signature === undefined ? {} : { thoughtSignature: signature }),
});

const streamedParts = (said: ModelAnswer): readonly Fields[] =>
  partsOf(said).flatMap((part) =>
    typeof part['text'] === 'string'
      ? pieces(part['text']).map((text) => ({ ...part, text }))
      : [part],
  );

const answerOf = (parts: readonly Fields[], ended?: ModelAnswer): Fields => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts },
      ...(ended === undefined ? {} : { finishReason: FINISH_REASONS[ended.finish] }),
    },
  ],
  ...(ended === undefined ? {} : { usageMetadata: usageOf(ended) }),
  modelVersion: 'm',
  responseId: 'r1',
});

function usageOf({ usage: { prompt, completion, cached, reasoning } }: ModelAnswer): Fields {
  return present({
    promptTokenCount: prompt,
    candidatesTokenCount: completion - (reasoning ?? 0),
    thoughtsTokenCount: reasoning,
    cachedContentTokenCount: cached,
    totalTokenCount: prompt + completion,
  });
}

function readBody(body: Fields): ModelRequest {
  const config = fieldsOf(body['generationConfig']);
  const system = listOf(fieldsOf(body['systemInstruction'])['parts'])[0];
  const tools = listOf(body['tools']).flatMap((tool) =>
    listOf(tool['functionDeclarations']).map(({ parametersJsonSchema: parameters, ...given }) =>
      readTool({ ...given, parameters }),
    ),
  );
  const calling = fieldsOf(fieldsOf(body['toolConfig'])['functionCallingConfig']);
  const thinking = config['thinkingConfig'];
  return present({
    system: system?.['text'] as string | undefined,
    messages: listOf(body['contents']).flatMap(readContent),
    tools: tools.length === 0 ? undefined : tools,
    toolChoice: (calling['allowedFunctionNames'] as string[] | undefined)?.[0],
    schema: config['responseJsonSchema'] as object | undefined,
    effort: thinking === undefined ? undefined : effortOf(fieldsOf(thinking)),
    maxTokens: config['maxOutputTokens'] as number | undefined,
  });
}

const effortOf = ({ thinkingBudget }: Fields): string =>
  Object.entries(BUDGETS).find(([, budget]) => budget === thinkingBudget)?.[0] ?? 'none';

function readContent({ role, parts: given }: Fields): readonly RequestMessage[] {
  const parts = listOf(given);
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [readResult(fieldsOf(functionResponse))],
  );
  if (results.length > 0) return results;
  const text = parts.map((part) => (part['text'] as string) ?? '').join('');
  if (role === 'user') {
    const media = parts.find((part) => part['text'] === undefined);
    return [present({ role, text, media: media && readMedia(media) })];
  }
  const calls = parts.flatMap(({ functionCall, thoughtSignature }) => {
    if (functionCall === undefined) return [];
    const { id, name, args } = fieldsOf(functionCall);
    const call = { id, name, arguments: args, signature: thoughtSignature } as Call;
    return [present(call)];
  });
  return [
    present({
      role: 'assistant',
      text: text === '' ? undefined : text,
      calls: calls.length === 0 ? undefined : calls,
    }),
  ];
}

function readResult({ id, response }: Fields): RequestMessage {
  const { result, error } = fieldsOf(response);
  return present({
    role: 'tool' as const,
    id: String(id),
    text: String(error ?? result),
    isError: error === undefined ? undefined : true,
  });
}

function readMedia({ inlineData, fileData }: Fields): Media {
  if (fileData !== undefined) {
    return { type: 'image', url: String(fieldsOf(fileData)['fileUri']) };
  }
  const { mimeType, data } = fieldsOf(inlineData);
  const type = String(mimeType).split('/')[0];
  if (type === 'image' || type === 'audio') return { type, data: String(data) };
  return { type: 'document', data: String(data) };
}
