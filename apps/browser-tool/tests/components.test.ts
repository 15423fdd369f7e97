import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from './site.ts';
import { startTool, type ToolUnderTest } from './tool.ts';

let site: Site;
let tool: ToolUnderTest;

/** Bundles a page of real components from npm. */
async function bundle(name: string): Promise<string> {
  const ending = (extension: string) => (file: { readonly path: string }) =>
    file.path.endsWith(extension);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`pages/${name}.mjs`, import.meta.url))],
    bundle: true,
    write: false,
    outdir: 'out',
    minify: true,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const source = outputFiles.find(ending('.js'))?.text.replaceAll('</script', '<\\/script') ?? '';
  const style = outputFiles.find(ending('.css'))?.text ?? '';
  return page(
    'Components',
    `<style>${style}</style><div id="root"></div><script type="module">${source}</script>`,
  );
}

beforeAll(async () => {
  const [react, webComponents] = await Promise.all([bundle('react'), bundle('web-components')]);
  site = await startSite({ '/react': react, '/web-components': webComponents });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const snapshot = async (): Promise<string> =>
  (await tool.get('/a11y?format=text')).data.text as string;

/** The ref of a control, the way that a model finds it: by reading the snapshot. */
async function refOf(line: RegExp): Promise<string> {
  let text = '';
  await waitUntil(async () => line.test((text = await snapshot())), { what: String(line) });
  const ref = /\[ref=(e\d+)\]/.exec(text.split('\n').find((each) => line.test(each)) ?? '')?.[1];
  return ref ?? text;
}

const click = async (line: RegExp) => {
  const answer = await tool.post('/click', { target: await refOf(line) });
  expect(answer.error).toBeUndefined();
};
const type = async (line: RegExp, text: string) => {
  const answer = await tool.post('/type', { target: await refOf(line), text });
  expect(answer.error).toBeUndefined();
};
const state = async () =>
  JSON.parse((await tool.get('/dom?selector=%23state')).data.text as string) as Record<
    string,
    unknown
  >;

test('a page of React components is used by its snapshot alone', async () => {
  await tool.open(`${site.url}/react`);
  await type(/textbox "Name"/, 'Ann');
  await click(/combobox "Size"/);
  await click(/option "Large"/);
  await type(/combobox "Fruit"/, 'Che');
  await click(/option "Cherry"/);
  expect(await snapshot()).toMatch(/button "Send" \[disabled\]/);
  await click(/checkbox "I agree"/);
  await click(/switch "Dark mode"/);
  await click(/tab "Second"/);
  await tool.post('/press', {
    key: 'ArrowRight',
    target: await refOf(/slider "Volume"/),
    count: 5,
  });
  await click(/button "More"/);
  await click(/menuitem "Archive"/);
  await waitUntil(async () => (await state())['log'] === 'archived');
  await click(/button "Send"/);
  // The page behind the dialog is not for readers, and not for clicks.
  expect(await snapshot()).toMatch(/dialog "Really send\?"/);
  expect(await snapshot()).not.toContain('textbox "Name"');
  expect(await tool.post('/click', { target: 'text=More' })).toMatchObject({
    code: 'ELEMENT_COVERED',
  });
  await click(/button "Yes, send"/);
  expect(await state()).toEqual({
    name: 'Ann',
    size: 'Large',
    fruit: 'Cherry',
    agreed: true,
    dark: true,
    tab: 1,
    volume: 35,
    log: 'sent',
  });
});

test('a page of web components too', async () => {
  await tool.open(`${site.url}/web-components`);
  await type(/textbox "Name"/, 'Ann');
  await type(/textbox "Note"/, 'two\nlines');
  await click(/combobox "Size"/);
  await click(/option "Large"/);
  await click(/checkbox "I agree"/);
  await click(/switch "Dark mode"/);
  await click(/button "More"/);
  await click(/menuitem "Archive"/);
  await waitUntil(async () => (await state())['log'] === 'archive');
  await click(/tab "Second"/);
  expect(await snapshot()).toContain('Panel two');
  await click(/button "Send"/);
  expect(await snapshot()).toMatch(/dialog "Really send\?"/);
  await click(/button "Yes, send"/);
  await tool.post('/press', { key: 'Tab' });
  expect(await state()).toMatchObject({
    name: 'Ann',
    note: 'two\nlines',
    size: 'large',
    agreed: true,
    dark: true,
    tab: 'b',
    log: 'sent',
  });
});
