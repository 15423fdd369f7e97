/** What a client asks, in the words of no API. */
export interface ModelRequest {
  readonly system?: string | undefined;
  readonly messages: readonly RequestMessage[];
  readonly tools?: readonly RequestTool[] | undefined;
  /** The tool that must be called. */
  readonly toolChoice?: string | undefined;
  /** The JSON Schema of the answer. */
  readonly schema?: object | undefined;
  readonly effort?: string | undefined;
  readonly maxTokens?: number | undefined;
}

export type RequestMessage =
  | { readonly role: 'user'; readonly text: string; readonly media?: Media | undefined }
  | ({ readonly role: 'assistant' } & Reply)
  | ({ readonly role: 'tool' } & Result);

/** An image, a document or audio that a user sends. */
export type Media =
  | { readonly type: 'image' | 'document' | 'audio'; readonly data: string }
  | { readonly type: 'image'; readonly url: string };

export interface RequestTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
}

/** The result of a tool. */
export interface Result {
  readonly id: string;
  readonly text: string;
  /** Whether the tool failed. */
  readonly isError?: boolean | undefined;
}

/** A result in an API that cannot say whether the tool failed. */
export const withoutError = (message: RequestMessage): RequestMessage => {
  if (message.role !== 'tool') return message;
  const { isError: _isError, ...result } = message;
  return result;
};

/** What a model thought; the signature proves to its upstream that it did. */
interface Thought {
  readonly text: string;
  readonly signature?: string | undefined;
}

/** What a model says. */
export interface Reply {
  readonly thought?: Thought | undefined;
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
  readonly calls?: readonly Call[] | undefined;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
  readonly signature?: string | undefined;
}

/** A whole answer. */
export interface ModelAnswer extends Reply {
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage: Usage;
}

/** The counts of an answer: the prompt includes what was cached, the completion includes the reasoning. */
export interface Usage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number | undefined;
  readonly reasoning?: number | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** The fields that are not undefined. */
export function present<Given extends object>(fields: Given): Given {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given;
}

/** A list of objects, or none. */
export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as Fields[]) : [];

/** A text; nothing for anything else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;

export const PNG = 'data:image/png;base64,';
export const PDF = 'data:application/pdf;base64,';

/** A call in an API that has no signatures of calls. */
export const unsigned = ({ signature: _signature, ...call }: Call): Call => call;
