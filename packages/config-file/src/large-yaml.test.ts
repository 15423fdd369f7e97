import { problemLine, readConfigFile } from './read-config-file.ts';

/** In CPU time, which a busy machine does not lengthen; far above what refusing takes, and far below what reading takes. */
const REFUSED_WITHIN_MS = 4_000;

function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

const read = (text: string, environment: Record<string, string> = {}) =>
  (readConfigFile(text, { environment }).problems ?? []).map(problemLine);

const list = (count: number, item: string): string => `[${Array(count).fill(item).join(',')}]`;

/** Levels of lists, each of aliases of the level before. */
function levels(count: number, width: number): string {
  const lists = Array.from({ length: count - 1 }, (_, index) => list(width, `*a${index}`));
  return ['["lol"]', ...lists].map((text, index) => `a${index}: &a${index} ${text}`).join('\n');
}

test.each([
  { why: '150^7 aliases', text: levels(8, 150) },
  { why: '40^7 aliases', text: levels(8, 40) },
  { why: '12^7 aliases', text: levels(8, 12) },
  {
    why: 'aliases of a map',
    text: `a: &a { y: [1, 2, 3, 4] }\nb: &b ${list(300, '*a')}\nc: ${list(300, '*b')}`,
  },
  { why: 'merge keys', text: `a: &a ${list(500, '1')}\nb: ${list(500, '{ <<: *a }')}` },
  { why: 'aliases as keys', text: `a: &a ${list(500, '1')}\nb: ${list(500, '{ ? *a : *a }')}` },
  { why: 'an anchor that contains itself', text: 'a: &a [*a, *a]' },
  { why: 'anchors that contain each other', text: 'a: &a [&b [*a, *b]]' },
  {
    why: 'one long text many times',
    text: `a: &a "${'x'.repeat(50_000)}"\nb: ${list(5_000, '*a')}`,
  },
  { why: 'deep lists', text: '['.repeat(50_000) + ']'.repeat(50_000) },
  { why: 'deep lists without an end', text: '['.repeat(100_000) },
  { why: 'deep maps', text: '{a: '.repeat(25_000) + '}'.repeat(25_000) },
  { why: 'deep block lists', text: '- '.repeat(50_000) },
  { why: 'deep keys', text: '? '.repeat(50_000) },
  {
    why: 'depth through aliases',
    text: `a: &a ${'['.repeat(30)}${']'.repeat(30)}\nb: ${'['.repeat(30)}*a${']'.repeat(30)}`,
  },
])('$why are refused before they are built', ({ text }) => {
  const start = process.cpuUsage();
  expect(read(text)).toEqual([expect.stringMatching(/^\d+:\d+ the file is too large$/)]);
  expect(cpuMsSince(start)).toBeLessThan(REFUSED_WITHIN_MS);
});

test('the values of variables count as text', () => {
  const text = `a: "${'${A}'.repeat(10_000)}"`;
  expect(read(text, { A: 'x'.repeat(8_192) })).toEqual([expect.stringContaining('is too large')]);
});

test.each([
  {
    why: 'an alias without an anchor',
    text: 'aliases: [*a]',
    says: '1:11 the file is not valid YAML: bad alias',
  },
  {
    why: 'an alias before its anchor',
    text: 'aliases: [*a, &a 1]',
    says: '1:11 the file is not valid YAML: bad alias',
  },
  {
    why: 'two documents',
    text: 'aliases: []\n---\naliases: []\n',
    says: '2:1 the file is not valid YAML: multiple docs',
  },
])('$why is named with its line', ({ text, says }) => {
  expect(read(text)).toEqual([says]);
});

test.each([
  { why: 'keys', text: Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n') },
  { why: 'variables without a value', text: `backends: ${list(10_000, '"${A}"')}` },
  {
    why: 'entries that are wrong',
    text: `a: &a ${list(400, 'null')}\nbackends: ${list(400, '{ name: *a }')}`,
  },
])('of many $why that are wrong the first are named', ({ text }) => {
  const start = process.cpuUsage();
  expect(read(text)).toHaveLength(50);
  expect(cpuMsSince(start)).toBeLessThan(REFUSED_WITHIN_MS);
});

test('references without an end are read once', () => {
  const start = process.cpuUsage();
  expect(read(`aliases: "${'${'.repeat(100_000)}"`)).toHaveLength(1);
  expect(cpuMsSince(start)).toBeLessThan(REFUSED_WITHIN_MS);
});
