import {
  ServiceError,
  type AssistantPart,
  type Turn,
  type TurnMessage,
  type UserPart,
  type UpstreamTurn,
} from '@model-gateway/contracts';
import { TOOL_ERROR } from '@model-gateway/dialects';
import { createInnerJson, numberOf, type ParseInnerJson } from '@model-gateway/kernel';
import { assertOneAnswer, cannotSend } from '../errors/cannot-send.ts';
import { isFields } from '../fields.ts';
import { hasDetail, leftOut } from '../left-out.ts';
import { isNewer, thinkingOf } from './thinking.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly Fields[];
}

/** Newer models refuse a history in which the first call of a reply has no signature, unless it has this one. */
const NO_SIGNATURE = 'skip_thought_signature_validator';
/** The fields besides those of a turn that have a counterpart. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'seed',
  'presence_penalty',
  'frequency_penalty',
]);

/** A request of `generateContent`. */
interface GenerateRequest {
  readonly body: Fields;
  /** The fields of the chat body that this API does not have. */
  readonly ignored: readonly string[];
}

/** A turn as a request of `generateContent`. */
export function generateRequest({ turn, lost: names }: UpstreamTurn): GenerateRequest {
  const lost = names.filter((name) => name !== TOOL_ERROR);
  return { body: bodyOf(turn), ignored: [...ignoredOf(turn), ...lost] };
}

function ignoredOf(turn: Turn): readonly string[] {
  const { tools, parallelToolCalls, user, messages } = turn;
  return [
    ...(parallelToolCalls === false ? ['parallel_tool_calls'] : []),
    ...(tools.some(({ strict }) => strict === true) ? ['tools.strict'] : []),
    ...(user === undefined ? [] : ['user']),
    ...(thinkingOf(turn)?.isLeftOut === true ? ['reasoning_effort'] : []),
    ...(hasDetail(messages) ? ['image_url.detail'] : []),
    ...leftOut(turn, KNOWN_FIELDS),
  ];
}

function bodyOf(turn: Turn): Fields {
  const system = turn.messages.flatMap((message) =>
    message.role === 'system' ? message.parts.map(({ text }) => ({ text })) : [],
  );
  const generationConfig = configOf(turn);
  return {
    contents: contentsOf(turn),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...toolFields(turn),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
}

/** Consecutive messages of one role are one content; results of tools are the user's. */
function contentsOf({ messages, model }: Turn): readonly Content[] {
  const names = new Map<string, string>();
  const contents: { role: Content['role']; parts: Fields[] }[] = [];
  const parse = createInnerJson();
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'assistant') {
      for (const part of message.parts)
        if (part.type === 'tool_call') names.set(part.id, part.name);
    }
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = partsOf(message, model, { names, parse });
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts: [...parts] });
  }
  return contents;
}

function partsOf(
  message: Exclude<TurnMessage, { role: 'system' }>,
  model: string,
  { names, parse }: { readonly names: ReadonlyMap<string, string>; readonly parse: ParseInnerJson },
): readonly Fields[] {
  if (message.role === 'assistant') {
    const first = message.parts.find((part) => part.type === 'tool_call');
    const isUnsigned = isNewer(model) && first?.signature === undefined;
    return message.parts.flatMap((part) =>
      replyParts(part, parse, isUnsigned && part === first ? NO_SIGNATURE : undefined),
    );
  }
  if (message.role === 'user') return message.parts.map(userPart);
  const text = message.parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
  const others = message.parts.flatMap((part) => (part.type === 'text' ? [] : [userPart(part)]));
  const { callId: id } = message;
  const name = names.get(id) ?? id;
  const response = message.isError === true ? { error: text } : resultOf(text, parse);
  return [{ functionResponse: { id, name, response } }, ...others];
}

/** A result is an object in this API. */
function resultOf(text: string, parse: ParseInnerJson): unknown {
  const value = parse(text);
  return isFields(value) && numberOf(value) === undefined ? value : { result: text };
}

function replyParts(
  part: AssistantPart,
  parse: ParseInnerJson,
  defaultSignature: string | undefined,
): readonly Fields[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'image':
      return [mediaPart(part.source)];
    case 'reasoning':
      // Thoughts are not sent back; their signatures are with the calls.
      return [];
    case 'tool_call': {
      const { id, name, signature = defaultSignature } = part;
      const call = { functionCall: { id, name, args: argumentsOf(part.arguments, parse) } };
      return [signature === undefined ? call : { ...call, thoughtSignature: signature }];
    }
  }
}

function argumentsOf(text: string, parse: ParseInnerJson): unknown {
  const value = text.trim() === '' ? {} : parse(text);
  if (typeof value === 'object' && value !== null && numberOf(value) === undefined) return value;
  throw refused(
    'tool_calls: the arguments of a tool call are not a JSON object, or have too many values',
  );
}

function userPart(part: UserPart): Fields {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
      return mediaPart(part.source);
    case 'file':
      if (part.source.type === 'id') return { fileData: { fileUri: part.source.id } };
      return mediaPart(part.source);
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } };
  }
}

const mediaPart = (source: Extract<UserPart, { type: 'image' }>['source']): Fields =>
  source.type === 'url'
    ? { fileData: { fileUri: source.url } }
    : { inlineData: { mimeType: source.mediaType, data: source.data } };

function toolFields({ tools, toolChoice }: Turn): Fields {
  if (tools.length === 0) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }));
  const config = callingConfig(toolChoice);
  return {
    tools: [{ functionDeclarations }],
    ...(config === undefined ? {} : { toolConfig: { functionCallingConfig: config } }),
  };
}

function callingConfig(choice: Turn['toolChoice']): Fields | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice] };
}

function configOf(turn: Turn): Fields {
  const { output, further = {} } = turn;
  assertOneAnswer('gemini', further['n']);
  if (further['logprobs'] === true) {
    throw cannotSend('gemini', 'logprobs', 'give no probabilities');
  }
  const fields: Fields = {
    temperature: turn.temperature,
    topP: turn.topP,
    topK: turn.topK,
    maxOutputTokens: turn.maxTokens,
    stopSequences: turn.stop,
    seed: further['seed'],
    presencePenalty: further['presence_penalty'],
    frequencyPenalty: further['frequency_penalty'],
    responseMimeType: output === undefined ? undefined : 'application/json',
    responseJsonSchema: output?.type === 'json_schema' ? output.schema : undefined,
    responseModalities: modalitiesOf(further['modalities']),
    thinkingConfig: thinkingOf(turn)?.config,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given);
}

/** Texts are given without being asked for. */
const modalitiesOf = (given: unknown): readonly string[] | undefined =>
  Array.isArray(given) && given.includes('image')
    ? ['TEXT', 'IMAGE'].filter((name) => given.includes(name.toLowerCase()))
    : undefined;

const refused = (message: string): ServiceError => new ServiceError('invalid_request', message);
