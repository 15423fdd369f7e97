import type { SignIn, User } from '@model-gateway/accounts';
import { viewUsage, type LoggedRequest, type RequestPosition } from '@model-gateway/billing';
import { invalidParam, ServiceError, type RpcResult } from '@model-gateway/contracts';
import { z } from 'zod';
import { assertOrder } from '../protocol/assert-order.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';
import { scopedFilter } from '../spend/request-scope.ts';

/** Codes of what a user may not read. */
const REFUSALS: ReadonlySet<string> = new Set(['admin_required', 'not_found']);

export function createRequestsMethods({
  requestLog,
  requestWatches,
  groupRules,
  accounts,
}: Services): HandlersOf<'requests'> {
  const { access } = groupRules;

  async function mayRead({ userId, groupId }: LoggedRequest, user: User): Promise<boolean> {
    if (userId === user.id || user.isAdmin) return true;
    if (groupId === null) return false;
    return access.authorizeReading(user, groupId).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ServiceError) return false;
        throw error;
      },
    );
  }

  /** The request with this row id, if there is one that the user may read. */
  async function findReadable(id: string, user: User): Promise<LoggedRequest | undefined> {
    if (!z.uuid().safeParse(id).success) return undefined;
    const found = await requestLog.find(id);
    return found !== undefined && (await mayRead(found, user)) ? found : undefined;
  }

  /** The newest request that the user sent with this id. */
  async function findByClientId(requestId: string, user: User): Promise<LoggedRequest | undefined> {
    const { requests } = await requestLog.list({ userId: user.id, requestId }, { limit: 1 });
    return requests[0];
  }

  /** Whether a sign-in may still watch these requests: it, or a role, may end before the stream does. Never rejects. */
  async function mayStillWatch(
    signIn: SignIn,
    params: Parameters<typeof scopedFilter>[0],
  ): Promise<boolean> {
    try {
      const user = await accounts.findUser(signIn);
      if (user === undefined) return false;
      await scopedFilter(params, user, access);
      return true;
    } catch (error) {
      // A failure of the database ends nothing.
      return !(error instanceof ServiceError && REFUSALS.has(error.code));
    }
  }

  return {
    'requests.list': async ({ from, to, status, limit, cursor, ...given }, { user }) => {
      const { error_code: errorCode, request_id: requestId, ...params } = given;
      assertOrder(from, to);
      const filter = await scopedFilter(params, user, access);
      const { requests, next } = await requestLog.list(
        { ...filter, status, errorCode, requestId, since: from, until: to },
        { limit, after: cursor === undefined ? undefined : readCursor(cursor) },
      );
      return {
        requests: requests.map(requestRecord),
        next_cursor: next === undefined ? null : writeCursor(next),
      };
    },
    'requests.watch': async (params, { user, signIn }) => {
      const scope = params.scope ?? (user.isAdmin ? 'all' : 'self');
      const scoped = { ...params, scope };
      const { userId, groupId } = await scopedFilter(scoped, user, access);
      const watched = scope === 'self' ? { userId } : { groupId };
      const { streamId, expiresAt } = await requestWatches.watch(user.id, watched, () =>
        mayStillWatch(signIn, scoped),
      );
      return { stream_id: streamId, expires_at: expiresAt.toISOString() };
    },
    'requests.get': async ({ request_id: alias, id = alias }, { user }) => {
      if (id === undefined) throw invalidParam('id', 'is required');
      const found = (await findReadable(id, user)) ?? (await findByClientId(id, user));
      // The same answer for a request that does not exist and for one of another user.
      if (found === undefined) throw new ServiceError('not_found', 'request not found');
      const maySeeBodies = found.userId === user.id || user.isAdmin;
      const bodies = maySeeBodies ? await requestLog.bodiesOf(found.id) : undefined;
      return { ...requestRecord(found), bodies: bodies ?? null };
    },
  };
}

function requestRecord(request: LoggedRequest): RpcResult<'requests.list'>['requests'][number] {
  const { model, requestId, errorCode, error, repeats } = request;
  return {
    ...viewUsage({ ...request, model: model ?? '' }),
    model,
    request_id: requestId,
    error_code: errorCode,
    error,
    attempts: [...(request.attempts ?? [])],
    repeats,
  };
}

const position = z.tuple([
  z
    .string()
    .regex(/^(?!0000)\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00$/)
    .refine(isTime),
  z.uuid(),
]);

/** Whether there is such a day and time. */
function isTime(text: string): boolean {
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const time = new Date(`${seconds}Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(seconds);
}

const writeCursor = ({ createdAt, id }: RequestPosition): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

function readCursor(cursor: string): RequestPosition {
  try {
    const [createdAt, id] = position.parse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    return { createdAt, id };
  } catch (error) {
    throw invalidParam('cursor', 'must be the next_cursor of an earlier page', error);
  }
}
