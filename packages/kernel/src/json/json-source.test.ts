import * as fc from 'fast-check';
import { compact, elementSources, memberSource } from './json-source.ts';

test('the source of a member is found whatever surrounds it', () => {
  expect(memberSource(' { "a" : [1, {"id": 2}], "id" : 1.0 , "b":"}" } ', 'id')).toBe('1.0');
  expect(memberSource('{"x":"\\"id\\":1","id":"a\\\\"}', 'id')).toBe('"a\\\\"');
  expect(memberSource('{"\\u0069d":7}', 'id')).toBe('7');
  expect(memberSource('{"id":1,"id":2}', 'id')).toBe('2');
  expect(memberSource('{}', 'id')).toBeUndefined();
});

test('the sources of elements are found', () => {
  expect(elementSources(' [ 1.0 ,{"a":[ ]}, "x,]" ] ')).toEqual(['1.0', '{"a":[ ]}', '"x,]"']);
  expect(elementSources('[]')).toEqual([]);
});

test('compacting removes white space only outside of strings', () => {
  expect(compact('{ "a b" : [ 1 ,\n"c\\" d" ] }')).toBe('{"a b":[1,"c\\" d"]}');
});

test('for every document, the sources parse to the values in the document', () => {
  const spaced = fc.tuple(fc.jsonValue(), fc.constantFrom(0, 2, '\t'));
  fc.assert(
    fc.property(fc.array(spaced), fc.constantFrom(0, 3), (entries, indent) => {
      const values = entries.map(([value]) => value);
      const elements = elementSources(JSON.stringify(values, null, indent));
      expect(elements.map((element) => JSON.parse(element) as unknown)).toEqual(
        JSON.parse(JSON.stringify(values)),
      );
    }),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (object, id) => {
      const text = JSON.stringify({ ...object, id }, null, 1);
      const source = memberSource(text, 'id') ?? '';
      expect(JSON.parse(source)).toEqual(JSON.parse(JSON.stringify(id)));
      expect(compact(source)).toBe(JSON.stringify(id));
    }),
  );
});
