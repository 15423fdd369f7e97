// What `inp.mjs` does on each page, again and again. `prepare` is not measured.
const button = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
const sortBy = (column) => (page) => page.getByTitle(`Sort by ${column}`).first().click();
const press = (key) => (page) => page.keyboard.press(key);
const typeInto = (label, key) => (page) => page.getByLabel(label).first().press(key);

/** Opens a dialog with a button, and closes it with Escape. */
const dialog = (name) => async (page) => {
  await button(name)(page);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

/** Opens a list of choices, and closes it with Escape. */
const choose = (label) => async (page) => {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
};

export const INTERACTIONS = [
  { path: '/playground', name: 'type', act: typeInto('Message', 'a') },
  {
    path: '/playground',
    name: 'search a model',
    prepare: (page) => page.getByRole('combobox', { name: 'Model', exact: true }).click(),
    act: press('1'),
  },
  {
    path: '/playground',
    name: 'open and close conversations',
    act: dialog('Conversations'),
  },
  { path: '/keys', name: 'sort', act: sortBy('Name') },
  { path: '/keys', name: 'next page', act: button('Next') },
  { path: '/keys', name: 'open and close a dialog', act: dialog('Create a key') },
  { path: '/usage?by=key', name: 'sort', act: sortBy('Requests') },
  { path: '/usage?by=key', name: 'next page', act: button('Next') },
  { path: '/usage?by=key', name: 'open and close a filter', act: dialog('Filter') },
  { path: '/plan', name: 'next page', act: button('Next') },
  { path: '/groups', name: 'sort', act: sortBy('Name') },
  { path: '/groups', name: 'next page', act: button('Next') },
  { path: '/groups', name: 'open and close a dialog', act: dialog('Create a group') },
  {
    path: '/groups',
    name: 'sort members',
    prepare: async (page) => {
      await page.getByRole('row').nth(1).getByRole('link').click();
      await page.getByTitle('Sort by Email').waitFor();
    },
    act: sortBy('Email'),
  },
  { path: '/people', name: 'type', act: typeInto('Search by email or name', 'a') },
  { path: '/people', name: 'sort', act: sortBy('Email') },
  {
    path: '/overview',
    name: 'pause and go on',
    act: (page) => page.locator('[aria-pressed]').click(),
  },
  {
    path: '/overview',
    name: 'search',
    prepare: (page) => page.keyboard.press('Control+K'),
    act: press('1'),
  },
  { path: '/requests', name: 'move', act: press('j') },
  { path: '/requests', name: 'sort', act: sortBy('Model') },
  { path: '/requests', name: 'open and close a choice', act: choose('Status') },
  { path: '/models', name: 'sort', act: sortBy('Model') },
  { path: '/models', name: 'next page', act: button('Next') },
  {
    path: '/models',
    name: 'type a target',
    prepare: async (page) => {
      await button('Add an alias')(page);
      await page.getByRole('combobox', { name: 'Model' }).focus();
    },
    act: press('1'),
  },
  { path: '/backends', name: 'open and close a dialog', act: dialog('Add a backend') },
  { path: '/routes', name: 'sort', act: sortBy('Model') },
  { path: '/routes', name: 'next page', act: button('Next') },
  { path: '/routes', name: 'open and close a dialog', act: dialog('Add a route') },
  { path: '/nodes', name: 'open and close a dialog', act: dialog('Register a node') },
  { path: '/video', name: 'open and close a dialog', act: dialog('New video') },
  { path: '/prices', name: 'sort', act: sortBy('Models') },
  { path: '/prices', name: 'next page', act: button('Next') },
  { path: '/webhooks', name: 'open and close a dialog', act: dialog('Add a webhook') },
  { path: '/audit', name: 'type', act: typeInto('Action', 'k') },
  { path: '/settings', name: 'type', act: (page) => page.getByRole('searchbox').press('e') },
];
