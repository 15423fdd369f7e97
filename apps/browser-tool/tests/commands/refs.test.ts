import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/b': page('B', '<button>Other</button>'),
    '/twins': page('Twins', '<button>Same</button><button>Same</button><a href="/b">Only one</a>'),
    '/replace': page(
      'Replace',
      `<div id="list"><button id="old">Old</button></div>
       <script>function swap() { document.getElementById('list').innerHTML = '<button id="old">New</button>'; }</script>`,
    ),
    '/unseen': page(
      'Unseen',
      '<button id="later" style="visibility: hidden">Later</button><button>Now</button>',
    ),
    '/outer': page('Outer', '<iframe src="/inner"></iframe>'),
    // The second time that the tool scrolls to the button it has looked at it before.
    '/inner': page(
      'Inner',
      `<div style="height: 3000px"></div><button id="off" disabled>Off</button>
       <script>
         times = 0;
         addEventListener('scroll', () => {
           if (scrollY === 0) return;
           scrollTo(0, 0);
           times += 1;
           if (times === 2) fetch('/looked');
         });
       </script>`,
    ),
    '/hidden-frame': page(
      'Hidden frame',
      '<iframe src="/twins" style="display: none"></iframe><p>Text</p>',
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const click = (target: string) => tool.post('/click', { target, timeout_ms: 10_000 });
const text = async (): Promise<string> => (await tool.get('/a11y?format=text')).data.text as string;
const refs = async (): Promise<readonly string[]> =>
  [...(await text()).matchAll(/ref=(e\d+)/g)].map(([, ref = '']) => ref);

describe('refs', () => {
  test('the same node keeps its ref, and no number is given twice', async () => {
    await tool.open(`${site.url}/twins`);
    const first = await refs();
    expect(await refs()).toEqual(first);
    await tool.open(`${site.url}/twins`);
    const second = await refs();
    expect(second).toHaveLength(first.length);
    expect(second.filter((ref) => first.includes(ref))).toEqual([]);
  });

  test('a ref of an earlier page is stale and reports both addresses', async () => {
    await tool.open(`${site.url}/twins`);
    const { ref } = (await tool.get('/dom?selector=a')).data as { ref: string };
    await tool.open(`${site.url}/b`);
    const answer = await click(ref);
    expect(answer).toMatchObject({ status: 409, code: 'STALE_REF' });
    expect(answer.error).toBe(
      `${ref} belonged to ${site.url}/twins which is no longer loaded (now ${site.url}/b). Call browser_snapshot for fresh refs.`,
    );
  });

  test('a detached node is stale, and its successor is another element', async () => {
    await tool.open(`${site.url}/replace`);
    const { ref } = (await tool.get('/dom?selector=%23old')).data as { ref: string };
    await tool.post('/evaluate', { expression: 'swap()' });
    const answer = await click(ref);
    expect(answer).toMatchObject({ status: 409, code: 'STALE_REF' });
    expect(answer.error).toBe(
      `${ref} is no longer in the page. Call browser_snapshot for fresh refs.`,
    );
    const after = (await tool.get('/dom?selector=%23old')).data as { ref: string };
    expect(after.ref).not.toBe(ref);
  });

  test('a call that was given up takes no number from another element', async () => {
    await tool.open(`${site.url}/unseen`);
    const aborter = new AbortController();
    const operations = [
      { type: 'evaluate', expression: 'fetch("/click-began"); 0' },
      { type: 'click', target: '#later', timeout_ms: 60_000 },
    ];
    const left = fetch(`${tool.url}/batch`, {
      method: 'POST',
      body: JSON.stringify({ operations }),
      signal: aborter.signal,
    }).catch(() => undefined);
    await waitUntil(() => site.requests.includes('/click-began'));
    // Whether the click has looked at the element by now makes no difference to what must hold.
    aborter.abort();
    await left;
    expect(await refs()).toHaveLength(1);
    await tool.post('/evaluate', { expression: 'later.style.visibility = "visible"; 0' });
    const both = await refs();
    expect(new Set(both).size).toBe(2);
    for (const ref of both) {
      const { data } = await tool.get(`/dom?selector=${ref}`);
      expect(await text()).toContain(`button "${data.text}" [ref=${ref}]`);
    }
  });

  test('nor does one that was given up in another document', async () => {
    await tool.open(`${site.url}/outer`);
    const aborter = new AbortController();
    const left = fetch(`${tool.url}/click`, {
      method: 'POST',
      body: JSON.stringify({ target: '#off', timeout_ms: 60_000 }),
      signal: aborter.signal,
    }).catch(() => undefined);
    await waitUntil(() => site.requests.includes('/looked'));
    aborter.abort();
    await left;
    const expression = 'document.body.insertAdjacentHTML("afterbegin", "<button>New</button>"); 0';
    await tool.post('/evaluate', { expression });
    const all = await refs();
    expect(all).toHaveLength(3);
    expect(new Set(all).size).toBe(3);
    for (const ref of all) {
      const { data } = await tool.get(`/dom?selector=${ref}`);
      expect(await text()).toMatch(new RegExp(`${data.text}.*\\[ref=${ref}\\]`));
    }
  });

  test('a frame that is not shown takes none either, and shows up nowhere', async () => {
    await tool.open(`${site.url}/hidden-frame`);
    expect(await text()).toBe('- paragraph: Text');
    await tool.post('/evaluate', {
      expression: 'document.body.insertAdjacentHTML("beforeend", "<button>New</button>"); 0',
    });
    expect(await text()).toMatch(/^- paragraph: Text\n- button "New" \[ref=e\d+\]$/);
    expect(await text()).toMatch(/^- paragraph: Text\n- button "New" \[ref=e\d+\]$/);
  });
});
