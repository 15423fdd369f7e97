import type { ChangeText, TurnMessage } from '@model-gateway/contracts';
import { z } from 'zod';
import type { DialectRequest, OwnRequest } from '../dialect.ts';
import { present } from '../turn/fields.ts';
import { changedFields, changedMessage } from '../turn/texts.ts';
import { responsesBodySchema, type Item, type ResponsesBody } from './body.ts';
import { FieldProblem } from './field-problem.ts';
import { createIgnored } from './ignored.ts';
import { typeOf } from './items.ts';
import { refuseFields } from './other-fields.ts';
import { relayedBody } from './relayed-request.ts';
import { translate, type Translation } from './translate.ts';

/** The name of this API among the APIs, and among those that a backend speaks. */
export const RESPONSES_API = 'responses';

/** A request of `POST /v1/responses`. */
export interface ResponsesRequest extends DialectRequest, Translation {
  readonly own: OwnRequest;
  readonly body: ResponsesBody;
  /** The items of this request, without those of earlier responses. */
  readonly input: readonly Item[];
  /** Of the response. Like the next two, it is set when the request is completed. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly isStored: boolean;
  /** What completed it. */
  readonly context?: ResponsesContext;
}

/** What completes a request. */
export interface ResponsesContext {
  readonly id: string;
  readonly createdAt: number;
  readonly isStored: boolean;
  /** The items of earlier responses, oldest first. */
  readonly previous: readonly Item[];
  /** The items that `item_reference` names, by their ids. */
  readonly referenced: ReadonlyMap<string, Item>;
}

/** Checks a body and translates what can be translated without earlier responses. */
export const responsesRequestSchema: z.ZodType<ResponsesRequest> = responsesBodySchema.transform(
  (body, context): ResponsesRequest => {
    try {
      return requestOf(body);
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      context.addIssue({ code: 'custom', path: [...error.path], message: error.message });
      return z.NEVER;
    }
  },
);

function requestOf(body: ResponsesBody): ResponsesRequest {
  refuseFields(body);
  const input = inputOf(body);
  for (const [at, item] of input.entries()) {
    if (!isNoReference(item) && typeof item['id'] !== 'string')
      throw new FieldProblem(['input', at, 'id'], 'required: the id of the item that is meant');
  }
  const translation = translate(body, input.filter(isNoReference), ['input']);
  return {
    model: body.model,
    models: body.models,
    ...translation,
    own: ownOf(relayedBody(body, input.filter(isNoReference), createIgnored()), translation),
    body,
    input,
    id: '',
    createdAt: 0,
    isStored: false,
  };
}

const isNoReference = (item: Item): boolean => typeOf(item) !== 'item_reference';

function inputOf({ input, previous_response_id: previous }: ResponsesBody): readonly Item[] {
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }];
    return [{ type: 'message', role: 'user', content }];
  }
  if ((input ?? []).length === 0 && typeof previous !== 'string') {
    throw new FieldProblem(['input'], 'required: a text or a list of items');
  }
  return input ?? [];
}

/** The ids that `item_reference` names. */
export const referencesOf = ({ input }: Pick<ResponsesRequest, 'input'>): readonly string[] =>
  input.flatMap((item) =>
    isNoReference(item) || typeof item['id'] !== 'string' ? [] : [item['id']],
  );

/** The items of a request, with those that it references in the place of their references. */
export const resolvedInput = (
  { input }: Pick<ResponsesRequest, 'input'>,
  referenced: ReadonlyMap<string, Item>,
): readonly Item[] =>
  input.map((item) => (isNoReference(item) ? item : (referenced.get(String(item['id'])) ?? item)));

/** The request with its id, and with the items of earlier responses before its own. */
export function completeRequest(
  request: ResponsesRequest,
  context: ResponsesContext,
): ResponsesRequest {
  const { id, createdAt, isStored, previous, referenced } = context;
  const { body } = request;
  const input = resolvedInput(request, referenced);
  const items = [...previous, ...input];
  const isSame = previous.length === 0 && referenced.size === 0;
  const translated = isSame ? request : translate(body, items, ['previous_response_id']);
  const leftOut = createIgnored();
  const refusal = request.refusal ?? translated.refusal;
  const value = relayedBody(body, items, leftOut);
  // A body that cannot be stored is noted in both lists before.
  const noted = request.ignoredInRelay ?? [];
  return {
    ...request,
    ...translated,
    own: ownOf(value, { ...translated, refusal }),
    refusal,
    ignored: [...new Set([...request.ignored, ...translated.ignored])],
    ignoredInRelay: [...noted, ...leftOut.list()],
    id,
    createdAt,
    isStored,
    input,
    context,
  };
}

/** The request with other texts, also of earlier responses; what was noted of it stays noted. */
export function editedResponses(
  { body, context, ignored, ignoredInRelay }: ResponsesRequest,
  change: ChangeText,
): ResponsesRequest {
  const changed = (item: Item): Item => changedItem(item, change);
  const { instructions, input } = body;
  const edited = requestOf({
    ...body,
    ...present({
      instructions: instructions && change({ role: 'system', text: instructions }),
      input:
        typeof input === 'string'
          ? change({ role: 'user', text: input })
          : input?.map((item) => changed(item)),
    }),
  });
  const whole =
    context === undefined
      ? edited
      : completeRequest(edited, {
          ...context,
          previous: context.previous.map(changed),
          referenced: new Map([...context.referenced].map(([id, item]) => [id, changed(item)])),
        });
  return { ...whole, ignored, ignoredInRelay };
}

/** A message, the result of a tool, or a thought. */
function changedItem(item: Item, change: ChangeText): Item {
  if (typeOf(item) === 'message') return changedMessage(item, change);
  return changedFields(
    changedFields(item, ['output'], 'tool', change),
    ['summary'],
    'assistant',
    change,
  );
}

function ownOf(
  value: ReturnType<typeof relayedBody>,
  { messages, refusal }: Pick<Translation, 'messages' | 'refusal'>,
): OwnRequest {
  return {
    api: RESPONSES_API,
    messages,
    bodyWith: (added) => ({ ...value, input: [...added.map(itemOf), ...value.input] }),
    refusal,
    lost: [],
  };
}

/** What the gateway adds to the items of the client. */
function itemOf({ role, parts }: TurnMessage): Item {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}
