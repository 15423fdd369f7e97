import type { GroupAccess, User } from '@model-gateway/accounts';
import { invalidParam, ServiceError, type RequestFilter } from '@model-gateway/contracts';

/** Whose requests a caller may read, as conditions on every row. */
export interface ScopedFilter {
  readonly userId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
}

type ScopeParams = Omit<RequestFilter, 'from' | 'to'>;

/** The only place that decides whose requests and spend a user may read. Rejects what the user may not. */
export async function scopedFilter(
  params: ScopeParams,
  user: User,
  groups: Pick<GroupAccess, 'authorizeReading'>,
): Promise<ScopedFilter> {
  const { key_id: keyId, project, model, upstream } = params;
  const rest = { keyId, project, model, upstream };
  const { user_id: userId, group_id: groupId } = params;
  switch (params.scope ?? (user.isAdmin ? 'all' : 'self')) {
    case 'self':
      if (userId !== undefined && userId !== user.id)
        throw new ServiceError('admin_required', 'user_id of another user needs scope "all"');
      return { ...rest, groupId, userId: user.id };
    case 'all':
      if (!user.isAdmin)
        throw new ServiceError('admin_required', 'scope "all" needs a platform admin');
      return { ...rest, groupId, userId };
    case 'group':
      if (groupId === undefined) throw invalidParam('group_id', 'is required with scope "group"');
      await groups.authorizeReading(user, groupId);
      return { ...rest, groupId, userId };
  }
}
