import { BundleReport, collectRuntimeDeps, renderBundleReport } from '../src/index.ts';
import { copyBuild, type BuildCopy, type Ended } from './resolve/build-copy.ts';

let build: BuildCopy;

beforeAll(async () => {
  build = await copyBuild();
});

afterAll(() => build.remove());

const bundle = (...args: readonly string[]): Promise<Ended> => build.run(['bundle', ...args], {});

test('the report of the browser that the tool would start follows its launcher script to the binary', async () => {
  const { status, stdout } = await bundle('--json');
  const report = JSON.parse(stdout) as BundleReport;
  expect(status).toBe(0);
  expect(report).toMatchObject({ missing: [], complete: true, libraries: [] });
  expect(report.format).toMatch(/^(elf|mach-o) /);
  expect(report.dependencies.length).toBeGreaterThan(5);
  expect(await collectRuntimeDeps(report.executable)).toEqual(report.dependencies);
  expect(await BundleReport.build(report.executable)).toEqual(report);
  expect((await bundle()).stdout).toBe(renderBundleReport(report));
});

test('any other program or library can be looked at', async () => {
  const { status, stdout } = await bundle(process.execPath);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Bundle report for .*\n[^]*Complete\.\n$/);
});

test.each([
  { why: 'two files', args: ['a', 'b'], status: 2, text: 'bundle takes one file at a time' },
  { why: 'an unknown option', args: ['--nope'], status: 2, text: "Unknown option '--nope'" },
  { why: 'a file that is not there', args: ['/nowhere/file'], status: 1, text: 'ENOENT' },
])('$why is refused', async ({ args, status, text }) => {
  const ended = await bundle(...args);
  expect(ended).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(text) });
});

test('help shows the usage', async () => {
  expect(await bundle('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Usage: browser-tool bundle/),
    stderr: '',
  });
});
