import { page, type Route } from '../site.ts';

/** The pages of the recorded calls. Nothing on them depends on time. */
export const PAGES: Readonly<Record<string, Route>> = {
  '/': page(
    'Shop',
    `<style>#covered, #cover { position: absolute; left: 600px; top: 10px; width: 90px; height: 30px }</style>
     <h1>Shop</h1><p>Hello   <b>world</b></p>
     <label>Name <input id="name" value="old"></label>
     <input id="secret" type="password" aria-label="Secret">
     <input id="date" type="date" aria-label="Date">
     <input id="fixed" readonly value="x" aria-label="Fixed">
     <input id="box" type="checkbox" aria-label="Box" checked>
     <textarea id="area" aria-label="Area">line</textarea>
     <div id="rich" contenteditable="true" role="textbox" aria-label="Rich">rich <b>text</b></div>
     <select id="size" aria-label="Size"><option>Small</option><option>Large</option><option disabled>Huge</option></select>
     <button id="order" onclick="document.title = 'Ordered'; console.error('no stock', { left: 0 }, [1])">Place order</button>
     <button id="off" disabled>Off</button><button id="hidden" style="display: none">Hidden</button>
     <button id="covered">Under</button><div id="cover" class="modal"></div>
     <button id="confirm" onclick="document.title = String(confirm('Delete?'))">Delete</button>
     <button id="prompt" onclick="document.title = String(prompt('Who?', 'Ann'))">Ask</button>
     <button id="alert" onclick="alert('Hi')">Warn</button>
     <button class="twin" ondblclick="this.textContent = 'Twice'">Twin</button><button class="twin">Twin</button>
     <a id="next" href="/next">Next</a> <a id="tab" href="/next" target="_blank">New tab</a>
     <a id="file" href="/file">File</a> <span style="cursor: pointer">Pointer</span>
     <table><tr><th>Id</th><th>Customer</th></tr><tr><td>1001</td><td>Ann <button>Open</button></td></tr></table>
     <ul><li>One</li><li>Two</li></ul><img alt="A picture" width="10" height="10">`,
  ),
  '/next': page('Next', '<h1>Next</h1><button>Only</button><div style="height: 3000px">tall</div>'),
  '/frames': page(
    'Frames',
    `<iframe id="inner" src="/inner" width="300" height="100"></iframe>
     <div id="host"></div><script>
       host.attachShadow({ mode: 'open' }).innerHTML = '<button id="deep">Deep</button>';
     </script>`,
  ),
  '/inner': page('Inner', '<button onclick="this.textContent = \'Pressed\'">Inside</button>'),
  '/noise': page(
    'Noise',
    `<script>console.log('first'); console.log('twice'); console.log('twice'); console.warn('careful %s', 'now');
     setTimeout(() => { throw new Error('thrown') }, 0); Promise.reject(new Error('rejected'));</script>`,
  ),
  '/json': (_request, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'id=secret' })
      .end('{"hello":1}'),
  '/hop': (_request, response) => void response.writeHead(302, { location: '/next' }).end(),
  '/empty': (_request, response) => void response.writeHead(204).end(),
  '/broken': (_request, response) => void response.writeHead(500).end('<title>Broken</title>'),
  '/cut': (request) => void request.socket.destroy(),
  '/file': (_request, response) =>
    void response
      .writeHead(200, { 'content-disposition': 'attachment; filename="report.bin"' })
      .end('x'),
  '/never': () => undefined,
};
