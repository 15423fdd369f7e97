import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/evading': page(
      'Evading',
      `<style>button, #other { position: absolute; left: 20px; top: 20px; width: 100px; height: 40px }</style>
       <div id="other"></div><button>Catch me</button><output id="out"></output>
       <script>
         const button = document.querySelector('button');
         for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
           for (const element of [other, button])
             element.addEventListener(type, () => { out.textContent += (element.id || 'button') + ' ' + type + ';' });
         let moves = Number(location.search.slice(1));
         button.onmouseover = () => { if (moves-- > 0) button.style.left = parseInt(getComputedStyle(button).left) === 20 ? '300px' : '20px' };
       </script>`,
    ),
    '/redrawn': page(
      'Redrawn',
      `<p><button>Press</button></p><output id="out"></output><script>
         const draw = () => {
           document.querySelector('p').innerHTML = '<button><b>Press</b></button>';
           document.querySelector('button').onclick = () => { out.textContent += 'pressed;' };
         };
         document.querySelector('button').onmouseover = draw;
       </script>`,
    ),
    '/greedy': page(
      'Greedy',
      `<button>Press</button><output id="out"></output><script>
         for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
           addEventListener(type, (event) => { event.stopImmediatePropagation(); out.textContent += type + ';' }, true);
       </script>`,
    ),
    '/asking': page(
      'Asking',
      `<button onclick="out.textContent += 'pressed;'">Press</button><output id="out"></output><script>
         document.querySelector('button').onmouseover = function () { this.onmouseover = null; alert('Sure?') };
       </script>`,
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const text = async (selector: string): Promise<string> =>
  (await tool.get(`/dom?selector=${encodeURIComponent(selector)}`)).data.text as string;
const click = (target: string, more: object = {}) => tool.post('/click', { target, ...more });

describe('a click that does not arrive at its element', () => {
  const pressed =
    'button pointerdown;button mousedown;button pointerup;button mouseup;button click;';

  test('because the element moves away has no effect elsewhere and is sent again', async () => {
    await tool.open(`${site.url}/evading?1`);
    expect((await click('button', { timeout_ms: 30_000 })).data).toMatchObject({ clicked: true });
    expect(await text('#out')).toBe(pressed);
  });

  test('is an error at the timeout', async () => {
    await tool.open(`${site.url}/evading?1000`);
    const answer = await click('button', { timeout_ms: 3_000 });
    expect(answer).toMatchObject({ code: 'TIMEOUT' });
    expect(answer.error).toMatch(
      /^button "Catch me" \[ref=e\d+\] did not receive the click within 3000 ms: <(div id="other"|body|html).*> was in its place\. /,
    );
    expect(await text('#out')).toBe('');
    await tool.post('/evaluate', { expression: 'moves = 0' });
    expect((await click('#other', { force: true })).data).toMatchObject({ clicked: true });
    expect(await text('#out')).not.toBe('');
  });

  test('because a dialog opens before it is sent again, once', async () => {
    await tool.open(`${site.url}/asking`);
    expect((await click('button', { timeout_ms: 30_000 })).data).toMatchObject({
      clicked: true,
      dialogs: [{ message: 'Sure?' }],
    });
    expect(await text('#out')).toBe('pressed;');
  });

  test('but at its replacement counts', async () => {
    await tool.open(`${site.url}/redrawn`);
    expect((await click('button')).data).toMatchObject({ clicked: true });
    expect(await text('#out')).toBe('pressed;');
  });

  test('because the page keeps all events to itself counts', async () => {
    await tool.open(`${site.url}/greedy`);
    expect((await click('button')).data).toMatchObject({ clicked: true });
    expect(await text('#out')).toBe('pointerdown;mousedown;pointerup;mouseup;click;');
  });
});
