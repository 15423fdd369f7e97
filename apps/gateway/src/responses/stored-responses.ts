import { ServiceError } from '@model-gateway/contracts';
import {
  completeRequest,
  referencesOf,
  responseOfItem,
  storedItems,
  type Item,
  type ResponsesRequest,
} from '@model-gateway/dialects';
import type { Caller, ResponseStore, StoredResponse } from '@model-gateway/inference';
import { newId, type Clock, type Log } from '@model-gateway/kernel';

/** The responses that users continue, read and delete. */
export interface StoredResponses {
  /** Gives a request its id, and the items of the response that it continues. */
  readonly complete: (request: ResponsesRequest, userId: string) => Promise<ResponsesRequest>;
  /** Whether a request has its response stored, or names what was stored earlier. */
  readonly isLinked: (request: ResponsesRequest) => boolean;
  /** Stores a response if its request asks for that; returns it as it was stored. */
  readonly keep: (request: ResponsesRequest, caller: Caller, response: object) => Promise<object>;
  read(userId: string, id: string): Promise<Item>;
  /** All items that the response was generated from, oldest first. */
  inputItems(userId: string, id: string): Promise<readonly Item[]>;
  remove(userId: string, id: string): Promise<void>;
}

interface StoredResponsesDependencies {
  readonly store: ResponseStore;
  /** 0 stores nothing. */
  readonly retentionDays: number;
  /** How many a user may have; the oldest are deleted. */
  readonly perUserMax: number;
  readonly clock: Clock;
  readonly log: Log;
}

const DAY_MS = 86_400_000;
/** How large the items of one request, and its answer, may be to be stored. */
const STORED_CHARS_MAX = 8 * 1024 * 1024;
const CHAIN_LIMITS = { responsesMax: 1_000, bytesMax: 32 * 1024 * 1024 };
/** Each save deletes at most this many expired ones. */
const EXPIRED_REMOVED_MAX = 20;
const OLDEST_REMOVED_MAX = 1_000;
/** After how many saves the responses of a user are counted: the more there are, the more expensive that is. */
const savesPerCount = (perUserMax: number): number => Math.max(1, Math.floor(perUserMax / 100));

export function createStoredResponses(dependencies: StoredResponsesDependencies): StoredResponses {
  const { store, retentionDays, perUserMax, clock, log } = dependencies;
  let saves = 0;
  const now = (): Date => new Date(clock.now());

  async function chainOf(userId: string, id: string): Promise<readonly StoredResponse[]> {
    const chain = await store.chain(userId, id, now(), CHAIN_LIMITS);
    if (chain === undefined || chain.missing === 'deleted') {
      throw new ServiceError(
        'previous_response_not_found',
        `'previous_response_id': the response '${id}', or one that it continues, is not stored; ` +
          'send the earlier items in input',
      );
    }
    if (chain.missing === 'too-long') {
      throw new ServiceError(
        'missing_fields',
        `'previous_response_id': the responses before it are too long; send the items in input`,
      );
    }
    return chain.responses;
  }

  /** The referenced items; refuses an id that is not stored. */
  async function referencedBy(
    request: ResponsesRequest,
    userId: string,
  ): Promise<ReadonlyMap<string, Item>> {
    const ids = referencesOf(request);
    if (ids.length === 0) return new Map();
    const responseIds = new Set(ids.flatMap((id) => responseOfItem(id) ?? []));
    const found = await store.find(userId, [...responseIds], now());
    const items = new Map(found.flatMap(itemsOf).map((item) => [String(item['id']), item]));
    const missing = ids.find((id) => !items.has(id));
    if (missing === undefined) return items;
    throw new ServiceError(
      'not_found',
      `'input': there is no stored item '${missing}'; items are stored with their responses, ` +
        'unless store is false',
    );
  }

  async function removeOld(userId: string): Promise<void> {
    saves += 1;
    try {
      await store.removeExpired(now(), EXPIRED_REMOVED_MAX);
      if (saves % savesPerCount(perUserMax) !== 0) return;
      await store.removeOldest(userId, perUserMax, OLDEST_REMOVED_MAX);
    } catch (error) {
      log.warn({ error }, 'deleting old responses failed');
    }
  }

  async function findOne(userId: string, id: string): Promise<StoredResponse> {
    const [response] = await store.find(userId, [id], now());
    if (response === undefined) throw notFound(id);
    return response;
  }

  return {
    async complete(request, userId) {
      const { body, input, ignored } = request;
      const { previous_response_id: previousId } = body;
      const referenced = await referencedBy(request, userId);
      const earlier =
        typeof previousId === 'string' ? await chainOf(userId, previousId) : undefined;
      const wantsStore = body.store !== false;
      const isStored =
        wantsStore && retentionDays > 0 && JSON.stringify(input).length <= STORED_CHARS_MAX;
      const noted =
        wantsStore && !isStored
          ? { ...request, ignored: [...ignored, 'store'], ignoredInPassing: ['store'] }
          : request;
      return completeRequest(noted, {
        id: `resp_${newId().replaceAll('-', '')}`,
        createdAt: Math.floor(clock.now() / 1000),
        isStored,
        previous: earlier?.flatMap(itemsOf) ?? [],
        referenced,
      });
    },

    isLinked: ({ isStored, body: { input, previous_response_id: previousId } }) =>
      isStored ||
      typeof previousId === 'string' ||
      (Array.isArray(input) && referencesOf({ input }).length > 0),

    async keep(request, { userId }, response) {
      if (!request.isStored) return response;
      const text = JSON.stringify(response);
      if (text.length > STORED_CHARS_MAX) return { ...response, store: false };
      try {
        const createdAt = now();
        await store.save({
          id: request.id,
          userId,
          previousId: request.body.previous_response_id ?? null,
          createdAt,
          expiresAt: new Date(createdAt.getTime() + retentionDays * DAY_MS),
          input: JSON.stringify(storedItems(request)),
          response: text,
        });
      } catch (error) {
        // The answer is generated and paid, so the client gets it with the information that it is not stored.
        log.warn({ error }, 'storing a response failed');
        return { ...response, store: false };
      }
      void removeOld(userId);
      return response;
    },

    read: async (userId, id) => itemOf((await findOne(userId, id)).response),

    async inputItems(userId, id) {
      const { previousId, input } = await findOne(userId, id);
      // The items of an earlier response that was deleted are gone; the own items are still there.
      const earlier =
        previousId === null
          ? undefined
          : await store.chain(userId, previousId, now(), CHAIN_LIMITS);
      return [...(earlier?.responses ?? []).flatMap(itemsOf), ...listOf(input)];
    },

    async remove(userId, id) {
      if (!(await store.remove(userId, id, now()))) throw notFound(id);
    },
  };
}

const notFound = (id: string): ServiceError =>
  new ServiceError('not_found', `there is no stored response with the id '${id}'`);

/** The items of a response and of its request. */
function itemsOf({ input, response }: StoredResponse): readonly Item[] {
  const { output } = itemOf(response);
  return [...listOf(input), ...(Array.isArray(output) ? (output as readonly Item[]) : [])];
}

const itemOf = (text: string): Item => JSON.parse(text) as Item;
const listOf = (text: string): readonly Item[] => JSON.parse(text) as readonly Item[];
