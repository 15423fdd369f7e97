// The pages of the benchmark: a shop of 377 elements, and a button that is covered.
import { createServer } from 'node:http';

const ELEMENTS = 377;
const ORDERS = 30;
const PRODUCTS = 39;
const LINKS =
  'Home Orders Customers Products Stock Suppliers Invoices Reports Settings Account Help';
const FIELDS = 'Name E-mail Street City Country';
const SIZES = 'Small Medium Large Huge';

const each = (words, show) => words.split(' ').map(show).join('');

const page = (title, body) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;

const link = (name) => `<a href="#${name.toLowerCase()}">${name}</a>`;

const field = (name) =>
  `<label for="${name.toLowerCase()}">${name}</label><input id="${name.toLowerCase()}" name="${name.toLowerCase()}">`;

const order = (_, index) =>
  `<tr><td>${1001 + index}</td><td>Customer ${index + 1}</td><td>$${((index + 1) * 13.37).toFixed(2)}</td><td><button>Open</button></td></tr>`;

const product = (_, index) =>
  `<li><a href="/products/${index + 1}">Product ${index + 1}</a><span>$${index + 1}.99</span></li>`;

const SHOP = `
  <header><nav aria-label="Main"><ul>${each(LINKS, (name) => `<li>${link(name)}</li>`)}</ul></nav></header>
  <main><h1>Bench Shop</h1><p>A page of ordinary size: links, a form, a table of orders and a list of products.</p>
  <form>${each(FIELDS, field)}
    <label for="size">Size</label><select id="size">${each(SIZES, (size) => `<option>${size}</option>`)}</select>
    <label for="note">Note</label><textarea id="note"></textarea>
    <label><input type="checkbox" id="news"> Send me news</label>
    <label><input type="checkbox" id="terms"> I agree to the terms</label>
    <button type="button" id="place">Place order</button></form>
  <table><caption>Orders</caption><thead><tr><th>Order</th><th>Customer</th><th>Total</th><th>Action</th></tr></thead>
    <tbody>${Array.from({ length: ORDERS }, order).join('')}</tbody></table>
  <section aria-label="Products"><h2>Products</h2><ul>${Array.from({ length: PRODUCTS }, product).join('')}</ul></section></main>
  <footer><h2>Bench Shop</h2><p>All prices in dollars.</p>${each('Terms Privacy Contact Imprint Jobs', link)}</footer>
  <output id="count">0</output>
  <script>let n = 0; document.getElementById("place").addEventListener("click", () => { document.getElementById("count").textContent = ++n; });</script>`;

const COVERED =
  '<button id="under">Under</button><div id="ov" class="modal" style="position: fixed; inset: 0"></div>';

const TITLES = { shop: 'Bench Shop', covered: 'Covered' };

/** Serves the pages; returns `{ shop, covered, titles, elements, close }`. */
export async function servePages() {
  const answers = { '/': page(TITLES.shop, SHOP), '/covered': page(TITLES.covered, COVERED) };
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(answers[request.url ?? '/'] ?? '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    shop: `${url}/`,
    covered: `${url}/covered`,
    titles: TITLES,
    elements: ELEMENTS,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
