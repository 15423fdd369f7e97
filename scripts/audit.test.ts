import { problemsOfAdvisories, problemsOfInstallScripts, problemsOfLicenses } from './audit.mjs';

test('an advisory is a problem unless it is accepted by its id', () => {
  const report = {
    advisories: {
      1: { github_advisory_id: 'GHSA-1', module_name: 'one', severity: 'high', title: 'bad' },
      2: { github_advisory_id: 'GHSA-2', module_name: 'two', severity: 'low', title: 'odd' },
    },
  };
  expect(problemsOfAdvisories(report, { 'GHSA-2': 'we do not call it' })).toEqual([
    'one: high, bad (GHSA-1)',
  ]);
  expect(problemsOfAdvisories({}, {})).toEqual([]);
});

test.each([
  { license: 'MIT', accepted: true },
  { license: '(MIT OR GPL-3.0)', accepted: true },
  { license: 'Apache-2.0 AND MIT', accepted: true },
  { license: 'Apache-2.0 AND GPL-3.0', accepted: false },
  { license: 'AGPL-3.0', accepted: false },
  { license: 'Unknown', accepted: false },
])('license $license is accepted: $accepted', ({ license, accepted }) => {
  const report = { [license]: [{ name: 'it' }] };
  expect(problemsOfLicenses(report, {})).toEqual(accepted ? [] : [`it: license ${license}`]);
  expect(problemsOfLicenses(report, { it: 'a reason' })).toEqual([]);
  expect(problemsOfLicenses(report, { 'i*': 'a reason', 'other*': 'another' })).toEqual([]);
});

test('an install script needs a decision, also the decision that it does not run', () => {
  const packages = [
    { name: 'quiet' },
    { name: 'decided', scripts: { install: 'make' } },
    { name: 'new', scripts: { postinstall: 'node fetch.js' } },
  ];
  expect(problemsOfInstallScripts(packages, new Set(['decided']))).toEqual([
    'new: has an install script, and allowBuilds does not mention it',
  ]);
});
