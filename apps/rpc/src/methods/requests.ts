import type { User } from '@model-gateway/accounts';
import { viewUsage, type LoggedRequest, type RequestPosition } from '@model-gateway/billing';
import { invalidParam, ServiceError, type RpcResult } from '@model-gateway/contracts';
import { z } from 'zod';
import { assertOrder } from '../protocol/assert-order.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';
import { scopedFilter } from '../spend/request-scope.ts';

export function createRequestsMethods({
  requestLog,
  requestWatches,
  groupRules,
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
    'requests.watch': async (params, { user }) => {
      const { userId, groupId } = await scopedFilter(params, user, access);
      const watched = params.scope === 'group' ? { groupId } : { userId };
      const { streamId, expiresAt } = await requestWatches.watch(user.id, watched);
      return { stream_id: streamId, expires_at: expiresAt.toISOString() };
    },
    'requests.get': async ({ request_id }, { user }) => {
      const found = await requestLog.find(request_id);
      // The same answer for a request that does not exist and for one of another user.
      if (found === undefined || !(await mayRead(found, user)))
        throw new ServiceError('not_found', 'request not found');
      const maySeeBodies = found.userId === user.id || user.isAdmin;
      const bodies = maySeeBodies ? await requestLog.bodiesOf(request_id) : undefined;
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
  z.string().regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00$/),
  z.uuid(),
]);

const writeCursor = ({ createdAt, id }: RequestPosition): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

function readCursor(cursor: string): RequestPosition {
  try {
    const [createdAt, id] = position.parse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    return { createdAt, id };
  } catch (error) {
    throw invalidParam('cursor', 'is not one of this list', error);
  }
}
