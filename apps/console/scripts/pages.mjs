// The pages of which screenshots are taken. `prepare` brings a page into another state, such as an open dialog.
export const PAGES = [
  { name: 'playground', path: '/playground' },
  { name: 'keys', path: '/keys' },
  {
    name: 'keys-create',
    path: '/keys',
    prepare: (page) => page.getByRole('button', { name: 'Create a key' }).first().click(),
  },
  { name: 'usage', path: '/usage', prepare: (page) => page.locator('canvas').waitFor() },
  {
    name: 'usage-table',
    path: '/usage?measure=requests',
    prepare: (page) => page.getByRole('button', { name: 'Show as table' }).click(),
  },
  {
    name: 'usage-filter',
    path: '/usage?measure=requests',
    prepare: (page) => page.getByRole('button', { name: 'Filter' }).click(),
  },
  {
    name: 'overview',
    path: '/overview',
    prepare: (page) => page.locator('canvas').first().waitFor(),
  },
  { name: 'requests', path: '/requests', prepare: (page) => page.getByRole('table').waitFor() },
  {
    name: 'requests-story',
    path: '/requests',
    prepare: async (page) => {
      await page.locator('[data-row-button]').first().click();
      await page.getByText('Duration').last().waitFor();
    },
  },
  {
    name: 'search',
    path: '/usage',
    prepare: (page) => page.keyboard.press('Control+K'),
  },
];
