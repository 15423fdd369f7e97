import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

const buttons = page(
  'Buttons',
  `<style>
    .modal { position: fixed; inset: 0; background: rgba(0, 0, 0, 0.5); }
    #spin { position: relative; animation: move 0.4s linear infinite alternate; }
    @keyframes move { from { left: 0 } to { left: 300px } }
    #slide { position: relative; left: 0; transition: left 0.4s linear; }
  </style>
  <button id="hidden" style="visibility: hidden">Hidden</button>
  <button id="gone" style="display: none">Gone</button>
  <button id="flat" style="width: 0; height: 0; padding: 0; border: 0; overflow: hidden">Flat</button>
  <button id="off" disabled>Off</button>
  <fieldset disabled><button id="group-off">Group</button></fieldset>
  <button id="aria-off" aria-disabled="true">Aria off</button>
  <button id="spin">Spinning</button>
  <script>
    // A busy machine may show no frame for seconds, and without one the animation moves nothing.
    setInterval(() => { document.getElementById('spin').style.top = Math.random() + 'px'; }, 20);
  </script>
  <button id="slide" onclick="document.title = 'clicked at ' + getComputedStyle(this).left">Slide</button>
  <button id="away" style="position: fixed; left: -500px; top: 0">Away</button>
  <div style="height: 3000px"></div>
  <button id="below" onclick="document.title = 'below clicked'">Below the fold</button>`,
);

beforeAll(async () => {
  site = await startSite({
    '/buttons': buttons,
    '/b': page('B', '<button>Other</button>'),
    '/covered': page(
      'Covered',
      `<style>.modal { position: fixed; inset: 0; background: rgba(0, 0, 0, 0.5); }</style>
       <button id="under">Under</button><div id="ov" class="modal"></div>`,
    ),
    '/label': page(
      'Label',
      `<label for="box" style="position: absolute; left: 8px; top: 8px; z-index: 1; width: 30px; height: 30px">x</label>
       <input id="box" type="checkbox" style="position: absolute; left: 8px; top: 8px; width: 30px; height: 30px; margin: 0">`,
    ),
    '/boxes': page(
      'Boxes',
      `<label>I agree to <a href="/b">the terms that are long enough to be in the middle</a><input id="unseen" type="checkbox" style="opacity: 0; position: absolute; width: 0; height: 0"></label>
       <input id="gone-box" type="radio" style="display: none"><label for="gone-box">Choose</label>
       <input id="small" type="checkbox" style="clip: rect(0, 0, 0, 0); position: absolute; width: 0; height: 0; overflow: hidden"><label for="small">Take</label>
       <label hidden>Never <input id="both" type="checkbox" hidden></label>`,
    ),
    '/through': page(
      'Through',
      '<button onclick="document.title = 1"><i id="icon" style="pointer-events: none">icon</i></button>',
    ),
    '/shadow': page(
      'Shadow',
      `<my-card></my-card><script>
        customElements.define('my-card', class extends HTMLElement {
          connectedCallback() {
            const root = this.attachShadow({ mode: 'open' });
            root.innerHTML = '<section class="in"><my-inner></my-inner><slot></slot></section>';
          }
        });
        customElements.define('my-inner', class extends HTMLElement {
          connectedCallback() {
            const root = this.attachShadow({ mode: 'open' });
            root.innerHTML = '<button onclick="document.title = \\'shadow clicked\\'">Deep</button><input aria-label="Deep field">';
          }
        });
      </script>`,
    ),
    '/twins': page(
      'Twins',
      '<button>Same</button><button>Same</button><button hidden>Same</button><a href="/b">Only one</a>',
    ),
    '/fields': page(
      'Fields',
      '<input id="r" readonly value="x" aria-label="Read-only"><div id="d">A box</div><input type="checkbox" aria-label="Check">',
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const click = (target: string, more: object = {}) =>
  tool.post('/click', { target, timeout_ms: 30_000, ...more });

describe('an element that cannot be clicked is refused with its reason', () => {
  beforeAll(() => tool.open(`${site.url}/buttons`));

  const refusals = [
    {
      why: 'hidden by visibility',
      target: '#hidden',
      code: 'ELEMENT_NOT_VISIBLE',
      text: /^button "Hidden" \[ref=e\d+\] is not visible after waiting 1500 ms\. /,
    },
    { why: 'not displayed', target: '#gone', code: 'ELEMENT_NOT_VISIBLE', text: /is not visible/ },
    { why: 'without a size', target: '#flat', code: 'ELEMENT_NOT_VISIBLE', text: /is not visible/ },
    {
      why: 'disabled',
      target: '#off',
      code: 'ELEMENT_DISABLED',
      text: /^button "Off" \[ref=e\d+\] is disabled after waiting 1500 ms\. /,
    },
    {
      why: 'in a disabled group',
      target: '#group-off',
      code: 'ELEMENT_DISABLED',
      text: /is disabled/,
    },
    { why: 'disabled by ARIA', target: '#aria-off', code: 'ELEMENT_DISABLED', text: /is disabled/ },
    {
      why: 'moving all the time',
      target: '#spin',
      code: 'TIMEOUT',
      status: 504,
      text: /^button "Spinning" \[ref=e\d+\] kept moving after waiting 1500 ms\. /,
    },
    {
      why: 'outside of what can be scrolled to',
      target: '#away',
      code: 'ELEMENT_NOT_VISIBLE',
      text: /is outside of the viewport/,
    },
    {
      why: 'not there',
      target: '#nothing',
      code: 'ELEMENT_NOT_FOUND',
      status: 404,
      text: /^No element matches "#nothing" after waiting 1500 ms\. Call browser_snapshot/,
    },
    {
      why: 'named by a selector that is none',
      target: 'div[',
      code: 'INVALID_SELECTOR',
      status: 400,
      text: /^"div\[" is not a valid selector: .*[^.]\. Use a ref such as e12, /,
    },
    {
      why: 'named by no text',
      target: 'text=" "',
      code: 'INVALID_SELECTOR',
      status: 400,
      text: /contains no text\. /,
    },
    {
      why: 'named by an XPath that is none',
      target: 'xpath=//[',
      code: 'INVALID_SELECTOR',
      status: 400,
      text: /is not a valid selector/,
    },
    {
      why: 'a ref that was never issued',
      target: 'e99999',
      code: 'ELEMENT_NOT_FOUND',
      status: 404,
      text: /^e99999 was never issued\. /,
    },
  ];

  test.each(refusals)('$why', async ({ target, code, status = 409, text }) => {
    const answer = await click(target, { timeout_ms: 1_500 });
    expect(answer).toMatchObject({ ok: false, code, status });
    expect(answer.error).toMatch(text);
    expect(answer.hint).toBeDefined();
  });

  test('what lies below the fold is scrolled into view', async () => {
    expect((await click('#below')).data).toMatchObject({ clicked: true, title: 'below clicked' });
  });

  test('what is just beginning to move is clicked where it comes to rest', async () => {
    const answer = await tool.post('/batch', {
      operations: [
        { type: 'evaluate', expression: "slide.style.left = '300px'" },
        { type: 'click', target: '#slide' },
      ],
    });
    expect(answer.data.results[1].data).toMatchObject({ title: 'clicked at 300px' });
  });

  test('force clicks without asking', async () => {
    expect(await click('#off', { force: true })).toMatchObject({
      ok: true,
      data: { clicked: true },
    });
  });
});

describe('a covered element', () => {
  test('is refused after one second, with the cover and its ref', async () => {
    await tool.open(`${site.url}/covered`);
    const start = performance.now();
    const answer = await tool.post('/click', { target: '#under', timeout_ms: 600_000 });
    const took = performance.now() - start;
    expect(answer).toMatchObject({ status: 409, code: 'ELEMENT_COVERED' });
    expect(answer.error).toMatch(
      /^button "Under" \[ref=e\d+\] is covered by <div id="ov" class="modal"> \[ref=e\d+\]\. Close or click that element first, or pass force:true\.$/,
    );
    expect(took).toBeGreaterThan(950);
    const cover = answer.details.cover.ref as string;
    expect(await tool.post('/click', { target: cover })).toMatchObject({ ok: true });
  });

  test.each(['inert', 'style="pointer-events: none"', 'style="clip-path: inset(0 0 80% 0)"'])(
    'that has %s is no covered one for the message',
    async (attribute) => {
      await tool.open(`data:text/html,<button ${attribute}>Through</button>`);
      const { code, error } = await tool.post('/click', { target: 'button', timeout_ms: 100 });
      expect({ code, error }).toMatchObject({
        code: 'ELEMENT_COVERED',
        error: expect.stringMatching(
          /^Clicks on button "Through" \[ref=e\d+\] go to <body> \[ref=e\d+\] around it\. It is inert/,
        ),
      });
    },
  );

  test('is clicked after the cover disappears', async () => {
    await tool.open(`${site.url}/covered`);
    await tool.post('/evaluate', { expression: 'setTimeout(() => ov.remove(), 300); 0' });
    expect(await tool.post('/click', { target: '#under' })).toMatchObject({ ok: true });
  });

  test('is refused after the same second on a page with frames', async () => {
    await tool.open(`${site.url}/covered`);
    // The tool scrolls to it, which starts the time. A second attempt would find it uncovered.
    const expression = `document.body.insertAdjacentHTML('beforeend', '<iframe></iframe><p style="height: 3000px"></p>');
      document.body.append(under);
      addEventListener('scroll', () => setTimeout(() => ov.remove(), 1600), { once: true });
      0`;
    await tool.post('/evaluate', { expression });
    expect(await tool.post('/click', { target: '#under' })).toMatchObject({
      code: 'ELEMENT_COVERED',
    });
  });

  test('text is not typed into it either', async () => {
    await tool.open(`${site.url}/covered`);
    await tool.post('/evaluate', {
      expression: `document.body.insertAdjacentHTML('afterbegin', '<input id=f>'); 0`,
    });
    expect(await tool.post('/type', { target: '#f', text: 'x' })).toMatchObject({
      code: 'ELEMENT_COVERED',
    });
  });

  test('its own label is no cover', async () => {
    await tool.open(`${site.url}/label`);
    expect(await click('#box')).toMatchObject({ ok: true });
    expect((await tool.post('/evaluate', { expression: 'box.checked' })).data.result).toBe(true);
  });

  test('a part that lets clicks through to its button is clicked', async () => {
    await tool.open(`${site.url}/through`);
    expect((await click('#icon')).data.title).toBe('1');
  });
});

describe('a box that is hidden behind its label', () => {
  test.each(['#unseen', '#gone-box', '#small'])('is clicked through it (%s)', async (target) => {
    await tool.open(`${site.url}/boxes`);
    expect(await click(target)).toMatchObject({ ok: true, data: { navigated: false } });
    expect(
      (await tool.post('/evaluate', { target, function: '(box) => box.checked' })).data.result,
    ).toBe(true);
  });

  test('is hidden where the label is too', async () => {
    await tool.open(`${site.url}/boxes`);
    expect(await click('#both', { timeout_ms: 400 })).toMatchObject({
      code: 'ELEMENT_NOT_VISIBLE',
    });
  });
});

describe('targets', () => {
  test('text, XPath, a ref with an at sign and every alias mean the same element', async () => {
    await tool.open(`${site.url}/twins`);
    const { data } = await tool.post('/click', { target: 'text=only one' });
    const { ref } = data.target as { ref: string };
    for (const body of [
      { target: '//a' },
      { selector: 'xpath=//a' },
      { uid: 'a' },
      { ref: 'text="Only one"' },
    ]) {
      await tool.open(`${site.url}/twins`);
      expect((await tool.post('/click', body)).data).toMatchObject({
        navigated: true,
        url: `${site.url}/b`,
      });
    }
    await tool.open(`${site.url}/twins`);
    const fresh = (await tool.get('/dom?selector=a')).data.ref as string;
    expect(fresh).not.toBe(ref);
    expect(await tool.post('/click', { target: `@${fresh}` })).toMatchObject({ ok: true });
  });

  test('a selector that several visible elements fit is ambiguous', async () => {
    await tool.open(`${site.url}/twins`);
    const answer = await click('button');
    expect(answer).toMatchObject({ status: 409, code: 'AMBIGUOUS_TARGET', details: { count: 2 } });
    expect(answer.error).toMatch(
      /^"button" matches 2 elements: button "Same" \[ref=e\d+\], button "Same" \[ref=e\d+\]\. /,
    );
  });

  test('an element that takes no text is reported', async () => {
    await tool.open(`${site.url}/fields`);
    for (const target of ['#r', '#d', '[type=checkbox]']) {
      const answer = await tool.post('/type', { target, text: 'x', timeout_ms: 300 });
      expect(answer).toMatchObject({ status: 409, code: 'ELEMENT_NOT_EDITABLE' });
    }
  });
});

describe('shadow roots', () => {
  beforeAll(() => tool.open(`${site.url}/shadow`));
  beforeEach(() => tool.post('/evaluate', { expression: "document.title = 'not clicked'" }));

  test.each(['my-inner button', 'my-card my-inner button', 'text=Deep', 'section.in button'])(
    '%s reaches inside',
    async (target) => {
      expect((await click(target)).data).toMatchObject({
        title: 'shadow clicked',
        target: { name: 'Deep' },
      });
    },
  );

  test('a snapshot shows what is inside, with refs that work', async () => {
    const { text } = (await tool.get('/a11y?format=text')).data as { text: string };
    const ref = /button "Deep" .*\[ref=(e\d+)\]/.exec(text)?.[1] ?? '';
    expect((await click(ref)).data.title).toBe('shadow clicked');
  });

  test('text goes into the field of a component', async () => {
    expect((await tool.post('/type', { target: 'my-inner', text: 'inside' })).data).toMatchObject({
      value: 'inside',
    });
  });
});
