/** Opens a dialog with the first button of this name. */
const opening = (name) => async (page) => {
  await page.getByRole('button', { name }).first().click();
  await page.locator('[role=dialog], [role=alertdialog]').waitFor();
};

/** The pages of which screenshots are taken. `prepare` brings a page into another state, such as an open dialog. */
export const PAGES = [
  { name: 'playground', path: '/playground' },
  {
    name: 'playground-code',
    path: '/playground',
    async prepare(page) {
      await page.getByRole('button', { name: 'Code', exact: true }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'playground-beside',
    path: '/playground?beside=demo-chat',
    prepare: (page) => page.getByLabel('Message').waitFor(),
  },
  {
    name: 'playground-conversations',
    path: '/playground',
    async prepare(page) {
      await page.getByRole('button', { name: 'Conversations' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'realtime', path: '/playground/realtime' },
  { name: 'keys', path: '/keys', prepare: (page) => page.getByRole('table').waitFor() },
  {
    name: 'keys-create',
    path: '/keys',
    prepare: opening('Create a key'),
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
    prepare: opening('Filter'),
  },
  { name: 'plan', path: '/plan', prepare: (page) => page.getByRole('meter').first().waitFor() },
  {
    name: 'keys-edit',
    path: '/keys',
    prepare: opening(/^Edit/),
  },
  {
    name: 'keys-rotate',
    path: '/keys',
    prepare: opening(/^Rotate/),
  },
  {
    name: 'keys-revoke',
    path: '/keys',
    prepare: opening(/^Revoke/),
  },
  {
    name: 'embeddings',
    path: '/playground/embeddings',
    async prepare(page) {
      await page.getByLabel('API key').fill('service-unknown');
      await page.getByLabel('Texts').fill('A cat sleeps.\nThe cat is asleep.');
      await page.getByRole('button', { name: 'Make embeddings' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'groups-empty', path: '/groups' },
  {
    name: 'groups-one',
    path: '/groups',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Create a group' }).first().click();
      await page.getByLabel('Name').fill('Research');
      await page.getByRole('button', { name: 'Create a group' }).last().click();
      await page.getByRole('heading', { name: 'Model rules' }).waitFor();
    },
  },
  {
    name: 'groups-invite',
    path: '/groups',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Research' }).first().click();
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'groups', path: '/groups', prepare: (page) => page.getByRole('table').waitFor() },
  { name: 'invite', path: '/invite#token' },
  { name: 'reset', path: '/reset#rst-x' },
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
    async prepare(page) {
      await page.keyboard.press('Control+K');
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'range',
    path: '/usage?range=custom',
    prepare: (page) => page.locator('canvas, .empty').first().waitFor(),
  },
  {
    name: 'account',
    path: '/keys',
    async prepare(page) {
      await page.locator('.account-button').first().click();
      await page.getByRole('menu').waitFor();
    },
  },
  { name: 'account-page', path: '/account' },
  {
    name: 'account-wrong',
    path: '/account',
    async prepare(page) {
      await page.getByLabel('Current password').fill('a wrong password');
      await page.getByLabel('New password', { exact: true }).fill('a second password');
      await page.getByLabel('New password, again').fill('a second password');
      await page.getByRole('button', { name: 'Change the password' }).click();
      await page.getByText('This is not your current password.').waitFor();
    },
  },
  { name: 'not-found', path: '/nowhere' },
  // Of admins
  { name: 'backends-empty', path: '/backends' },
  {
    name: 'backends-add',
    path: '/backends',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add a backend' }).first().click();
      await page.getByRole('button', { name: 'Other' }).click();
      await page.getByLabel('Address').fill('http://127.0.0.1:9');
      await page.getByRole('button', { name: 'Test and add' }).click();
      await page.getByText('The test failed').waitFor();
    },
  },
  {
    name: 'backends',
    path: '/backends',
    async prepare(page) {
      await addBackend(page, 'my-gpu', 'http://127.0.0.1:9');
      await addBackend(page, 'cloud', 'http://127.0.0.1:9/v1');
    },
  },
  {
    name: 'backends-edit',
    path: '/backends',
    async prepare(page) {
      await page.getByRole('button', { name: 'Edit cloud' }).click();
      await page.getByText('Limits, further keys, capabilities').click();
      await page.getByLabel('Requests per minute').fill('0');
    },
  },
  {
    name: 'backends-remove',
    path: '/backends',
    prepare: opening('Remove cloud'),
  },
  { name: 'people', path: '/people', prepare: (page) => page.getByRole('table').waitFor() },
  {
    name: 'people-manage',
    path: '/people',
    async prepare(page) {
      await page.getByRole('button', { name: 'Manage admin@example.com' }).click();
      await page.getByRole('button', { name: 'Create a link for a new password' }).click();
      await page.getByText('It works once, within an hour.').waitFor();
    },
  },
  {
    name: 'models',
    path: '/models',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add an alias' }).click();
      await page.getByRole('textbox', { name: 'Alias' }).fill('fast');
      await page.getByRole('combobox', { name: 'Model' }).fill('demo-chat');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('button', { name: 'Remove the alias fast' }).waitFor();
    },
  },
  {
    name: 'routes-add',
    path: '/routes',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add a route' }).first().click();
      await page.getByRole('button', { name: 'Add a target' }).click();
    },
  },
  {
    name: 'routes',
    path: '/routes',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add a route' }).first().click();
      await page.getByLabel('Requested model').fill('best');
      await page.getByRole('combobox', { name: 'Model', exact: true }).fill('llama-3.3-70b');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Edit the route of best' }).waitFor();
    },
  },
  {
    name: 'routes-explain',
    path: '/routes/explain?model=demo-chat',
    prepare: (page) => page.getByRole('table').waitFor(),
  },
  {
    name: 'routes-explain-none',
    path: '/routes/explain?model=best',
    prepare: (page) => page.getByRole('table').waitFor(),
  },
  { name: 'nodes-empty', path: '/nodes' },
  {
    name: 'nodes',
    path: '/nodes',
    async prepare(page) {
      await page.getByRole('button', { name: 'Register a node' }).first().click();
      await page.getByLabel('Name of the machine').fill('gpu-1');
      await page.getByRole('button', { name: 'Register', exact: true }).click();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      await page.getByRole('heading', { name: 'gpu-1' }).waitFor();
    },
  },
  { name: 'video', path: '/video' },
  {
    name: 'video-create',
    path: '/video',
    async prepare(page) {
      await page.getByRole('button', { name: 'New video' }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'prices', path: '/prices', prepare: (page) => page.getByRole('table').first().waitFor() },
  { name: 'webhooks-empty', path: '/webhooks' },
  {
    name: 'webhooks-create',
    path: '/webhooks',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add a webhook' }).click();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('Choose at least one event.').waitFor();
    },
  },
  {
    name: 'webhooks-secret',
    path: '/webhooks',
    async prepare(page) {
      await page.getByRole('button', { name: 'Add a webhook' }).click();
      await page.getByLabel('Address').fill('https://127.0.0.1/services/model-gateway');
      await page.getByLabel('A backend fails its checks').check();
      await page.getByLabel('A video is done').check();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('button', { name: 'I have copied it' }).waitFor();
    },
  },
  { name: 'webhooks', path: '/webhooks', prepare: (page) => page.getByRole('table').waitFor() },
  {
    name: 'webhooks-deliveries',
    path: '/webhooks',
    async prepare(page) {
      await page.getByRole('button', { name: /^Deliveries to/ }).click();
      await page.getByRole('button', { name: 'Send a test' }).click();
      await page.getByText('webhook.test').waitFor();
    },
  },
  {
    name: 'audit',
    path: '/audit',
    async prepare(page) {
      await page.getByRole('button', { name: 'Verify the chain' }).click();
      await page.getByText('The chain is whole').waitFor();
    },
  },
  {
    name: 'audit-details',
    path: '/audit',
    prepare: opening(/^Details of entry/),
  },
  { name: 'settings', path: '/settings', prepare: (page) => page.getByRole('table').waitFor() },
];

/** Pages of which pictures are taken in each of the other languages. */
export const TRANSLATED_PATHS = [
  '/playground',
  '/playground/embeddings',
  '/playground/realtime',
  '/keys',
  '/usage',
  '/plan',
  '/account',
  '/groups',
  '/people',
  '/overview',
  '/requests',
  '/models',
  '/backends',
  '/routes',
  '/routes/explain?model=demo-chat',
  '/nodes',
  '/video',
  '/prices',
  '/webhooks',
  '/audit',
  '/settings',
  '/nowhere',
];

async function addBackend(page, name, url) {
  await page.getByRole('button', { name: 'Add a backend' }).first().click();
  await page.getByRole('button', { name: 'Other' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Address').fill(url);
  await page.getByLabel('Models').fill('llama-3.3-70b\nqwen-3-coder');
  await page.getByRole('button', { name: 'Test and add' }).click();
  await page.getByRole('button', { name: 'Add anyway' }).click();
  await page.getByRole('heading', { name }).waitFor();
}
