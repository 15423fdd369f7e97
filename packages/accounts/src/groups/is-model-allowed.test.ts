import { isModelAllowed } from './is-model-allowed.ts';

interface Row {
  readonly why: string;
  readonly enforce?: boolean;
  readonly allowed?: readonly string[];
  readonly denied?: readonly string[];
  readonly requested: string;
  readonly aliasTarget?: string;
  readonly answer: boolean;
}

test.each<Row>([
  { why: 'no rules', requested: 'a', answer: true },
  { why: 'a denial', denied: ['a'], requested: 'a', answer: false },
  { why: 'a denial of another model', denied: ['b'], requested: 'a', answer: true },
  {
    why: 'a denial of the alias target',
    denied: ['b'],
    requested: 'a',
    aliasTarget: 'b',
    answer: false,
  },
  { why: 'a denial of the alias', denied: ['a'], requested: 'a', aliasTarget: 'b', answer: false },
  { why: 'a denial of the :latest form', denied: ['a:latest'], requested: 'a', answer: false },
  { why: 'a denial of the bare form', denied: ['a'], requested: 'a:latest', answer: false },
  {
    why: 'a denial of the :latest form of the target',
    denied: ['b:latest'],
    requested: 'a',
    aliasTarget: 'b',
    answer: false,
  },
  { why: 'a denial of another tag', denied: ['a:8b'], requested: 'a', answer: true },
  { why: 'a tag whose bare name is denied', denied: ['a'], requested: 'a:8b', answer: true },
  { why: 'an allow list that is not enforced', allowed: ['b'], requested: 'a', answer: true },
  { why: 'an empty allow list that is enforced', enforce: true, requested: 'a', answer: false },
  { why: 'the model on the list', enforce: true, allowed: ['a'], requested: 'a', answer: true },
  {
    why: 'another model on the list',
    enforce: true,
    allowed: ['b'],
    requested: 'a',
    answer: false,
  },
  {
    why: 'the alias target on the list',
    enforce: true,
    allowed: ['b'],
    requested: 'a',
    aliasTarget: 'b',
    answer: true,
  },
  {
    why: 'the alias on the list',
    enforce: true,
    allowed: ['a'],
    requested: 'a',
    aliasTarget: 'b',
    answer: true,
  },
  {
    why: 'the :latest form on the list',
    enforce: true,
    allowed: ['a:latest'],
    requested: 'a',
    answer: true,
  },
  {
    why: 'the bare form on the list',
    enforce: true,
    allowed: ['a'],
    requested: 'a:latest',
    answer: true,
  },
  {
    why: 'another tag on the list',
    enforce: true,
    allowed: ['a:8b'],
    requested: 'a',
    answer: false,
  },
  {
    why: 'one name on the list and another denied',
    enforce: true,
    allowed: ['a'],
    denied: ['b'],
    requested: 'a',
    aliasTarget: 'b',
    answer: false,
  },
  { why: 'capitals, which make another name', denied: ['A'], requested: 'a', answer: true },
])(
  'with $why the answer is $answer',
  ({ enforce = false, allowed = [], denied = [], answer, ...model }) => {
    const policy = {
      enforceAllowlist: enforce,
      allowed: new Set(allowed),
      denied: new Set(denied),
    };
    expect(isModelAllowed(policy, model)).toBe(answer);
  },
);
