import { areClaimsComplete, identityOf } from './provider-identity.ts';

const ANY = { allowedDomains: [], adminGroups: [] };
const person = { issuer: 'https://id.example.com', subject: 'person-1' };
const named = { iss: person.issuer, sub: person.subject };
const claims = {
  ...named,
  email: ' Person@Example.com ',
  email_verified: true,
  name: ' A Person ',
};

test('an identity has the email in the form of accounts, and the name', () => {
  expect(identityOf(claims, ANY)).toEqual({
    person,
    email: 'person@example.com',
    name: 'A Person',
    isAdmin: false,
  });
});

test.each([
  { why: 'no email', claims: { ...named, email_verified: true } },
  { why: 'no subject', claims: { ...claims, sub: undefined } },
  { why: 'an empty subject', claims: { ...claims, sub: '' } },
  { why: 'a subject that is too long', claims: { ...claims, sub: 'x'.repeat(256) } },
  { why: 'a subject that cannot be stored', claims: { ...claims, sub: 'a\u0000' } },
  { why: 'no issuer', claims: { ...claims, iss: undefined } },
  { why: 'the Kelvin sign in the email', claims: { ...claims, email: '\u212Aevin@example.com' } },
  { why: 'an email that is none', claims: { ...claims, email: 'person' } },
  { why: 'an email that is not verified', claims: { ...claims, email_verified: false } },
  { why: 'no statement about the email', claims: { ...named, email: claims.email } },
  { why: 'a statement that is not true', claims: { ...claims, email_verified: 'no' } },
])('claims with $why are refused', ({ claims: wrong }) => {
  expect(() => identityOf(wrong, ANY)).toThrow(
    expect.objectContaining({ code: 'sign_in_refused' }),
  );
});

test.each([
  { form: 'text', verified: { email_verified: 'true' } },
  { form: 'the claim of Microsoft Entra', verified: { xms_edov: true } },
  { form: 'that claim as a number', verified: { xms_edov: 1 } },
  { form: 'that claim as text', verified: { xms_edov: '1' } },
])('an email is verified by $form too', ({ verified }) => {
  expect(identityOf({ ...named, email: 'a@b.example', ...verified }, ANY).email).toBe(
    'a@b.example',
  );
});

test.each([{ domains: ['example.com'] }, { domains: ['other.example', '@Example.com'] }])(
  'with the domains $domains the email is allowed',
  ({ domains }) => {
    const rules = { ...ANY, allowedDomains: domains };
    expect(identityOf(claims, rules).email).toBe('person@example.com');
  },
);

test.each([{ domains: ['ple.com'] }, { domains: ['sub.example.com'] }, { domains: ['com'] }])(
  'with the domains $domains the email is refused',
  ({ domains }) => {
    expect(() => identityOf(claims, { ...ANY, allowedDomains: domains })).toThrow(
      'email addresses of example.com may not sign in here',
    );
  },
);

test.each([
  { groups: { groups: ['staff', 'gateway-admins'] }, isAdmin: true },
  { groups: { roles: ['gateway-admins'] }, isAdmin: true },
  { groups: { groups: 'gateway-admins' }, isAdmin: true },
  { groups: { groups: ['gateway-admins-2'] }, isAdmin: false },
  { groups: { groups: [['gateway-admins']] }, isAdmin: false },
  { groups: {}, isAdmin: false },
])('with $groups the user is an admin: $isAdmin', ({ groups, isAdmin }) => {
  const rules = { ...ANY, adminGroups: ['gateway-admins'] };
  expect(identityOf({ ...claims, ...groups }, rules).isAdmin).toBe(isAdmin);
});

test('more is asked only where the claims leave a question of the rules open', () => {
  const byGroup = { ...ANY, adminGroups: ['admins'] };
  expect(areClaimsComplete(claims, ANY)).toBe(true);
  expect(areClaimsComplete({ email: 'a@b.example' }, ANY)).toBe(false);
  expect(areClaimsComplete(claims, byGroup)).toBe(false);
  expect(areClaimsComplete({ ...claims, groups: ['staff'] }, byGroup)).toBe(true);
});
