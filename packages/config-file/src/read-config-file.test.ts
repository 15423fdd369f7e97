import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { configJsonSchema } from './config-json-schema.ts';
import { plan, planLines } from './plan.ts';
import { problemLine, readConfigFile, WrongField } from './read-config-file.ts';

const SECRET = 'sk-very-secret';
const environment = { OPENAI_KEY: SECRET, RPM: '60', EMPTY: '' };

const FILE = `backends:
  - name: gpu
    type: vllm
    url: http://gpu:8000
  - name: cloud
    type: external
    url: \${CLOUD_URL:-https://api.example.com}
    api_key: \${OPENAI_KEY}
    limits:
      rpm: \${RPM}
aliases:
  - alias: fast
    target: qwen
routes:
  - model: qwen
    targets:
      - { model: qwen, backend: gpu }
      - { model: gpt-5-mini, backend: cloud, priority: 1 }
tiers:
  - name: team
    rpm: 600
prices:
  - { pattern: Qwen, input_per_million: 0.1, output_per_million: 0.2 }
webhooks:
  - { url: 'https://example.com/hook', events: [backend.unhealthy] }
`;

const read = (text: string) => readConfigFile(text, { environment });

const entriesOf = (text: string) => {
  const { entries, problems } = { entries: undefined, problems: undefined, ...read(text) };
  expect(problems).toBeUndefined();
  return entries ?? [];
};

const problemsOf = (text: string) => (read(text).problems ?? []).map(problemLine);

test('a file becomes the parameters of the calls, with the values of the environment', () => {
  expect(entriesOf(FILE).map(({ section, name }) => `${section} ${name}`)).toEqual([
    'backends gpu',
    'backends cloud',
    'aliases fast',
    'routes qwen',
    'tiers team',
    'prices qwen',
    expect.stringMatching(/^webhooks https:\/\/example\.com \([0-9a-f]{8}\)$/),
  ]);
  expect(entriesOf(FILE)[1]?.value).toEqual({
    name: 'cloud',
    type: 'external',
    url: 'https://api.example.com',
    api_key: SECRET,
    limits: { rpm: 60 },
  });
  expect(entriesOf(FILE)[3]?.value).toMatchObject({ attempts: 2, targets: [{ weight: 1 }, {}] });
});

test.each([
  { why: 'an empty file', text: '' },
  { why: 'only a comment', text: '# nothing yet\n' },
  { why: 'an empty section', text: 'backends:\n' },
])('$why has no entries', ({ text }) => {
  expect(entriesOf(text)).toEqual([]);
});

test('a text that looks like a number stays a text where a text is expected', () => {
  const file = 'backends: [{ name: a, type: external, url: http://a, api_key: "${RPM}" }]';
  expect(entriesOf(file)[0]?.value).toMatchObject({ api_key: '60' });
});

test('an empty value takes the default, and $${ is ${ itself', () => {
  const file = 'aliases: [{ alias: "${EMPTY:-x}", target: "$${RPM}" }]';
  expect(entriesOf(file)[0]?.value).toEqual({ alias: 'x', target: '${RPM}' });
});

test.each([
  {
    why: 'a variable that is not set',
    text: 'backends:\n  - name: a\n    type: external\n    url: ${NOWHERE}\n',
    says: ['4:5 backends[0].url needs the environment variable NOWHERE, which is not set'],
  },
  {
    why: 'everything beside a variable that is not set',
    text: 'backends:\n  - name: a\n    type: external\n    url: ${NOWHERE}\nroutes:\n  - model: m\n    targets: []\nfoo: 1\n',
    says: [
      '4:5 backends[0].url needs the environment variable NOWHERE, which is not set',
      '7:5 routes[0].targets must have at least 1 entry',
      expect.stringMatching(/^8:1 foo is unknown here/),
    ],
  },
  {
    why: 'a pattern of a price with a wildcard',
    text: 'prices: [{ pattern: "qwen*", input_per_million: 1, output_per_million: 1 }]',
    says: [expect.stringMatching(/^1:\d+ prices\[0\]\.pattern must be a part of a model id/)],
  },
  {
    why: 'a variable in a default',
    text: 'aliases: [{ alias: "${EMPTY:-${RPM}}", target: b }]',
    says: ['1:13 aliases[0].alias has a ${…} that is neither ${NAME} nor ${NAME:-default}'],
  },
  {
    why: 'an unknown section',
    text: 'aliases: []\nbackend: []\n',
    says: [
      '2:1 backend is unknown here; known are backends, aliases, routes, tiers, prices, webhooks',
    ],
  },
  {
    why: 'an unknown field deep inside',
    text: 'routes:\n  - model: m\n    targets:\n      - model: m\n        prio: 1\n',
    says: [
      expect.stringMatching(
        /^5:9 routes\[0\]\.targets\[0\]\.prio is unknown here; known are model/,
      ),
    ],
  },
  {
    why: 'a missing field and a wrong type',
    text: 'backends:\n  - name: a\n    type: external\nrouts: 1\naliases:\n  - alias: 3\n    target: m\n',
    says: [
      expect.stringMatching(/^2:5 backends\[0\]\.url /),
      expect.stringMatching(/^4:1 routs is unknown/),
      expect.stringMatching(/^6:5 aliases\[0\]\.alias /),
    ],
  },
  {
    why: 'the same name twice',
    text: 'aliases:\n  - { alias: a, target: b }\n  - { alias: a, target: c }\n',
    says: ['3:5 aliases[1] is in this section twice'],
  },
  {
    why: 'an unknown limit, once,',
    text: 'backends:\n  - name: a\n    type: external\n    url: http://a\n    limits: { rpx: 1 }\n',
    says: [expect.stringMatching(/^5:15 backends\[0\]\.limits\.rpx is unknown here/)],
  },
  {
    why: 'a section that is no list',
    text: 'aliases:\n  a: b\n',
    says: ['1:1 aliases must be a list'],
  },
  {
    why: 'a price that removes one',
    text: 'prices: [{ pattern: a, input_per_million: null, output_per_million: null }]',
    says: [expect.stringContaining('prices[0].input_per_million must be a price')],
  },
  {
    why: 'no YAML',
    text: 'aliases:\n  - "a\n',
    says: [expect.stringMatching(/^\d+:\d+ the file is not valid YAML: /)],
  },
  {
    why: 'the same section twice',
    text: 'aliases: []\naliases: []\n',
    says: ['2:1 the file is not valid YAML: duplicate key'],
  },
  { why: 'a list', text: '- a\n', says: [expect.stringContaining('must have sections')] },
])('$why is named with line and field', ({ text, says }) => {
  expect(problemsOf(text)).toEqual(says);
});

test('an entry that its call would refuse is named beside others that are wrong', () => {
  const text = `aliases:
  - { alias: a, target: "\${NOWHERE}" }
  - { alias: b, target: refused }
  - { alias: b, target: refused }
  - { alias: refused, target: "\${NOWHERE}" }
`;
  const refused = readConfigFile(text, {
    environment: {},
    check({ value }) {
      if (Object.values(value).includes('refused')) throw new WrongField('target', 'is refused');
    },
  });
  expect(refused.problems?.map(problemLine)).toEqual([
    expect.stringMatching(/^2:\d+ aliases\[0\]\.target needs the environment variable/),
    '3:17 aliases[1].target is refused',
    '4:5 aliases[2] is in this section twice',
    '4:17 aliases[2].target is refused',
    // Nothing else can be said of it.
    expect.stringMatching(/^5:\d+ aliases\[3\]\.target needs the environment variable/),
  ]);
});

test.each([
  'backends: [{ name: a, type: 1, url: "${OPENAI_KEY}", api_key: ["${OPENAI_KEY}"] }]',
  'webhooks: [{ url: "${OPENAI_KEY}", events: ["${OPENAI_KEY}"], secret: "${OPENAI_KEY}" }]',
  'prices: [{ pattern: a, input_per_million: "${OPENAI_KEY}", output_per_million: 1 }]',
  `backends: "${SECRET}\n`,
  `backends: [ "${SECRET}" "${SECRET}" ]`,
])('no problem contains a value of the file: %s', (text) => {
  expect(problemsOf(text)).not.toEqual([]);
  expect(problemsOf(text).join()).not.toContain(SECRET);
});

test('anchors are followed', () => {
  const file = 'backends:\n  - &a { name: a, type: external, url: http://a }\naliases: []\n';
  expect(entriesOf(file)).toHaveLength(1);
});

test('an alias stands for the last anchor of its name before it', () => {
  const file = `tiers:
  - { name: &n one, rpm: &r 1 }
  - { name: &n two, rpm: *r }
aliases: [{ alias: *n, target: x }]
`;
  expect(entriesOf(file).map(({ value }) => value)).toMatchObject([
    { alias: 'two', target: 'x' },
    { name: 'one', rpm: 1 },
    { name: 'two', rpm: 1 },
  ]);
});

test('the plan compares entries by name and content', () => {
  const before = entriesOf(FILE).map(({ section, name, hash }) => ({ section, name, hash }));
  const wanted = entriesOf(
    FILE.replace('target: qwen', 'target: gpt').replace('name: team', 'name: crew'),
  );
  const found = plan(before, wanted, () => 'same');
  expect(planLines(found)).toEqual([
    '+ tiers crew',
    '~ aliases fast',
    '- tiers team',
    '1 to add, 1 to change, 1 to remove, 5 unchanged',
  ]);
  const same = plan(before, entriesOf(FILE), () => 'same');
  expect(same).toMatchObject({ added: [], changed: [], removed: [] });
});

test('the JSON Schema accepts the file with its variables, and refuses unknown fields', () => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(configJsonSchema());
  expect(validate(parse(FILE))).toBe(true);
  expect(validate({ backends: [{ name: 'a', type: 'external', url: 'x', key: 'k' }] })).toBe(false);
  expect(validate({ backend: [] })).toBe(false);
});
