import type { Memberships } from '@model-gateway/accounts';
import type { Connection } from '../connection/connection.ts';

/** Active group members in Postgres. */
export function createPostgresMemberships(connection: Connection): Memberships {
  return {
    isActiveMember: (groupId, userId) =>
      connection.run(async (queries) => {
        const member = await queries.groupMember.findUnique({
          where: { groupId_userId: { groupId, userId } },
          select: { isActive: true },
        });
        return member?.isActive === true;
      }),
  };
}
