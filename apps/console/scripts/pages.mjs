// The pages of which screenshots are taken. `prepare` brings a page into another state, such as an open dialog.
export const PAGES = [
  { name: 'playground', path: '/playground' },
  { name: 'keys', path: '/keys' },
  {
    name: 'keys-create',
    path: '/keys',
    prepare: (page) => page.getByRole('button', { name: 'Create a key' }).first().click(),
  },
  { name: 'usage', path: '/usage' },
  {
    name: 'search',
    path: '/usage',
    prepare: (page) => page.keyboard.press('Control+K'),
  },
];
