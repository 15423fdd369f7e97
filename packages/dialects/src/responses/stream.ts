import type {
  FinishReason,
  ImagePart,
  ReasoningPart,
  TurnEvent,
  TurnUsage,
  UrlCitation,
} from '@model-gateway/contracts';
import type { EventWriter, StreamFailure, StreamHead } from '../dialect.ts';
import { annotationOf } from '../chat/url-citations.ts';
import { DONE } from '../event-marks.ts';
import type { Item } from './body.ts';
import {
  CALL_PREFIXES,
  callEnd,
  callItem,
  isWhole,
  type CallInProgress,
  type ItemStatus,
  type ShownCall,
  type ToolCall,
} from './call-item.ts';
import { streamError } from './errors.ts';
import {
  asksForSealed,
  isPlain,
  joinedThoughts,
  placeOf,
  sealReasoning,
  type OpenThought,
} from './reasoning-content.ts';
import type { ResponsesRequest } from './request.ts';
import {
  contentPart,
  messageItem,
  messageSoFar,
  type OpenMessage,
  type OpenPart,
} from './open-message.ts';
import { INCOMPLETE, responseObject, type ResponseState } from './response-object.ts';

const NO_ARGUMENTS = '{}';
/** Writes the events of a response, and collects the response itself. */
export class ResponsesStream implements EventWriter {
  readonly #request: ResponsesRequest;
  /** Of the request until the upstream has named its own. */
  #model: string;
  readonly #suffix: string;
  readonly #output: Item[] = [];
  readonly #calls = new Map<number, CallInProgress>();
  #message: OpenMessage | undefined;
  /** Citations that came before their text. */
  #citations: UrlCitation[] = [];
  #thought: OpenThought | undefined;
  #sequence = 0;
  #finish: FinishReason | undefined;
  #usage: TurnUsage | undefined;
  /** Events that are written but not yet returned. */
  #pending = '';

  constructor(request: ResponsesRequest, model = request.model) {
    this.#request = request;
    this.#model = model;
    this.#suffix = request.id.replace('resp_', '');
  }

  begin({ model }: Pick<StreamHead, 'model'>): string {
    this.#model = model;
    // Signs of life may have begun the response.
    return this.#sequence === 0 ? this.#started() : '';
  }

  alive(): string {
    if (this.#sequence === 0) return this.#started();
    const response = { ...this.#response({ status: 'in_progress' }), output: this.#outputSoFar() };
    return this.#event('response.in_progress', { response });
  }

  #started(): string {
    const response = this.#response({ status: 'in_progress' });
    return (
      this.#event('response.created', { response }) +
      this.#event('response.in_progress', { response })
    );
  }

  write(event: TurnEvent): string {
    switch (event.type) {
      case 'text':
        return event.text === '' ? '' : this.#addText('output_text', event.text);
      case 'refusal':
        return event.text === '' ? '' : this.#addText('refusal', event.text);
      case 'citation':
        return this.#addCitation(event.citation);
      case 'image':
        return this.#addImage(event);
      case 'reasoning':
        return this.#addThought(event);
      case 'tool_call':
        return this.#beginCall(event);
      case 'tool_arguments':
        return this.#addArguments(event.index, event.text);
      case 'finish':
        this.#finish = event.reason;
        return this.#closeAll();
      case 'usage':
        this.#usage = event.usage;
        return '';
    }
  }

  answer(): Item {
    this.#pending += this.#closeAll();
    const incompleteReason = INCOMPLETE[this.#finish ?? 'stop'];
    const status = incompleteReason === undefined ? 'completed' : 'incomplete';
    return this.#response({ status, incompleteReason, usage: this.#usage });
  }

  end(response: object = this.answer()): string {
    const type = INCOMPLETE[this.#finish ?? 'stop'] === undefined ? 'completed' : 'incomplete';
    return this.#pending + this.#event(`response.${type}`, { response }) + DONE;
  }

  fail(failure: StreamFailure): string {
    const error = streamError(failure);
    this.#breakOff();
    const response = this.#response({ status: 'failed', error, usage: this.#usage });
    return (
      this.#event('error', { ...error, param: null }) + this.#event('response.failed', { response })
    );
  }

  /** What was open is in the response as far as it came. */
  #breakOff(): void {
    for (const [at, item] of this.#openItems('incomplete')) this.#output[at] = item;
  }

  #outputSoFar(): Item[] {
    const output = [...this.#output];
    for (const [at, item] of this.#openItems('in_progress')) output[at] = item;
    return output;
  }

  #openItems(status: ItemStatus): (readonly [number, Item])[] {
    const message = this.#message;
    const calls = [...this.#calls.values()].flatMap(({ shown, written }) =>
      shown === undefined ? [] : [[shown.at, callItem(shown, written, status)] as const],
    );
    return message === undefined ? calls : [[message.at, messageSoFar(message, status)], ...calls];
  }

  #response(state: Omit<ResponseState, 'model' | 'output'>): Item {
    return responseObject(this.#request, {
      ...state,
      model: this.#model,
      output: [...this.#output],
    });
  }

  #event(type: string, fields: Item): string {
    const data = JSON.stringify({ type, ...fields, sequence_number: this.#sequence++ });
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  #id(prefix: string): string {
    return `${prefix}_${this.#suffix}${this.#output.length}`;
  }

  /** The status of an item that ends now. */
  get #ended(): ItemStatus {
    return INCOMPLETE[this.#finish ?? 'stop'] === undefined ? 'completed' : 'incomplete';
  }

  #addItem(item: Item): string {
    const output_index = this.#output.push(item) - 1;
    return this.#event('response.output_item.added', { output_index, item });
  }

  #endItem(output_index: number, item: Item): string {
    this.#output[output_index] = item;
    return this.#event('response.output_item.done', { output_index, item });
  }

  #addText(type: OpenPart['type'], text: string): string {
    let events = '';
    if (this.#message === undefined) events += this.#closeThought() + this.#beginMessage();
    const message = this.#message;
    if (message === undefined) return events;
    if (message.part?.type !== type)
      events += this.#closePart(message) + this.#beginPart(message, type);
    const { part } = message;
    if (part === undefined) return events;
    part.text += text;
    // Not `#event`, because this runs for each token.
    const added = `${events}${part.deltaHead}${JSON.stringify(text)},"sequence_number":${this.#sequence++}}\n\n`;
    return this.#citations.length === 0 ? added : added + this.#addWaitingCitations();
  }

  #addCitation(citation: UrlCitation): string {
    const part = this.#message?.part;
    if (part?.type !== 'output_text') {
      this.#citations.push(citation);
      return '';
    }
    const annotation = annotationOf(citation);
    const annotation_index = part.annotations.push(annotation) - 1;
    const fields = { ...part.place, annotation_index, annotation };
    return this.#event('response.output_text.annotation.added', fields);
  }

  #addWaitingCitations(): string {
    const waiting = this.#citations;
    this.#citations = [];
    return waiting.map((citation) => this.#addCitation(citation)).join('');
  }

  /** An image is an item of the tool that generates images, which is complete at once. */
  #addImage({ source }: ImagePart): string {
    if (source.type !== 'data') return '';
    const events = this.#closeThought() + this.#closeMessage();
    const item = { id: this.#id('ig'), type: 'image_generation_call', status: 'completed' };
    const added = this.#addItem({ ...item, status: 'in_progress', result: null });
    const at = this.#output.length - 1;
    return events + added + this.#endItem(at, { ...item, result: source.data });
  }

  #beginMessage(): string {
    const id = this.#id('msg');
    this.#message = { at: this.#output.length, id, content: [], part: undefined };
    return this.#addItem(messageItem(id, 'in_progress', []));
  }

  #beginPart(message: OpenMessage, type: OpenPart['type']): string {
    const place = {
      item_id: message.id,
      output_index: message.at,
      content_index: message.content.length,
    };
    const name = `response.${type}.delta`;
    const fields = JSON.stringify({
      type: name,
      ...place,
      ...(type === 'output_text' ? { logprobs: [] } : {}),
    });
    const deltaHead = `event: ${name}\ndata: ${fields.slice(0, -1)},"delta":`;
    const part: OpenPart = { type, place, deltaHead, annotations: [], text: '' };
    message.part = part;
    return this.#event('response.content_part.added', { ...place, part: contentPart(part) });
  }

  #closePart(message: OpenMessage): string {
    const { part } = message;
    if (part === undefined) return '';
    const { type, place, text } = part;
    const content = contentPart(part);
    message.content.push(content);
    message.part = undefined;
    const done =
      type === 'output_text'
        ? this.#event('response.output_text.done', { ...place, text, logprobs: [] })
        : this.#event('response.refusal.done', { ...place, refusal: text });
    return done + this.#event('response.content_part.done', { ...place, part: content });
  }

  #closeMessage(): string {
    const message = this.#message;
    if (message === undefined) return '';
    this.#message = undefined;
    const events = this.#closePart(message);
    const { id, content, at } = message;
    return events + this.#endItem(at, messageItem(id, this.#ended, content));
  }

  #beginThought(part: ReasoningPart): string {
    if (this.#thought !== undefined) {
      this.#thought.parts.push(part);
      return '';
    }
    const closed = this.#closeMessage();
    const id = this.#id('rs');
    const at = this.#output.length;
    this.#thought = { at, id, parts: [part], text: '', hasSummary: false };
    return closed + this.#addItem({ id, type: 'reasoning', summary: [] });
  }

  #addThought({ text, signature, encrypted }: TurnEvent & { type: 'reasoning' }): string {
    let events = this.#beginThought({ type: 'reasoning', text, signature, encrypted });
    const thought = this.#thought;
    if (text === '' || thought === undefined) return events;
    thought.text += text;
    const place = placeOf(thought);
    if (!thought.hasSummary) {
      thought.hasSummary = true;
      const part = { type: 'summary_text', text: '' };
      events += this.#event('response.reasoning_summary_part.added', { ...place, part });
    }
    return events + this.#event('response.reasoning_summary_text.delta', { ...place, delta: text });
  }

  #closeThought(): string {
    const thought = this.#thought;
    if (thought === undefined) return '';
    this.#thought = undefined;
    const { id, at, text, hasSummary } = thought;
    const part = { type: 'summary_text', text };
    const place = placeOf(thought);
    const events = hasSummary
      ? this.#event('response.reasoning_summary_text.done', { ...place, text }) +
        this.#event('response.reasoning_summary_part.done', { ...place, part })
      : '';
    const parts = joinedThoughts(thought.parts);
    const isSealed = isPlain(parts) ? asksForSealed(this.#request.body) : this.#keepsSignatures;
    const item = {
      id,
      type: 'reasoning',
      summary: hasSummary ? [part] : [],
      ...(isSealed ? { encrypted_content: sealReasoning(parts) } : {}),
    };
    return events + this.#endItem(at, item);
  }

  /** Whether the client, or the store, keeps what only an upstream can read. */
  get #keepsSignatures(): boolean {
    return this.#request.isStored || asksForSealed(this.#request.body);
  }

  #beginCall(asked: ToolCall): string {
    this.#calls.set(asked.index, { asked, written: '', shown: undefined });
    return this.#tellCalls();
  }

  #addArguments(index: number, delta: string): string {
    const call = this.#calls.get(index);
    if (call === undefined) return '';
    call.written += delta;
    const events = call.shown === undefined ? '' : this.#writeArguments(call.shown, delta);
    return this.#calls.size === 1 ? events : events + this.#tellCalls();
  }

  /** Tells of the first call, and while others wait, of each that is the first then. */
  #tellCalls(): string {
    let events = '';
    for (const [index, call] of this.#calls) {
      events += this.#showCall(call);
      if (this.#calls.size === 1 || !isWhole(call.written)) break;
      events += this.#closeCall(call);
      this.#calls.delete(index);
    }
    return events;
  }

  #showCall(call: CallInProgress): string {
    if (call.shown !== undefined) return '';
    const { id: callId, name, signature } = call.asked;
    // Items of calls have no signature; a thought carries it.
    const carried =
      signature === undefined || !this.#keepsSignatures
        ? ''
        : this.#beginThought({ type: 'reasoning', text: '', signature, callId });
    const events = carried + this.#closeThought() + this.#closeMessage();
    const tool = this.#request.tools.declared.get(name) ?? { kind: 'function', name };
    const id = this.#id(CALL_PREFIXES[tool.kind]);
    const shown = { at: this.#output.length, id, callId, tool };
    call.shown = shown;
    const added = this.#addItem(callItem(shown, '', 'in_progress'));
    return events + added + this.#writeArguments(shown, call.written);
  }

  #writeArguments({ id, at, tool }: ShownCall, delta: string): string {
    // The text of the other kinds is inside the JSON, which is complete at the end.
    if (tool.kind !== 'function' || delta === '') return '';
    const name = 'response.function_call_arguments.delta';
    return this.#event(name, { item_id: id, output_index: at, delta });
  }

  #closeCall(call: CallInProgress): string {
    let events = this.#showCall(call);
    const { shown } = call;
    if (shown === undefined) return events;
    // Clients parse the arguments, also those of a call that has none.
    const isEmpty = shown.tool.kind === 'function' && call.written === '';
    if (isEmpty && this.#ended === 'completed') {
      call.written = NO_ARGUMENTS;
      events += this.#writeArguments(shown, NO_ARGUMENTS);
    }
    for (const [type, fields] of callEnd(shown, call.written))
      events += this.#event(type, { item_id: shown.id, output_index: shown.at, ...fields });
    return events + this.#endItem(shown.at, callItem(shown, call.written, this.#ended));
  }

  #closeAll(): string {
    let events = this.#closeThought() + this.#closeMessage();
    for (const call of this.#calls.values()) events += this.#closeCall(call);
    this.#calls.clear();
    return events;
  }
}
