import * as fc from 'fast-check';

/** The name of a credential of the scene, or none. */
export type Bearer = 'none' | 'user_jwt' | 'admin_jwt' | 'admin_token' | 'api_key' | 'node_token';

/** Mostly one that passes authentication. */
export const bearerAmong = (...usual: readonly Bearer[]): fc.Arbitrary<Bearer> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...usual) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Bearer>(
        'none',
        'user_jwt',
        'admin_jwt',
        'admin_token',
        'api_key',
        'node_token',
      ),
    },
  );

/** The header of a credential. */
export function bearerHeader(
  bearer: Bearer,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const secret = bearer === 'none' ? undefined : values[bearer];
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
}
