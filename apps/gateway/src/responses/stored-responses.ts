import { ServiceError } from '@model-gateway/contracts';
import {
  completeRequest,
  isInputItem,
  referencesOf,
  resolvedInput,
  responseOfItem,
  storedItems,
  type Item,
  type ResponsesRequest,
} from '@model-gateway/dialects';
import type { StoredReader, StoredSize } from '@model-gateway/http';
import type {
  Caller,
  ResponseStore,
  StoredItemSizes,
  StoredResponse,
  StoredResponseSize,
} from '@model-gateway/inference';
import {
  newId,
  tryParseExactJson,
  yieldToEventLoop,
  type Clock,
  type Log,
} from '@model-gateway/kernel';
import { itemPage } from './item-page.ts';
import { assertFewValues, assertFewValuesNamed, costOf } from './item-values.ts';

/** The responses that users continue, read and delete. Their texts are read by the reader of a request alone. */
export interface StoredResponses {
  /** Gives a request its id, and the items of the responses that it continues and references. */
  readonly complete: (request: ResponsesRequest, reader: StoredReader) => Promise<ResponsesRequest>;
  /** Whether a request has its response stored, or names what was stored earlier. */
  readonly isLinked: (request: ResponsesRequest) => boolean;
  /** Stores a response if its request asks for that; returns it as it was stored. */
  readonly keep: (request: ResponsesRequest, caller: Caller, response: object) => Promise<object>;
  read(reader: StoredReader, id: string): Promise<Item>;
  /** A page of the items that the response was generated from. */
  inputItems(reader: StoredReader, id: string, query: unknown): Promise<Item>;
  remove(userId: string, id: string): Promise<void>;
}

interface StoredResponsesDependencies {
  readonly store: ResponseStore;
  /** 0 stores nothing. */
  readonly retentionDays: number;
  /** How many a user may have; the oldest are deleted. */
  readonly perUserMax: number;
  /** How many bytes a user may have stored, conversations included; the oldest responses are deleted. */
  readonly storedBytesMax: number;
  readonly clock: Clock;
  readonly log: Log;
}

const DAY_MS = 86_400_000;
const MS_PER_SECOND = 1_000;
/** How large the items of one request, and its answer, may be to be stored. */
const STORED_BYTES_MAX = 8 * 1024 * 1024;
/** The largest stored response: both texts. */
export const STORED_RESPONSE_BYTES_MAX = 2 * STORED_BYTES_MAX;
const CHAIN_RESPONSES_MAX = 1_000;
/** Each save deletes at most this many expired ones. */
const EXPIRED_REMOVED_MAX = 20;
const OLDEST_REMOVED_MAX = 1_000;
/** After how many saves the responses of a user are counted: the more there are, the more expensive that is. */
const savesPerCount = (perUserMax: number): number => Math.max(1, Math.floor(perUserMax / 100));

export function createStoredResponses(dependencies: StoredResponsesDependencies): StoredResponses {
  const { store, retentionDays, perUserMax, storedBytesMax } = dependencies;
  const { clock, log } = dependencies;
  let saves = 0;
  const now = (): Date => new Date(clock.now());

  /** The sizes of the responses that a request continues, oldest first. */
  async function chainOf(userId: string, id: string): Promise<readonly StoredResponseSize[]> {
    const chain = await store.chain(userId, id, now(), CHAIN_RESPONSES_MAX);
    if (chain === undefined || chain.missing === 'deleted') throw previousNotFound(id);
    if (chain.missing === 'too-long') {
      throw new ServiceError(
        'context_too_large',
        `'previous_response_id': more than ${CHAIN_RESPONSES_MAX} responses come before it; send the items in input`,
      );
    }
    return chain.responses;
  }

  /** The sizes of the responses that have referenced items; refuses an id that is not stored. */
  async function referencedSizes(
    ids: readonly string[],
    userId: string,
  ): Promise<ReadonlyMap<string, StoredResponseSize>> {
    if (ids.length === 0) return new Map();
    const responseIds = new Set(ids.flatMap((id) => responseOfItem(id) ?? []));
    const found = await store.sizes(userId, [...responseIds], now());
    const sizes = new Map(found.map((size) => [size.id, size]));
    const missing = ids.find((id) => !sizes.has(responseOfItem(id) ?? ''));
    if (missing !== undefined) throw itemNotFound(missing);
    return sizes;
  }

  /** The items of stored responses, by the ids of these. */
  async function readItems(
    userId: string,
    ids: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, readonly Item[]>> {
    const items = new Map<string, readonly Item[]>();
    let cost = 0;
    for (const response of await store.find(userId, [...ids], now())) {
      await yieldToEventLoop();
      const input = listOf(response.input);
      const output = outputOf(response);
      // What a response repeats of its request, such as the tools, is not continued.
      cost += costOf(response.input) + costOf(JSON.stringify(output));
      assertFewValues(cost);
      items.set(response.id, [...input, ...output]);
    }
    return items;
  }

  async function removeOld(userId: string): Promise<void> {
    saves += 1;
    try {
      await store.removeExpired(now(), EXPIRED_REMOVED_MAX);
      await store.removeBeyond(userId, storedBytesMax);
      if (saves % savesPerCount(perUserMax) !== 0) return;
      await store.removeOldest(userId, perUserMax, OLDEST_REMOVED_MAX);
    } catch (error) {
      log.warn({ error }, 'deleting old responses failed');
    }
  }

  async function sizeOf(userId: string, id: string): Promise<StoredResponseSize> {
    const [size] = await store.sizes(userId, [id], now());
    if (size === undefined) throw notFound(id);
    return size;
  }

  async function findOne(userId: string, id: string): Promise<StoredResponse> {
    const [response] = await store.find(userId, [id], now());
    if (response === undefined) throw notFound(id);
    return response;
  }

  return {
    async complete(request, reader) {
      const { body, ignored } = request;
      const { previous_response_id: previousId } = body;
      const { userId } = reader;
      const references = referencesOf(request);
      const named = await referencedSizes(references, userId);
      const chain = typeof previousId === 'string' ? await chainOf(userId, previousId) : [];
      const ids = new Set([...chain.map(({ id }) => id), ...named.keys()]);
      const size = sum([
        ...chain.map(sizeOfResponse),
        sizeOfReferences(references, named),
        { bytes: 0, items: request.input.length - references.length },
      ]);
      const items =
        ids.size === 0
          ? new Map<string, readonly Item[]>()
          : await reader.read(size, () => readItems(userId, ids));
      const previous = chain.flatMap(({ id }) => {
        const found = items.get(id);
        if (found === undefined) throw previousNotFound(id);
        return found;
      });
      const referenced = referencedItems(references, items);
      assertFewValuesNamed(references, referenced);
      const id = `resp_${newId().replaceAll('-', '')}`;
      const wantsStore = body.store !== false;
      const isStored =
        wantsStore &&
        retentionDays > 0 &&
        storedInput({ id, input: resolvedInput(request, referenced) }) !== undefined;
      const noted =
        wantsStore && !isStored
          ? { ...request, ignored: [...ignored, 'store'], ignoredInRelay: ['store'] }
          : request;
      const createdAt = Math.floor(clock.now() / 1000);
      return completeRequest(noted, { id, createdAt, isStored, previous, referenced });
    },

    isLinked: ({ isStored, body: { input, previous_response_id: previousId } }) =>
      isStored ||
      typeof previousId === 'string' ||
      (Array.isArray(input) && referencesOf({ input }).length > 0),

    async keep(request, { userId }, given) {
      const response = completedAt(given, now());
      if (!request.isStored) return response;
      const input = storedInput(request);
      const text = JSON.stringify(response);
      if (input === undefined || Buffer.byteLength(text) > STORED_BYTES_MAX)
        return { ...response, store: false };
      const output: unknown = Reflect.get(response, 'output');
      const outputSizes = (Array.isArray(output) ? output : []).map(bytesOf);
      try {
        const createdAt = now();
        const saved = {
          id: request.id,
          userId,
          previousId: request.body.previous_response_id ?? null,
          createdAt,
          expiresAt: new Date(createdAt.getTime() + retentionDays * DAY_MS),
          input: input.text,
          inputItems: input.sizes.length,
          largestInputBytes: largest(input.sizes),
          response: text,
          outputItems: outputSizes.length,
          largestOutputBytes: largest(outputSizes),
        };
        if (!(await store.save(saved, storedBytesMax))) return { ...response, store: false };
      } catch (error) {
        // The answer is generated and paid, so the client gets it with the information that it is not stored.
        log.warn({ error }, 'storing a response failed');
        return { ...response, store: false };
      }
      void removeOld(userId);
      return response;
    },

    async read(reader, id) {
      const { userId } = reader;
      const { bytes } = await sizeOf(userId, id);
      return reader.read({ bytes, items: 0 }, async () =>
        itemOf((await findOne(userId, id)).response),
      );
    },

    async inputItems(reader, id, query) {
      const { userId, limits } = reader;
      const own = await sizeOf(userId, id);
      // The items of an earlier response that was deleted are gone; the own items are still there.
      const earlier =
        own.previousId === null
          ? undefined
          : await store.chain(userId, own.previousId, now(), CHAIN_RESPONSES_MAX);
      const sourceOf = (
        size: StoredResponseSize,
        count: number,
        itemsIn: (response: StoredResponse) => readonly Item[],
      ) => ({
        responseId: size.id,
        bytes: size.bytes,
        count,
        read: () =>
          reader.read({ bytes: size.bytes, items: 0 }, async () =>
            itemsIn(await findOne(userId, size.id)),
          ),
      });
      const sources = [
        ...(earlier?.responses ?? []).map((size) =>
          sourceOf(size, size.inputItems + size.outputItems, itemsOf),
        ),
        sourceOf(own, own.inputItems, ({ input }) => listOf(input)),
      ];
      return itemPage(sources, query, limits.bytes);
    },

    async remove(userId, id) {
      if (!(await store.remove(userId, id, now()))) throw notFound(id);
    },
  };
}

const notFound = (id: string): ServiceError =>
  new ServiceError('not_found', `there is no stored response with the id '${id}'`);

const previousNotFound = (id: string): ServiceError =>
  new ServiceError(
    'previous_response_not_found',
    `'previous_response_id': the response '${id}', or one that it continues, is not stored; ` +
      'send the earlier items in input',
  );

const itemNotFound = (id: string): ServiceError =>
  new ServiceError(
    'not_found',
    `'input': there is no stored item '${id}'; items are stored with their responses, ` +
      'unless store is false',
  );

const sum = (sizes: readonly StoredSize[]): StoredSize => ({
  bytes: sizes.reduce((total, { bytes }) => total + bytes, 0),
  items: sizes.reduce((total, { items }) => total + items, 0),
});

const sizeOfResponse = ({ bytes, inputItems, outputItems }: StoredResponseSize): StoredSize => ({
  bytes,
  items: inputItems + outputItems,
});

/** Each response is read once, and each item counts as often as it is named. */
function sizeOfReferences(
  references: readonly string[],
  sizes: ReadonlyMap<string, StoredResponseSize>,
): StoredSize {
  const named = new Map<string, number>();
  for (const itemId of references) {
    const id = responseOfItem(itemId) ?? '';
    const bytes = largestItem(sizes.get(id), itemId);
    named.set(id, (named.get(id) ?? 0) + bytes);
  }
  let bytes = 0;
  for (const [id, itemBytes] of named) bytes += Math.max(sizes.get(id)?.bytes ?? 0, itemBytes);
  return { bytes, items: references.length };
}

/** How large an item is at most; it is not known which one of the answer an id of an upstream is. */
const largestItem = (size: StoredItemSizes | undefined, itemId: string): number =>
  (isInputItem(itemId) ? size?.largestInputBytes : size?.largestOutputBytes) ?? 0;

/**
 * The referenced items, by their ids; refuses an id that is not stored. An item counts by the size of the response that its id
 * names, so it is looked for there alone: clients choose the ids of some items.
 */
function referencedItems(
  references: readonly string[],
  items: ReadonlyMap<string, readonly Item[]>,
): ReadonlyMap<string, Item> {
  const wanted = new Set(references);
  const referenced = new Map<string, Item>();
  for (const responseId of new Set(references.map(responseOfItem))) {
    for (const item of items.get(responseId ?? '') ?? []) {
      const { id } = item;
      if (typeof id !== 'string' || !wanted.has(id) || responseOfItem(id) !== responseId) continue;
      referenced.set(id, item);
    }
  }
  const missing = references.find((id) => !referenced.has(id));
  if (missing !== undefined) throw itemNotFound(missing);
  return referenced;
}

/** The text of a request's items with the size of each; undefined if they are too large to be stored. */
function storedInput(request: Pick<ResponsesRequest, 'id' | 'input'>) {
  const texts: string[] = [];
  const sizes: number[] = [];
  let bytes = '[]'.length;
  for (const item of storedItems(request)) {
    const text = JSON.stringify(item);
    const size = Buffer.byteLength(text);
    bytes += size + ','.length;
    if (bytes > STORED_BYTES_MAX) return undefined;
    texts.push(text);
    sizes.push(size);
  }
  return { text: `[${texts.join(',')}]`, sizes };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const largest = (sizes: readonly number[]): number =>
  sizes.reduce((most, size) => Math.max(most, size), 0);

/** The items of a response and of its request. */
const itemsOf = (stored: StoredResponse): readonly Item[] => [
  ...listOf(stored.input),
  ...outputOf(stored),
];

function outputOf({ response }: StoredResponse): readonly Item[] {
  const { output } = itemOf(response);
  return Array.isArray(output) ? (output as readonly Item[]) : [];
}

const parsed = (text: string): unknown => tryParseExactJson(text) ?? JSON.parse(text);
const itemOf = (text: string): Item => parsed(text) as Item;
const listOf = (text: string): readonly Item[] => parsed(text) as readonly Item[];

/** A response of the gateway with the time at which it was completed, in seconds since 1970. */
function completedAt(response: object, time: Date): object {
  const { status, completed_at: known }: { status?: unknown; completed_at?: unknown } = response;
  if (status !== 'completed' || known !== null) return response;
  return { ...response, completed_at: Math.floor(time.getTime() / MS_PER_SECOND) };
}
