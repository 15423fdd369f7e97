import { rpcMethods } from '@model-gateway/contracts';
import { AUDITS, METHODS, NAMES, RECORDED } from './declared-audits.ts';

test('a method without an audit rule is named like one that reads, or says why it has none', () => {
  const reading =
    /\.(balance|check|deliveries|explain|get|kinds|list|me|plan|self|settings|status|summary|verify|watch)$/;
  const silent = AUDITS.filter(({ audit }) => audit === undefined).map(({ name }) => name);
  expect(silent).toEqual(NAMES.filter((name) => reading.test(name)));
  const reasons = AUDITS.flatMap(({ audit = {} }) => ('none' in audit ? [audit.none] : []));
  expect(reasons.filter((reason) => !/\w \w/.test(reason))).toEqual([]);
  expect(Object.keys(METHODS).toSorted()).toEqual(NAMES.toSorted());
});

test('every method that is open only to admins is recorded unless it reads', () => {
  const open = NAMES.filter((name) => /admin/.test(rpcMethods[name].auth));
  const silent = open.filter((name) => !RECORDED.includes(name));
  expect(
    silent.filter(
      (name) =>
        !/\.(list|get|kinds|self|status|test|check|verify|invoke|create|deliveries|explain|settings)$/.test(
          name,
        ),
    ),
  ).toEqual([]);
});
