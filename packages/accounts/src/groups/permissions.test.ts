import { permissionFor, permissionHint, type GroupAction, type Permission } from './permissions.ts';
import type { GroupRole } from './group-store.ts';

interface Row {
  readonly who: string;
  readonly role: GroupRole | null;
  readonly isPlatformAdmin: boolean;
  readonly may: Readonly<Record<'group.get' | 'group.update' | 'group.delete', Permission>>;
}

const everyone: readonly Row[] = [
  {
    who: 'the owner',
    role: 'owner',
    isPlatformAdmin: false,
    may: { 'group.get': 'granted', 'group.update': 'granted', 'group.delete': 'granted' },
  },
  {
    who: 'an admin',
    role: 'admin',
    isPlatformAdmin: false,
    may: { 'group.get': 'granted', 'group.update': 'granted', 'group.delete': 'forbidden' },
  },
  {
    who: 'a member',
    role: 'member',
    isPlatformAdmin: false,
    may: { 'group.get': 'granted', 'group.update': 'forbidden', 'group.delete': 'forbidden' },
  },
  {
    who: 'an outsider',
    role: null,
    isPlatformAdmin: false,
    may: { 'group.get': 'hidden', 'group.update': 'hidden', 'group.delete': 'hidden' },
  },
  {
    who: 'a platform admin who is no member',
    role: null,
    isPlatformAdmin: true,
    may: { 'group.get': 'granted', 'group.update': 'granted', 'group.delete': 'forbidden' },
  },
  {
    who: 'a platform admin who is a member',
    role: 'member',
    isPlatformAdmin: true,
    may: { 'group.get': 'granted', 'group.update': 'granted', 'group.delete': 'forbidden' },
  },
  {
    who: 'a platform admin who owns the group',
    role: 'owner',
    isPlatformAdmin: true,
    may: { 'group.get': 'granted', 'group.update': 'granted', 'group.delete': 'granted' },
  },
];

test.each(everyone)('$who may do what the rules say', ({ role, isPlatformAdmin, may }) => {
  const actions = Object.keys(may) as (keyof typeof may)[];
  const decided = actions.map((action) => [
    action,
    permissionFor(action, { role, isPlatformAdmin }),
  ]);
  expect(Object.fromEntries(decided)).toEqual(may);
});

test.each<{ readonly action: GroupAction; readonly hint: string }>([
  { action: 'group.delete', hint: 'group.delete is for the owner of the group alone' },
  {
    action: 'group.update',
    hint: 'group.update needs the admin role in the group: ask one of its admins',
  },
])('the hint of $action names what is needed', ({ action, hint }) => {
  expect(permissionHint(action)).toBe(hint);
});
