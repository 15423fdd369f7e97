import { invitationRefusal, type InvitationRefusal } from './invitation-refusal.ts';
import type { Invitation, Membership } from './invitation-store.ts';

const NOW = Date.UTC(2026, 0, 1);

const open: Invitation = {
  id: 'i',
  groupId: 'g',
  role: 'member',
  email: null,
  maxUses: 2,
  uses: 1,
  expiresAt: new Date(NOW + 1),
};

interface Row {
  readonly why: string;
  readonly changes?: Partial<Invitation>;
  readonly membership?: Membership;
  readonly refusal: InvitationRefusal | undefined;
}

test.each<Row>([
  { why: 'with a use left', refusal: undefined },
  { why: 'for this email', changes: { email: 'a@example.com' }, refusal: undefined },
  { why: 'for another email', changes: { email: 'b@example.com' }, refusal: 'another email' },
  { why: 'that expires now', changes: { expiresAt: new Date(NOW) }, refusal: 'expired' },
  { why: 'without a use left', changes: { uses: 2 }, refusal: 'used up' },
  { why: 'for a member', membership: 'active', refusal: 'member already' },
  { why: 'for a deactivated member', membership: 'deactivated', refusal: 'deactivated' },
  {
    why: 'used up by the member themselves',
    changes: { uses: 2 },
    membership: 'active',
    refusal: 'member already',
  },
  {
    why: 'for another email, which is also expired',
    changes: { email: 'b@example.com', expiresAt: new Date(NOW) },
    refusal: 'another email',
  },
])('an invitation $why is decided: $refusal', ({ changes, membership = 'none', refusal }) => {
  const invited = { email: 'a@example.com', membership, now: NOW };
  expect(invitationRefusal({ ...open, ...changes }, invited)).toBe(refusal);
});
