// The pages that all contestants are measured on: a shop of 377 elements, the same with something in front of it, and nothing.
import { createServer } from 'node:http';

const ELEMENTS = 377;
const ORDERS = 40;

const document = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;

const order = (index) =>
  `<tr><td>${1000 + index}</td><td>Customer ${index}</td><td>$${(index * 13.37).toFixed(2)}</td><td><button>Open</button></td></tr>`;

const FRAME = `
  <header><nav aria-label="Main"><ul>${[
    'Home',
    'Orders',
    'Customers',
    'Reports',
    'Settings',
    'Help',
  ]
    .map((name) => `<li><a href="#${name.toLowerCase()}">${name}</a></li>`)
    .join('')}</ul></nav></header>
  <main><h1>Bench Shop</h1><p>A page of ordinary size: a form, a table and some cards.</p>
  <form><label for="name">Name</label><input id="name" name="name">
    <label for="mail">E-mail</label><input id="mail" type="email">
    <label for="size">Size</label><select id="size"><option>Small</option><option>Medium</option><option>Large</option></select>
    <label><input type="checkbox" id="news"> Send me news</label>
    <button type="button" id="place">Place order</button></form>
  <table><caption>Orders</caption><thead><tr><th>Order</th><th>Customer</th><th>Total</th><th>Action</th></tr></thead>
    <tbody>${Array.from({ length: ORDERS }, (_, index) => order(index + 1)).join('')}</tbody></table>
  <section aria-label="Cards"></section></main>
  <footer><p>All prices in dollars.</p></footer>
  <output id="count">0</output>`;
const SCRIPT =
  '<script>let n = 0; document.getElementById("place").addEventListener("click", () => { document.getElementById("count").textContent = ++n; });</script>';

/** How many elements a text opens; the parser adds none to it. */
const elementsIn = (text) => (text.match(/<[a-z][a-z0-9]*[ >]/g) ?? []).length;

function shop() {
  const missing = ELEMENTS - elementsIn(document('Bench Shop', FRAME + SCRIPT));
  const cards = Array.from(
    { length: Math.floor(missing / 4) },
    (_, index) =>
      `<article><h2>Offer ${index + 1}</h2><p>Two for one</p><a href="#offer">Details</a></article>`,
  );
  const rest = '<hr>'.repeat(missing % 4);
  const filled = FRAME.replace(
    'aria-label="Cards">',
    `aria-label="Cards">${cards.join('')}${rest}`,
  );
  return document('Bench Shop', filled + SCRIPT);
}

/** Serves them; answers `{ shop, covered, close }`. */
export async function servePages() {
  const cover = '<div id="ov" class="modal" style="position: fixed; inset: 0"></div>';
  const answers = {
    '/': shop(),
    '/covered': document('Covered', `<button id="under">Under</button>${cover}`),
  };
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(answers[request.url ?? '/'] ?? '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    shop: `${url}/`,
    covered: `${url}/covered`,
    elements: ELEMENTS,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
