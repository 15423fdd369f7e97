import * as fc from 'fast-check';
import { withoutMember } from './without-member.ts';

test.each([
  ['{"usage":null}', '{}'],
  ['{"usage":null,"a":1}', '{"a":1}'],
  ['{"a":1,"usage":{"b":[1,{"usage":2}]}}', '{"a":1}'],
  ['{"a":1, "usage" : null , "b":2}', '{"a":1, "b":2}'],
  ['{"a":{"usage":1},"b":"\\"usage\\":,"}', '{"a":{"usage":1},"b":"\\"usage\\":,"}'],
  ['{"a":"usage","b":["usage",{}]}', '{"a":"usage","b":["usage",{}]}'],
  ['data: {"n":1234567890123456789,"usage":1}', 'data: {"n":1234567890123456789}'],
  ['', ''],
  ['{"usage":', '{"usage":'],
])('%j without its usage is %j', (json, rest) => {
  expect(withoutMember(json, 'usage')).toBe(rest);
});

test('the rest of any object stays as it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (rest, usage) => {
      const { usage: _usage, ...others } = rest;
      const whole = { ...others, usage };
      expect(JSON.parse(withoutMember(JSON.stringify(whole), 'usage'))).toEqual(
        JSON.parse(JSON.stringify(others)),
      );
    }),
  );
});
